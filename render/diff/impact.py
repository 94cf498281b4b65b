"""What a change of the repository does to each VM: the answer of `compare`."""

from collections.abc import Callable, Iterable

from render.diagnostics import codes
from render.diagnostics.codes import CODES
from render.diagnostics.diagnostic import Diagnostic, without_known
from render.diagnostics.diagnostic import ordered as ordered_findings
from render.diagnostics.secrets import is_secret, redacted
from render.diff.compare import (
    Difference,
    Item,
    PathFinder,
    Route,
    differences,
    leaves,
    same,
    text,
    written_differences,
)
from render.diff.effects import EFFECTS, Action, Reconciliation
from render.diff.pools import Outcome
from render.diff.room import NamespaceImpact, QuotaImpact
from render.diff.sizes import Size
from render.diff.source import ChangeSource, SideName
from render.model import tree
from render.model.hints import Any, Literal
from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef
from render.model.tree import Tree
from render.model.types import VM_TYPE, VMI_TYPE

HIDDEN = "(hidden, changed)"
#: What the API server or the first webhook refuses of an object as it is written: no other error hides it.
REFUSED_AS_READ = frozenset(
    code.number
    for code in (
        codes.UNKNOWN_FIELD,
        codes.WRONG_TYPE,
        codes.MISSING_FIELD,
        codes.INVALID_QUANTITY,
        codes.INVALID_VALUE,
    )
)
#: In the words of a VM whose input comes to nothing, between what is at fault and why.
UNREAD, UNBUILT, ABSENT, REFUSED = FAILINGS = (
    " cannot be read",
    " cannot be built",
    " names what is not there",
    " is refused",
)
_MADE_AT_ONCE = "kubevirt.io/immediate-data-volume-creation"
_OBSERVED = "kubevirt.io/latest-observed-api-version"


class FieldChange(NamedTuple):
    """*before* becomes *after* at *field*, with an *effect* of `EFFECTS`; *cause* is where it was written.

    *field* is a path of the VMI; of the VM where no VMI changes. *leaves*: of a list that counts as one field, what
    differs in its items, with their own places. *waits*: it needs no restart itself, and waits for that of another.
    """

    field: str
    before: Any
    after: Any
    effect: str
    cause: ChangeSource | None = None
    leaves: "tuple[FieldChange, ...]" = ()
    waits: bool = False


class RolloutStrategy(NamedTuple):
    """What the cluster does with a template that changed, where a VM waits for a restart only because of that.

    *source*: the setting behind it, None for the default of KubeVirt *release*; *gate*: the feature gate without which
    the setting does not count.
    """

    value: str
    release: str
    source: ChangeSource | None = None
    gate: str = ""


class DefinitionWithoutEffect(NamedTuple):
    """A definition that a VM uses and that was edited, or deleted, without anything coming of it.

    *pin* is the content that the VM is pinned to: a hash of the lock, or the name of a ControllerRevision; ``""`` for a
    VM that has the edit, and decides the edited fields otherwise, or that keeps what KubeVirt recorded before the
    deletion.
    """

    resource: ResourceRef
    pin: str = ""


class ChangedDefinition(NamedTuple):
    """A definition that was edited, came or went; *is_used*: whether a VM of either state asks for one of its name.

    *before* and *after* are what it says in either state, None where it is not.
    """

    resource: ResourceRef
    is_used: bool
    before: Tree | None = None
    after: Tree | None = None

    @property
    def became(self) -> str:
        """What became of it: ``new``, ``deleted`` or ``changed``."""
        if self.before is None:
            return "new"
        return "deleted" if self.after is None else "changed"


class Departure(NamedTuple):
    """That an object leaves the repository which stood at *source*, and that a VM names it in the field *use*."""

    source: ChangeSource
    use: ChangeSource

    @property
    def effect(self) -> str:
        """What becomes of the VM where the sync prunes: with its Namespace it is deleted."""
        return "gone" if self.source.resource.kind == "Namespace" else "next"


