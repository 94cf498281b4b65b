"""What depends on fields that nobody has filled in: of a VM in a template, or of one with placeholders.

A finding elsewhere in the VM may be about what will stand in them, too: names refer to one another, sizes are compared,
and what an instancetype or a preference brings is not known where its name is not.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.codes import Code
from render.diagnostics.diagnostic import Diagnostic
from render.model.fieldpath import FieldPath
from render.model.hints import Any
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
OF_DEFINITIONS = _OF_SIZES | _numbers(
    codes.MACHINE, codes.ACPI, codes.START, codes.INPUTS, codes.FIRMWARE, codes.DEVICES,
    codes.GRACE, codes.SECURITY, codes.GATES, codes.HYPERV, codes.ARCHITECTURE, codes.SPREAD_RATIO_ZERO,
    codes.NO_CPU_FOR_FEATURES,
)  # fmt: skip
#: What refers to an entry of a list by its name.
_OF_NAMES = _numbers(codes.NETWORK, codes.DISKS, codes.VOLUMES, codes.CLAIMS, codes.CREDENTIALS)
#: What is looked up, or made, in the namespace of the VM.
_OF_NAMESPACE = _numbers(codes.DATA_VOLUME_TEMPLATES, codes.IMPORT_REFUSED, codes.REFERENCE)
_MATCHERS: tuple[FieldPath, ...] = tuple(("spec", kind.word) for kind in KIND_CLASSES)
#: By what presets select.
_SELECTED: tuple[FieldPath, ...] = (
    ("metadata", "namespace"),
    ("spec", "template", "metadata", "labels"),
)
_NAMES = frozenset({"name", "claimName"})


_REFERENCE = r"\{\{[^{}]*+\}\}|\$\{\{?[^{}]*+\}\}?"


def depends(found: Diagnostic, path: FieldPath, value: Any, open_: Mapping[FieldPath, str]) -> bool:
    """Whether *found* at *path* of a VM, where *value* stands, is about one of its fields *open_*, or may come of one.

    These by what is written there.
    """
    return any(
        _is_about(path, _item(open_path)) or _comes_of(found, path, value, open_path, text)
        for open_path, text in open_.items()
    )


def _is_about(path: FieldPath, open_path: FieldPath) -> bool:
    size = min(len(open_path), len(path))
    return bool(path) and open_path[:size] == path[:size]


def _item(open_path: FieldPath) -> FieldPath:
    """The item of a list that *open_path* is in, whose fields are judged by one another; itself where it is in none."""
    indexes = [place for place, step in enumerate(open_path) if isinstance(step, int)]
    return open_path[: indexes[-1] + 1] if indexes else open_path


def _comes_of(
    found: Diagnostic, path: FieldPath, value: Any, open_path: FieldPath, text: str
) -> bool:
    if "domain" in open_path and not _SIZES.isdisjoint(open_path):
        return found.code in _OF_SIZES
    if open_path == ("metadata", "namespace"):
        return found.code in _OF_NAMESPACE
    if open_path[-1] not in _NAMES or not any(isinstance(step, int) for step in open_path):
        return False
    if found.code == codes.DATA_VOLUME_TEMPLATES.number:
        return True
    if found.code not in _OF_NAMES:
        return False
    # What is found where nothing is written is about an item that is added for one without its partner.
    return value is None or (path[-1:] == ("name",) and _may_become(text, value))


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


def without_unknown(
    found: Sequence[Diagnostic], open_: Collection[FieldPath], *, has_presets: bool
) -> list[Diagnostic]:
    """What is *found* in a VM, without what its definitions may mend where one was not found, or is *open_*.

    Presets (*has_presets*: whether there are any) mend it too, where the VM's namespace or a label may become theirs.
    """
    decided = (*_MATCHERS, *(_SELECTED if has_presets else ()))
    is_open = any(open_path[: len(path)] == path for open_path in open_ for path in decided)
    if not is_open and not any(codes.CODES[diagnostic.code].follows for diagnostic in found):
        return list(found)
    return [diagnostic for diagnostic in found if diagnostic.code not in OF_DEFINITIONS]
