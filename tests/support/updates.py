"""Recorded edits of VMs that run, in the shape of what `compare` takes and gives."""

from collections.abc import Iterable
from typing import Any

from render import Settings, compare
from render.diff.impact import MachineImpact
from tests.support import goldens
from tests.support.goldens import UPDATES

Json = dict[str, Any]
NEWEST = "1.9"
#: The releases that edits were recorded of.
RELEASES = (
    NEWEST,
    *sorted(
        path.name.removeprefix(f"{UPDATES}-").removesuffix(".ndjson.gz")
        for path in (goldens.FOLDER / "releases").glob(f"{UPDATES}-*.gz")
    ),
)


def cases(release: str) -> list[Json]:
    """The edits that KubeVirt *release* was asked about."""
    return goldens.cases(UPDATES if release == NEWEST else f"releases/{UPDATES}-{release}")


def settings(**requested: Any) -> Settings:
    """Settings under which everything that KubeVirt refuses is an error."""
    return Settings(emit="source", **{"admission": "strict", **requested})


def objects(case: Json, side: str) -> list[Json]:
    """The objects of one state of *case*, with the claims that only one node can mount."""
    config = case.get("config_after", case["config"]) if side == "after" else case["config"]
    claims = (case.get("cluster") or {}).get("rwo", ())
    return [
        case[side]["vm"],
        *case[side]["resources"],
        *([config] if config else []),
        *(claim(name, "ReadWriteOnce") for name in claims),
    ]


def claim(name: str, *modes: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"accessModes": list(modes), "resources": {"requests": {"storage": "1Gi"}}},
    }


def impact(case: Json, **requested: Any) -> MachineImpact:
    """What we say of the VM of *case*."""
    found = compare(objects(case, "before"), objects(case, "after"), settings(**requested))
    assert len(found.machines) == 1
    return found.machines[0]


def fields(found: MachineImpact, *effects: str) -> set[str]:
    """The fields of the changes with one of *effects*."""
    return {change.field for change in found.changes if change.effect in effects}


def restart_text(want: Json) -> list[str]:
    return [
        diagnostic["message"]
        for diagnostic in want.get("conditions", ())
        if diagnostic["type"] == "RestartRequired" and diagnostic["status"] == "True"
    ]


def without_missing(cases: Iterable[Json]) -> list[Json]:
    """Those of *cases* in which every claim exists: the others ask what only a cluster knows."""
    return [case for case in cases if not (case.get("cluster") or {}).get("missing")]
