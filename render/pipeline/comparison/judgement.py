"""What the webhooks and the controller say of a VM that is created or updated.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/vms-admitter.go.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from render.admission import update
from render.defaults.vm import FIRMWARE, RANDOM
from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic
from render.diff.compare import Difference, Item, Route
from render.diff.effects import Ability, abilities
from render.kubevirt.instancetype import missing, refuses_missing
from render.machine import Machine
from render.model import tree
from render.model.catalogue import Definition
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.release import VERSIONS
from render.model.resource import OWN, TEMPLATE
from render.model.tree import Tree
from render.pipeline import order
from render.resolve.find import NOT_FOUND

_VERSION_LABEL = "instancetype.kubevirt.io/object-version"
#: What the controller finds out after the update is stored.
_FAILS_LATER = frozenset(
    code.number
    for code in (
        codes.INSTANCETYPE_NOT_FOUND,
        codes.PREFERENCE_NOT_FOUND,
        codes.UNEXPECTED_KIND,
        codes.REVISION_NOT_FOUND,
        codes.REVISION_UNFIT,
    )
)
#: What CDI says to the controller in every release.
_NO_DISK = codes.IMPORT_REFUSED.number
#: What keeps a VMI from being started, and is known before there is one.
_AT_START = frozenset({codes.DEFAULT_NETWORK.number})
_CONFLICT = codes.INSTANCETYPE_CONFLICT.number
#: What is ours to demand, and not the cluster's.
_OURS = frozenset(
    code.number
    for code in (codes.GUEST, codes.PIN_MISSING, codes.PRESET_OVERRIDDEN, codes.REVISION_EDITED)
)


_MATCHERS = frozenset(("spec", kind_class.word) for kind_class in KIND_CLASSES)


class Judgement(NamedTuple):
    """What KubeVirt says of a VM: why it is refused, why the controller fails, and why no VMI starts.

    *creation*: why only a new VM is refused. *fields*: those that are refused.
    """

    refused: tuple[str, ...]
    faults: tuple[str, ...]
    at_start: tuple[str, ...]
    creation: tuple[str, ...]
    fields: tuple[FieldPath, ...] = ()

    @property
    def is_unstartable(self) -> bool:
        """Whether the next start fails."""
        return bool(self.at_start)


def admit(
    before: Tree, updated: Machine, made_all_the_same: frozenset[str] = frozenset()
) -> Judgement:
    """Send *updated* through all stages; *before* is what was stored.

    *made_all_the_same*: what CDI had against the disks of the first state, which are assumed to be there.
    """
    context = updated.context
    # What some release takes is a warning, as for a new VM.
    is_open = context.release_is_assumed and context.settings.admission == "full"
    others = VERSIONS if is_open else ()
    causes = update.refused(before, updated.vm, context.release, others)
    verdict = judge(updated, _stored_before(before, updated))
    faults = tuple(fault for fault in verdict.faults if fault not in made_all_the_same)
    return verdict._replace(
        refused=tuple(dict.fromkeys((*(cause.message for cause in causes), *verdict.refused))),
        fields=(*(cause.path for cause in causes), *verdict.fields),
        faults=faults or _outdated(updated),
        at_start=tuple(dict.fromkeys((*verdict.creation, *verdict.at_start))),
    )


def against_disks(machine: Machine) -> frozenset[str]:
    """What CDI has against the templates of a *machine*'s DataVolumes."""
    return frozenset(
        diagnostic.message for diagnostic in machine.diagnostics if diagnostic.code == _NO_DISK
    )


def _stored_before(before: Tree, updated: Machine) -> frozenset[str]:
    """What the webhook does not look for: it takes the revision of the VM *before* while the name stays, of any kind.

    Upstream: pkg/instancetype/find/revision.go.
    """
    if Ability.PINS_IN_STATUS not in abilities(updated.context.release):
        return frozenset()
    return frozenset(
        code
        for kind_class in KIND_CLASSES
        for code in (NOT_FOUND[kind_class.word].number, codes.UNEXPECTED_KIND.number)
        if (name := tree.get(before, "spec", kind_class.word, "name"))
        and name == tree.get(updated.vm, "spec", kind_class.word, "name")
    )


