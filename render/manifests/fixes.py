"""Where in files the edits of a fix are made: in what its author wrote, and never in what was built of that."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from render.diagnostics.diagnostic import Diagnostic
from render.diagnostics.fix import FixEdit, operation
from render.manifests.documents import Documents
from render.manifests.sources.intake import STDIN
from render.model import tree
from render.model.edits import Operation
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING, Any
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree
from render.yaml.budget import Limits
from render.yaml.reader import Document

if TYPE_CHECKING:
    from render.yaml.editing.rewrite import Edits, LineChange, Unwritten
    from render.yaml.stream import Chunk


class FileEdit(NamedTuple):
    """An edit of the *document* of *file* with this number, where an object (of a List) stands at *route*."""

    file: str
    document: int
    route: FieldPath
    edit: FixEdit

    @property
    def path(self) -> FieldPath:
        """Where it is made in the document."""
        return (*self.route, *self.edit.path)


class FileFix(NamedTuple):
    """A fix whose *edits* have their places in files; *changes* are the lines that they change, if somebody asks."""

    title: str
    safe: bool
    edits: tuple[FileEdit, ...]
    changes: tuple["LineChange", ...] = ()


def placed(diagnostic: Diagnostic, loaded: Documents) -> tuple[FileFix, ...]:
    """The fixes of *diagnostic* whose edits all have a place in files of *loaded*."""
    if not diagnostic.fixes or loaded.filled:  # a template of a chart is no YAML
        return ()
    return tuple(_placed(diagnostic, loaded))


def _placed(diagnostic: Diagnostic, loaded: Documents) -> Iterator[FileFix]:
    for fix in diagnostic.fixes:
        edits = edits_of(diagnostic.location.index, fix.edits, loaded)
        if edits:
            yield FileFix(fix.title, fix.safe, edits)


def edits_of(
    index: int | None, edits: Sequence[FixEdit], loaded: Documents
) -> tuple[FileEdit, ...]:
    """Where in files of *loaded* the *edits* of the object at *index* are made; none if one of them has no place."""
    placed_edits = [_edit(index, edit, loaded) for edit in edits]
    return () if None in placed_edits else tuple(edit for edit in placed_edits if edit is not None)


def _edit(finding_index: int | None, edit: FixEdit, loaded: Documents) -> FileEdit | None:
    index = finding_index if edit.index is None else edit.index
    if index is None or index >= len(loaded.documents):
        return None
    document = loaded.documents[index]
    origin = document.origin
    if origin.file == STDIN or origin.file not in loaded.data:
        return None
    written = document.body
    if document.printed is not None:
        ways = (edit.path, edit.target)
        if document.before is None or not all(_is_as_written(document, way) for way in ways):
            return None
        written = document.before
        if any(loaded.blame(index, way) is not None for way in ways):
            return None
    path = _within(written, edit.path)
    if path is None or (edit.target != edit.path and _is_taken(written, edit.target)):
        return None
    route = origin.route
    placed_edit = edit._replace(path=path, index=None)
    if edit.action == "quote":
        from render.yaml import positions

        text = positions.plain_text(loaded.data[origin.file], origin.document, (*route, *path))
        if text is None:
            return None
        placed_edit = FixEdit(path, "set", text)
    elif edit.action == "prepend":
        placed_edit = FixEdit(path, "set", edit.value + tree.get(written, *path))
    return FileEdit(origin.file, origin.document, route, placed_edit)


def by_file(edits: Iterable[FileEdit]) -> dict[str, "Edits"]:
    """*edits* as the writer takes them, for each file."""
    placed_edits: dict[str, dict[int, list[tuple[FieldPath, Operation]]]] = {}
    for file_edit in edits:
        own = placed_edits.setdefault(file_edit.file, {}).setdefault(file_edit.document, [])
        own.append((file_edit.route, operation(file_edit.edit)))
    return {**placed_edits}


class FileTexts:
    """The texts of files with edits: what was asked for before is known. *data* is what a file says now."""

    def __init__(self, data: Callable[[str], bytes], limits: Limits) -> None:
        self._data = data
        self._limits = limits
        self._known: dict[tuple[str, bytes, str], str | Unwritten] = {}

    def after(self, edits: Mapping[str, "Edits"]) -> dict[str, str] | str:
        """The new text of each file that *edits* change, or why there is none."""
        from render.yaml.editing import rewrite

        texts: dict[str, str] = {}
        for file, own in edits.items():
            data = self._data(file)
            key = file, data, repr(own)
            if key not in self._known:
                self._known[key] = rewrite.rewritten(data, file, own, self._limits)
            text = self._known[key]
            if not isinstance(text, str):
                return f"{file} cannot be rewritten: {text.why}"
            texts[file] = text
        return texts


_REWRITES, _SMALL = 8, 1 << 16
"""How often the characters of a file are written anew for its fixes, and how many more: each fix takes its document."""


class LineChanges:
    """The lines that fixes of one input change; none of a line with a secret is told."""

    def __init__(self, loaded: Documents, limits: Limits) -> None:
        self._loaded = loaded
        self._limits = limits
        self._chunks: dict[str, list[Chunk]] = {}
        self._left: dict[str, int] = {}
        self._private: dict[str, frozenset[int]] = {}

    def of(self, fix: FileFix) -> FileFix:
        """*fix* with the lines that it changes, if all of them may be shown, and that is not too much by now."""
        from render.yaml.editing import rewrite

        changes: list[LineChange] = []
        for file, edits in by_file(fix.edits).items():
            data = self._loaded.data[file]
            chunks = self._chunks_of(file, data)
            size = sum(len(chunks[number].text) for number in edits if number < len(chunks))
            self._left[file] -= size
            if self._left[file] < 0:
                return fix
            found = rewrite.changed_lines(chunks, file, edits, self._limits)
            if isinstance(found, rewrite.Unwritten) or self._is_private(file, data, found):
                return fix
            changes += found
        return fix._replace(changes=tuple(changes))

    def _chunks_of(self, file: str, data: bytes) -> list["Chunk"]:
        if file not in self._chunks:
            from render.yaml import positions

            self._chunks[file] = positions.chunks(data)
            self._left[file] = _REWRITES * len(data) + _SMALL
        return self._chunks[file]

    def _is_private(self, file: str, data: bytes, changes: Iterable["LineChange"]) -> bool:
        if file not in self._private:
            from render.yaml.excerpts.lines import Excerpts

            self._private[file] = Excerpts(data).private()
        lines = (line - 1 for change in changes for line in range(change.first - 1, change.end + 1))
        return not self._private[file].isdisjoint(lines)


def _is_as_written(document: Document, path: FieldPath) -> bool:
    """Whether what was built has at *path*, and in the items of lists on the way, what the file has."""
    for end in range(1, len(path) + 1):
        before, built = (
            _name(tree.get(body, *path[:end])) for body in (document.before, document.body)
        )
        if before != built:
            return False
    return True


def _name(value: Any) -> Any:
    """What tells whether a value is the same one: its own name if it has fields."""
    return (
        value.get("name") if isinstance(value, dict) else None if isinstance(value, list) else value
    )


def _within(body: Tree, path: FieldPath) -> FieldPath | None:
    """*path* in *body*, whose last step is a new item if it is behind the last one; None where nothing can be there."""
    node: Any = body
    for depth, step in enumerate(path):
        if node is None:
            return path if all(isinstance(later, str) for later in path[depth:]) else None
        if isinstance(step, int):
            if not isinstance(node, list):
                return None
            if step >= len(node):
                return (*path[:depth], len(node)) if depth == len(path) - 1 else None
            node = node[step]
        elif isinstance(node, dict):
            node = node.get(step)
        else:
            return None
    return path


def _is_taken(body: Tree, path: FieldPath) -> bool:
    """Whether something stands at *path* of *body*, or nothing can stand there."""
    siblings = tree.get(body, *path[:-1])
    if siblings is None:
        return _within(body, path) is None
    return not isinstance(siblings, dict) or path[-1] in siblings


class EditedPlaces:
    """Where edits are made: no other may be made at, above or below such a place, or move the items around it."""

    def __init__(self) -> None:
        self._places: set[tuple[str, int, FieldPath]] = set()
        self._around: set[tuple[str, int, FieldPath]] = set()

    def overlap(self, edits: Iterable[FileEdit]) -> bool:
        """Whether one of *edits* touches a place that is taken."""
        return any(
            ways[-1] in self._around or not self._places.isdisjoint(ways)
            for edit in edits
            for ways in _ways(edit)
        )

    def take(self, edits: Iterable[FileEdit]) -> None:
        """Let *edits* be made."""
        for edit in edits:
            for ways in _ways(edit):
                self._places.add(ways[-1])
                self._around.update(ways)


def _ways(edit: FileEdit) -> Iterator[list[tuple[str, int, FieldPath]]]:
    """The places from the document down to each whose content *edit* changes."""
    is_moved = edit.edit.target != edit.edit.path
    for reach in (_reach(edit), *([(*edit.route, *edit.edit.target)] if is_moved else ())):
        yield [(edit.file, edit.document, reach[:size]) for size in range(len(reach) + 1)]


def _reach(edit: FileEdit) -> FieldPath:
    """The place whose content the edit changes: of an item that comes or goes, its list."""
    path = edit.path
    last = next((end for end in range(len(path) - 1, -1, -1) if isinstance(path[end], int)), None)
    moves = edit.edit.action in ("remove", "move") or edit.edit.action == "set"
    return path[:-1] if moves and last == len(path) - 1 else path
