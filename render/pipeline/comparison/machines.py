"""What becomes of one VM, or of one VMI without a VM, on its way from the first state to the second."""

from collections.abc import Sequence
from functools import partial

from render.diagnostics import codes
from render.diff import impact, stored
from render.diff.compare import Difference, written_differences
from render.diff.effects import SKIP_HOOKS, Reconciliation, Update, reconcile, stop
from render.diff.impact import (
    REFUSED_AS_READ,
    Facts,
    MachineImpact,
    WeighedDifference,
)
from render.diff.migratability import Claims
from render.diff.sizes import size_of
from render.diff.source import ChangeSource, SideName
from render.kubevirt.instancetype import named_definitions
from render.machine import Machine, ref_of
from render.model import tree
from render.model.catalogue import Definition
from render.model.kinds import KIND_CLASSES
from render.model.resource import VM, VMI, Resource, ResourceRef, text_at
from render.model.tree import Tree
from render.model.types import VMI_TYPE
from render.pipeline.comparison import judgement, lifecycle
from render.pipeline.comparison.judgement import Judgement
from render.pipeline.comparison.sides import Key, Side, errors_of_definitions, template_modes
from render.pipeline.provenance import attribution
from render.pipeline.provenance.attribution import Transition
from render.pipeline.stages import expansion
from render.revisions import stamps

_LOST = ("unrenderable",)
_ANEW = "made anew, the VM would not run: "
_RESTRICTED = "update of VMI object is restricted"
#: Effects of changes whose fields are those of the VM.
_OF_VM = frozenset({"none", "refused", "stop", "start"})


def impact_of(key: Key, old: Side, new: Side) -> MachineImpact:
    """What becomes of the machine *key*, which one side or both have."""
    resource = new.resources.get(key) or old.resources[key]
    before, after = old.machines.get(key), new.machines.get(key)
    if key not in new.resources:
        return MachineImpact(resource.ref, ("gone",), source=_written_at(resource, key, old))
    if key not in old.resources:
        source = _written_at(resource, key, new)
        return _new_impact(resource.ref, key, new)._replace(source=source)
    if before is None or after is None or before.failed:
        return _naming(_lost_impact(resource.ref, key, old, new), key, old, new)
    by_schema = _refused_by_schema(resource.ref, key, old, new)
    if by_schema is not None:
        return _naming(by_schema, key, old, new)
    if _keeps_refused_definition(key, before, after, old, new):
        return MachineImpact(resource.ref, ("same",), sizes=(None, size_of(before.vmi or {})))
    # What is refused or does not start as it was written before is no matter of this change.
    is_rewritten = before.raw != after.raw
    is_suspect = is_rewritten and _has_errors(after)
    if not is_suspect and not _reads_something_else(before, after, old, new):
        return MachineImpact(resource.ref, ("same",))
    admitted = _newly_admitted(before, after)
    if admitted is not None:
        return admitted
    if not _is_edited(key, old, new) and _is_refused_alike(before, after):
        return MachineImpact(resource.ref, ("same",))
    if key[0] == VMI:
        return _bare_impact(before, after, Transition(before, after, (old.places, new.places), key))
    return _Comparison(key, before, after, old, new).impact()


def _naming(lost: MachineImpact, key: Key, old: Side, new: Side) -> MachineImpact:
    """The impact *lost* with the instancetypes that the VM *key* asks for as it is written in both states."""
    written = (
        side.places.rendered[key].raw if key in side.places.rendered else side.resources[key].body
        for side in (old, new)
    )
    before, after = (tree.get(body, "spec", "instancetype") for body in written)
    return lost._replace(
        named=(
            text_at(before, "name") if isinstance(before, dict) else "",
            text_at(after, "name") if isinstance(after, dict) else "",
        )
    )


