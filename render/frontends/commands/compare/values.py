"""Which values of a chart a change edits: they decide what the chart makes, also by conditions in its templates."""

import os
from collections.abc import Iterator, Sequence
from functools import cache

from render.diagnostics.diagnostic import Diagnostic
from render.frontends.commands.compare.states import NamedState
from render.manifests.charts.layout import ChartFiles
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.resource import Origin
from render.report.places import Place
from render.system import files
from render.yaml import positions
from render.yaml.budget import Limits
from render.yaml.reader import read

#: What changes no field below the metadata of an object.
_WITHOUT_EFFECT = (".md", "/Chart.yaml", "/Chart.lock")


class _ValuesFile(NamedTuple):
    """A file of one state: its *data*, and what it says as YAML, where its first document begins."""

    data: bytes | Diagnostic
    body: Any = None
    origin: Origin | None = None


class EditedValues:
    """The values files of a chart in two states, *old* and *new*; each is read once, and no sooner than asked for."""

    __slots__ = ("_by_line", "_limits", "_read", "_states", "edits", "is_all")

    def __init__(self, old: NamedState, new: NamedState, limits: Limits) -> None:
        self._states = old, new
        self._limits = limits
        #: Where the values are that differ.
        self.edits = cache(self._edits)
        #: Whether nothing else differs of which the chart makes more than metadata.
        self.is_all = cache(self._is_all)
        self._by_line = cache(self._indexed)
        self._read = cache(self._text)

    def at(self, file: str, line: int) -> Place | None:
        """The first value that differs on that line, None where none does."""
        return self._by_line().get((file, line))

    def _indexed(self) -> dict[tuple[str, int], Place]:
        return {(edit.file, edit.line): edit for edit in reversed(self.edits())}

    def _edits(self) -> tuple[Place, ...]:
        names = dict.fromkeys(file for state in self._states for file in state.values)
        return tuple(place for file in names for place in self._edits_of(file))

    def _edits_of(self, file: str) -> Iterator[Place]:
        old, new = (self._read(side, file) for side in range(2))
        for path in differing(old.body, new.body):
            text = old if tree.get(new.body, *path) is None else new
            if text.origin is not None and isinstance(text.data, bytes):
                yield Place(file, *positions.locate(text.data, text.origin, path))

    def _is_all(self) -> bool:
        found = [
            {os.path.relpath(file, top) for file in ChartFiles(top).files}
            for top in (state.places.path(state.chart) for state in self._states)
        ]
        names = {
            os.path.join(state.chart, name)
            for state, inner in zip(self._states, found, strict=True)
            for name in inner
        }
        values = {file for state in self._states for file in state.values}
        return all(
            self._read(0, name).data == self._read(1, name).data
            for name in names - values
            if not name.endswith(_WITHOUT_EFFECT)
        )

    def _text(self, side: int, file: str) -> _ValuesFile:
        state = self._states[side]
        data = files.read(state.places.path(file), file, self._limits.file_bytes)
        if isinstance(data, Diagnostic) or file not in state.values:
            return _ValuesFile(data)
        documents = read(data, file, self._limits).documents
        return (
            _ValuesFile(data, documents[0].body, documents[0].origin)
            if documents
            else _ValuesFile(data)
        )


def differing(old: Any, new: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Where two trees differ, as far down as both have the same keys, and lists the same length."""
    pairs: Sequence[tuple[Any, Any, Any]] = ()
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = [(key, old.get(key), new.get(key)) for key in dict.fromkeys((*new, *old))]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(index, *both) for index, both in enumerate(zip(old, new, strict=True))]
    elif old != new:
        yield path
    for key, before, after in pairs:
        if before != after:
            yield from differing(before, after, (*path, key))
