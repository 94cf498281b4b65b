"""Which line of a Helm chart wrote a field: that of a template, and the value that stands in it.

Helm does not say; lines are compared. What is not clear has no line.
"""

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import accumulate

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import relevance
from render.manifests.blame.patches import Position
from render.manifests.discover import ValuesText
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.model.resource import Origin
from render.model.tree import Tree
from render.system import files
from render.yaml.budget import Limits
from render.yaml.reader import Document, locate, read

_ACTION = pattern(r"\{\{.*?\}\}")
_KEY = pattern(r"""\s*(?:- +)*["']?[\w./-]+["']?:(?=\s|$)""")
_FIELD = pattern(r"""(?<![\w.)\]"'])(?:\$\w*)?((?:\.[A-Za-z_]\w*)+)""")
_VALUES = "Values"
#: What templates can ask for beside values.
_BUILT_IN = frozenset({"Capabilities", "Chart", "Files", "Release", "Subcharts", "Template"})
#: Tests, which are asked of no release that is only filled in.
_TEST = pattern(rb"""helm\.sh/hook["']?\s*:[^\n]{0,200}\btest\b""")
_REMARK = (b"{{", b"{{-")
_PARTING, _OUTERMOST = pattern(rb"(?m)^---"), pattern(rb"""(?m)^["']?kind["']?\s*:[^\n]*""")
_LONGEST = 1000
"""Characters of a line that is looked for."""
_BLOCK = pattern(r":\s+[|>][-+0-9]*\s*\Z")
_COMMON = pattern(r"[\d.]*|None|True|False|.{1,2}")
"""What many values may say, one of which need not be meant."""
_SEVERAL = 2
"""Of values that may be meant, so many say that nobody knows which is."""
_MOST_SHAPES = 64
"""Lines of a template that may begin alike and hold an action; each is compared with every line that begins so."""