def _refused_by_schema(ref: ResourceRef, key: Key, old: Side, new: Side) -> MachineImpact | None:
    """What becomes of a VM that the schema of the API server refuses in one state or both; None of any other."""
    before, after = old.refused.get(ref, ()), new.refused.get(ref, ())
    if not before and not after:
        return None
    if not after:
        now = _new_impact(ref, key, new)
        if "refused" in now.effects:
            return now._replace(effects=("refused",))
        effects = tuple("repaired" if effect == "new" else effect for effect in now.effects)
        is_sound = effects == ("repaired",)
        return now._replace(
            effects=effects,
            messages=now.messages or before,
            unrendered=("before",) if is_sound else now.unrendered,
        )
    is_edited = before != after or _is_edited(key, old, new)
    if new.is_source:
        return (
            MachineImpact(ref, ("refused",), after) if is_edited else MachineImpact(ref, ("same",))
        )
    unrendered: tuple[SideName, ...] = ("before", "after") if before else ("after",)
    return MachineImpact(ref, _LOST, after if is_edited else (), unrendered=unrendered)


def _keeps_refused_definition(
    key: Key, before: Machine, after: Machine, old: Side, new: Side
) -> bool:
    """Whether a VM is synced as it was, and the API server refuses a definition of it: the cluster keeps the older."""
    return (
        new.is_source
        and not _is_edited(key, old, new)
        and any(
            diagnostic
            for machine, side in ((before, old), (after, new))
            for diagnostic in errors_of_definitions(machine, side.errors)
        )
    )


def _written_at(resource: Resource, key: Key, side: Side) -> ChangeSource | None:
    """Where the input of *side* has the machine *resource*, or the VM that it was rendered of."""
    places, ref = side.places.places, resource.ref
    written = (places.get((kind, ref.namespace, ref.name)) for kind in (key[0], VM))
    index = next((place for place in written if place is not None), None)
    return None if index is None else ChangeSource(ref, (), index, side.places.side)


def _new_impact(ref: ResourceRef, key: Key, side: Side) -> MachineImpact:
    """What becomes of a VM that only *side*, the second, has."""
    machine = side.machines.get(key)
    if machine is None or machine.failed:
        return MachineImpact(ref, ("new", *_LOST), _errors(key, side), unrendered=("after",))
    if ref in side.refused:
        if side.is_source:
            return MachineImpact(ref, ("refused", "new"), side.refused[ref])
        return MachineImpact(ref, ("new", *_LOST), side.refused[ref], unrendered=("after",))
    if not _has_errors(machine):
        return MachineImpact(ref, ("new",))
    verdict = _verdict_anew(machine)
    refused = (*verdict.refused, *verdict.creation)
    later = () if refused else (*verdict.faults, *verdict.at_start)
    effects = ("refused",) if refused else ("error",) if later else ()
    return MachineImpact(ref, (*effects, "new"), refused or later or _errors(key, side))


def _verdict_anew(machine: Machine) -> Judgement:
    """What KubeVirt says of *machine* where it is created."""
    manifest = lifecycle.without_status(machine.decoded)
    return judgement.judge(Machine(machine.context, machine.resource, manifest))


def _newly_admitted(before: Machine, after: Machine) -> MachineImpact | None:
    """What becomes of a VM that KubeVirt refuses as it was before, and takes now: nothing of it ran.

    None for any other, and where the release changes; what only a new VM is refused for, an older one may have taken.
    """
    refused = _refused_before(before, after)
    if not refused:
        return None
    verdict = _verdict_anew(after) if _has_errors(after) else None
    if verdict is not None and (verdict.refused or verdict.creation):
        return None
    later = (*verdict.faults, *verdict.at_start) if verdict else ()
    return MachineImpact(
        after.resource.ref,
        (*(("error",) if later else ()), "repaired"),
        later or refused,
        unrendered=() if later else ("before",),
    )


def _is_edited(key: Key, old: Side, new: Side) -> bool:
    """Whether the VM *key* is written otherwise in *new*, whatever is rendered of it."""
    before, after = (side.places.rendered.get(key) or side.machines.get(key) for side in (old, new))
    return before is None or after is None or before.raw != after.raw


