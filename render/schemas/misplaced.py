"""Fields that stand where their type has none of this name: where the schema has one, and what puts them there."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import takewhile

from render.diagnostics.cause import Cause
from render.diagnostics.codes import CONTENT_DROPPED, MISSING_FIELD, WRONG_TYPE
from render.diagnostics.fix import Fix, move
from render.model import fieldpath, tree, types
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.nearest import is_slip
from render.model.release import Version
from render.model.tree import Tree
from render.schemas import refusals

Misfits = Callable[[Any, str], list[Cause]]
"""What speaks against a value of a Go type."""

_NAMING = frozenset(
    ("kubevirt.DataVolumeSource", "kubevirt.InstancetypeMatcher", "kubevirt.PreferenceMatcher")
)
_OF_OBJECTS = ("apiVersion", "namespace")
"""What an object says of itself is not what is meant where something names another."""
_MOST = 3
"""Of more places none is worth a word."""
_NEAR = 2
"""A name that several structs have says nothing of one that is further away than so many steps."""


class _KnownField(NamedTuple):
    """A field of the right name at *path*, *steps* from where it was written; *beside*: neither above it nor below."""

    path: FieldPath
    go_type: str
    steps: int
    beside: bool


def placed(cause: Cause, body: Tree, type_name: str, release: Version, misfits: Misfits) -> Cause:
    """*cause*, an unknown field of *body*, with the place where the schema of *type_name* has one, if there is any.

    A field that is near in name and takes the value comes first where letters alone tell them apart (`is_slip`), or
    where no one place is sure to be meant; but for one of the same name in what stands around.
    Moved is what takes no harm: up or down, never to the side, where the value is as it should be and nothing stands.
    Where several places would do, that is a choice.
    """
    key, value = str(cause.path[-1]), tree.get(body, *cause.path)
    holders = list(_holders(type_name, cause.path[:-1], release))
    holder = holders[-1][1]
    if value is None or _is_told_by_name(holder, key, release):
        return cause
    near = next((fix.edits[0].value for fix in cause.fixes if _is_rename(fix)), "")
    places = list(_places(key, holders, release))
    found = {place: misfits(value, place.go_type) for place in places}
    around = [place for place in places if _is_around(place, cause.path) and not found[place]]
    near_type = types.fields(holder, release)[near].type if near else ""
    fitting = [place for place in places if _is_of_shape(found[place])]
    nearest = _nearest(fitting, body) or ([] if near else _nearest(places, body))
    is_exact = len(nearest) == 1 and not found[nearest[0]] and not is_slip(key, near)
    if near and not (around or is_exact) and _is_of_shape(misfits(value, near_type)):
        return cause
    if not nearest:
        return cause
    moves = [
        Fix(f"move it to {fieldpath.text(place.path)}", (move(cause.path, place.path),))
        for place in nearest
        if (_is_opened(body, place.path) or not (found[place] or place.beside))
        and _is_free(body, place.path)
    ]
    fixes = tuple(moves) if len(moves) == len(nearest) else ()
    cure = (
        fixes[0].title if len(fixes) == 1 else f"{types.owner(type_name)} has it{_named(nearest)}"
    )
    if not fixes and len(nearest) == 1 and not _is_free(body, nearest[0].path):
        cure += ", where something else is"
    return cause._replace(help=cure, fixes=fixes)


def _is_told_by_name(holder: str, key: str, release: Version) -> bool:
    """Whether what is said of a field *key* of a *holder* comes of its name alone, wherever else there is one."""
    if holder in _NAMING and key in _OF_OBJECTS:
        return True
    called = refusals.OTHERWISE_CALLED.get((holder, key), "")
    return called in types.fields(holder, release) or bool(refusals.not_known_here(holder, key))


def awaiting(causes: Sequence[Cause]) -> list[Cause]:
    """*causes* of one object; what is missing or empty until another finding is mended is not mended otherwise."""
    moved = {
        fix.edits[0].value: cause.path
        for cause in causes
        for fix in cause.fixes
        if fix.edits[0].action == "move"
    }
    filled = {target[:-1]: path for target, path in moved.items()}

    def awaited(cause: Cause) -> FieldPath | None:
        if cause.check == MISSING_FIELD.slug:
            return moved.get(cause.path) or filled.get(cause.path)
        return filled.get(cause.path) if cause.check == CONTENT_DROPPED.slug else None

    return [
        cause._replace(help=f"move {fieldpath.text(path)} there", fixes=())
        if (path := awaited(cause))
        else cause
        for cause in causes
    ]


def _named(places: Sequence[_KnownField]) -> str:
    """Where *places* are, what they have in common once."""
    paths = [place.path for place in places]
    same = takewhile(lambda steps: len(set(steps)) == 1, zip(*paths, strict=False))
    around = len(list(same)) if len(paths) > 1 else 0
    *names, last = (fieldpath.text(path[around:]) for path in paths)
    listed = f"{', '.join(names)} or {last}" if names else last
    return f" in {fieldpath.text(paths[0][:around])} as {listed}" if around else f" as {listed}"


def _is_around(place: _KnownField, written: FieldPath) -> bool:
    """Whether *place* is in a struct that is around what is *written*."""
    return place.path[:-1] == written[: len(place.path) - 1]


def _is_rename(fix: Fix) -> bool:
    return fix.edits[0].action == "rename"


def _holders(type_name: str, path: FieldPath, release: Version) -> Iterator[tuple[FieldPath, str]]:
    """The structs on the way to *path* in a struct of this type, with their places, outermost first."""
    go_type = type_name
    yield (), go_type
    for end, step in enumerate(path, 1):
        if types.is_struct(go_type):
            go_type = types.fields(go_type, release)[str(step)].type
        else:
            go_type = (
                go_type.removeprefix("[]") if go_type[:2] == "[]" else go_type.partition("]")[2]
            )
        go_type = go_type.removeprefix("*")
        if types.is_struct(go_type):
            yield path[:end], go_type


def _places(
    key: str, holders: Sequence[tuple[FieldPath, str]], release: Version
) -> Iterator[_KnownField]:
    """Where a field *key* would be known, seen from the innermost of *holders*; not in the items of lists."""
    known: set[FieldPath] = set()
    for up, (above, type_name) in enumerate(reversed(holders)):
        for below, go_type in _fields_below(type_name, release).get(key, ()):
            path, down = (*above, *below), len(below) - 1
            if path not in known:
                known.add(path)
                yield _KnownField(path, go_type, up + down, beside=bool(up and down))


@cache
def _fields_below(type_name: str, release: Version) -> dict[str, tuple[tuple[FieldPath, str], ...]]:
    """The fields of a struct and of those in it by name: their places, and their types."""
    found: dict[str, tuple[tuple[FieldPath, str], ...]] = {}
    for name, field in types.fields(type_name, release).items():
        found[name] = (((name,), field.type), *found.get(name, ()))
        inner = field.type.removeprefix("*")
        if types.is_struct(inner):
            for key, places in _fields_below(inner, release).items():
                own = tuple(((name, *path), go_type) for path, go_type in places)
                found[key] = (*found.get(key, ()), *own)
    return found


def _nearest(places: Sequence[_KnownField], body: Tree) -> list[_KnownField]:
    """Those of *places* that somebody may have meant: of alternatives below, the ones that *body* has begun.

    What stands right beside a field with nothing in it is what belongs in that: it is not indented far enough.
    """
    opened = [place for place in places if place.steps == 1 and _is_opened(body, place.path)]
    if opened:
        return opened if len(opened) <= _MOST else []
    least = min((place.steps for place in places), default=0)
    nearest = [place for place in places if place.steps == least]
    if len(places) > 1 and least > _NEAR:
        return []
    if not any(place.beside for place in nearest):
        begun = [place for place in nearest if tree.get(body, *place.path[:-1]) is not None]
        nearest = begun or nearest
    return nearest if len(nearest) <= _MOST else []


def _is_opened(body: Tree, path: FieldPath) -> bool:
    """Whether what *path* leads into is written in *body*, with nothing in it."""
    *above, holder = path[:-1] or ("",)
    around = tree.get(body, *above)
    return isinstance(around, dict) and holder in around and around[holder] is None


def _is_of_shape(misfits: Sequence[Cause]) -> bool:
    """Whether a value is a mapping, a list, a text or a number as it should be, whatever is wrong inside."""
    return not any(cause.check == WRONG_TYPE.slug and not cause.path for cause in misfits)


def _is_free(body: Tree, path: FieldPath) -> bool:
    """Whether nothing stands at *path* of *body*, and a mapping, or nothing, around it."""
    for end in range(1, len(path)):
        around = tree.get(body, *path[:end])
        if around is None:
            return True
        if isinstance(path[end], str) and not isinstance(around, dict):
            return False
    return path[-1] not in tree.get(body, *path[:-1])
