"""What is said of VMs that keep an older content of an object than it has now."""

from collections.abc import Iterable

_MAX_LISTED = 3
_DIFFERS = " differs from what "


def listed(names: Iterable[str]) -> str:
    """The first of *names*, and how many more there are."""
    ordered = sorted(names)
    more = f" and {len(ordered) - _MAX_LISTED} more" if len(ordered) > _MAX_LISTED else ""
    return f"{', '.join(ordered[:_MAX_LISTED])}{more}"


def message(title: str, names: Iterable[str]) -> str:
    """That the object *title* differs from what the VMs of these *names* are pinned to."""
    ordered = sorted(names)
    who = "is pinned to; it keeps" if len(ordered) == 1 else "are pinned to; they keep"
    return f"{title}{_DIFFERS}{listed(ordered)} {who} the old content"


def of_all(known: str, names: Iterable[str]) -> str:
    """The message *known* about some VMs, for those of all these *names*."""
    return message(known.partition(_DIFFERS)[0], names)
