"""Which patch of a kustomization wrote a field of what was built (kustomize's api/types/patch.go, selector.go)."""

import os
import re
from collections.abc import Iterator, Sequence

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import kustomization
from render.manifests.blame import origins
from render.manifests.blame.selection import selects
from render.manifests.kustomization import AddedPatch, Reach
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING, Any
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.model.resource import Resource, from_body, text_at
from render.model.tree import Tree
from render.system import files
from render.system.files import real_path
from render.yaml.budget import Limits
from render.yaml.reader import Document, locate, read

if TYPE_CHECKING:
    from render.manifests.blame.replacements import CopiedValues

Position = tuple[str, int, int]
"""File, line and column."""

OPERATIONS = "operations"
"""The key below which the operations of a JSON patch stand in its document."""
_INDEX = pattern(r"[0-9]{1,9}")
_NAMESPACE = ("namespace",)
_RECENT = 8
"""Objects whose patches are remembered: a finding is about one, and the next often about the same."""
_MOST_SELECTED = 200_000
"""How often it is asked whether the target of a patch selects an object, for all objects of a build."""
_WRITING = ("add", "copy", "move", "replace")
_TRIED = 100
"""Operations that write one place or those around it, the last ones, in which a value is looked for."""
_NOTHING = object()


class Patch(NamedTuple):
    """One document of a patch.

    *text* is where it stands, *above* the lines of *file* before that, and *left* the columns; *target* selects
    objects, None: the names in the patch do. Operations of a JSON patch stand below one key. *owner* is the
    kustomization that applies it. *place*: the line and column by which all of it is told, if its own are not known.
    """

    file: str
    above: int
    left: int
    text: bytes
    document: Document
    target: Tree | None
    owner: str = ""
    place: tuple[int, int] | None = None

    def at(self, path: FieldPath, within: tuple[int, int] = (0, 0)) -> Position:
        """Where its *path* stands; *within*: a place in the text there."""
        if self.place is not None:
            return self.file, *self.place
        line, column = locate(self.text, self.document.origin, path, within)
        return self.file, max(1, line + self.above), max(1, column + self.left)


def _pairs(body: Tree, of: FieldPath) -> Iterator[tuple[FieldPath, Tree]]:
    """What the kustomization *body* adds to labels or annotations (*of* says to which), each with its place."""
    found: list[tuple[FieldPath, Any]] = []
    if of == ("labels",):
        entries = body.get("labels")
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            pairs = entry.get("pairs") if isinstance(entry, dict) else None
            found.append((("labels", index, "pairs"), pairs))
        found.append((("commonLabels",), body.get("commonLabels")))
    elif of == ("annotations",):
        found.append((("commonAnnotations",), body.get("commonAnnotations")))
    elif of == _NAMESPACE:
        found.append(((), {key: body[key] for key in of if key in body}))
    yield from ((place, pairs) for place, pairs in found if isinstance(pairs, dict))


def of_operation(words: str, reach: Reach, limits: Limits) -> Position | None:
    """Where the one operation stands of which *words* of kustomize name the path; None where several would be meant."""
    named = {word.rstrip(":,;").strip("\\\"'") for word in words.split()}  # Go quotes what quotes
    found = [
        (text_at(operation, "op"), patch, (OPERATIONS, index, key))
        for patch in _patches(reach, limits)
        for index, operation in enumerate(operations(patch))
        for key in ("path", "from")
        if text_at(operation, key) in named
    ]
    found = [operation for operation in found if operation[0] in named] or found
    return found[0][1].at(found[0][2]) if len(found) == 1 else None


def operations(patch: Patch) -> list[Any]:
    """The operations of *patch*, if it is a list of such."""
    listed = patch.document.body.get(OPERATIONS)
    return listed if isinstance(listed, list) else []


def of_kustomization(file: str, reach: Reach, limits: Limits) -> Iterator[Patch]:
    """The patches that the kustomization *file*, one of those of *reach*, applies itself."""
    return (patch for patch in _patches(reach, limits) if patch.owner == file)