def errors_of_cluster(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Those of *diagnostics* that are errors by another judgement than ours."""
    return [each for each in diagnostics if each.is_error and each.code not in _OURS]


def judge(updated: Machine, found: frozenset[str] = frozenset()) -> Judgement:
    """Send *updated* through all stages; what codes in *found* say, the controller alone finds out."""
    admitted = None
    for stage in order.stages(updated.resource, updated.context.settings)[0]:
        if stage is order.FIRST_OF_VMI:
            admitted = len(updated.diagnostics)
        stage(updated)
        if updated.failed:
            break
    first = updated.diagnostics[:admitted]
    later = updated.diagnostics[len(first) :]
    errors = errors_of_cluster(first)
    created = update.only_on_creation(updated.context.release)
    creation = [diagnostic for diagnostic in errors if diagnostic.check in created]
    at_start = [diagnostic for diagnostic in errors if diagnostic.code in _AT_START]
    at_once = [
        diagnostic
        for diagnostic in errors
        if diagnostic not in at_start and diagnostic not in creation
    ]
    at_start += errors_of_cluster(later)
    is_refused = refuses_missing(updated.context.release)
    late = [
        diagnostic
        for diagnostic in at_once
        if diagnostic.code == _NO_DISK
        or diagnostic.code in found
        or (diagnostic.code in _FAILS_LATER and not is_refused)
    ]
    refusals = [diagnostic for diagnostic in at_once if diagnostic not in late]
    causes = (_message(diagnostic, updated) for diagnostic in refusals)
    faults = (diagnostic.message.removeprefix(_webhooks_words(diagnostic)) for diagnostic in late)
    return Judgement(
        tuple(dict.fromkeys(causes)),
        tuple(dict.fromkeys(faults)),
        tuple(dict.fromkeys(diagnostic.message for diagnostic in at_start)),
        tuple(dict.fromkeys(diagnostic.message for diagnostic in creation)),
        tuple(diagnostic.location.path for diagnostic in refusals),
    )


def _webhooks_words(diagnostic: Diagnostic) -> str:
    """What the webhook of some releases says before the text that the controller has too."""
    return next(
        (
            words
            for kind_class in KIND_CLASSES
            if diagnostic.message.startswith(words := missing(kind_class))
        ),
        "",
    )


def forget_identity(before: Tree, updated: Machine) -> None:
    """Take what only a creation makes up out of *updated*, where *before*, of an older release, has it not."""
    place = (*TEMPLATE, *FIRMWARE)
    stored: Tree = tree.get(before, *place) or {}
    firmware: Tree = tree.get(updated.vm, *place) or {}
    known = {key: value for key, value in firmware.items() if value is not RANDOM or key in stored}
    if known != firmware:
        vm, template = Draft(updated.vm), Draft(updated.vmi)
        for draft, path, ids in (
            (vm, place, ("uuid", "serial")),
            (template, FIRMWARE, ("serial",)),
        ):
            for key in ids:
                if key not in known:
                    draft.remove((*path, key))
            if not draft.get(*path):
                draft.remove(path)
        updated.vm, updated.vmi = vm.tree, template.tree


def _message(diagnostic: Diagnostic, machine: Machine) -> str:
    """KubeVirt's text: it does not name the instancetype."""
    name = machine.instancetype.name if machine.instancetype else ""
    return (
        diagnostic.message.removesuffix(f" {name}")
        if diagnostic.code == _CONFLICT
        else diagnostic.message
    )


def _outdated(machine: Machine) -> tuple[str, ...]:
    """The revisions that KubeVirt replaces by others, while the VM goes on to name them (upstream: upgrade.go).

    Where the controller writes the names of revisions into VMs, it writes the new ones.
    """
    words: list[str] = []
    if Ability.PINS_IN_STATUS not in abilities(machine.context.release):
        return ()
    for kind_class in KIND_CLASSES:
        definition: Definition | None = getattr(machine, kind_class.word)
        named = tree.get(machine.vm, "spec", kind_class.word, "revisionName")
        if named and definition and definition.resource and kind_class.word not in machine.pinned:
            labels = tree.get(definition.resource.body, "metadata", "labels") or {}
            if labels.get(_VERSION_LABEL) != "v1beta1":
                words.append(f'controllerrevisions.apps "{named}" not found')
    return tuple(words)


def at_fault(changes: Sequence[Difference], fields: Sequence[FieldPath]) -> list[Difference]:
    """Of the *changes* of a VM that is refused those of *fields* that KubeVirt refuses, or all where it names others.

    What refuses a field that nobody changed is another definition. Our own stamps are no cause of anything.
    """
    written = [change for change in changes if not _is_stamp(change.route)]
    matchers = [change for change in written if change.route[:2] in _MATCHERS]
    chosen = [
        change
        for field in fields
        for change in ([change for change in written if _overlap(change.route, field)] or matchers)
    ]
    return [change for change in written if change in chosen] or written


def _is_stamp(route: Route) -> bool:
    return route[:2] == ("metadata", "annotations") and OWN in route[-1]


def _overlap(route: Route, field: FieldPath) -> bool:
    """Whether one of two places of a VM is in the other; items of a list count as the list."""
    above = tuple(takewhile(lambda step: not isinstance(step, Item), route))
    count = min(len(above), len(field))
    return above[:count] == field[:count]
