"""What differs between two texts, in the notation of ``diff -u``; the work grows with the texts, not with their square.

A file of VMs repeats its lines thousands of times, and difflib weighs each against each.
"""

import bisect
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from render.diagnostics.secrets import MASK
from render.model.named_tuple import NamedTuple

CONTEXT = 3
"""Unchanged lines around a change."""
SMALL = 4096
"""Pairs of lines that difflib may compare: lines without a counterpart on a page of YAML, not in a file."""


class Hunk(NamedTuple):
    """Lines ``start`` to ``end`` (from 0, the end not included) become the lines ``to_start`` to ``to_end``."""

    start: int
    end: int
    to_start: int
    to_end: int


def diff(
    before: str,
    after: str,
    file: str,
    private: Callable[[str], frozenset[int]] = lambda _: frozenset(),
) -> str:
    """The unified diff that ``git apply`` and ``patch -p1`` make *after* from *before* with; ``""`` for equal texts.

    *private* answers the numbers, from 0, of lines in a text that nobody else may read: they are no context, and one
    that changes says so only, so that such a diff is to be read and not applied.
    """
    old, new = _lines(before), _lines(after)
    hunks = list(changes(old, new))
    context: frozenset[int] = frozenset()
    if hunks:
        context = private(before)
        old = [_withheld(line) if n in context else line for n, line in enumerate(old)]
        hidden = private(after)
        new = [_withheld(line) if n in hidden else line for n, line in enumerate(new)]
    texts = [_hunk(group, old, new, context) for group in _groups(hunks, context)]
    head = (f"--- {_name(f'a/{file}')}\n", f"+++ {_name(f'b/{file}')}\n") if texts else ()
    return "".join((*head, *texts))


def changes(old: Sequence[str], new: Sequence[str]) -> Iterator[Hunk]:
    """What turns *old* into *new*, from top to bottom, with unchanged lines in between.

    It need not be the least.
    """
    ends = [(-1, -1), *_counterparts(old, new), (len(old), len(new))]
    for (start, to_start), (end, to_end) in pairwise(ends):
        if end - start > 1 or to_end - to_start > 1:
            yield from _between(old, new, Hunk(start + 1, end, to_start + 1, to_end))


def _withheld(line: str) -> str:
    return f"{line[: len(line) - len(line.lstrip())]}{MASK}\n"


def _lines(text: str) -> list[str]:
    """The lines as git and patch count them: whatever else YAML or Python take for a line break is a character."""
    return list(io.StringIO(text, newline="\n"))


def _counterparts(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of equal lines, both numbers rising.

    The nth of the lines that say the same goes with the nth, where as many say it on both sides; of those pairs, as
    many as do not cross.
    """
    counts = Counter(new)
    common = {line for line, count in Counter(old).items() if counts[line] == count}
    places: dict[str, list[int]] = {line: [] for line in common}
    for number in reversed(range(len(new))):
        if new[number] in common:
            places[new[number]].append(number)
    pairs = [(n, places[line].pop()) for n, line in enumerate(old) if line in common]
    return _rising(pairs)


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most of *pairs*, whose first numbers rise, of which the second numbers rise too."""
    # By length, the least second number in which a row may end, and its pair; by pair, the one before it in its row.
    last: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for index, (_, number) in enumerate(pairs):
        length = bisect.bisect_left(last, number)
        last[length : length + 1] = [number]
        ends[length : length + 1] = [index]
        previous.append(ends[length - 1] if length else -1)
    rising: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        rising.append(pairs[index])
        index = previous[index]
    return rising[::-1]


def _between(old: Sequence[str], new: Sequence[str], gap: Hunk) -> Iterator[Hunk]:
    """The changes in *gap*, without what is equal at its ends."""
    start, end, to_start, to_end = gap
    while start < end and to_start < to_end and old[start] == new[to_start]:
        start, to_start = start + 1, to_start + 1
    while start < end and to_start < to_end and old[end - 1] == new[to_end - 1]:
        end, to_end = end - 1, to_end - 1
    if 0 < (end - start) * (to_end - to_start) <= SMALL:
        import difflib

        matcher = difflib.SequenceMatcher(
            None, old[start:end], new[to_start:to_end], autojunk=False
        )
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag != "equal":
                yield Hunk(start + a, start + b, to_start + c, to_start + d)
    elif start < end or to_start < to_end:
        yield Hunk(start, end, to_start, to_end)


def _groups(hunks: Iterable[Hunk], private: frozenset[int]) -> list[list[Hunk]]:
    """Changes whose context meets are one hunk; *private* lines are no context."""
    groups: list[list[Hunk]] = []
    for change in hunks:
        end = groups[-1][-1].end if groups else change.start
        if (
            groups
            and change.start - end <= 2 * CONTEXT
            and private.isdisjoint(range(end, change.start))
        ):
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(
    group: Sequence[Hunk], old: Sequence[str], new: Sequence[str], private: frozenset[int]
) -> str:
    start = group[0].start
    while start > max(0, group[0].start - CONTEXT) and start - 1 not in private:
        start -= 1
    end = group[-1].end
    while end < min(len(old), group[-1].end + CONTEXT) and end not in private:
        end += 1
    to_start = start + group[0].to_start - group[0].start
    to_end = end + group[-1].to_end - group[-1].end
    lines = [f"@@ -{_span(start, end)} +{_span(to_start, to_end)} @@\n"]
    for change in group:
        lines += (_marked(" ", line) for line in old[start : change.start])
        lines += (_marked("-", line) for line in old[change.start : change.end])
        lines += (_marked("+", line) for line in new[change.to_start : change.to_end])
        start = change.end
    lines += (_marked(" ", line) for line in old[start:end])
    return "".join(lines)


def _span(start: int, end: int) -> str:
    """The lines *start* to *end* as a hunk counts them: from 1, and no lines from the line before."""
    return f"{start + 1}" if end - start == 1 else f"{start + (end > start)},{end - start}"


def _marked(mark: str, line: str) -> str:
    return (
        f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
    )


def _character(char: str) -> str:
    """*char* of a name in quotes: itself, or its bytes as octal numbers."""
    if char.isprintable() and char not in '"\\':
        return char
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(char))


def _name(file: str) -> str:
    """*file* as git writes it: with a space in it a tab says where it ends, and what cannot be printed is escaped."""
    if not file.isprintable():
        return f'"{"".join(map(_character, file))}"'
    return f"{file}\t" if " " in file else file