class PatchedBuild:
    """What was *built* of a reach, and which patch wrote what of it; the patches are read once somebody asks.

    Only what was printed as *display_name* was built of it.
    """

    def __init__(
        self, built: Sequence[Document], display_name: str, reach: Reach, limits: Limits
    ) -> None:
        self._built = built
        self._display_name = display_name
        self._reach = reach
        self._limits = limits
        self._replacements: CopiedValues | None = None
        self._known: list[Patch] | None = None
        self._recent: dict[int, list[tuple[Patch, _Operations]]] = {}
        #: The numbers of the patches by the object that they name, and of those with a target, which may select any.
        self._naming: dict[tuple[str, str], list[int]] = {}
        self._targeted: list[int] = []
        self._left = _MOST_SELECTED
        self._renamings: dict[str, frozenset[_Renaming]] = {}
        self._additions: dict[FieldPath, _AddedPairs] = {}

    @property
    def replacements(self) -> "CopiedValues":
        """Those of the reach."""
        if self._replacements is None:
            from render.manifests.blame.replacements import CopiedValues

            self._replacements = CopiedValues(self._reach, self._limits)
        return self._replacements

    def position(
        self, index: int, path: FieldPath, within: tuple[int, int] = (0, 0)
    ) -> Position | None:
        """Where the field at *path* of the object at *index* is written that a patch or generator wrote, else None.

        *within*: a place in the text there.
        """
        if not self._is_built(index):
            return None
        document = self._built[index]
        body = document.body
        is_missing = _at(body, path) is _NOTHING
        while path and _at(body, path) is _NOTHING:  # what is missing is missed in what is around
            path = path[:-1]
        value = _at(body, path)
        for patch, operations in self._of_object(index) if path else ():
            place = _written(patch, operations, body, path, value)
            if place is not None:
                return patch.at(place, within)
        if path and not is_missing and (paired := self._paired(path, value)):
            return paired
        if path and (copied := self.replacements.position(body, path)):
            return copied
        if document.before is not None or document.origin != document.printed:
            return None
        from render.manifests.blame import generated

        return generated.position(document.body, path, self._reach, self._limits, within)

    def name(self, index: int, path: FieldPath) -> Position | None:
        """Where an operation of a patch, or a replacement, calls the field at *path* of the object at *index* so."""
        if not self._is_built(index):
            return None
        for patch, operations in self._of_object(index):
            for number in (operations or {}).get(path, ())[:1]:
                return patch.at((OPERATIONS, number, "path"))
        return self.replacements.target(self._built[index].body, path)

    def patches(self, index: int) -> Iterator[Patch]:
        """Those that are for the object at *index*, the one that comes last first."""
        if self._is_built(index):
            yield from (patch for patch, _ in self._of_object(index))

    def _is_built(self, index: int) -> bool:
        if index >= len(self._built):
            return False
        printed = self._built[index].printed
        return printed is not None and printed.file == self._display_name

    def _of_object(self, index: int) -> "list[tuple[Patch, _Operations]]":
        """The patches of the object at *index*, and the operations of each by where they write, looked up once."""
        if index not in self._recent:
            if len(self._recent) == _RECENT:
                del self._recent[next(iter(self._recent))]
            self._recent[index] = self._looked_up(index)
        return self._recent[index]

    def _looked_up(self, index: int) -> "list[tuple[Patch, _Operations]]":
        if self._known is None:
            self._known = [*_patches(self._reach, self._limits)]
            self._sort(self._known)
            if self._known:
                self._renamings = _renamings(self._reach, self._limits)
        if not self._known:
            return []
        body = self._built[index].body
        resource = from_body(body, 0)
        names = origins.former_names(resource.name, self._reach)
        numbers = {n for name in names for n in self._naming.get((resource.kind, name), ())}
        self._left -= len(self._targeted)
        if self._left >= 0:
            numbers.update(n for n in self._targeted if _selects(self._known[n], resource, names))
        meant = (self._known[number] for number in sorted(numbers))
        return [
            (patch, _operations(patch, body))
            for patch in meant
            if any(renaming.fits(resource) for renaming in self._renamings.get(patch.owner, ()))
        ]

    def _sort(self, known: Sequence[Patch]) -> None:
        """Keep in mind which of the *known* patches may be meant for which object."""
        for number, patch in enumerate(known):
            if patch.target is not None:
                self._targeted.append(number)
                continue
            body = patch.document.body
            meant = text_at(body, "kind"), text_at(body.get("metadata"), "name")
            self._naming.setdefault(meant, []).append(number)

    def _paired(self, path: FieldPath, value: Any) -> Position | None:
        """Where a kustomization gives all of its objects the label or annotation at *path*, or all that it gives.

        Or the namespace.

        (kustomize's api/internal/konfig/builtinpluginconsts; templates of VMs it knows nothing of.)
        """
        if path[:1] != ("metadata",):
            return None
        if path[1:2] not in self._additions:
            self._additions[path[1:2]] = _AddedPairs.of(path[1:2], self._reach, self._limits)
        additions = self._additions[path[1:2]]
        key = str(path[-1]) if path[2:3] or path[1:] == _NAMESPACE else ""
        for file, loaded, document, place, pairs in (
            additions.by_key.get(key, ()) if key else additions.all
        ):
            if key and pairs[key] == value:
                place = (*place, key)  # noqa: PLW2901 - the same place, one step further
            elif key or not isinstance(value, dict) or not pairs.items() <= value.items():
                continue
            return file, *locate(loaded.data, document.origin, place)
        return None


