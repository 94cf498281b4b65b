"""Which concerns there are, of which objects they are asked, and which modules of checks are imported."""

import csv
import re
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

from render import Settings, render
from render.admission.checks import Check
from render.admission.order import CONCERNS, Concern
from render.model.release import Windowed
from tests.conftest import ROOT
from tests.support import checks, releases

FOLDER = ROOT / "render/admission"
#: Modules of checks that are asked in another way: of an update, and of the domain of a preset.
APART = {"update"}
#: Named by a code of their own, as what instancetypes and preferences bring.
OF_UPDATES = {"cdi/update"}
OF_DEFINITIONS = {"instancetype", "matchers", "preference", "requirements"}
RARE = [concern for concern in CONCERNS if concern.places]
SIMPLE = """
import sys
from render.admission import order
from tests.support.refusals import subject_of
found = list(order.causes(subject_of({
    "architecture": "amd64",
    "domain": {"devices": {"disks": [{"name": "a", "disk": {}}]}, "memory": {"guest": "1Gi"}},
    "volumes": [{"name": "a", "containerDisk": {"image": "a"}}],
})))
assert not found, found
print(*(name for name in sys.modules if name.startswith("render.admission.")))
"""
CLUSTER: dict[str, Any] = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "KubeVirt",
    "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
    "spec": {
        "configuration": {"developerConfiguration": {"featureGates": ["DownwardMetrics"]}},
    },
}
#: VMs that are admitted, and whose VMI the concern refuses: by which check.
MEMORY = {"memory": {"guest": "1Gi"}}
ON_ARM = {"architecture": "arm64", "domain": {**MEMORY, "devices": {"sound": {"name": "a"}}}}
NEVER_START: dict[str, tuple[str, dict[str, Any]]] = {
    "vmi.start": ("memory/required", {"domain": {"devices": {}}}),
    "vmi.storage.bootorder": (
        "disks/metrics-bus",
        {
            "domain": {**MEMORY, "devices": {"disks": [{"name": "a", "disk": {}}]}},
            "volumes": [{"name": "a", "downwardMetrics": {}}],
        },
    ),
    "vmi.storage.disks": (
        "disks/sata-read-only",
        {
            "domain": {**MEMORY, "devices": {"disks": [{"name": "a", "disk": {"readonly": True}}]}},
            "volumes": [{"name": "a", "containerDisk": {"image": "a"}}],
        },
    ),
    "vmi.domain.hyperv": (
        "hyperv/passthrough",
        {
            "domain": {
                **MEMORY,
                "devices": {},
                "features": {"hyperv": {"relaxed": {}}, "hypervPassthrough": {}},
            }
        },
    ),
    "vmi.domain.architecture": ("architecture/sound", ON_ARM),
}


def checks_of(concern: str) -> list[Check]:
    rows = import_module(f"render.admission.{concern}").CHECKS
    return [row.item if isinstance(row, Windowed) else row for row in rows]