class MachineImpact(NamedTuple):
    """What the change does to one VM.

    *effects* come worst first; *messages* are KubeVirt's texts. *workload*: what KubeVirt does with a VMI that waits
    for a migration. *stale*: DataVolumes that stay as they are, although they would be made otherwise now; *made*:
    those that are made at once; *left*: those that have no template any more. *sizes*: before, and at the next start
    after, None where there is no such VM, or one that cannot be rendered. *pins*: which definitions the lock decides,
    and *unpinned* which it has decided until now.
    *edited* and *deleted*: of a VM to which nothing happens, the definitions that were. *unrendered*: the states in
    which the VM cannot be rendered; *messages* are then the errors of the second, if it is one of them.
    *rollout*: the strategy of the cluster, if the VM waits for a restart because of it. *source*: where a VM stands
    that comes, or stood that goes. *lacking*: the definitions that the change deletes, for want of which the VM is
    refused, fails or cannot be rendered. *configured*: of a VM of which nothing else changes, the settings of the
    cluster that do. *redefined*: the fields of edited definitions for which a VM is refused, fails or cannot be
    rendered, where none of *changes* names them. *named*: the instancetype that each state asks for, of a VM that one
    of them cannot render; nothing where that asks for none. *departed*: what it names and will not find any more.
    *renamed*: what a VM that goes is called from now on, or one that comes was called until now.
    """

    resource: ResourceRef
    effects: tuple[str, ...]
    messages: tuple[str, ...] = ()
    changes: tuple[FieldChange, ...] = ()
    workload: Action = ""
    stale: tuple[str, ...] = ()
    sizes: tuple[Size | None, Size | None] = (None, None)
    pins: tuple[str, ...] = ()
    edited: tuple[DefinitionWithoutEffect, ...] = ()
    deleted: tuple[DefinitionWithoutEffect, ...] = ()
    unrendered: tuple[SideName, ...] = ()
    rollout: RolloutStrategy | None = None
    made: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    source: ChangeSource | None = None
    lacking: tuple[ChangeSource, ...] = ()
    configured: tuple[ChangeSource, ...] = ()
    redefined: tuple[ChangeSource, ...] = ()
    unpinned: tuple[str, ...] = ()
    named: tuple[str, str] = ("", "")
    departed: tuple[Departure, ...] = ()
    renamed: ResourceRef | None = None


class HolderImpact(NamedTuple):
    """What becomes of what the pool, replica set or template *resource* has made.

    *replicas*: before and after; *changes*: of the VM or VMI that it makes; *edited*: definitions that were edited,
    which reach only what it makes later. *is_selective*: it updates only VMs that it selects. *deleted*: so many of
    what it has made it deletes, since it is to have fewer. *departed*: the Namespace with which it goes.
    """

    resource: ResourceRef
    outcome: Outcome
    replicas: tuple[int, int]
    changes: tuple[FieldChange, ...] = ()
    edited: tuple[ResourceRef, ...] = ()
    is_selective: bool = False
    deleted: int = 0
    departed: tuple[Departure, ...] = ()