class FilledChart:
    """What helm has made of a chart: those of the *built* documents that are printed as *display_name*, in *output*.

    *values* are the files that fill the chart in, and *stated* the values in objects: the last one wins.
    """

    __slots__ = (
        "_built", "_called", "_display_name", "_limits", "_lines", "_output", "_parsed", "_printed",
        "_sources", "_starts", "_stated", "_values",
    )  # fmt: skip

    def __init__(
        self,
        built: Sequence[Document],
        display_name: str,
        output: bytes,
        values: tuple[Sequence[str], Sequence[ValuesText]],
        limits: Limits,
    ) -> None:
        self._built = built
        self._display_name = display_name
        self._output = output
        self._values, self._stated = values
        self._limits = limits
        self._printed: list[str] = []
        self._starts: list[int] = []
        self._lines = cache(self._compared)
        self._parsed = cache(self._documents)
        self._sources = cache(self._trees)
        self._called = cache(self._by_name)

    @property
    def files(self) -> Sequence[str]:
        """The files whose values fill the chart in; the last one wins."""
        return self._values

    def position(
        self, index: int, path: FieldPath, _within: tuple[int, int] = (0, 0)
    ) -> Position | None:
        """The line of the template that wrote the field at *path* of the object at *index*."""
        line = self._line(index, path)
        if line is None:
            return None
        file, number, text = line
        return file, number, len(text) - len(text.lstrip(" -")) + 1

    def values(self, index: int, path: FieldPath) -> list[Position]:
        """Where the value stands that a template puts into that field; without lines: the files where it may."""
        document = self._of(index)
        if document is None:
            return []
        line = self._line(index, path)
        if line and "{{" not in line[2] and not _BLOCK.search(line[2]):
            return []
        printed = tree.get(document.body, *path)
        known = self._filling(line[2], printed) if line else None
        if known is None and not isinstance(printed, dict | list):
            known = self._only(str(printed).strip(), path)
        files_ = dict.fromkeys((*self._values, *(stated.origin.file for stated in self._stated)))
        return [known] if known else [(file, 0, 0) for file in files_]

    def _of(self, index: int) -> Document | None:
        """The document at *index*, if the chart has made it."""
        document = self._built[index] if index < len(self._built) else None
        printed = document.printed if document else None
        return document if printed and printed.file == self._display_name else None

    def _only(self, printed: str, path: FieldPath) -> Position | None:
        """Where the only value stands that says what is *printed* at *path*; of a number, the only one of that name."""
        name = next((step for step in reversed(path) if isinstance(step, str)), "")
        same = {
            each.keys: each
            for (key, text), found in self._called().items()
            if text.strip() == printed and (key == name or not _COMMON.fullmatch(printed))
            for each in found
        }
        return next(iter(same.values())).place() if len(same) == 1 else None

    def _filling(self, text: str, printed: Any) -> Position | None:
        """Where the one value stands that the line *text* of a template asks for, and that is *printed* there.

        Where it may ask for several (the one of an item, say, and a default), that is one that says the same.
        """
        wanted: set[tuple[str, ...]] = set()
        of_items: set[str] = set()
        for field in _FIELD.findall(" ".join(_ACTION.findall(text))):
            steps = field.split(".")[1:]
            if _VALUES in steps[:-1]:
                wanted.add(tuple(steps[steps.index(_VALUES) + 1 :]))
            elif steps[0] not in _BUILT_IN:
                of_items.add(steps[-1])
        stated = [self._value(keys) for keys in wanted]
        if len(wanted) == 1 and not of_items:
            is_tree = isinstance(printed, dict | list)
            alike = (
                each for each in stated if each and isinstance(each.value, dict | list) == is_tree
            )
            return next((each.place() for each in alike), None)
        same = {each.keys: each for each in stated if each and str(each.value) == str(printed)}
        for name in of_items:
            same |= {each.keys: each for each in self._called().get((name, str(printed)), ())}
        return next(iter(same.values())).place() if len(same) == 1 else None

    def _value(self, keys: FieldPath) -> "_PlacedValue | None":
        for body, place in self._sources():
            above = tree.get(body, *keys[:-1])
            if isinstance(above, dict) and keys[-1] in above:
                return _PlacedValue(keys, above[keys[-1]], partial(place, keys))
        return None

    def _by_name(self) -> dict[tuple[str, str], list["_PlacedValue"]]:
        """The values by their last key and what they print; of those of one name and text, two are enough."""
        known: set[FieldPath] = set()
        found: dict[tuple[str, str], list[_PlacedValue]] = {}
        for body, place in self._sources():
            for path, value in scalars(body):
                if path in known:
                    continue
                known.add(path)
                same = found.setdefault((str(path[-1]), str(value)), [])
                if len(same) < _SEVERAL:
                    same.append(_PlacedValue(path, value, partial(place, path)))
        return found

    def _trees(self) -> list[tuple[Tree, Callable[[FieldPath], Position]]]:
        """What fills the chart in, the strongest first, and what says where a value of it stands."""
        found: list[tuple[Tree, Callable[[FieldPath], Position]]] = []
        for stated in reversed(self._stated):
            documents = read(stated.text, "", self._limits).documents
            found += (
                (document.body, partial(self._in_object, stated, document.origin))
                for document in documents[:1]
            )
        for file in reversed(self._values):
            data, documents = self._parsed(file)
            found += (
                (document.body, partial(_in_file, file, data, document.origin))
                for document in documents
            )
        return found

    def _in_object(self, stated: ValuesText, origin: Origin, keys: FieldPath) -> Position:
        """Where an object has the value at *keys* of what it has *stated*, which was read as *origin*."""
        data, _ = self._parsed(stated.origin.file)
        path = (*stated.path, *(keys if stated.has_places else ()))
        within = locate(stated.text, origin, keys) if stated.is_text else (0, 0)
        return stated.origin.file, *locate(data, stated.origin, path, within)

    def _documents(self, file: str) -> tuple[bytes, list[Document]]:
        """What the values *file* says and holds."""
        data = files.read(file, file, self._limits.file_bytes)
        if isinstance(data, Diagnostic):
            return b"", []
        return data, read(data, file, self._limits).documents

    def _line(self, index: int, path: FieldPath) -> tuple[str, int, str] | None:
        """The file, the number and the text of the line of a template that wrote a field."""
        document = self._of(index)
        if document is None or document.printed is None:
            return None
        place, _ = locate(self._output, document.printed, path)
        start = document.printed.line
        texts, numbers = self._lines(start, document.origin.file)
        number = numbers[place - start] if 0 <= place - start < len(numbers) else 0
        return (document.origin.file, number, texts[number - 1]) if number else None

    def _compared(self, start: int, file: str) -> tuple[list[str], list[int]]:
        """The lines of the template *file*, and which of them wrote each of what is printed from line *start* on."""
        if not self._printed:
            self._printed = self._output.decode(errors="replace").splitlines()
            origins = (document.printed for document in self._built)
            self._starts = sorted(
                {origin.line for origin in origins if origin and origin.file == self._display_name}
            )
        data = files.read(file, file, self._limits.file_bytes)
        texts = [] if isinstance(data, Diagnostic) else data.decode(errors="replace").splitlines()
        later = self._starts[bisect_right(self._starts, start) :][:1] or [len(self._printed) + 1]
        return texts, compared(texts, self._printed[start - 1 : later[0] - 1])


class _PlacedValue(NamedTuple):
    """A *value* at *keys*, and what says where it stands."""

    keys: FieldPath
    value: Any
    place: Callable[[], Position]


def _in_file(file: str, data: bytes, origin: Origin, keys: FieldPath) -> Position:
    return file, *locate(data, origin, keys)


