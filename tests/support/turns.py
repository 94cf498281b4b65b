"""In which turn tests run: each process gets its part of all of them, what makes it large at the end."""

from collections.abc import Callable, Hashable, Iterable
from itertools import chain, groupby
from typing import TypeVar

_T = TypeVar("_T")


def dealt(
    items: Iterable[_T],
    processes: int,
    *,
    group: Callable[[_T], Hashable],
    is_last: Callable[[_T], bool],
) -> list[_T]:
    """*items* in as many parts of one length as there are *processes*, the parts one after the other.

    Items of a *group* stay together where they can; the groups are dealt out in their order, each to the shortest
    part. In each part those come last that are.
    """
    groups = [list(members) for _, members in groupby(items, key=group)]
    first = [members for members in groups if not is_last(members[0])]
    last = list(chain.from_iterable(members for members in groups if is_last(members[0])))
    parts: list[list[_T]] = [[] for _ in range(processes)]
    for members in first:
        min(parts, key=len).extend(members)
    length = sum(map(len, groups)) // processes
    for number, part in enumerate(parts, start=1):
        fitting = len(last) if number == processes else max(0, length - len(part))
        part.extend(last[:fitting])
        del last[:fitting]
    return list(chain.from_iterable(parts))
