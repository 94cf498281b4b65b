"""The checks of admission by name, with what KubeVirt says (``schemas/checks.json``): for who names one."""

import json
import os
from functools import cache

from render.diagnostics.codes import Code
from render.model import packaged
from render.model.named_tuple import NamedTuple


class RecordedCheck(NamedTuple):
    """A refusal of a cluster by a check, and the cure that we name."""

    message: str
    help: str


@cache
def recorded() -> dict[str, RecordedCheck]:
    """Each check (``disks/ide-bus``) with a refusal that was recorded."""
    folder = packaged.folder("_schemas", "schemas")
    with open(os.path.join(folder, "checks.json"), encoding="utf-8") as file:
        return {name: RecordedCheck(**row) for name, row in json.load(file).items()}


def of_code(code: Code) -> tuple[str, ...]:
    """What follows the concern in the names of the checks of *code*: ``ide-bus``."""
    names = (name.partition("/") for name in recorded())
    return tuple(rule for concern, _, rule in names if concern == code.slug)
