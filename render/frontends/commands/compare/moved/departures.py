"""VMs that name a claim, a DataVolume, a Secret, a ConfigMap or a Namespace which leaves the repository.

A sync that prunes deletes the object. A VM that runs has it for as long as its pod is there; at its next start KubeVirt
waits for a claim that is gone (FailedPvcNotFound), and the kubelet for a Secret or a ConfigMap. With a Namespace goes
each VM in it, and what makes some. Nothing is said where somebody may make the object whom nobody can read here.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from render.diagnostics.diagnostic import Location
from render.diff import pools
from render.diff.impact import Departure, HolderImpact, Impact, MachineImpact, ordered
from render.diff.source import ChangeSource
from render.diff.sync_annotations import is_kept
from render.frontends.commands.compare.moved.appliers import unseen
from render.frontends.commands.compare.moved.texts import changed_texts
from render.frontends.commands.compare.namespaces import (
    NAMESPACE,
    PlacedNamespace,
    is_namespace,
)
from render.frontends.commands.compare.states import NamedState, Side
from render.manifests.relevance import KIND_OF_MACHINE
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.model.resource import (
    HOLDER_GROUPS,
    MACHINES,
    TEMPLATE,
    VM,
    Resource,
    ResourceRef,
    from_body,
    text_at,
)
from render.model.tree import Tree
from render.report.places import Place
from render.resolve.references import claims_of, named_in
from render.yaml.budget import Limits
from render.yaml.reader import read

_CLAIM = "PersistentVolumeClaim"
#: What is told, by the kind under which it is known: a DataVolume makes the claim of its name.
_KINDS = {_CLAIM: _CLAIM, "DataVolume": _CLAIM, "Secret": "Secret", "ConfigMap": "ConfigMap"}
#: Without one the pod starts all the same, or nobody knows which: see `named_in`.
_OPTIONAL = "imagePullSecret"
#: Effects beside which it is told: the VM goes on, or comes, and starts again.
_GOES_ON = frozenset(
    {
        "error",
        "stop",
        "start",
        "restart",
        "migrate",
        "live",
        "next",
        "recreate",
        "new",
        "none",
        "same",
    }
)
_PACKED = ".tgz"
#: What may be the name of an object.
_WORD = pattern(r"[\w.-]+")
_IN_NAMESPACE: FieldPath = ("metadata", "namespace")
_Name = tuple[str, str]


class _Standing(NamedTuple):
    """An object of a state: what it is called, the state, and its index there; or the *place* of one in no state."""

    ref: ResourceRef
    state: NamedState | None = None
    index: int = 0  # type: ignore[assignment] # nobody searches it as a tuple
    place: Place = Place()

    def located(self) -> Place:
        """Where it stands."""
        state, index = self.state, self.index
        if state is None:
            return self.place
        position = state.positions[index] if state.positions is not None else index
        return state.places.place(Location(self.ref, (), position))


class Departures:
    """What leaves the repository between the sides *before* and *after*, of which *every* state was read."""

    def __init__(self, before: Side, after: Side, every: Side, limits: Limits) -> None:
        self._before, self._after, self._every = before, after, every
        self._limits = limits

    def told(self, impact: Impact, old: NamedState, new: NamedState) -> Impact:
        """*impact* with what leaves at those of its VMs that name it, as they stand in the state *new*.

        Pools and replica sets that were in the state *old* go with their Namespace, too.
        """
        if not self._gone:
            return impact
        bodies = {from_body(body, 0).ref: index for index, body in enumerate(new.objects)}
        gone = {each.resource: each for each in self._holders_gone(old, new, bodies)}
        listed = {holder.resource for holder in impact.holders}
        return impact._replace(
            machines=tuple(
                self._missing(machine, new, bodies[machine.resource])
                if machine.resource in bodies and _GOES_ON.issuperset(machine.effects)
                else machine
                for machine in impact.machines
            ),
            holders=(
                *(gone.get(holder.resource, holder) for holder in impact.holders),
                *(each for each in gone.values() if each.resource not in listed),
            ),
        )

    def _holders_gone(
        self, old: NamedState, new: NamedState, bodies: Mapping[ResourceRef, int]
    ) -> Iterator[HolderImpact]:
        """The pools and replica sets of both states, as *new* has them among its *bodies*, whose Namespace leaves."""
        for body in old.objects:
            if body.get("kind") not in HOLDER_GROUPS:
                continue
            ref = from_body(body, 0).ref
            departed = self._with_namespace(ref, new, bodies[ref]) if ref in bodies else ()
            if departed:
                yield HolderImpact(ref, "gone", (pools.replicas(body), 0), departed=departed)

    def places(self, impact: Impact) -> dict[ChangeSource, Place]:
        """Where that stood which leaves, as *impact* has been told; it may be in another input than the VM."""
        found = {}
        departed = (
            *(each.departed for each in impact.machines),
            *(each.departed for each in impact.holders),
        )
        for source, _ in chain.from_iterable(departed):
            ref = source.resource
            known = self._gone[_KINDS.get(ref.kind, ref.kind), ref.name]
            found[source] = next(each for each in known.values() if each.ref == ref).located()
        return found

    def _missing(self, machine: MachineImpact, new: NamedState, index: int) -> MachineImpact:
        """*machine*, the VM at *index* of *new*, with what it names and will not find."""
        found = [*self._named_and_gone(machine.resource, new, index)]
        if "new" not in machine.effects:
            found += self._with_namespace(machine.resource, new, index)
        if not found:
            return machine
        effects = {*machine.effects} - {"none", "same"} | {each.effect for each in found}
        return machine._replace(effects=ordered(effects), departed=tuple(found))

    def _named_and_gone(self, ref: ResourceRef, new: NamedState, index: int) -> Iterator[Departure]:
        """What the VM *ref*, at *index* of *new*, names and will not find."""
        spec = tree.get(new.objects[index], *TEMPLATE, "spec")
        if ref.kind != VM or not isinstance(spec, dict):
            return
        namespace = ref.namespace or new.settings.namespace
        for path, kind, name in _named(spec):
            standing = self._gone.get((kind, name), {}).get(namespace)
            if standing is not None and not self._may_be_made(name):
                use = ChangeSource(ref, (*TEMPLATE, "spec", *path), index, "after")
                yield Departure(ChangeSource(standing.ref, (), None, "before"), use)

    def _with_namespace(
        self, ref: ResourceRef, new: NamedState, index: int
    ) -> tuple[Departure, ...]:
        """That *ref*, at *index* of *new*, goes with its Namespace, if it does."""
        left = self._namespace_left(ref.namespace or new.settings.namespace)
        if left is None:
            return ()
        use = ChangeSource(ref, _IN_NAMESPACE, index, "after")
        return (Departure(ChangeSource(left.ref, (), None, "before"), use),)

    def _namespace_left(self, name: str) -> _Standing | None:
        """The Namespace *name*, if it leaves the repository, and nobody may make it whom nobody can read here."""
        standing = self._gone.get((NAMESPACE, name), {}).get("")
        is_left = standing is not None and not self._may_be_made(name, but_in=NAMESPACE.lower())
        return standing if is_left else None

    @cached_property
    def _gone(self) -> Mapping[_Name, Mapping[str, _Standing]]:
        """What stood there and does not now, by kind and name, then by namespace."""
        stood: dict[_Name, dict[str, _Standing]] = {}
        for name, placed in _namespaces_beside(self._before).items():
            if not is_kept(placed.body):
                ref = ResourceRef(NAMESPACE, "", name)
                stood[NAMESPACE, name] = {"": _Standing(ref, place=placed.place)}
        for state in self._before.values():
            for index, body in enumerate(state.objects):
                kind = _kind_of(body)
                if kind and not is_kept(body):
                    ref = from_body(body, 0).ref
                    namespace = ref.namespace or state.settings.namespace
                    if kind == NAMESPACE:
                        namespace = ""
                    known = stood.setdefault((kind, ref.name), {})
                    known.setdefault(namespace, _Standing(ref, state, index))
        standing = self._standing if stood else {}
        return {
            name: left
            for name, known in stood.items()
            if (
                left := {
                    space: known[space] for space in known if not _is_in(space, standing.get(name))
                }
            )
        }

    @cached_property
    def _standing(self) -> dict[_Name, set[str]]:
        """The namespaces in which each of them is now, with those that VMs make; ``""`` where nobody says which."""
        found: dict[_Name, set[str]] = {
            (NAMESPACE, name): {""} for name in _namespaces_beside(self._every)
        }
        for state in self._every.values():
            for body in state.objects:
                if not _kind_of(body) and body.get("kind") not in MACHINES:
                    continue
                resource = from_body(body, 0)
                for name in _provided(resource):
                    found.setdefault(name, set()).add(resource.namespace)
        return found

    def _may_be_made(self, name: str, but_in: str = "") -> bool:
        """Whether what nobody can read here may make an object called *name*; a key *but_in* does not.

        What an object's labels and annotations say makes none either where such a key is named.
        """
        if self._is_less_known or self._is_packed_changed:
            return True
        holding = self._holding.get(name, ()) if _WORD.fullmatch(name) else self._changed
        return any(_has(self._changed[file], file, name, self._limits, but_in) for file in holding)

    @cached_property
    def _is_packed_changed(self) -> bool:
        """Whether a packed chart, in which anything may be, is new or another one."""
        return any(file.lower().endswith(_PACKED) for file in self._changed)

    @cached_property
    def _holding(self) -> Mapping[str, Sequence[str]]:
        """Which of the changed texts have each word."""
        found: dict[str, list[str]] = {}
        for file, text in self._changed.items():
            for word in {*_WORD.findall(text.decode("utf-8", "replace"))}:
                found.setdefault(word, []).append(file)
        return found

    @cached_property
    def _is_less_known(self) -> bool:
        """Whether the second state has something that cannot be read, or is not looked at, and the first has not so."""
        if unseen(self._every) - unseen(self._before):
            return True
        for name, state in self._every.items():
            if state.fault is None and not state.apart:
                continue
            before = self._before.get(name)
            if before is None or not (before.fault or before.apart) or before.texts != state.texts:
                return True
        return False

    @cached_property
    def _changed(self) -> Mapping[str, bytes]:
        """The texts of the second state that are new or others, by their names."""
        changed = changed_texts(self._before, self._every, self._limits)
        return {name: texts[1] for name, texts in changed.items()}


def _named(spec: Tree) -> Iterator[tuple[FieldPath, str, str]]:
    """What a VMI *spec* cannot do without, with its kind and name: by which field it names that."""
    for path, name, field in named_in(spec):
        kinds = (_KINDS.get(kind) for _, kind in field.target.kinds)
        kind = next((kind for kind in kinds if kind), None)
        holder = tree.get(spec, *path[:-1])
        if kind and path[-1] != _OPTIONAL and tree.get(holder, "optional") is not True:
            yield path, kind, name


def _provided(resource: Resource) -> Iterator[_Name]:
    kind = _kind_of(resource.body)
    if kind:
        yield kind, resource.name
    for name in claims_of(resource):
        yield _CLAIM, name


def _kind_of(body: Tree) -> str:
    """Under which kind the object *body* is known, if it is told where it leaves; ``""`` for others."""
    return NAMESPACE if is_namespace(body) else _KINDS.get(text_at(body, "kind"), "")


def _namespaces_beside(side: Side) -> Mapping[str, PlacedNamespace]:
    """The Namespaces of *side* that no state has among its objects, by name."""
    beside = next((state.namespaces for state in side.values() if state.namespaces), None)
    return beside.standing() if beside is not None else {}


def _is_in(namespace: str, spaces: Collection[str] | None) -> bool:
    """Whether one of *spaces* may be the *namespace*."""
    return spaces is not None and (namespace in spaces or "" in spaces)


def _has(text: bytes, file: str, name: str, limits: Limits, but_in: str) -> bool:
    """Whether *text*, that of *file*, has *name* in anything but a VM, or may have it for all that can be seen."""
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
    if not word.search(text.decode("utf-8", "replace")):
        return False
    found = read(text, file, limits)
    if any(each.is_error for each in found.diagnostics):
        return True
    return any(
        _says(document.body, name, word, but_in)
        for document in found.documents
        if not (but_in and is_namespace(document.body))
    )


def _says(value: Any, name: str, word: re.Pattern[str], but_in: str) -> bool:
    """Whether *value* has *name* in anything but a VM: as all of a text, or somewhere in one of several lines.

    Where a key *but_in* does not count, labels and annotations do not either.
    """
    passed_over = frozenset({but_in, "labels", "annotations"} if but_in else ())
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            if value == name or ("\n" in value and word.search(value)):
                return True
        elif isinstance(value, dict):
            if not re.fullmatch(KIND_OF_MACHINE, text_at(value, "kind")):
                for key in value.keys() - passed_over:
                    pending += key, value[key]
        elif isinstance(value, list):
            pending += value
    return False
