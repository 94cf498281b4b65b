"""One recorded refusal a check of admission: what KubeVirt says, and the cure that we name.

``python -m tests.support.checks`` writes fixtures/admission-checks.tsv anew, which docs/admission.md is made from.
"""

import csv
import sys
from collections.abc import Iterator
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
_IMPORTER = "importer/cdi"
NEWEST = "v1.9.0"
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


def findings(case: Json, release: str) -> Iterator[Diagnostic]:
    """What admission refuses of *case* in *release*."""
    settings = Settings(preset_conflicts="override", admission="strict", kubevirt=release)
    for found in render(tree.copy(case["objects"]), settings).diagnostics:
        if found.is_error and found.check:
            yield found


def examples() -> list[Example]:
    """The shortest message of each check, of the newest release that has one."""
    found: dict[str, Example] = {}
    families = [name for name in FAMILIES if name not in ("hyperconverged", "update", _FIELDS)]
    places = [(name, NEWEST) for name in (*families, _IMPORTER, OWN, _FIELDS)]
    places += [(OWN, release) for release in releases.RELEASES]
    places += [("releases", release) for release in reversed(releases.RELEASES)]
    for family, release in places:
        of_this: dict[str, Example] = {}
        for case in recorded_cases(family, release):
            for diagnostic in findings(case, release):
                known = of_this.get(diagnostic.check)
                if diagnostic.check not in found and (
                    known is None or len(diagnostic.message) < len(known.message)
                ):
                    of_this[diagnostic.check] = Example(
                        diagnostic.check,
                        diagnostic.code,
                        family,
                        case["id"],
                        release,
                        diagnostic.message,
                        diagnostic.help,
                    )
        found |= of_this
    return sorted(found.values(), key=lambda diagnostic: (diagnostic.code, diagnostic.check))


def read() -> list[Example]:
    """The table as it is."""
    with TABLE.open(encoding="utf-8", newline="") as lines:
        return [Example(**row) for row in csv.DictReader(lines, dialect="excel-tab")]


def main() -> None:
    """Write the table anew."""
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, dialect="excel-tab", lineterminator="\n")
        writer.writerow(Example._fields)
        writer.writerows(examples())
    sys.stdout.write(f"wrote {TABLE.name}\n")


if __name__ == "__main__":
    main()
