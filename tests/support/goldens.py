"""The recorded answers of KubeVirt v1.9.0, see fixtures/goldens/README.md."""

import contextlib
import gc
import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "fixtures" / "goldens"
#: The settings of ours behind each kind of recorded answer.
MODES: dict[str, dict[str, Any]] = {
    "vm": {"emit": "vm"},
    "vmi": {"emit": "vmi"},
    "expand": {"emit": "expand"},
    "expand_mutated": {"emit": "expand", "stored": True},
}
#: Edits of VMs and pods have another layout, see `tests.support.updates` and `tests.support.pods`.
UPDATES = "update"
PODS = ("pod", "pod-vmi")
FAMILIES = tuple(
    sorted(
        {path.name.removesuffix(".ndjson.gz") for path in FOLDER.glob("*.gz")} - {UPDATES, *PODS}
    )
)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector, which would walk all trees again and again: now, while tests render, and in the end.

    What is decoded stays as long as the process: it looks for no cycles there any more.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


@cache
def cases(family: str) -> list[dict[str, Any]]:
    """All cases of a family. The list is shared: do not change what is in it."""
    with uncollected(), gzip.open(FOLDER / f"{family}.ndjson.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def sample(family: str, most: int) -> list[dict[str, Any]]:
    """Up to *most* cases of a family at equal distances.

    The others are not decoded: whoever starts processes should be small.
    """
    with gzip.open(FOLDER / f"{family}.ndjson.gz", "rt", encoding="utf-8") as lines:
        known = list(lines)
    return [json.loads(line) for line in known[:: max(1, len(known) // most)][:most]]


def is_refused_by_schema(case: dict[str, Any], entry: dict[str, Any]) -> bool:
    """Whether a schema refuses or changes the VM of *entry* or another object of *case*."""
    return "crd" in entry or any("crd" in other for other in case.get("resources", ()))
