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
    template, with instancetype, preference and defaults), *root* is where that spec stands in the object; *holder* is
    the spec of the VM around it, empty for a bare VMI, and *holder_root* its place; *namespace* is where the object is,
    *owner* the spec of the pool or replica set around all that.
    """

    kind: str
    spec: Tree
    metadata: Tree
    root: FieldPath
    config: ClusterConfig
    release: Version
    holder: Tree
    holder_root: FieldPath
    namespace: str = ""
    owner: Tree = {}  # noqa: RUF012 - never changed

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


def _values(node: Any, place: FieldPath, path: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
    for position, step in enumerate(place):
        if step == EACH:
            rest = place[position + 1 :]
            for index, item in enumerate(node):
                yield from _values(item, rest, (*path, index))
            return
        node = node.get(step)
        if node is None:
            return
        path = (*path, step)
    yield path, node


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
            above = subject.at(*place)
            for index, item in enumerate(subject.get(*place) or ()):
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
) -> Check:
    """A check of each value at *place* by a function that says what is wrong with it.

    *reported_path* is what KubeVirt reports instead of *place*, with the same indexes in place of `EACH`; *mend* knows
    what would mend it.
    """

    def evaluate(subject: Subject) -> Iterator[Cause]:
        for path, value in _values(subject.spec, place, ()):
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


def one_of(name: str, place: FieldPath, allowed: Iterable[str], message: str, **more: Any) -> Check:
    """A value other than one of *allowed*; ``help`` names them unless it is given."""
    known = tuple(allowed)
    more.setdefault("help", f"use one of {', '.join(word for word in known if word)}")
    more.setdefault("mend", lambda path, value: respelled(path, value, known))

    def judge(subject: Subject, at: FieldValue) -> str:
        return "" if at.value in known else _worded(subject, at, message)

    return judged(name, place, judge, **more)._replace(words=known)


def matches(name: str, place: FieldPath, pattern: str, message: str, **more: Any) -> Check:
    """A text that is not what *pattern* says as a whole."""

    def judge(subject: Subject, at: FieldValue) -> str:
        return "" if re.fullmatch(pattern, at.value, re.ASCII) else _worded(subject, at, message)

    return judged(name, place, judge, **more)


def within(name: str, place: FieldPath, least: int, most: int, message: str, **more: Any) -> Check:
    """A number outside of *least* to *most*."""

    def judge(subject: Subject, at: FieldValue) -> str:
        return "" if least <= at.value <= most else _worded(subject, at, message)

    return judged(name, place, judge, **more)


def at_most(name: str, place: FieldPath, most: int, message: str, **more: Any) -> Check:
    """A list with more than *most* items, or a text with more characters; `{value}` is the whole."""

    def judge(subject: Subject, at: FieldValue) -> str:
        return _worded(subject, at, message) if len(at.value) > most else ""

    return judged(name, place, judge, **more)


def exclusive(name: str, place: FieldPath, keys: Iterable[str], message: str, **more: Any) -> Check:
    """An object with more than one of *keys*."""
    choice = tuple(keys)

    def judge(subject: Subject, at: FieldValue) -> str:
        return _worded(subject, at, message) if _count(at.value, choice) > 1 else ""

    return judged(name, place, judge, **more)


def required(name: str, place: FieldPath, keys: Iterable[str], message: str, **more: Any) -> Check:
    """An object with none of *keys* (an empty text, list or object of Go counts as none)."""
    choice = tuple(keys)

    def judge(subject: Subject, at: FieldValue) -> str:
        return "" if _count(at.value, choice) else _worded(subject, at, message)

    return judged(name, place, judge, **more)


def _count(value: Tree, keys: tuple[str, ...]) -> int:
    return sum(value.get(key) is not None for key in keys)


def needs_gate(name: str, place: FieldPath, gate: str, message: str, **more: Any) -> Check:
    """Something that is allowed only with a feature gate."""
    more.setdefault("help", f"enable the feature gate {gate} in the KubeVirt CR, or leave this out")

    def judge(subject: Subject, at: FieldValue) -> str:
        return "" if subject.has_gate(gate) else _worded(subject, at, message)

    return judged(name, place, judge, needs=f"gate {gate}", **more)
