"""`factor`: definitions for the VMs of an input, proved by what these start with them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from render.diagnostics.diagnostic import Diagnostic
from render.diff import pools
from render.diff.impact import HALTED, strategy_of
from render.machine import Context, Machine
from render.model import tree
from render.model.draft import additions
from render.model.edits import Operation, edited, within
from render.model.kinds import KIND_CLASSES, class_of
from render.model.named_tuple import NamedTuple
from render.model.naming import fitting, name_of
from render.model.release import Version
from render.model.resource import (
    INSTANCETYPE_GROUP,
    KUBEVIRT,
    TEMPLATE,
    VM,
    Resource,
    ResourceRef,
    from_body,
)
from render.model.tree import Tree
from render.pipeline.factor import naming, nearest, places, retirement, standins
from render.pipeline.factor.answers import (
    DefinitionName,
    Factoring,
    Hindrance,
    MachineFactoring,
    NewDefinition,
    Outcome,
    PresetFactoring,
)
from render.pipeline.factor.catalogue import Offers, kind_class_of
from render.pipeline.factor.search import (
    DefinitionChoice,
    MachinePlan,
    MachineSearch,
    edits_of,
    removed_fields,
)
from render.pipeline.factor.standins import StandIn
from render.pipeline.factor.subject import MachineStart, PlainMachine, started_of, subject_of
from render.pipeline.input import definitions, library
from render.pipeline.run import run
from render.settings import Settings

_API_VERSION = f"{INSTANCETYPE_GROUP}/v1beta1"
#: How many definitions are added at most, where nobody says.
MAX_NEW = 10
_Error = tuple[str, str]
_ContentKey = tuple[str, str]


class FactorOptions(NamedTuple):
    """What is asked for beside the settings of a rendering.

    *max_new*: definitions that may be added; *only*: names of VMs, none for all; *near*: also look for what exists and
    nearly fits. *restart*: VMs count as the same whose guest is, though KubeVirt asks for a restart of those that run,
    since a part of their CPU topology that they left open is written out.
    """

    max_new: int = MAX_NEW
    only: tuple[str, ...] = ()
    near: bool = False
    restart: bool = False


def factor(
    resources: Iterable[Tree],
    settings: Settings = Settings(),  # noqa: B008 - frozen
    options: FactorOptions = FactorOptions(),  # noqa: B008 - frozen
) -> Factoring:
    """For each VM among *resources* the instancetype and the preference that give exactly the VMI that it starts.

    Those of the input and of the catalogue by preference over new ones, of which as many are made as *options* allow,
    for the contents that most VMs share. What is proposed was rendered: the VMI, and the rest of the VM, are the same
    but for the annotations that name definitions, and no error is new. Never raises for what the objects hold.
    """
    intake = library.parse(resources)
    settings, faults = library.parse_catalog(settings)
    factoring = Factory(intake.resources, settings, options).factoring()
    machines = tuple(
        machine._replace(index=intake.positions[machine.index]) for machine in factoring.machines
    )
    presets = tuple(
        preset._replace(index=intake.positions[preset.index]) for preset in factoring.presets
    )
    diagnostics = (*faults, *intake.diagnostics, *factoring.diagnostics)
    return factoring._replace(machines=machines, diagnostics=diagnostics, presets=presets)


def names(resources: Iterable[Resource]) -> dict[str, list[int]]:
    """The names of VMs, and of what holds some, among *resources*, with the indexes of these."""
    by_name: dict[str, list[int]] = {}
    for resource in resources:
        if (is_subject(resource) and resource.group == KUBEVIRT) or standins.is_holder(resource):
            by_name.setdefault(name_of(resource), []).append(resource.index)
    return by_name


class FleetStart(NamedTuple):
    """What the VMs of an input start, by index, with the errors about each, and all findings."""

    subjects: dict[int, PlainMachine]
    started: dict[int, MachineStart]
    errors: dict[ResourceRef, frozenset[_Error]]
    diagnostics: tuple[Diagnostic, ...]
    context: Context | None


def comparable(settings: Settings) -> Settings:
    """*settings* under which the VMI is told that KubeVirt starts, whatever is made of the VM here."""
    return settings._replace(
        emit="vmi", stored=False, defaults="manifest", annotations=False, pins="ignore", lock=None,
        preset_conflicts="override", firmware_uuid="none", launcher_image="",
    )  # fmt: skip


def rendered(
    resources: Sequence[Resource],
    settings: Settings,
    options: FactorOptions | None = None,
    held: Mapping[int, StandIn] = {},
) -> FleetStart:
    """Render *resources*: what their VMs start, and the subjects that they are with *options*, if these are given.

    *held*: those that stand for others, by index.
    """
    subjects: dict[int, PlainMachine] = {}
    started: dict[int, MachineStart] = {}
    contexts: list[Context] = []

    def observe(machine: Machine, body: Tree) -> None:
        contexts[:] = [machine.context]
        resource = machine.resource
        if machine.failed or not is_subject(resource):
            return
        if options is None:
            started[resource.index] = started_of(machine, body)
            return
        open_ = held[resource.index].open if resource.index in held else {}
        subject = subject_of(machine, body, open_, restarts=options.restart)
        subjects[resource.index], started[resource.index] = subject, subject.started

    answer = run(resources, settings, observe)
    errors: dict[ResourceRef, set[_Error]] = {}
    for diagnostic in answer.diagnostics:
        if diagnostic.is_error and diagnostic.location.resource is not None:
            errors.setdefault(diagnostic.location.resource, set()).add(
                (diagnostic.code, diagnostic.message)
            )
    return FleetStart(
        subjects,
        started,
        {ref: frozenset(found) for ref, found in errors.items()},
        answer.diagnostics,
        contexts[0] if contexts else None,
    )


def is_subject(resource: Resource) -> bool:
    """Whether *resource* is a VM of today that stands for itself."""
    return resource.kind == VM and resource.holder is None and not resource.older


class _PlannedMachine:
    """A VM with the plans for it: *place* is that of the plan that is tried."""

    __slots__ = ("_following", "is_disproved", "plan", "restarts", "search", "subject")

    def __init__(self, search: MachineSearch) -> None:
        self.search = search
        self.subject = search.subject
        self._following = search.plans()
        self.is_disproved = False
        self.restarts = False
        self.plan: MachinePlan | None = next(self._following, None)

    def advance(self) -> None:
        """Go on to the next plan."""
        self.plan = next(self._following, None)


class Factory:
    """The VMs of an input, and what is found for each."""

    def __init__(
        self, resources: Sequence[Resource], settings: Settings, options: FactorOptions
    ) -> None:
        self._written = resources
        self._held = standins.of(resources)
        self._resources = self._held.resources
        self._settings = comparable(settings)
        self._options = options
        self._names: dict[tuple[_ContentKey, str], DefinitionName] = {}
        self._bodies: dict[tuple[str, str, str], Tree] = {}
        self._wide: set[_ContentKey] = set()

    def factoring(self) -> Factoring:
        """What becomes of all of them."""
        wanted = self._wanted()
        before = rendered(self._resources, self._settings, self._options, self._held.by_index)
        context = before.context
        if context is None:  # there is no VM of which anything is known
            refused = (self._machine(index, before, None) for index in sorted(wanted))
            found = tuple(self._found(before.diagnostics))
            return Factoring(tuple(map(self._located, refused)), (), found)
        offers = Offers(context.catalogue, context.release)
        open_ones = {
            index: _PlannedMachine(MachineSearch(subject, offers))
            for index, subject in before.subjects.items()
            if index in wanted
            and len(subject.applied) < len(KIND_CLASSES)
            and not self._has_errors(index, before)
            and (self._options.restart or not self._rolls_out(index, context.release))
        }
        self._choose(open_ones, context)
        self._prove(open_ones, before)
        used = [candidate for candidate in open_ones.values() if candidate.plan is not None]
        machines = [self._machine(index, before, open_ones.get(index)) for index in sorted(wanted)]
        if self._options.near:
            machines = nearest.added(
                machines,
                {index: candidate.search for index, candidate in open_ones.items()},
                self._resources,
                self._settings,
            )
        return Factoring(
            tuple(map(self._located, machines)),
            tuple(self._added(used)),
            tuple(self._found(before.diagnostics)),
            tuple(self._retired(open_ones, context.release)),
        )

    def _retired(
        self, candidates: Mapping[int, _PlannedMachine], release: Version
    ) -> Iterator[PresetFactoring]:
        """What becomes of the presets of the input, once all edits are made."""
        if not any(map(retirement.is_preset, self._written)):
            return
        used = {
            index: candidate
            for index, candidate in candidates.items()
            if candidate.plan is not None
        }
        edits = {index: self._edits(candidate) for index, candidate in used.items()}
        added = [definition.body for definition in self._added(used.values())]

        def started(
            without: Collection[int], only: Collection[int] | None
        ) -> dict[int, MachineStart]:
            kept = [
                resource
                for resource in self._resources
                if resource.index not in without
                and (only is None or resource.index in only or not _has_machines(resource))
            ]
            places_ = {resource.index: place for place, resource in enumerate(kept)}
            numbered = [resource._replace(index=place) for place, resource in enumerate(kept)]
            changes = {places_[index]: edit for index, edit in edits.items() if index in places_}
            start = rendered(with_edits(numbered, changes, added), self._settings)
            return {
                resource.index: start.started[place]
                for place, resource in enumerate(kept)
                if place in start.started and resource.ref not in start.errors
            }

        yield from retirement.judged(
            self._held,
            self._settings.namespace,
            release,
            started,
            restarts=self._options.restart,
        )

    def _wanted(self) -> set[int]:
        """The indexes of the VMs that are asked for."""
        by_name = names(self._written)
        only = self._options.only
        chosen = {name for word in only for name in fitting(word, by_name)} if only else by_name
        indexes = {index for name in chosen for index in by_name[name]}
        held = self._held.by_index
        own = {
            index for index in indexes if is_subject(self._resources[index]) and index not in held
        }
        inside = {
            i
            for i, stand_in in held.items()
            if stand_in.outer.index in indexes and not stand_in.number
        }
        return own | inside

    def _rolls_out(self, index: int, release: Version) -> bool:
        """Whether the VM is one of a pool that restarts its VMs when their template is another one."""
        held = self._held.by_index.get(index)
        if held is None or held.is_templated:
            return False
        runs = strategy_of(held.resource.body) != HALTED
        return runs and pools.rolls_out(held.outer.body, release)

    def _located(self, machine: MachineFactoring) -> MachineFactoring:
        """What becomes of a stand-in, said of the object that holds the VM."""
        held = self._held.by_index.get(machine.index)
        if held is None:
            return machine
        return machine._replace(
            resource=held.outer.ref,
            index=held.outer.index,
            path=held.path,
            edits=tuple(within(held.path, edit) for edit in machine.edits),
        )

    def _found(self, diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """*diagnostics* without those about stand-ins: what is wrong is found in the object itself."""
        held = self._held.by_index
        for diagnostic in diagnostics:
            about = (diagnostic.location, *(other.location for other in diagnostic.related))
            if not any(place.index in held for place in about):
                yield diagnostic

    def _choose(self, candidates: dict[int, _PlannedMachine], context: Context) -> None:
        """Let the contents that most VMs share become new definitions; the others get plans without any of theirs."""
        users: dict[_ContentKey, int] = {}
        for candidate in candidates.values():
            for choice in candidate.plan.new if candidate.plan else ():
                users[choice.key] = users.get(choice.key, 0) + 1
        ranked = sorted(users, key=lambda key: (-users[key], key))
        chosen = set(ranked[: max(0, self._options.max_new - _made(context))])
        shared = {
            choice.key: choice
            for candidate in candidates.values()
            for choice in (candidate.plan.new if candidate.plan else ())
            if choice.key in chosen
        }
        for candidate in candidates.values():
            while candidate.plan is not None and any(
                choice.key not in chosen for choice in candidate.plan.new
            ):
                replaced = _sharing(candidate, shared, chosen)
                if replaced is not None:
                    candidate.plan = replaced
                    break
                candidate.advance()
        templated = {i for i, stand_in in self._held.by_index.items() if stand_in.is_templated}
        self._wide = _shared_by_namespaces(candidates, templated)

    def _prove(self, candidates: dict[int, _PlannedMachine], before: FleetStart) -> None:
        """Render the VMs with what was chosen, and let those that would change go on to what is next."""
        pending = {index: vm for index, vm in candidates.items() if vm.plan is not None}
        known = {choice.key for vm in pending.values() if vm.plan for choice in vm.plan.new}
        while pending:
            edits = {index: self._edits(candidate) for index, candidate in pending.items()}
            added = [definition.body for definition in self._added(pending.values())]
            for index in pending:
                edits |= dict.fromkeys(self._held.others([index]), edits[index])
                if self._is_pooled(index):
                    pool, path = self._held.written(index)
                    edits[pool.index] = tuple(within(path, edit) for edit in edits[index])
            kept, positions = self._without_others(edits)
            after = rendered(
                with_edits(kept, {positions[index]: edits[index] for index in edits}, added),
                self._settings,
            )
            for index, candidate in [*pending.items()]:
                started = after.started.get(positions[index])
                if started is not None and self._is_proved(index, positions, before, after):
                    candidate.restarts = self._rolls_out(index, candidate.subject.release)
                    candidate.restarts |= not candidate.subject.started.same(
                        started, restarts=False
                    )
                    del pending[index]
                    continue
                candidate.is_disproved = True
                candidate.advance()
                while candidate.plan is not None and any(
                    choice.key not in known for choice in candidate.plan.new
                ):
                    candidate.advance()
                if candidate.plan is None:
                    del pending[index]

    def _is_proved(
        self, index: int, positions: Mapping[int, int], before: FleetStart, after: FleetStart
    ) -> bool:
        """Whether the VM at *index* is the same *after*, with all examples that made one, and its pool is as sound."""
        outer = self._held.written(index)[0].ref
        examples = [
            example
            for example in self._held.others([index])
            if example in before.subjects and self._resources[example].ref not in before.errors
        ]
        return _errors(outer, after) <= _errors(outer, before) and all(
            _is_same(
                before.subjects[subject_index],
                after.started.get(positions[subject_index]),
                before,
                after,
            )
            for subject_index in (index, *examples)
        )

    def _without_others(self, pending: Collection[int]) -> tuple[list[Resource], dict[int, int]]:
        """The objects of the input without VMs but those *pending*, and the position of each by its index."""
        kept = [
            resource
            for resource in self._resources
            if resource.index in pending
            or not (is_subject(resource) or standins.is_holder(resource))
        ]
        positions = {resource.index: place for place, resource in enumerate(kept)}
        return [resource._replace(index=place) for place, resource in enumerate(kept)], positions

    def _has_errors(self, index: int, before: FleetStart) -> bool:
        """Whether there are errors about the VM, or the pool that makes it."""
        pool = [self._held.written(index)[0].ref] if self._is_pooled(index) else []
        return any(ref in before.errors for ref in (self._resources[index].ref, *pool))

    def _is_pooled(self, index: int) -> bool:
        """Whether a pool makes the VM."""
        held = self._held.by_index.get(index)
        return held is not None and not held.is_templated

    def _edits(self, candidate: _PlannedMachine) -> tuple[Operation, ...]:
        choices = candidate.plan.choices if candidate.plan else ()
        return edits_of(
            candidate.subject,
            [(choice, self._name(choice, candidate.subject)) for choice in choices],
        )

    def _name(self, choice: DefinitionChoice, subject: PlainMachine) -> DefinitionName:
        """The name of what was chosen for a VM: a new one is for its namespace, or for all where several share it."""
        if choice.offer is not None:
            return choice.offer.name
        kind_class = kind_class_of(choice.word)
        is_wide = choice.key in self._wide
        namespace = "" if is_wide else subject.resource.namespace
        key = choice.key, namespace
        if key not in self._names:
            kind = kind_class.cluster if is_wide else kind_class.namespaced
            name = self._free_name(choice, kind, namespace)
            self._names[key] = DefinitionName(kind, name, "new")
            metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
            self._bodies[kind, namespace, name] = {
                "apiVersion": _API_VERSION,
                "kind": kind,
                "metadata": metadata,
                "spec": choice.content,
            }
        return self._names[key]

    def _free_name(self, choice: DefinitionChoice, kind: str, namespace: str) -> str:
        taken = {
            (resource.kind, resource.namespace, resource.name)
            for resource in self._resources
            if resource.group == INSTANCETYPE_GROUP
        }
        name = naming.name_of(choice.word, choice.content)
        count = 1
        while (kind, namespace, name) in taken:
            count += 1
            name = f"{naming.name_of(choice.word, choice.content)}-{count}"
        return name

    def _added(self, candidates: Iterable[_PlannedMachine]) -> Iterator[NewDefinition]:
        users: dict[tuple[str, str, str], list[ResourceRef]] = {}
        for candidate in candidates:
            for choice in candidate.plan.new if candidate.plan else ():
                name = self._name(choice, candidate.subject)
                namespace = "" if choice.key in self._wide else candidate.subject.resource.namespace
                key = name.kind, namespace, name.name
                outer, _ = self._held.written(candidate.subject.resource.index)
                users.setdefault(key, []).append(outer.ref)
        for key in sorted(users):
            yield NewDefinition(self._bodies[key], tuple(users[key]))

    def _machine(
        self, index: int, before: FleetStart, candidate: _PlannedMachine | None
    ) -> MachineFactoring:
        resource = self._resources[index]
        subject = before.subjects.get(index)
        if all(resource.spec.get(kind_class.word) is not None for kind_class in KIND_CLASSES):
            return MachineFactoring(resource.ref, index, "done")
        if subject is None or self._has_errors(index, before):
            held = self._held.by_index.get(index)
            why = held.fault if held else "there are errors about it: see `virt-render check`"
            found = sorted(_errors(resource.ref, before)) if held and held.is_templated else ()
            why += f": {found[0][1]}" if found else ""
            return MachineFactoring(resource.ref, index, "open", reasons=(Hindrance("", why),))
        if candidate is None:
            message = "the pool restarts its VMs when their template is another one: see --restart"
            return MachineFactoring(resource.ref, index, "open", reasons=(Hindrance("", message),))
        reasons = tuple(self._reasons(candidate))
        if candidate.plan is None:
            return MachineFactoring(resource.ref, index, "open", reasons=reasons)
        edits = self._edits(candidate)
        names = {choice.word: self._name(choice, subject) for choice in candidate.plan.choices}
        outcome: Outcome = "new" if candidate.plan.new else "exact"
        return MachineFactoring(
            resource.ref,
            index,
            outcome,
            names.get("instancetype"),
            names.get("preference"),
            edits,
            removed_fields(edits),
            reasons,
            restarts=candidate.restarts,
            presets=subject.presets if _replaces_presets(subject, candidate.plan) else (),
        )

    def _reasons(self, candidate: _PlannedMachine) -> Iterator[Hindrance]:
        """Why the VM gets no definition of a kind class that it has not yet."""
        chosen = {choice.word for choice in candidate.plan.choices} if candidate.plan else set()
        for kind_class in KIND_CLASSES:
            word = kind_class.word
            if word in chosen or word in candidate.subject.applied:
                continue
            obstacles = candidate.search.obstacles if word == "instancetype" else ()
            if obstacles:
                yield from obstacles
            elif word not in candidate.search.words():
                parameters = [*_parameters(candidate.subject)] if word == "preference" else []
                yield from parameters
                if not parameters:
                    yield Hindrance(word, "there is nothing that one would bring")
            elif candidate.is_disproved:
                cure = "" if self._options.restart else ": see --restart"
                yield Hindrance(word, f"the VM would change, or wait for a restart{cure}")
            else:
                yield Hindrance(word, "more new definitions would be needed: see --max-new")


def _has_machines(resource: Resource) -> bool:
    """Whether *resource* is a machine, or holds VMs."""
    return definitions.is_machine(resource) or standins.is_holder(resource)


def _parameters(subject: PlainMachine) -> Iterator[Hindrance]:
    """The parameters of a template that stand where a preference would."""
    template = places.without(tree.get(subject.resource.body, *TEMPLATE) or {}, ())
    for path, text in subject.parameters(tuple(places.of_preference(template, subject.release))):
        message = f"{text} stands here, and a preference holds no parameter of a template"
        yield Hindrance("preference", message, path)


def _made(context: Context) -> int:
    """How many definitions of the input are called as new ones are, after their content, whatever kustomize adds."""
    definitions = context.catalogue.definitions.values()
    return sum(
        naming.name_of(class_of(definition.kind), definition.spec) in definition.name
        for definition in definitions
    )


def with_edits(
    resources: Sequence[Resource],
    edits: dict[int, tuple[Operation, ...]],
    definitions: Sequence[Tree],
) -> list[Resource]:
    """*resources* with *edits* by index, and *definitions* behind them."""
    changed = [
        from_body(edited(resource.body, edits[resource.index]), resource.index, resource.origin)
        if resource.index in edits
        else resource
        for resource in resources
    ]
    return [
        *changed,
        *(from_body(definition, len(changed) + i) for i, definition in enumerate(definitions)),
    ]


def _replaces_presets(subject: PlainMachine, plan: MachinePlan) -> bool:
    """Whether *plan* brings all that presets merge into the VMI."""
    brings = [path for choice in plan.choices for path in choice.brings]
    rest = places.without(subject.template, brings)
    merged = (tree.get(rest, *path) for path in additions(subject.manifest, rest, ()))
    return bool(brings) and not any(map(_says, merged))


def _says(value: object) -> bool:
    """Whether anything is left in *value*."""
    return any(map(_says, value.values())) if isinstance(value, dict) else True


def _sharing(
    candidate: _PlannedMachine,
    shared: dict[_ContentKey, DefinitionChoice],
    chosen: set[_ContentKey],
) -> MachinePlan | None:
    """The plan of a VM with a preference that is made for others, where its own is not made; None if none fits."""
    plan = candidate.plan
    if plan is None or any(
        choice.word == "instancetype" and choice.key not in chosen for choice in plan.new
    ):
        return None
    sized = any(choice.word == "instancetype" for choice in plan.choices)
    sized = sized or "instancetype" in candidate.subject.applied
    fits = (
        candidate.search.fits(choice, sized=sized)
        for choice in shared.values()
        if choice.word == "preference"
    )
    best = max(
        (choice for choice in fits if choice), key=lambda choice: len(choice.brings), default=None
    )
    if best is None:
        return None
    return MachinePlan((*(choice for choice in plan.choices if choice.word != "preference"), best))


def _shared_by_namespaces(
    candidates: Mapping[int, _PlannedMachine], templated: Collection[int]
) -> set[_ContentKey]:
    """The contents of new definitions that VMs of several namespaces share, or of those *templated*, which have any."""
    namespaces: dict[_ContentKey, set[str]] = {}
    wide: set[_ContentKey] = set()
    for index, candidate in candidates.items():
        for choice in candidate.plan.new if candidate.plan else ():
            namespaces.setdefault(choice.key, set()).add(candidate.subject.resource.namespace)
            if index in templated:
                wide.add(choice.key)
    return wide | {key for key, used in namespaces.items() if len(used) > 1}


def _is_same(
    subject: PlainMachine, started: MachineStart | None, before: FleetStart, after: FleetStart
) -> bool:
    """Whether the VM *started* as before, and nothing is found about it that was not."""
    if started is None or not subject.is_same(started):
        return False
    ref = subject.resource.ref
    return _errors(ref, after) <= _errors(ref, before)


def _errors(ref: ResourceRef, start: FleetStart) -> frozenset[_Error]:
    return start.errors.get(ref, frozenset())
