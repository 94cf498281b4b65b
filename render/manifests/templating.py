"""Which line of a Helm chart wrote a field: that of a template, and the value that stands in it.

Helm does not say; lines are compared. What is not clear has no line.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from render.diagnostics.diagnostic import Diagnostic
from render.manifests.patches import Position
from render.model import tree
from render.model.fieldpath import FieldPath
from render.system import files
from render.yaml.budget import Limits
from render.yaml.reader import Document, read

_ACTION = re.compile(r"\{\{.*?\}\}")
_KEY = re.compile(r"""\s*(?:- +)*["']?[\w./-]+["']?:(?=\s|$)""")
_VALUE = re.compile(r"\.Values((?:\.[A-Za-z_]\w*)+)")
_LONGEST = 1000
"""Characters of a line that is looked for."""


class PrintedObject(NamedTuple):
    """An object that helm printed: *document* is where it stands in the output, and the *file* that it comes from."""

    document: Document
    file: str


class FilledChart:
    """What helm has made of a chart: *output* in *templates*, which have the indexes from *first* on.

    *values* are the files that fill them in, the last one wins.
    """

    __slots__ = ("_first", "_limits", "_lines", "_output", "_templates", "_values")

    def __init__(
        self,
        output: bytes,
        templates: Sequence[PrintedObject],
        first: int,
        values: Sequence[str],
        limits: Limits,
    ) -> None:
        self._output = output
        self._templates = templates
        self._first = first
        self._values = values
        self._limits = limits
        self._lines = cache(self._compared)

    def position(self, index: int, path: FieldPath) -> Position | None:
        """The line of the template that wrote the field at *path* of the object at *index*."""
        line = self._line(index, path)
        if line is None:
            return None
        file, number, text = line
        return file, number, len(text) - len(text.lstrip(" -")) + 1

    def values(self, index: int, path: FieldPath) -> list[Position]:
        """Where the value stands that a template puts into that field; without lines: the files where it may."""
        if not 0 <= index - self._first < len(self._templates):
            return []
        line = self._line(index, path)
        if line and "{{" not in line[2]:
            return []
        names = set(_VALUE.findall(line[2])) if line else set()
        known = self._value(names.pop().split(".")[1:]) if len(names) == 1 else None
        return [known] if known else [(file, 0, 0) for file in self._values]

    def _value(self, keys: Sequence[str]) -> Position | None:
        from render.yaml import positions

        for file in reversed(self._values):
            data = files.read(file, file, self._limits.file_bytes)
            if isinstance(data, Diagnostic):
                continue
            for document in read(data, file, self._limits).documents:
                above = tree.get(document.body, *keys[:-1])
                if isinstance(above, dict) and keys[-1] in above:
                    return file, *positions.locate(data, document.origin, tuple(keys))
        return None

    def _line(self, index: int, path: FieldPath) -> tuple[str, int, str] | None:
        """The file, the number and the text of the line of a template that wrote a field."""
        from render.yaml import positions

        if not 0 <= index - self._first < len(self._templates):
            return None
        template = self._templates[index - self._first]
        place, _ = positions.locate(self._output, template.document.origin, path)
        texts, numbers = self._lines(index - self._first)
        number = numbers[place - 1] if place <= len(numbers) else 0
        return (template.file, number, texts[number - 1]) if number else None

    def _compared(self, place: int) -> tuple[list[str], list[int]]:
        """The lines of the template at *place*, and for each line of the output which of them wrote it."""
        template = self._templates[place]
        data = files.read(template.file, template.file, self._limits.file_bytes)
        texts = [] if isinstance(data, Diagnostic) else data.decode(errors="replace").splitlines()
        output = self._output.decode(errors="replace").splitlines()
        start = template.document.origin.line - 1
        later = (one.document.origin.line - 1 for one in self._templates)
        end = min((line for line in later if line > start), default=len(output))
        return texts, [*[0] * start, *compared(texts, output[start:end])]


def compared(template: Sequence[str], output: Sequence[str]) -> list[int]:
    """For each line of *output* the line of *template* (from 1) that wrote it, 0 where that is not clear.

    A line that several may have written is that one of them which stands between those of its neighbours.
    """
    same, shapes = _known(template)
    candidates = [list(_candidates(line, same, shapes)) for line in output]
    clear = [one[0] if len(one) == 1 else 0 for one in candidates]
    above = list(accumulate(clear, _latest))
    below = [*accumulate(reversed(clear), _latest)][::-1]
    for index, lines in enumerate(candidates):
        low, high = above[index], below[index] or len(template) + 1
        between = lines[bisect_right(lines, low) : bisect_left(lines, high)]
        if len(lines) > 1 and len(between) == 1:
            clear[index] = between[0]
    return clear


def _latest(known: int, one: int) -> int:
    return one or known


_Shapes = dict[str, list[tuple[int, re.Pattern[str]]]]


def _known(template: Sequence[str]) -> tuple[dict[str, list[int]], _Shapes]:
    """The lines of *template* by their text; and by their key those with an action, as what they may become."""
    same: dict[str, list[int]] = {}
    shapes: _Shapes = {}
    for number, line in enumerate(template, 1):
        if "{{" not in line:
            same.setdefault(line.rstrip(), []).append(number)
        elif (key := _KEY.match(line)) and len(line) <= _LONGEST:
            pieces = _ACTION.split(line.rstrip())
            shape = re.compile(".*".join(map(re.escape, pieces)) + r"\s*")
            shapes.setdefault(key[0], []).append((number, shape))
    return same, shapes


def _candidates(line: str, same: dict[str, list[int]], shapes: _Shapes) -> Iterator[int]:
    text = line.rstrip()
    key = _KEY.match(text)
    if not text or text.startswith(("#", "---")) or len(text) > _LONGEST:
        return
    yield from sorted(
        (
            *same.get(text, ()),
            *(
                n
                for n, shape in shapes.get(key[0] if key else "", ())
                if shape.fullmatch(line) or shape.fullmatch(f"{line} ")
            ),
        )
    )