class _AddedPairs(NamedTuple):
    """What the kustomizations of a reach add to labels or annotations: *all* of it, and *by_key*."""

    all: "list[_PairsAtPlace]"
    by_key: "dict[str, list[_PairsAtPlace]]"

    @classmethod
    def of(cls, what: FieldPath, reach: Reach, limits: Limits) -> "_AddedPairs":
        """What those of *reach* add to *what*."""
        additions = cls([], {})
        for file in reach.kustomizations:
            loaded = kustomization.load(file, limits)
            for document in loaded.documents:
                for place, pairs in _pairs(document.body, what):
                    found = _PairsAtPlace(file, loaded, document, place, pairs)
                    additions.all.extend([found] if pairs else [])
                    for key in pairs:
                        additions.by_key.setdefault(key, []).append(found)
        return additions


class _PairsAtPlace(NamedTuple):
    """What the *document* of a kustomization gives to objects at one *place*."""

    file: str
    loaded: kustomization.LoadedKustomization
    document: Document
    place: FieldPath
    pairs: Tree


def _patches(reach: Reach, limits: Limits) -> Iterator[Patch]:
    """Every patch that *reach* applies, the one that comes last first: what is built from is patched before."""
    for added in reversed(reach.patches):
        yield from _added(added, reach.kustomizations[0], limits)
    for file in reach.kustomizations:
        loaded = kustomization.load(file, limits)
        for document in loaded.documents:
            for key in ("patchesJson6902", "patches", "patchesStrategicMerge"):
                entries = document.body.get(key)
                for index, entry in reversed(
                    [*enumerate(entries if isinstance(entries, list) else ())]
                ):
                    line, _ = locate(loaded.data, document.origin, (key, index))
                    if isinstance(entry, dict) and "patch" in entry:
                        inner = (key, index, "patch")
                        line, _ = locate(loaded.data, document.origin, inner)
                    for patch in reversed(_entry(loaded.data, file, line, entry, limits)):
                        yield patch._replace(owner=file)


def _added(added: AddedPatch, owner: str, limits: Limits) -> Iterator[Patch]:
    """The documents of a patch that an object adds to the kustomization *owner*, the last first."""
    file, line, data = owner, 1, b""
    place = None
    if "patch" in added.entry:
        file = added.origin.file
        found = files.read(file, file, limits.file_bytes)
        if isinstance(found, Diagnostic):
            return
        data = found
        line, column = locate(data, added.origin, (*added.path, "patch"))
        place = None if added.is_written else (line, column)
    for patch in reversed(_entry(data, file, line, added.entry, limits)):
        yield patch._replace(owner=owner, place=place)


class _Renaming(NamedTuple):
    """What a kustomization and those that build with it make of the names of its objects."""

    namespace: str = ""
    prefix: str = ""
    suffix: str = ""

    def below(self, body: Tree) -> "_Renaming":
        """The same of the objects of the kustomization *body*, which is built with this one: the outer one wins."""
        return _Renaming(
            self.namespace or text_at(body, "namespace"),
            self.prefix + text_at(body, "namePrefix"),
            text_at(body, "nameSuffix") + self.suffix,
        )

    def fits(self, resource: Resource) -> bool:
        """Whether *resource* is called as an object that came this way."""
        is_here = self.namespace in ("", resource.namespace) or not resource.namespace
        return (
            is_here
            and resource.name.startswith(self.prefix)
            and resource.name.endswith(self.suffix)
        )