def _is_refused_alike(before: Machine, after: Machine) -> bool:
    """Whether KubeVirt refuses a VM in both states, and in the same words: nothing of it runs, whatever it reads."""
    refused = _refused_before(before, after)
    return bool(refused) and _has_errors(after) and _verdict_anew(after).refused == refused


def _refused_before(before: Machine, after: Machine) -> tuple[str, ...]:
    """Why KubeVirt refuses the VM *before*, whether it is new or not; nothing where *after* is of another release."""
    is_upgrade = before.context.release != after.context.release
    is_suspect = _has_errors(before) and before.template and not is_upgrade
    return _verdict_anew(before).refused if is_suspect else ()


def _lost_impact(ref: ResourceRef, key: Key, old: Side, new: Side) -> MachineImpact:
    """What is known of a VM that one state, or both, cannot render.

    One that is synced as it is written goes on as it was where the cluster refuses what it reads. Of one that nobody
    touched, and whose errors are the same, nothing is said.
    """
    before = old.machines.get(key)
    if new.is_source and before is not None and not before.failed:
        errors = new.errors.get(ref, ())
        if errors and REFUSED_AS_READ.issuperset(error.code for error in errors):
            # What a schema does not know it drops, and refuses nothing for it.
            refusals = [error for error in errors if error.code != codes.UNKNOWN_FIELD.number]
            messages = dict.fromkeys(error.message for error in refusals or errors)
            return MachineImpact(ref, ("refused",), tuple(messages))
    sides: tuple[tuple[SideName, Side], ...] = (("before", old), ("after", new))
    unrendered = tuple(
        name
        for name, side in sides
        if (machine := side.machines.get(key)) is None or machine.failed
    )
    faults = _errors(key, old), _errors(key, new)
    if unrendered == ("before",):
        return MachineImpact(ref, ("repaired",), faults[0], unrendered=unrendered)
    is_untouched = old.resources[key].body == new.resources[key].body and faults[0] == faults[1]
    is_old = len(unrendered) > 1 and is_untouched
    return MachineImpact(ref, _LOST, () if is_old else faults[1], unrendered=unrendered)


def _bare_impact(before: Machine, after: Machine, change: Transition) -> MachineImpact:
    """What becomes of a VMI without a VM: its spec cannot be updated (upstream: vmi-update-admitter.go)."""
    old, new = (
        stamps.put(lifecycle.without_status(machine.decoded), {}) for machine in (before, after)
    )
    differences = written_differences(old, new, VMI_TYPE)
    refused = any(difference.route[0] == "spec" for difference in differences)
    effect = "refused" if refused else "none"
    other = before.vmi != after.vmi or before.context.config != after.context.config
    effects = (effect,) if differences else ("recreate",) if other else ("same",)
    return MachineImpact(
        after.resource.ref,
        effects,
        (_RESTRICTED,) if refused else (),
        tuple(
            impact.field_change(difference, effect, attribution.of_vm(difference.route, change))
            for difference in differences
        ),
    )


def _has_errors(machine: Machine) -> bool:
    return any(diagnostic.is_error for diagnostic in machine.diagnostics)


def _errors(key: Key, side: Side) -> tuple[str, ...]:
    """What keeps the VM of *side* from being rendered."""
    ref = side.resources[key].ref
    own = (error.message for error in side.errors.get(ref, ()))
    rendered = side.places.rendered.get(key)
    errors = errors_of_definitions(rendered, side.errors) if rendered else ()
    others = (f"{diagnostic.resource}: {diagnostic.message}" for diagnostic in errors)
    return tuple(dict.fromkeys((*own, *others)))


def _reads_something_else(before: Machine, after: Machine, old: Side, new: Side) -> bool:
    """Whether anything differs of which a VM is made, or what becomes of it."""
    return (
        before.decoded != after.decoded
        or before.vm != after.vm
        or before.vmi != after.vmi
        or _definition_specs(before) != _definition_specs(after)
        or old.clusters != new.clusters
        or _is_rewritten(before)
        or before.context.release != after.context.release
        or old.claims != new.claims
    )