def test_each_module_of_checks_is_a_concern() -> None:
    modules = {
        ".".join(path.relative_to(FOLDER).with_suffix("").parts)
        for path in FOLDER.rglob("*.py")
        if re.search(r"^CHECKS\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    names = [concern.name for concern in CONCERNS]
    assert set(names) == modules - APART, "a row of CONCERNS in render/admission/order.py"
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("concern", RARE, ids=lambda concern: concern.name)
def test_a_rare_concern_looks_nowhere_else(concern: Concern) -> None:
    known = [place.split(".") for place in concern.places.split()]
    for check in checks_of(concern.name):
        for place in (check.where, *check.also):
            assert any(list(place[: len(item)]) == item for item in known), (check.name, place)


def test_a_simple_machine_imports_none_of_them() -> None:
    run = subprocess.run([sys.executable, "-c", SIMPLE], capture_output=True, text=True, check=True)
    imported = {name.removeprefix("render.admission.") for name in run.stdout.split()}
    assert "vmi.storage.disks" in imported
    assert not imported & {concern.name for concern in RARE}


def test_each_concern_that_is_asked_again_has_a_machine_that_never_starts() -> None:
    assert {concern.name for concern in CONCERNS if concern.again != "never"} == NEVER_START.keys()


@pytest.mark.parametrize("concern", NEVER_START)
def test_a_machine_is_admitted_and_never_starts(concern: str) -> None:
    check, spec = NEVER_START[concern]
    vm = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web"},
        "spec": {"runStrategy": "Always", "template": {"spec": spec}},
    }
    found = render([CLUSTER, vm], Settings(admission="strict")).diagnostics
    errors = [diagnostic for diagnostic in found if diagnostic.is_error]
    assert [error.check for error in errors] == [check]
    assert errors[0].help.startswith("the VM is admitted, but")


def test_what_follows_from_a_check_names_one() -> None:
    names = {check.name for concern in CONCERNS for check in checks_of(concern.name)}
    follows = {
        name for concern in CONCERNS for check in checks_of(concern.name) for name in check.follows
    }
    assert follows
    assert follows <= names


#: Found by functions that several checks share.
SHARED = {"network/binding", "claims/listed", "claims/name-unique", "claims/request-shared"}


@pytest.mark.parametrize("concern", CONCERNS, ids=lambda concern: concern.name)
def test_the_name_of_a_check_stands_in_its_row_alone(concern: Concern) -> None:
    text = (FOLDER / f"{concern.name.replace('.', '/')}.py").read_text(encoding="utf-8")
    named = set(re.findall(r'Cause\(\s*"([a-z-]+/[a-z-]+)"', text))
    rows = {check.name for check in checks_of(concern.name)}
    assert named & rows <= SHARED, "yield a Violation: the row has the name"


def test_each_check_has_a_recorded_refusal() -> None:
    """What `python -m tests.support.checks` writes, of which docs/admission.md is made."""
    with (ROOT / "fixtures/admission-checks.tsv").open(encoding="utf-8", newline="") as lines:
        known = {row["check"] for row in csv.DictReader(lines, dialect="excel-tab")}
    text = "".join(path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.py"))
    named = set(re.findall(r'(?<!f)"([a-z][a-z-]*/[a-z][a-z-]*)"', text))
    named |= {
        check.name for concern in CONCERNS for check in checks_of(concern.name) if "/" in check.name
    }
    assert len(named) > 200
    unknown = {
        name for name in named - known - OF_UPDATES if name.partition("/")[0] not in OF_DEFINITIONS
    }
    assert not unknown, (
        f"no row of fixtures/admission-checks.tsv has {sorted(unknown)}: a case of _own() in tests/support/checks.py, "
        "then python -m tests.support.checks"
    )


def test_each_check_of_the_newest_release_answers_for_a_rule() -> None:
    with (ROOT / "fixtures/admission-rules.tsv").open(encoding="utf-8", newline="") as lines:
        rules = list(csv.DictReader(lines, dialect="excel-tab"))
    answering = {check for rule in rules for check in rule["checks"].split()}
    newest = {item.check for item in checks.read() if item.release == checks.NEWEST}
    left = {name for name in newest - answering if not name.startswith("cdi/")}
    assert not left, f"no row of fixtures/admission-rules.tsv names {sorted(left)}"


#: The others are recorded answers, which tests/differential/test_checks.py goes through.
OWN = [item for item in checks.read() if item.family == checks.OWN]


@pytest.mark.parametrize("example", OWN, ids=lambda item: item.check)
def test_a_refusal_of_our_own_case_is_what_the_table_has(example: checks.Example) -> None:
    cases = {item["id"]: item for item in checks.recorded_cases(checks.OWN, example.release)}
    assert example.case in cases, f"no case {example.case} in tests/support/checks.py"
    messages = {
        (diagnostic.check, diagnostic.message, diagnostic.help)
        for diagnostic in checks.findings(cases[example.case], example.release)
    }
    assert (example.check, example.message, example.help) in messages


@pytest.mark.parametrize("release", [checks.NEWEST, *releases.RELEASES])
def test_the_table_has_the_shortest_refusal_of_our_own_cases(release: str) -> None:
    missing = [
        example
        for case in checks.recorded_cases(checks.OWN, release)
        for example in checks.missing(
            checks.examples_of(checks.OWN, case, release, checks.findings(case, release))
        )
    ]
    assert not missing, checks.CURE
