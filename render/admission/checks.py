"""What a check is, and the rows that most checks are.

A row names a place below the VMI spec, in which `EACH` stands for the items of a list, and KubeVirt's message with
``{field}`` (the field that is reported), ``{parent}`` (what is around it) and ``{value}`` to fill in. A rule that needs
a third condition is a function that yields causes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from render.diagnostics.cause import Cause
from render.diagnostics.fix import Fix, respelled
from render.model import fieldpath, tree
from render.model.cluster_config import ClusterConfig
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.tree import Tree

#: In a place: each item of the list.
EACH = "[]"


class Subject(NamedTuple):
    """What a webhook looks at.

    *kind* is the kind of the object that was sent; *spec* and *metadata* are those of the VMI in it (of a VM: of its
    template, with instancetype, preference and defaults), *root* is where that spec stands in the object; *vm* is
    the spec of the VM around it, empty for a bare VMI, and *vm_root* its place; *namespace* is where the object is,
    *holder* the spec of the pool or replica set around all that.
    """

    kind: str
    spec: Tree
    metadata: Tree
    root: FieldPath
    config: ClusterConfig
    release: Version
    vm: Tree
    vm_root: FieldPath
    namespace: str = ""
    holder: Tree = {}  # noqa: RUF012 - never changed

    def get(self, *path: str | int) -> Any:
        """The value at *path* of the VMI spec, None where absent."""
        return tree.get(self.spec, *path)

    def at(self, *path: str | int) -> FieldPath:
        """The place in the object that was sent of *path* in the VMI spec."""
        return (*self.root, *path)

    def text(self, *path: str | int) -> str:
        """`at` as KubeVirt writes it."""
        return fieldpath.text((*self.root, *path))

    def values(self, place: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
        """What stands at *place*, with its path below the VMI spec; nothing for what is absent."""
        yield from _values(self.spec, place, ())

    def has_gate(self, name: str) -> bool:
        """Whether a feature gate is on."""
        return self.config.has_gate(name, self.release)

    @property
    def is_machine(self) -> bool:
        """Whether a VM was sent, which has its instancetype, preference and defaults by now."""
        return self.kind == "VirtualMachine"


def _values_at(node: Any, place: FieldPath) -> Sequence[Any]:
    """What stands at *place* below *node*."""
    for position, step in enumerate(place):
        if step == EACH:
            rest = place[position + 1 :]
            return [value for item in node for value in _values_at(item, rest)]
        node = node.get(step)
        if node is None:
            return ()
    return (node,)


def _values(node: Any, place: FieldPath, path: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
    for position, step in enumerate(place):
        if step == EACH:
            above, rest = (*path, *place[:position]), place[position + 1 :]
            for index, item in enumerate(node):
                yield from _values(item, rest, (*above, index))
            return
        node = node.get(step)
        if node is None:
            return
    yield (*path, *place), node


class Violation(NamedTuple):
    """A `Cause` of the check in whose row the function stands that found it."""

    path: FieldPath
    message: str
    help: str = ""
    place: FieldPath = ()
    fixes: tuple[Fix, ...] = ()


Evaluate = Callable[[Subject], Iterable[Cause | Violation]]


class Check(NamedTuple):
    """A group of rules that upstream runs as one function.

    *name* is ``CONCERN/RULE``, the name of what *evaluate* refuses, or the concern alone where that names each rule in
    the causes that it yields; *needs* names the setting of the cluster that decides it (``gate HostDisk``), empty where
    the object alone does. Asked only if something stands at *where*, below the VMI spec (`EACH`: in some item of a
    list), or at one of *also*; and of *only* these kinds of objects, all if empty. *follows*: the checks after whose
    refusal of the same item this one says nothing new: KubeVirt stops there. *words*: what a text at *where* may be.
    """

    name: str
    evaluate: Evaluate
    needs: str = ""
    where: FieldPath = ()
    only: tuple[str, ...] = ()
    also: tuple[FieldPath, ...] = ()
    follows: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def named(self, found: "Cause | Violation") -> Cause:
        """The cause that *found* is, which *evaluate* yields: under the name of the row where nothing else is said."""
        if isinstance(found, Cause):
            return found
        return Cause(
            self.name, found.path, found.message, found.help, place=found.place, fixes=found.fixes
        )


#: What is wrong with an item of a list, which stands at a path of the object that was sent; None if nothing.
ItemRule = Callable[[Subject, Any, FieldPath], Violation | None]


def each(place: FieldPath) -> Callable[[ItemRule], Evaluate]:
    """A rule that is asked of each item of the list at *place*, with its path in the object that was sent."""

    def of_each(rule: ItemRule) -> Evaluate:
        def evaluate(subject: Subject) -> Iterator[Violation]:
            above = (*subject.root, *place)
            for index, item in enumerate(tree.get(subject.spec, *place) or ()):
                violation = rule(subject, item, (*above, index))
                if violation is not None:
                    yield violation

        return evaluate

    return of_each


def repeated_names(items: Sequence[Tree]) -> Iterator[tuple[int, str]]:
    """The positions of *items* that are called as an earlier one is, with that name; no name is one too."""
    if len(items) == 1:
        return
    known: set[str] = set()
    for index, item in enumerate(items):
        name = item.get("name", "")
        if name in known:
            yield index, name
        known.add(name)


class FieldValue(NamedTuple):
    """A value that a rule looks at: its path below the VMI spec, and the path that KubeVirt reports."""

    path: FieldPath
    value: Any
    reported_path: FieldPath


#: What is wrong with a value: the message, ``""`` if nothing.
Judge = Callable[[Subject, FieldValue], str]


#: Whether there is nothing to say of a value, so that nobody need ask where it stands.
IsRight = Callable[[Subject, Any], bool]


#: The fixes of a value at a path of the object that was sent.
Mend = Callable[[FieldPath, Any], tuple[Fix, ...]]


def judged(  # noqa: PLR0913 - the columns of a row
    name: str,
    place: FieldPath,
    judge: Judge,
    *,
    reported_path: FieldPath = (),
    needs: str = "",
    help: str = "",  # noqa: A002 - the word that users read
    mend: Mend | None = None,
    is_right: IsRight = lambda _, __: False,
) -> Check:
    """A check of each value at *place* that not *is_right* by a function that says what is wrong with it.

    *reported_path* is what KubeVirt reports instead of *place*, with the same indexes in place of `EACH`; *mend* knows
    what would mend it.
    """

    def evaluate(subject: Subject) -> Iterable[Cause]:
        for value in _values_at(subject.spec, place):
            if not is_right(subject, value):
                return causes(subject)
        return ()

    def causes(subject: Subject) -> Iterator[Cause]:
        for path, value in _values(subject.spec, place, ()):
            if is_right(subject, value):
                continue
            field = _with_indexes(reported_path, path) if reported_path else path
            message = judge(subject, FieldValue(path, value, field))
            if message:
                standing = subject.at(*path) if reported_path else ()
                fixes = mend(subject.at(*path), value) if mend else ()
                yield Cause(name, subject.at(*field), message, help, place=standing, fixes=fixes)

    return Check(name, evaluate, needs, where=place)


def _with_indexes(pattern: FieldPath, path: FieldPath) -> FieldPath:
    indexes = iter([step for step in path if isinstance(step, int)])
    return tuple(next(indexes) if step == EACH else step for step in pattern)


def _worded(subject: Subject, place: FieldValue, message: str, value: Any = None) -> str:
    return message.format(
        field=subject.text(*place.reported_path),
        parent=subject.text(*place.reported_path[:-1]),
        value=place.value if value is None else value,
    )


def _saying(message: str) -> Judge:
    """The judge of values that are known to be wrong."""
    return lambda subject, at: _worded(subject, at, message)


def one_of(name: str, place: FieldPath, allowed: Iterable[str], message: str, **more: Any) -> Check:
    """A value other than one of *allowed*; ``help`` names them unless it is given."""
    known = tuple(allowed)
    more.setdefault("help", f"use one of {', '.join(word for word in known if word)}")
    more.setdefault("mend", lambda path, value: respelled(path, value, known))
    more["is_right"] = lambda _, value: value in known
    return judged(name, place, _saying(message), **more)._replace(words=known)


def matches(name: str, place: FieldPath, pattern: str, message: str, **more: Any) -> Check:
    """A text that is not what *pattern* says as a whole."""
    more["is_right"] = lambda _, value: bool(re.fullmatch(pattern, value, re.ASCII))
    return judged(name, place, _saying(message), **more)


def within(name: str, place: FieldPath, least: int, most: int, message: str, **more: Any) -> Check:
    """A number outside of *least* to *most*."""
    more["is_right"] = lambda _, value: least <= value <= most
    return judged(name, place, _saying(message), **more)


def at_most(name: str, place: FieldPath, most: int, message: str, **more: Any) -> Check:
    """A list with more than *most* items, or a text with more characters; `{value}` is the whole."""
    more["is_right"] = lambda _, value: len(value) <= most
    return judged(name, place, _saying(message), **more)


def exclusive(name: str, place: FieldPath, keys: Iterable[str], message: str, **more: Any) -> Check:
    """An object with more than one of *keys*."""
    choice = tuple(keys)
    more["is_right"] = lambda _, value: _count(value, choice) <= 1
    return judged(name, place, _saying(message), **more)


def required(name: str, place: FieldPath, keys: Iterable[str], message: str, **more: Any) -> Check:
    """An object with none of *keys* (an empty text, list or object of Go counts as none)."""
    choice = tuple(keys)
    more["is_right"] = lambda _, value: _count(value, choice) > 0
    return judged(name, place, _saying(message), **more)


def _count(value: Tree, keys: tuple[str, ...]) -> int:
    return len([key for key in keys if value.get(key) is not None])


def needs_gate(name: str, place: FieldPath, gate: str, message: str, **more: Any) -> Check:
    """Something that is allowed only with a feature gate."""
    more.setdefault("help", f"enable the feature gate {gate} in the KubeVirt CR, or leave this out")
    more["is_right"] = lambda subject, _: subject.has_gate(gate)
    return judged(name, place, _saying(message), needs=f"gate {gate}", **more)
