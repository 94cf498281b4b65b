"""What depends on fields that nobody has filled in: of a VM in a template, or of one with placeholders.

A finding elsewhere in the VM may be about what will stand in them, too: names refer to one another, sizes are compared,
and what an instancetype or a preference brings is not known where its name is not.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from render.diagnostics import codes
from render.diagnostics.codes import Code
from render.diagnostics.diagnostic import Diagnostic
from render.model.fieldpath import FieldPath
from render.model.kinds import KIND_CLASSES


def _numbers(*rows: Code) -> frozenset[str]:
    return frozenset(row.number for row in rows)


#: Fields of a domain that are compared with one another, and the findings that come of that.
_SIZES = frozenset({"cpu", "ioThreads", "ioThreadsPolicy", "memory", "resources"})
_OF_SIZES = _numbers(
    codes.REQUIREMENT_UNMET, codes.SPREAD_INDIVISIBLE, codes.MEMORY, codes.CPU, codes.IOTHREADS,
    codes.LIVE_UPDATE,
)  # fmt: skip
#: What an instancetype or a preference can bring about, or mend.
_OF_DEFINITIONS = _OF_SIZES | _numbers(
    codes.MACHINE, codes.ACPI, codes.START, codes.INPUTS, codes.FIRMWARE, codes.DEVICES,
    codes.GRACE, codes.SECURITY, codes.GATES, codes.HYPERV, codes.ARCHITECTURE, codes.SPREAD_RATIO_ZERO,
    codes.NO_CPU_FOR_FEATURES,
)  # fmt: skip
#: What refers to an entry of a list by its name.
_OF_NAMES = _numbers(codes.NETWORK, codes.DISKS, codes.VOLUMES, codes.CLAIMS, codes.CREDENTIALS)
_MATCHERS = [(kind.word,) for kind in KIND_CLASSES]
_NAMES = frozenset({"name", "claimName"})


_REFERENCE = r"\{\{[^{}]*+\}\}|\$\{\{?[^{}]*+\}\}?"


def depends(found: Diagnostic, path: FieldPath, value: Any, open_: Mapping[FieldPath, str]) -> bool:
    """Whether *found* at *path* of a VM, where *value* stands, is about one of its fields *open_*, or may come of one.

    These by what is written there.
    """
    return any(
        _is_about(path, open_path) or _comes_of(found, path, value, open_path, text)
        for open_path, text in open_.items()
    )


def _is_about(path: FieldPath, open_path: FieldPath) -> bool:
    size = min(len(open_path), len(path))
    return bool(path) and open_path[:size] == path[:size]


def _comes_of(
    found: Diagnostic, path: FieldPath, value: Any, open_path: FieldPath, text: str
) -> bool:
    if "domain" in open_path and not _SIZES.isdisjoint(open_path):
        return found.code in _OF_SIZES
    if open_path[-1] not in _NAMES or not any(isinstance(step, int) for step in open_path):
        return False
    if found.code == codes.DATA_VOLUME_TEMPLATES.number:
        return True
    is_name = found.code in _OF_NAMES and path[-1:] == ("name",)
    return is_name and _may_become(text, value)


def _may_become(text: str, value: Any) -> bool:
    """Whether *text* may be *value* once it is filled in: what it says beside its references stands there in order."""
    first, *between = re.split(_REFERENCE, text)
    rest = str(value)
    if not between or not rest.startswith(first):
        return rest == text
    *between, last = between
    rest = rest[len(first) :]
    for piece in between:
        _, found, rest = rest.partition(piece) if piece else ("", "-", rest)
        if not found:
            return False
    return rest.endswith(last)


def without_unknown(found: Sequence[Diagnostic], open_: Collection[FieldPath]) -> list[Diagnostic]:
    """What is *found* in a VM, without what its definitions may mend where one of them was not found, or is *open_*."""
    is_open = any(open_path[:1] == ("spec",) and open_path[1:2] in _MATCHERS for open_path in open_)
    if not is_open and not any(codes.CODES[diagnostic.code].follows for diagnostic in found):
        return list(found)
    return [diagnostic for diagnostic in found if diagnostic.code not in _OF_DEFINITIONS]