def scalars(body: Tree) -> Iterator[tuple[FieldPath, Any]]:
    """What *body* holds that is no mapping and no list, with its place."""
    pending: list[tuple[FieldPath, Any]] = [((), body)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict):
            pending += (((*path, key), below) for key, below in value.items())
        elif isinstance(value, list):
            pending += (((*path, index), below) for index, below in enumerate(value))
        elif path:
            yield path, value


def makes_machines(template: bytes) -> bool:
    """Whether VMs, or what makes some, stand in the text of a *template*, and not just references to one.

    What the outermost object of a document is called says that, where it has a line of its own.
    """
    if not relevance.may_be_of_machine(template):
        return False
    for document in _PARTING.split(_without_remarks(template)):
        kinds = _OUTERMOST.findall(document)
        text = b"\n".join(kinds) if kinds else document
        if relevance.may_be_of_machine(text) and not _TEST.search(document):
            return True
    return False


def _without_remarks(template: bytes) -> bytes:
    """The text of *template* without its comments, which it does not print."""
    kept: list[bytes] = []
    place = 0
    begin = template.find(b"/*")
    while begin >= 0:
        end = begin + 2
        if template[max(place, begin - 8) : begin].rstrip().endswith(_REMARK):
            end = template.find(b"*/", end)
            if end < 0:
                break
            kept.append(template[place:begin])
            place = end
        begin = template.find(b"/*", end)
    return b"".join((*kept, template[place:]))


def compared(template: Sequence[str], output: Sequence[str]) -> list[int]:
    """For each line of *output* the line of *template* (from 1) that wrote it, 0 where that is not clear.

    A line that several may have written is that one of them which stands between those of its neighbours.
    """
    known = _Lines(template)
    candidates = list(map(known.candidates, output))
    clear = [found.only() for found in candidates]
    above = list(accumulate(clear, _latest))
    below = [*accumulate(reversed(clear), _latest)][::-1]
    for index, found in enumerate(candidates):
        if not clear[index]:
            clear[index] = found.only(above[index], below[index] or len(template) + 1)
    return clear


def line_of(template: Sequence[str], output: Sequence[str], index: int) -> int:
    """The line of *template* (from 1) that wrote the one at *index* of *output*, 0 where that is not clear.

    A text that stands as often in both, a key that is there twice say, stands in the same order.
    """
    number = compared(template, output)[index]
    text = output[index].rstrip()
    same = [place for place, line in enumerate(template, 1) if line.rstrip() == text]
    printed = [place for place, line in enumerate(output) if line.rstrip() == text]
    if number or len(same) != len(printed):
        return number
    return same[printed.index(index)]


def _latest(known: int, number: int) -> int:
    return number or known


class _Candidates(NamedTuple):
    """The numbers of the lines that may have written one, in order: those with its text, and those with an action."""

    same: Sequence[int] = ()
    shaped: Sequence[int] = ()

    def only(self, low: int = 0, high: int = sys.maxsize) -> int:
        """The one between *low* and *high*, 0 where there is none or several."""
        spans = [(bisect_right(numbers, low), bisect_left(numbers, high)) for numbers in self]
        if sum(end - start for start, end in spans) != 1:
            return 0
        return next(
            numbers[start] for numbers, (start, end) in zip(self, spans, strict=True) if start < end
        )


class _Lines:
    """The lines of a template by their text; and by their key those with an action, as the pieces around it."""

    __slots__ = ("_same", "_shapes")

    def __init__(self, template: Sequence[str]) -> None:
        self._same: dict[str, list[int]] = {}
        self._shapes: dict[str, list[tuple[int, list[str]]]] = {}
        for number, line in enumerate(template, 1):
            text = line.rstrip()
            if len(text) > _LONGEST:
                continue
            if "{{" not in text:
                self._same.setdefault(text, []).append(number)
            elif key := _KEY.match(text):
                pieces = _ACTION.split(text)
                self._shapes.setdefault(key[0], []).append((number, pieces))

    def candidates(self, line: str) -> _Candidates:
        """Which of them may have written the *line* of the output; of too many with an action none is clear."""
        text = line.rstrip()
        if not text or text.startswith(("#", "---")) or len(text) > _LONGEST:
            return _Candidates()
        key = _KEY.match(text)
        shapes = self._shapes.get(key[0] if key else "", [])
        if len(shapes) > _MOST_SHAPES:
            return _Candidates()
        return _Candidates(
            self._same.get(text, ()), [number for number, pieces in shapes if _fits(pieces, text)]
        )


def _fits(pieces: Sequence[str], text: str) -> bool:
    """Whether *text*, without spaces at its end, consists of *pieces* with anything between them."""
    first, *middle, last = pieces if len(pieces) > 1 else (*pieces, "")
    if not f"{text} ".startswith(first):
        return False
    place = len(first)
    for piece in middle:
        found = f"{text} ".find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    if len(pieces) == 1:
        return place == len(text)
    return text.endswith(last) and len(text) - len(last) >= min(place, len(text))
