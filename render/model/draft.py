"""A working copy of a JSON tree that copies only what is edited.

Rendering touches a few dozen places of a VM and shares everything else: with the input, with the
instancetype, with other VMs. A draft keeps that safe, because a mapping or list is copied the first
time that the draft changes it.
"""

from collections.abc import Callable, Iterator
from functools import partial

from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.tree import Tree, get


class Draft:
    """An editable view of *source*, which stays as it was; `tree` is the edited result."""

    __slots__ = ("_owned", "get", "tree")

    def __init__(self, source: Tree) -> None:
        self.tree: Tree = dict(source)
        # The values keep the copies alive: an id is unique only while its object lives.
        self._owned: dict[int, Any] = {id(self.tree): self.tree}
        self.get: Callable[..., Any] = partial(get, self.tree)
        """The value at a path, None where absent. Never edit what this returns."""

    def put(self, path: FieldPath, value: Any) -> None:
        """Set *value* at *path*; missing mappings on the way are created, lists must exist."""
        self._parent(path)[path[-1]] = value

    def ensure(self, path: FieldPath) -> None:
        """Create an empty mapping at *path* unless something is there."""
        if self.get(*path) is None:
            self.put(path, {})

    def append(self, path: FieldPath, item: Any) -> None:
        """Add *item* to the list at *path*, which is created if needed."""
        self.put(path, [*(self.get(*path) or ()), item])

    def remove(self, path: FieldPath) -> None:
        """Drop the key at *path*; nothing happens where it is absent."""
        if self.get(*path) is not None:
            self._parent(path).pop(path[-1])

    def _parent(self, path: FieldPath) -> Any:
        node: Any = self.tree
        owned = self._owned
        for step in path[:-1]:
            try:
                child = node[step]
            except KeyError:
                child = None
            if id(child) not in owned:
                child = {} if child is None else child.copy()
                node[step] = child
                owned[id(child)] = child
            node = child
        return node


class TracedDraft(Draft):
    """A draft that remembers what was put where; what was removed leaves no trace."""

    __slots__ = ("_changed",)

    def __init__(self, source: Tree) -> None:
        super().__init__(source)
        self._changed: list[FieldPath] = []

    def put(self, path: FieldPath, value: Any) -> None:
        """Set *value* at *path*, as any draft; of what was there already only the differences count as changed."""
        parent, last = self._parent(path), path[-1]
        old = parent.get(last) if isinstance(parent, dict) else parent[last]
        if isinstance(value, (dict, list)):
            self._changed += _differences(old, value, path)
        elif old is not value:
            self._changed.append(path)
        parent[last] = value

    def changes(self) -> list[FieldPath]:
        """The paths at which something was put since this was last asked, in order."""
        changed, self._changed = list(dict.fromkeys(self._changed)), []
        return changed


def additions(old: Any, new: Any, path: FieldPath) -> Iterator[FieldPath]:
    """The paths below *path* at which *new* has something and *old* nothing.

    Lists are compared as far as both go: items that follow in *new* are not said, since nobody who asks adds any.
    """
    if old is None:
        yield path
    elif isinstance(new, dict) and isinstance(old, dict):
        for key, value in new.items():
            before = old.get(key)
            if before is not value or value is None:  # what is the same has nothing more
                yield from additions(before, value, (*path, key))
    elif isinstance(new, list) and isinstance(old, list):
        for index, (before, value) in enumerate(zip(old, new, strict=False)):
            if before is not value or value is None:
                yield from additions(before, value, (*path, index))


def _differences(old: Any, new: Any, path: FieldPath) -> Iterator[FieldPath]:
    """The paths at which *new* has what *old* has not."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in new.items():
            yield from _differences(old.get(key), value, (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index, value in enumerate(new):
            known = old[index] if index < len(old) else None
            yield from _differences(known, value, (*path, index))
    elif old is not new:
        yield path
