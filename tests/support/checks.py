"""One recorded refusal a check of admission: what KubeVirt says, and the cure that we name.

``python -m tests.support.checks`` writes fixtures/admission-checks.tsv anew, which docs/admission.md is made from.
"""

import csv
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from render import Diagnostic, Settings, render
from render.model import tree
from tests.support import releases
from tests.support.goldens import FAMILIES, FOLDER, cases

TABLE = FOLDER.parent / "admission-checks.tsv"
#: What the recorded cases do not hold.
OWN = "own"
#: VMIs in which a field has whatever value its type takes: examples only of what no other case breaks.
_FIELDS = "admission-fields"
#: What CDI was asked, of which there are no other releases.
IMPORTER = "importer/cdi"
NEWEST = "v1.9.0"
#: What to do where a row of the table is missing, or another one should stand there.
CURE = "python -m tests.support.checks, then make generate"
Json = dict[str, Any]


class Example(NamedTuple):
    """What one check says of the case *case* of *family* in *release*."""

    check: str
    code: str
    family: str
    case: str
    release: str
    message: str
    help: str


def _vm(domain: Json, **spec: Any) -> Json:
    devices = {"devices": {}, "memory": {"guest": "1Gi"}}
    template = {"spec": {"domain": {**devices, **domain}, **spec}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"runStrategy": "Always", "template": template},
    }


def _own() -> list[Json]:
    pool = {
        "apiVersion": "pool.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePool",
        "metadata": {"name": "web", "namespace": "default"},
    }
    labels = {"labels": {"app": "web"}}
    hungry = _vm({"memory": {"hugepages": {"pageSize": "2Mi"}}})["spec"]
    hungry["template"]["metadata"] = labels
    pool["spec"] = {
        "selector": {"matchLabels": {"app": "web"}},
        "virtualMachineTemplate": {"metadata": labels, "spec": hungry},
    }
    small = _vm({})["spec"]
    small["template"]["metadata"] = labels
    single: Json = {"selector": {"matchLabels": {"app": "web"}}}
    single["virtualMachineTemplate"] = {"metadata": labels, "spec": small}
    minus = {**pool, "spec": {**single, "replicas": -1}}
    healing = {"minFailingToStartDuration": "5 minutes"}
    healed = {**pool, "spec": {**single, "autohealing": healing}}
    threads = _vm({})
    threads["spec"]["template"]["metadata"] = {
        "annotations": {"kubevirt.io/multiThreadedQemuMigration": "many"}
    }
    disk = {"containerDisk": {"image": "fedora"}}
    moving = _vm({})
    moving["spec"]["updateVolumesStrategy"] = "Migration"
    live: Json = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
    }
    gates = {"featureGates": ["VMLiveUpdateFeatures"]}
    live["spec"] = {
        "configuration": {"vmRolloutStrategy": "LiveUpdate", "developerConfiguration": gates}
    }
    tapped = _vm(
        {"devices": {"interfaces": [{"name": "a", "macvtap": {}}]}},
        networks=[{"name": "a", "pod": {}}],
    )
    objects: dict[str, Json | list[Json]] = {
        "macvtap-on-pod": tapped,
        "serial": _vm({"firmware": {"serial": "a/b"}}),
        "serial-length": _vm({"firmware": {"serial": "a" * 300}}),
        "many-volumes": _vm({}, volumes=[{"name": f"v{number}", **disk} for number in range(257)]),
        "migration-threads": threads,
        "pool-hugepages": pool,
        "pool-minus": minus,
        "pool-healing": healed,
        "volumes-strategy": [live, moving],
    }
    return [
        {"id": name, "objects": body if isinstance(body, list) else [body]}
        for name, body in objects.items()
    ]


def recorded_cases(family: str, release: str) -> list[Json]:
    """The cases of *family* that *release* was asked."""
    if family == OWN:
        return _own()
    if release == NEWEST:
        return cases(family)
    return [*releases.cases(release), *releases.cases(release, admission=True)]


def refusals(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """What admission refuses among *diagnostics*."""
    return (found for found in diagnostics if found.is_error and found.check)


def findings(case: Json, release: str) -> Iterator[Diagnostic]:
    """What admission refuses of *case* in *release*."""
    settings = Settings(preset_conflicts="override", admission="strict", kubevirt=release)
    return refusals(render(tree.copy(case["objects"]), settings).diagnostics)


@cache
def _places() -> list[tuple[str, str]]:
    """The families with the releases that were asked, the first first."""
    families = [name for name in FAMILIES if name not in ("hyperconverged", "update", _FIELDS)]
    places = [(name, NEWEST) for name in (*families, IMPORTER, OWN, _FIELDS)]
    places += [(OWN, release) for release in releases.RELEASES]
    return [*places, *(("releases", release) for release in reversed(releases.RELEASES))]


@cache
def _numbers(family: str, release: str) -> dict[str, int]:
    return {case["id"]: number for number, case in enumerate(recorded_cases(family, release))}


def _rank(example: Example) -> tuple[int, int, int]:
    """Of two examples of a check, the one with the lower rank stands in the table: see `examples`."""
    place = example.family, example.release
    return _places().index(place), len(example.message), _numbers(*place)[example.case]


def examples_of(
    family: str, case: Json, release: str, diagnostics: Iterable[Diagnostic]
) -> Iterator[Example]:
    """What checks say among the *diagnostics* of *case*."""
    for diagnostic in refusals(diagnostics):
        yield Example(
            diagnostic.check, diagnostic.code, family, case["id"], release, diagnostic.message, diagnostic.help
        )  # fmt: skip


def examples() -> list[Example]:
    """The shortest message of each check, of the newest release that has one."""
    found: dict[str, Example] = {}
    for family, release in _places():
        for case in recorded_cases(family, release):
            for example in examples_of(family, case, release, findings(case, release)):
                known = found.setdefault(example.check, example)
                if _rank(example) < _rank(known):
                    found[example.check] = example
    return sorted(found.values(), key=lambda example: (example.code, example.check))


def missing(found: Iterable[Example]) -> list[Example]:
    """Which of the examples *found* the table should have, and has not."""
    return [
        example
        for example in found
        if example.check not in _table() or _rank(example) < _rank(_table()[example.check])
    ]


@cache
def _table() -> dict[str, Example]:
    return {example.check: example for example in read()}


def read() -> list[Example]:
    """The table as it is."""
    with TABLE.open(encoding="utf-8", newline="") as lines:
        return [Example(**row) for row in csv.DictReader(lines, dialect="excel-tab")]


def main() -> None:
    """Write the table anew."""
    found = examples()
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, dialect="excel-tab", lineterminator="\n")
        writer.writerow(Example._fields)
        writer.writerows(found)
    sys.stdout.write(f"wrote {TABLE.name}\n")


if __name__ == "__main__":
    main()