def _is_rewritten(machine: Machine) -> bool:
    """Whether the cluster writes instancetype and preference into the VM; an apply brings the matchers back."""
    return expansion.is_expanded(machine)


def _definition_specs(machine: Machine) -> list[Tree]:
    """The specs of the definitions of a VM as they are written: those in force, and what it names beside revisions."""
    in_force = [
        definition
        for definition in (machine.instancetype, machine.preference)
        if definition is not None
    ]
    return [
        definition.resource.spec
        if definition.resource and definition.resource.spec
        else definition.spec
        for definition in (*in_force, *named_definitions(machine))
    ]


def _but_for_defaults(
    changes: Sequence[Difference], stored: Tree, admitted: Tree
) -> list[Difference]:
    """The *changes* of a *stored* VM but for those that the webhook takes back: it fills in empty fields again."""
    return [
        change
        for change in changes
        if tree.get(stored, *change.route) != tree.get(admitted, *change.route)
    ]


_SKIP_HOOKS = ("metadata", "annotations", SKIP_HOOKS)


class _Comparison:
    """One VM of two states, on its way from the one to the other."""

    def __init__(self, key: Key, before: Machine, after: Machine, old: Side, new: Side) -> None:
        self._key = key
        self._old, self._new = old, new
        self._before, self._after = before, after

    def impact(self) -> MachineImpact:
        """What the update does."""
        created = lifecycle.created(self._before)
        running = lifecycle.running(created)
        if self._is_only_redefined():
            outcome = self._outcome(running)
            anew = self._recreated(running)
            facts = Facts([], self._is_touched, running, outcome, running, anew)
            return self._weighed(facts, (created, created))
        created.vm = lifecycle.pinned(created)
        created.vm = lifecycle.synced(created, running)
        updated = self._updated(created)
        changes = impact.stored_changes(
            lifecycle.without_status(created.vm), lifecycle.without_status(updated.vm)
        )
        verdict = judgement.admit(created.vm, updated, judgement.against_disks(self._before))
        judgement.forget_identity(created.vm, updated)
        if verdict.refused:
            blamed = judgement.at_fault(changes, verdict.fields)
            weighed = [WeighedDifference(difference, "refused") for difference in blamed]
            return self._machine_impact(("refused",), verdict.refused, weighed, (created, updated))
        changes = _but_for_defaults(changes, created.vm, updated.vm)
        faults = verdict.faults
        if self._is_upgrade and not changes and verdict.is_unstartable:
            faults = (*faults, *verdict.at_start)
        if faults:
            facts = Facts(changes, self._is_touched, running, None, None, None, faults=faults)
            return self._weighed(facts, (created, updated))
        return self._admitted(created, updated, running, changes, verdict)

    def _admitted(
        self,
        created: Machine,
        updated: Machine,
        running: Tree,
        changes: list[Difference],
        verdict: Judgement,
    ) -> MachineImpact:
        """What becomes of the VMI *running* of *created* once its VM is *updated*; only its start may be refused."""
        stale = impact.stale_volumes(created.vm, updated.vm)
        expanded = lifecycle.restarted(
            updated, created, running if self._was != impact.HALTED else None
        )
        outcome = self._outcome(running)
        run = impact.run_change(self._was, impact.strategy_of(updated.vm))
        if outcome is not None and (changes or not self._is_upgrade):
            update = self._update(created, expanded, running)
            outcome = stop(update) if run == "stop" else reconcile(update)
        facts = Facts(
            changes,
            self._is_touched,
            running,
            outcome,
            None if verdict.is_unstartable else self._settled(lifecycle.started(expanded), running),
            self._recreated(running),
            run,
            stale=stale,
        )
        judged = self._weighed(facts, (created, expanded))
        messages = (*judged.messages, *verdict.at_start)
        anew = (f"{_ANEW}{text}" for text in self._refused_anew() if text not in messages)
        return judged._replace(
            messages=(*messages, *anew),
            made=impact.made_volumes(created.vm, updated.vm),
            left=impact.left_volumes(created.vm, updated.vm),
        )

    @property
    def _was(self) -> str:
        """The run strategy before."""
        return impact.strategy_of(self._before.vm)

    @property
    def _is_upgrade(self) -> bool:
        return self._before.context.release != self._after.context.release

    @property
    def _is_touched(self) -> bool:
        """Whether somebody changed what the VM reads: a definition of it, or settings of the cluster."""
        redefined = _definition_specs(self._before) != _definition_specs(self._after)
        return (redefined and not self._is_upgrade) or self._old.clusters != self._new.clusters

    def _is_only_redefined(self) -> bool:
        """Whether nothing changed but definitions to whose revisions the VM is pinned."""
        before, after = self._before, self._after
        return (
            before.decoded == after.decoded
            and before.context.config == after.context.config
            and before.context.config.reference_policy == expansion.REFERENCE
            and self._old.claims == self._new.claims
            and not self._is_upgrade
            and not _has_errors(after)
            and not before.merged
            and not after.merged
            and all(
                lifecycle.is_pinned(kind_class, before.vm, before.vm) for kind_class in KIND_CLASSES
            )
        )

    def _outcome(self, running: Tree) -> Reconciliation | None:
        """That nothing happens to the VMI *running*, if it runs."""
        return Reconciliation(running, "", "", "") if self._was != impact.HALTED else None

    def _recreated(self, running: Tree) -> Tree | None:
        """The VMI of the VM made anew, None where none can be."""
        if self._after.failed or self._refused_anew():
            return None
        return self._settled(lifecycle.recreated(self._after), running)

    def _settled(self, vmi: Tree, running: Tree) -> Tree:
        """*vmi* once it runs, as far as the annotation goes that the VM had and keeps.

        Where the release changes it has the identity of the one *running*: what a new VM gets is no news of that.
        """
        if self._is_upgrade:
            vmi = lifecycle.identified(vmi, self._after, running)
        values = (tree.get(machine.vm, *_SKIP_HOOKS) for machine in (self._before, self._after))
        return lifecycle.annotated(self._before, vmi) if len(set(values)) == 1 else vmi

    def _refused_anew(self) -> tuple[str, ...]:
        """Why KubeVirt would refuse the VM made anew, or not start it; nothing of what is not known to be a VM."""
        after = self._after
        if after.failed or not _has_errors(after):
            return ()
        verdict = _verdict_anew(after)
        known = judgement.against_disks(self._before)
        faults = (fault for fault in verdict.faults if fault not in known)
        return (*verdict.refused, *verdict.creation, *faults, *verdict.at_start)

    def _updated(self, created: Machine) -> Machine:
        """The VM as the update sends it on its way through the webhooks."""
        before, after = self._before.decoded, self._after.decoded
        vm = stored.apply(before, after, created.vm)
        context = self._after.context._replace(traced=True)
        updated = Machine(context, self._after.resource, lifecycle.without_status(vm))
        for kind_class in KIND_CLASSES:
            word = kind_class.word
            matcher = tree.get(after, "spec", word)
            if (
                matcher
                and matcher.get("inferFromVolume")
                and matcher == tree.get(before, "spec", word)
            ):
                # What was inferred once is not inferred again.
                tree.put(updated.vm, ("spec", word), tree.get(created.vm, "spec", word))
        lifecycle.store_kinds(updated)
        for kind_class in KIND_CLASSES:
            word = kind_class.word
            definition: Definition | None = getattr(created, word)
            if definition is not None and lifecycle.is_pinned(kind_class, created.vm, updated.vm):
                updated.pinned[word] = definition
        return updated

    def _update(self, created: Machine, updated: Machine, running: Tree) -> Update:
        namespace = self._key[1]
        # How a claim that is there may be mounted cannot be edited.
        claims = dict(self._new.claims.get(namespace, {})) | self._old.claims.get(namespace, {})
        for template in tree.get(updated.vm, "spec", "dataVolumeTemplates") or ():
            modes = template_modes(template.get("spec") or {})
            if modes:
                claims.setdefault(tree.get(template, "metadata", "name") or "", tuple(modes))
        is_forgotten = expansion.has_definitions(created) and not expansion.has_definitions(updated)
        is_forgotten = is_forgotten and expansion.is_expanded(self._after)
        update = Update(
            started=None if is_forgotten else lifecycle.applied(created, updated.context.release),
            applied=lifecycle.applied(updated, updated.context.release),
            vm=updated.vm,
            running=running,
            namespace=namespace,
            config=updated.context.config,
            release=updated.context.release,
            claims=Claims(claims),
        )
        before = self._before.context
        was = update._replace(config=before.config, release=before.release)
        return update._replace(was_live=was.is_live)

    def _weighed(self, facts: Facts, machines: tuple[Machine, Machine]) -> MachineImpact:
        effects, weighed = impact.weigh(facts)
        messages = facts.faults
        if facts.outcome is not None:
            messages = tuple(filter(None, (facts.outcome.restart, facts.outcome.error)))
        judged = self._machine_impact(impact.ordered(effects), messages, weighed, machines)
        if facts.restarted is not None:
            judged = judged._replace(sizes=(None, size_of(facts.restarted)))
        if facts.outcome is None or facts.run:
            return judged._replace(stale=facts.stale)
        context = self._after.context
        rollout = attribution.rollout_strategy(context.config, context.release, self._new.places)
        return judged._replace(
            workload=facts.outcome.action,
            stale=facts.stale,
            rollout=rollout if facts.outcome.is_staged else None,
        )

    def _machine_impact(
        self,
        effects: tuple[str, ...],
        messages: tuple[str, ...],
        weighed: Sequence[WeighedDifference],
        machines: tuple[Machine, Machine],
    ) -> MachineImpact:
        created, updated = machines
        changes = []
        sides = self._old.places, self._new.places
        manifests = self._before.decoded, self._after.decoded
        now = Transition(created, updated, sides, self._key, manifests)
        then = Transition(updated, self._after, sides, self._key, manifests)
        for difference, effect, waits in weighed:
            change = then if effect == "recreate" else now
            of = attribution.of_vm if effect in _OF_VM else attribution.of_vmi
            cause = of(difference.route, change)
            if cause is not None and self._is_upgrade and self._is_unedited(cause):
                cause = None  # it is the release that takes the same for something else
            is_of_vm = cause is not None and of is attribution.of_vm
            of_leaf = partial(attribution.of_leaf, change=change, is_of_vm=is_of_vm)
            changes.append(impact.field_change(difference, effect, cause, of_leaf, waits=waits))
        return MachineImpact(self._after.resource.ref, effects, messages, tuple(changes))

    def _is_unedited(self, cause: ChangeSource) -> bool:
        """Whether both states have what *cause* names, in the VM or a definition that is in force, alike."""
        machines = [
            side.places.rendered.get(self._key, machine)
            for side, machine in ((self._old, self._before), (self._new, self._after))
        ]
        contents = [_content(machine, cause.resource) for machine in machines]
        if None in contents:
            return False
        before, after = (tree.get(content, *cause.path) for content in contents)
        return bool(before == after)


def _content(machine: Machine, ref: ResourceRef) -> Tree | None:
    """What *ref* says, if it is the *machine* itself or a definition that is in force for it."""
    if machine.resource.ref == ref:
        return machine.decoded
    definitions = (getattr(machine, kind_class.word) for kind_class in KIND_CLASSES)
    return next(
        ({"spec": each.spec} for each in definitions if each is not None and ref_of(each) == ref),
        None,
    )