_MOST_WAYS = 1_000
"""Of ways from the folder that is built to one of its kustomizations, so many are told apart."""


def _renamings(reach: Reach, limits: Limits) -> dict[str, frozenset[_Renaming]]:
    """What becomes of the names of the objects of each kustomization of *reach*, one for each way that leads there."""
    below = _below(reach, limits)
    ways: dict[str, set[_Renaming]] = {file: set() for file in reach.kustomizations}
    pending = [(file, _Renaming()) for file in reach.kustomizations[:1]]
    while pending:
        file, above = pending.pop()
        for body, listed in below[file]:
            is_edited = reach.edited is not None and file == reach.kustomizations[0]
            here = above.below(reach.edited if is_edited and reach.edited else body)
            if here in ways[file] or len(ways[file]) >= _MOST_WAYS:
                continue
            ways[file].add(here)
            pending += ((other, here) for other in listed)
    return {file: frozenset(known) for file, known in ways.items()}


def _below(reach: Reach, limits: Limits) -> dict[str, list[tuple[Tree, list[str]]]]:
    """The documents of each kustomization of *reach*, with the kustomizations that each lists."""
    files_of = {real_path(os.path.dirname(file) or "."): file for file in reach.kustomizations}
    below: dict[str, list[tuple[Tree, list[str]]]] = {}
    for real, file in files_of.items():
        loaded = kustomization.load(file, limits)
        below[file] = []
        for document, named in zip(loaded.documents, loaded.references, strict=True):
            entries = (reference.entry for reference in named if reference.is_resource)
            targets = (real_path(os.path.join(real, entry)) for entry in entries)
            listed = [files_of[target] for target in targets if target in files_of]
            below[file].append((document.body, listed))
    return below


def _entry(data: bytes, file: str, line: int, entry: Any, limits: Limits) -> list[Patch]:
    """The documents of one *entry* of the kustomization *file*, whose *data* has it at *line*."""
    target = entry.get("target") if isinstance(entry, dict) else None
    named, inline = text_at(entry, "path"), text_at(entry, "patch")
    if isinstance(entry, str):
        is_inline = "\n" in entry or entry.startswith("{")
        named, inline = ("", entry) if is_inline else (entry, "")
    if inline:
        margins = _margins(data, line, inline)
        return _documents(file, margins, inline.encode("utf-8", "replace"), target, limits)
    name = os.path.normpath(os.path.join(os.path.dirname(file), named))
    text = files.read(name, name, limits.file_bytes) if named else b""
    return [] if isinstance(text, Diagnostic) else _documents(name, (0, 0), text, target, limits)


def _margins(data: bytes, line: int, text: str) -> tuple[int, int]:
    """How many lines of *data* are above *text*, which begins at *line* or below, and how many columns left of it."""
    first = text.partition("\n")[0]
    rows = data.decode(errors="replace").split("\n")[line - 1 : line + 1]
    beside, below, *_ = (*rows, "", "")
    if first.strip() and below.strip() == first.strip():
        return line, below.index(first.rstrip())
    column = beside.find(first)
    return (line - 1, column) if first.strip() and column >= 0 else (line, 0)


def _documents(
    file: str, margins: tuple[int, int], text: bytes, target: Tree | None, limits: Limits
) -> list[Patch]:
    above, left = margins
    head = text.lstrip()[:1]
    if head in (b"-", b"[") and not text.lstrip().startswith(b"---"):
        text = f"{OPERATIONS}:\n".encode() + re.sub(rb"(?m)^", b" ", text)
        above, left = above - 1, left - 1
    documents = read(text, file, limits).documents
    return [Patch(file, above, left, text, document, target) for document in documents]


def _selects(patch: Patch, resource: Resource, names: Sequence[str]) -> bool:
    """Whether the target of *patch* selects *resource*, which had one of *names* before."""
    kind, name = text_at(patch.target, "kind"), text_at(patch.target, "name")
    return selects(kind, (resource.kind,)) and selects(name, names)