class Impact(NamedTuple):
    """What a change does: every VM of either side, and what is found *before* and *after* it.

    An error is the same one in both states if it says the same of the same field of the same object.

    *holders*: pools, replica sets and templates that change, or of which a definition does; their VMs are not among
    *machines*. *redefined*: the definitions that changed. *requests*: what pods ask for by namespace, where quotas or
    nodes are in the input, and *quotas* those that begin to fail.
    """

    machines: tuple[MachineImpact, ...]
    before: tuple[Diagnostic, ...] = ()
    after: tuple[Diagnostic, ...] = ()
    holders: tuple[HolderImpact, ...] = ()
    redefined: tuple[ChangedDefinition, ...] = ()
    requests: tuple[NamespaceImpact, ...] = ()
    quotas: tuple[QuotaImpact, ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings of both states."""
        return ordered_findings((*self.before, *self.after))

    @property
    def new_errors(self) -> tuple[Diagnostic, ...]:
        """The errors of the second state that the first has not."""
        return tuple(without_known(_errors(self.after), _errors(self.before)))

    @property
    def remaining_errors(self) -> tuple[Diagnostic, ...]:
        """The errors of the second state that the first has too."""
        return tuple(without_known(_errors(self.after), self.new_errors))

    @property
    def repaired_errors(self) -> tuple[Diagnostic, ...]:
        """The errors of the first state that the second has no longer."""
        return self.repaired_beside(())

    def repaired_beside(self, others: Iterable["Impact"]) -> tuple[Diagnostic, ...]:
        """The errors of the first state that the second has no longer; *others* have what has moved from here.

        Not those of VMs that the second cannot render any more: whether they are still there cannot be seen.
        """
        unseen = self.lost.union(*(other.lost for other in others)) | {
            error.resource
            for error in self.new_errors
            if error.resource is not None and CODES[error.code].withholds
        }
        return tuple(
            error
            for error in without_known(_errors(self.before), _errors(self.after), are_later=False)
            if error.resource not in unseen or error.code in REFUSED_AS_READ
        )

    @property
    def lost(self) -> frozenset[ResourceRef]:
        """The VMs that the second state alone cannot render."""
        return frozenset(
            machine.resource for machine in self.machines if machine.unrendered == ("after",)
        )


def _errors(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    return tuple(diagnostic for diagnostic in diagnostics if diagnostic.is_error)


class Facts(NamedTuple):
    """What is known of a VM that was updated.

    *stored*: what the update changed in it; *is_touched*: whether something else changed that it reads. *running*: the
    VMI before, as it runs or would run; *outcome*: what the controllers made of it, None where none runs. *restarted*
    and *recreated*: the VMI of the next start, and that of the VM made anew, None where there is none.
    *run*: ``stop``, ``start`` or nothing; *faults*: why the controller cannot go on; *stale*: see `MachineImpact`.
    """

    stored: list[Difference]
    is_touched: bool
    running: Tree
    outcome: Reconciliation | None
    restarted: Tree | None
    recreated: Tree | None
    run: Literal["", "stop", "start"] = ""
    faults: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


class WeighedDifference(NamedTuple):
    """A difference and its effect; *waits*: it waits for a restart that it does not need itself."""

    difference: Difference
    effect: str
    waits: bool = False


HALTED = "Halted"
_DATA_VOLUMES = ("spec", "dataVolumeTemplates")


def strategy_of(vm: Tree) -> str:
    """The run strategy of a VM, however it is written."""
    spec: Tree = vm.get("spec") or {}
    return spec.get("runStrategy") or ("Always" if spec.get("running") else HALTED)


def run_change(before: str, after: str) -> Literal["", "stop", "start"]:
    """What another run strategy does at once; every VM runs but a halted one."""
    if before != HALTED:
        return "stop" if after == HALTED else ""
    return "start" if after in ("Always", "Once", "RerunOnFailure") else ""


def weigh(facts: Facts) -> tuple[set[str], list[WeighedDifference]]:
    """The effects of an update, and each difference with its own."""
    outcome = facts.outcome
    effects: set[str] = set(filter(None, (facts.run,)))
    weighed: list[WeighedDifference] = []
    if facts.faults or (outcome and outcome.error):
        effects.add("error")
    if not facts.run:
        weighed += _now(facts, effects) + _at_restart(facts, effects)
    elif facts.run == "stop" and outcome is not None:
        # A later start has it.
        if outcome.restart:
            effects.add("restart")
        if facts.restarted is not None:
            weighed += _judged(
                facts.running, facts.restarted, "restart" if outcome.restart else "next"
            )
    if facts.restarted is not None and facts.recreated is not None:
        weighed += _judged(facts.restarted, facts.recreated, "recreate")
    counted = ("recreate",) if facts.run == "stop" else ("next", "recreate")
    effects.update(difference.effect for difference in weighed if difference.effect in counted)
    if facts.stale:
        effects.add("recreate")
    if not effects:
        effects.add("none" if facts.stored or facts.is_touched else "same")
    of_vm = [
        WeighedDifference(difference, _run_effect(difference, facts.run))
        for difference in facts.stored
    ]
    if weighed:  # what the VM starts tells the rest
        of_vm = [
            difference
            for difference in of_vm
            if difference.effect == "stop" or _is_stale(difference.difference, facts)
        ]
    return effects, weighed + of_vm


def _is_stale(difference: Difference, facts: Facts) -> bool:
    """Whether *difference* is one by which a DataVolume would be made otherwise than it was."""
    return bool(facts.stale) and difference.route[:2] == _DATA_VOLUMES


def _now(facts: Facts, effects: set[str]) -> list[WeighedDifference]:
    """What changed in the VMI that runs; its effects go to *effects*."""
    outcome = facts.outcome
    if outcome is None:
        return []
    weighed = _judged(facts.running, outcome.vmi, "migrate" if outcome.action else "live")
    if outcome.restart:
        effects.add("restart")
    if outcome.action:
        effects.add("migrate")
    elif weighed:
        effects.add("live")
    return weighed


def _at_restart(facts: Facts, effects: set[str]) -> list[WeighedDifference]:
    """What the next start changes; that it fails goes to *effects*."""
    outcome = facts.outcome
    if facts.restarted is None:
        effects.add("next")
        return []
    if outcome is None:
        return _judged(facts.running, facts.restarted, "next")
    if not outcome.restart:
        return _judged(outcome.vmi, facts.restarted, "next")
    weighed = _judged(outcome.vmi, facts.restarted, "restart")
    needed = [_is_within(each.difference.route, outcome.blocking) for each in weighed]
    # What needs it may be nothing that differs in the VMI: then nothing is told apart.
    return [
        each._replace(waits=any(needed) and not is_needed)
        for each, is_needed in zip(weighed, needed, strict=True)
    ]


def _is_within(route: Route, fields: Iterable[Route]) -> bool:
    """Whether *route* leads into one of the *fields*, or one of them into it."""
    return any(route[: len(field)] == field[: len(route)] for field in fields)


def _judged(before: Tree, after: Tree, effect: str) -> list[WeighedDifference]:
    return [
        WeighedDifference(difference, effect)
        for difference in differences(_comparable(before), _comparable(after), VMI_TYPE)
    ]


def _comparable(vmi: Tree) -> Tree:
    """What counts of a VMI."""
    metadata = vmi.get("metadata") or {}
    kept = {key: metadata[key] for key in ("labels", "annotations") if metadata.get(key)}
    return {"metadata": kept, "spec": vmi.get("spec") or {}}


def _run_effect(difference: Difference, run: str) -> str:
    return (
        run
        if run and difference.route[:2] in (("spec", "running"), ("spec", "runStrategy"))
        else "none"
    )


def ordered(effects: set[str]) -> tuple[str, ...]:
    """*effects*, worst first."""
    return tuple(sorted(effects, key=EFFECTS.index))


def without_secrets(route: Route, value: Any) -> Any:
    """*value*, which stands at *route*, without what is not for other eyes."""
    keys = tuple(step for step in route if not isinstance(step, Item))
    if value is not None and is_secret(keys):
        return HIDDEN
    return redacted(value, HIDDEN)


def field_change(
    difference: Difference,
    effect: str,
    cause: ChangeSource | None,
    of_leaf: Callable[[Route], ChangeSource | None] | None = None,
    *,
    waits: bool = False,
) -> FieldChange:
    """The change that a *difference* is, without secrets; *of_leaf* knows causes of their own within a list."""
    route, before, after = difference
    whole = FieldChange(
        difference.field,
        without_secrets(route, before),
        without_secrets(route, after),
        effect,
        cause,
        waits=waits,
    )
    if not (isinstance(before, list) and isinstance(after, list)):
        return whole
    parts = []
    finder = PathFinder(after if cause is not None and cause.side == "after" else before)
    for leaf in leaves(before, after):
        way = (*route, *leaf.route)
        own = of_leaf(way) if of_leaf else None
        source = own or cause
        if own is None and cause is not None and cause.path[-1:] == route[-1:]:
            source = cause._replace(path=(*cause.path, *finder.path(leaf.route)))
        parts.append(
            FieldChange(
                text(way),
                without_secrets(way, leaf.before),
                without_secrets(way, leaf.after),
                effect,
                source,
                waits=waits,
            )
        )
    is_whole = [part.field for part in parts] == [whole.field]
    return whole if is_whole else whole._replace(leaves=tuple(parts))


def stale_volumes(before: Tree, after: Tree) -> tuple[str, ...]:
    """The DataVolumes of a VM that would be others if they were made of its templates now."""
    old, new = _data_volumes(before), _data_volumes(after)
    kind = "kubevirt.DataVolumeTemplateSpec"
    return tuple(name for name in old if name in new and not same(old[name], new[name], kind))


def made_volumes(before: Tree, after: Tree) -> tuple[str, ...]:
    """The DataVolumes of new templates of a VM, which are made at once unless it asks for them later."""
    annotation = tree.get(after, "metadata", "annotations", _MADE_AT_ONCE)
    old, new = _data_volumes(before), _data_volumes(after)
    return () if annotation == "false" else tuple(name for name in new if name not in old)


def left_volumes(before: Tree, after: Tree) -> tuple[str, ...]:
    """The DataVolumes of templates that leave a VM, which goes on to own them."""
    old, new = _data_volumes(before), _data_volumes(after)
    return tuple(name for name in old if name not in new)


def _data_volumes(vm: Tree) -> dict[str, Tree]:
    """What the controller makes of the templates of DataVolumes (upstream: pkg/storage/types/dv.go)."""
    priority = tree.get(vm, "spec", "template", "spec", "priorityClassName")
    by_name = {}
    for template in tree.get(vm, "spec", "dataVolumeTemplates") or ():
        spec = template.get("spec") or {}
        if priority and not spec.get("priorityClassName"):
            spec = {**spec, "priorityClassName": priority}
        by_name[tree.get(template, "metadata", "name") or ""] = {**template, "spec": spec}
    return by_name


def stored_changes(before: Tree, after: Tree) -> list[Difference]:
    """What an update changed in the stored VM."""
    return written_differences(_observed(before), _observed(after), VM_TYPE)


def _observed(vm: Tree) -> Tree:
    """*vm* with an annotation that the cluster puts on each: a VM without any is not stored."""
    metadata = vm.get("metadata") or {}
    annotations = {_OBSERVED: "v1", **(metadata.get("annotations") or {})}
    return {**vm, "metadata": {**metadata, "annotations": annotations}}
