"""What would mend a finding: edits of objects that were read, as data. `render.yaml.editing.rewrite` writes them."""

from collections.abc import Callable, Collection, Iterable, Sequence

from render.model import tree
from render.model.edits import Move, Operation, Put, Remove
from render.model.fieldpath import FieldPath
from render.model.hints import Any, Literal
from render.model.named_tuple import NamedTuple
from render.model.nearest import nearest

_NEAR = 0.6
#: What stays, however little is in it.
_STAYING: tuple[FieldPath, ...] = (("metadata",), ("spec", "template", "spec", "domain"))


Action = Literal["set", "quote", "prepend", "rename", "move", "remove"]
"""What an edit does at its path."""


class FixEdit(NamedTuple):
    """One *action* at *path* of an object.

    *value*: what is set there, the new key of a rename, or the path to which it is moved. A value set behind the last
    item of a list is added to it. What is quoted becomes the text that its author wrote, which only the file has, and
    before which *value* is prepended: it may hold a secret, and stands in no finding.
    *index*: of the object in the input, None for that of the finding.
    """

    path: FieldPath
    action: Action
    value: Any = None
    index: int | None = None  # type: ignore[assignment] # nobody searches an edit as a tuple

    @property
    def target(self) -> FieldPath:
        """The place that something gets which stands at *path*: `path` itself, unless it is moved or renamed."""
        if self.action == "rename":
            return (*self.path[:-1], self.value)
        to: FieldPath = self.value if self.action == "move" else self.path
        return to

    def at(self, place: Callable[[FieldPath], FieldPath]) -> "FixEdit":
        """The same edit where *place* puts each path of it."""
        value = place(self.value) if self.action == "move" else self.value
        return self._replace(path=place(self.path), value=value)


class Fix(NamedTuple):
    """A way to mend a finding.

    *safe*: the VMI before and after is the same, or there was none and only one reading of the manifest is possible.
    A finding with several fixes has a choice, which is for its reader.
    """

    title: str
    edits: tuple[FixEdit, ...]
    safe: bool = False

    def __hash__(self) -> int:
        """A value that is set may be a mapping, which has no hash."""
        return hash(self.title)

    def below(self, prefix: FieldPath) -> "Fix":
        """The same where what it is about stands at *prefix* of an object."""
        edits = (edit.at(lambda path: (*prefix, *path)) for edit in self.edits)
        return self._replace(edits=tuple(edits))


def set_to(path: FieldPath, value: Any) -> FixEdit:
    """Set *value* at *path*."""
    return FixEdit(path, "set", value)


def quote(path: FieldPath) -> FixEdit:
    """Put what is written at *path* into quotes."""
    return FixEdit(path, "quote")


def prepend(path: FieldPath, lead: str) -> FixEdit:
    """Put *lead* before the text at *path*."""
    return FixEdit(path, "prepend", lead)


def rename(path: FieldPath, key: str) -> FixEdit:
    """Call the key at *path* *key*."""
    return FixEdit(path, "rename", key)


def move(path: FieldPath, to: FieldPath) -> FixEdit:
    """Carry what stands at *path* over to *to*."""
    return FixEdit(path, "move", to)


def remove(path: FieldPath) -> FixEdit:
    """Drop what stands at *path*."""
    return FixEdit(path, "remove")


def edit_of(operation: Operation) -> FixEdit:
    """*operation* as an edit of a fix."""
    match operation:
        case Put(path, value):
            return FixEdit(path, "set", value)
        case Remove(path):
            return FixEdit(path, "remove")
        case Move(path, to) if path[:-1] == to[:-1]:
            return FixEdit(path, "rename", to[-1])
        case Move(path, to):
            return move(path, to)


def operation(edit: FixEdit, prefix: FieldPath = ()) -> Operation:
    """What *edit* does to an object at *prefix* of a document; ValueError for one that needs the text of a file."""
    path = (*prefix, *edit.path)
    match edit.action:
        case "set":
            return Put(path, edit.value)
        case "remove":
            return Remove(path)
        case "rename":
            return Move(path, (*path[:-1], edit.value))
        case "move":
            return Move(path, (*prefix, *edit.value))
        case "quote" | "prepend":
            raise ValueError(edit)


def respelled(path: FieldPath, value: str, known: Iterable[str]) -> tuple[Fix, ...]:
    """The nearest of *known* at *path* instead of *value*, if one is near; safe where only its case differs."""
    near = nearest(value, [word for word in known if word], cutoff=_NEAR)
    is_same = near.casefold() == value.casefold()
    return (Fix(f"write {near}", (set_to(path, near),), is_same),) if near else ()


def misnamed(path: FieldPath, known: Collection[str]) -> tuple[str, tuple[Fix, ...]]:
    """The nearest of *known* to the key at *path*, which nobody knows, ``""`` if none is near, and what mends it."""
    near = nearest(str(path[-1]), known, cutoff=_NEAR)
    if near:
        return near, (Fix(f"call it {near}", (rename(path, near),)),)
    return near, (Fix("remove it", (remove(path),)),)


_DIGITS = 19
_BOOLEANS = {"true": True, "false": False}


def retyped(path: FieldPath, value: Any, expected: str) -> tuple[Fix, ...]:
    """The *value* at *path* as what JSON Schema calls *expected*, if it is that once it has quotes, or has none."""
    if expected == "string" and isinstance(value, bool | int | float):
        return (Fix("put the value in quotes", (quote(path),), safe=True),)
    if not isinstance(value, str):
        return ()
    meant: int | bool | None = None
    if expected == "boolean":
        meant = _BOOLEANS.get(value.lower())
    elif expected == "integer" and value.removeprefix("-").isdecimal():
        number = int(value) if len(value) <= _DIGITS else None
        meant = number if str(number) == value else None  # 007 is no number to YAML's readers
    if meant is None:
        return ()
    return (Fix(f"write {value.lower()}, without quotes", (set_to(path, meant),), safe=True),)


def choice(*options: tuple[str, FixEdit]) -> tuple[Fix, ...]:
    """Fixes of one edit each, for somebody to choose from."""
    return tuple(Fix(title, (edit,)) for title, edit in options)


def removal(body: Any, paths: Sequence[FieldPath]) -> tuple[FixEdit, ...]:
    """Drop what stands at *paths* of *body*, and the mappings that hold nothing else, but for the outermost."""
    gone = set(paths)
    for path in paths:
        for end in range(len(path) - 1, 0, -1):
            if any(path[:end] == staying[:end] for staying in _STAYING):
                break
            inside = tree.get(body, *path[:end])
            if not isinstance(inside, dict) or any(
                (*path[:end], key) not in gone for key in inside
            ):
                break
            gone.add(path[:end])
    top = [path for path in gone if not any(path[:end] in gone for end in range(len(path)))]
    return tuple(remove(path) for path in sorted(top, key=str))