_Operations = dict[FieldPath, list[int]] | None
"""The numbers of a patch's operations, the last one first, by the place in the object that each writes."""


def _operations(patch: Patch, body: Tree) -> _Operations:
    """Those of *patch* that write something into *body*; None where it is no list of operations."""
    operations = patch.document.body.get(OPERATIONS)
    if not isinstance(operations, list):
        return None
    writing: dict[FieldPath, list[int]] = {}
    for index, operation in reversed([*enumerate(operations)]):
        if isinstance(operation, dict) and operation.get("op") in _WRITING:
            writing.setdefault(steps_of(text_at(operation, "path"), body), []).append(index)
    return writing


def _written(
    patch: Patch, operations: _Operations, body: Tree, path: FieldPath, value: Any
) -> FieldPath | None:
    """Where *patch*, with its *operations*, sets *path* of *body* to *value*."""
    if operations is None:
        return _same(patch.document.body, body, path, value)
    places = (path[:size] for size in range(len(path) + 1))
    candidates = (
        (index, steps) for steps in places for index in operations.get(steps, [])[:_TRIED]
    )
    for index, steps in sorted(candidates, reverse=True):
        operation = patch.document.body[OPERATIONS][index]
        place = _same(operation.get("value"), _at(body, steps), path[len(steps) :], value)
        if place is not None:
            return (OPERATIONS, index, "value", *place)
    return None


def _same(source: Any, built: Any, path: FieldPath, value: Any) -> FieldPath | None:
    """The way to *path* in *source*, if *value* is there; items of lists have names, or else their places."""
    way: list[str | int] = []
    for step in path:
        if isinstance(step, int):
            item = built[step]
            step = place_of(item, step, source)  # noqa: PLW2901 - the same step in another list
        else:
            item = built[step]
        if not _has(source, step):
            return None
        way.append(step)
        source, built = source[step], item
    return tuple(way) if source == value or _is_part(source, value) else None


def _is_part(source: Any, value: Any) -> bool:
    """Whether *source* has some of the fields of *value*, a mapping of scalars: who chose one chose what it says."""
    if not (source and isinstance(source, dict) and isinstance(value, dict)):
        return False
    is_flat = not any(isinstance(child, dict | list) for child in value.values())
    return is_flat and source.items() <= value.items()


def place_of(item: Any, step: int, siblings: Any) -> int:
    """The position of *item* among *siblings* by its name, -1 where none has that; *step* where it has no name."""
    name = text_at(item, "name")
    if name and isinstance(siblings, list):
        return next(
            (n for n, sibling in enumerate(siblings) if text_at(sibling, "name") == name), -1
        )
    return step


def formerly(before: Tree, built: Tree, path: FieldPath) -> FieldPath | None:
    """Where *before* has what *built* has, or lacks, at *path*, by the names of items; None where it has no such place.

    Which item of a list is meant that *built* has not, nobody knows.
    """
    way: list[str | int] = []
    former: Any = before
    item: Any = built
    for step in path:
        is_known = _has(item, step)
        if not is_known and isinstance(step, int):
            return None
        item = item[step] if is_known else None
        former_step = place_of(item, step, former) if isinstance(step, int) else step
        if not _has(former, former_step):
            return None
        way.append(former_step)
        former = former[former_step]
    return tuple(way)


def steps_of(pointer: str, body: Any) -> FieldPath:
    """The path that the JSON *pointer* means in *body*."""
    steps: list[str | int] = []
    for part in pointer.split("/")[1:]:
        key: str | int = part.replace("~1", "/").replace("~0", "~")
        if isinstance(body, list):
            key = len(body) - 1 if part == "-" else int(part) if _INDEX.fullmatch(part) else -1
        steps.append(key)
        body = body[key] if _has(body, key) else None
    return tuple(steps)


def _at(body: Any, path: FieldPath) -> Any:
    for step in path:
        if not _has(body, step):
            return _NOTHING
        body = body[step]
    return body


def _has(value: Any, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(value, list) and 0 <= step < len(value)
    return isinstance(value, dict) and step in value
