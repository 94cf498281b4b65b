"""What the controllers make of a stored VM: created, started, restarted.

Upstream: pkg/virt-controller/watch/vm/vm.go, pkg/instancetype/controller/vm/controller.go,
pkg/instancetype/revision/store.go.
"""

from uuid import UUID, uuid5

from render.apply import application
from render.defaults.identity import PCI_TOPOLOGY
from render.defaults.vm import FIRMWARE, RANDOM
from render.diff import networks
from render.diff.effects import SKIP_HOOKS, Ability, abilities
from render.diff.impact import HALTED, strategy_of
from render.kubevirt import preset_mutator, vm_controller
from render.machine import Machine
from render.model import tree
from render.model.draft import Draft
from render.model.kinds import KIND_CLASSES, KindClass
from render.model.release import Version
from render.model.resource import TEMPLATE
from render.model.tree import Tree
from render.pipeline.stages import emit, expansion

#: The name space of the firmware uuids that follow from names.
_UUIDS = UUID("6a1a24a1-4061-4607-8bf4-a3963d0c5895")
#: What a VM keeps for its life, and a new one has from its first start.
_IDENTITY = ((*FIRMWARE, "uuid"), ("metadata", "annotations", PCI_TOPOLOGY))
#: The run strategies under which a new VM does not start by itself.
_STARTED_LATER = (HALTED, "Manual")
_INTERFACES = (*TEMPLATE, "spec", "domain", "devices", "interfaces")
_NETWORKS = (*TEMPLATE, "spec", "networks")


def without_status(vm: Tree) -> Tree:
    """*vm* as it is written: its status is the cluster's."""
    return {key: value for key, value in vm.items() if key != "status"}


def is_pinned(kind_class: KindClass, before: Tree, after: Tree) -> bool:
    """Whether the VM *after* goes on with the revision that was stored for *before* (syncStatusWithMatcher)."""
    old: Tree = tree.get(before, "spec", kind_class.word) or {}
    new: Tree = tree.get(after, "spec", kind_class.word) or {}
    if new.get("inferFromVolume") or new.get("name", "") != old.get("name", ""):
        return False
    if new.get("revisionName"):
        return bool(new["revisionName"] == old.get("revisionName"))
    return not new.get("kind") or new["kind"] == old.get("kind", "")


def _can(machine: Machine, ability: Ability) -> bool:
    return ability in abilities(machine.context.release)


def pinned(machine: Machine) -> Tree:
    """The stored VM of *machine*, with what the release writes into its matchers: names of revisions, or kinds."""
    draft = Draft(machine.vm)
    for kind_class in KIND_CLASSES:
        if getattr(machine, kind_class.word) is None:
            continue
        written: dict[str, str] = {}
        if not _can(machine, Ability.PINS_IN_STATUS):
            written["revisionName"] = RANDOM
        if _can(machine, Ability.STORES_KINDS):
            written["kind"] = kind_class.cluster.lower()
        place = ("spec", kind_class.word)
        for key, value in written.items():
            if not draft.get(*place, key):
                draft.put((*place, key), value)
    return draft.tree


def store_kinds(machine: Machine) -> None:
    """Write the kind into the matchers of *machine* that leave it out, as the webhook of some releases does."""
    if not _can(machine, Ability.STORES_KINDS):
        return
    for kind_class in KIND_CLASSES:
        place = ("spec", kind_class.word)
        if tree.get(machine.vm, *place) and not tree.get(machine.vm, *place, "kind"):
            draft = Draft(machine.vm)
            draft.put((*place, "kind"), kind_class.cluster.lower())
            machine.vm = draft.tree


def created(machine: Machine, before: Machine | None = None) -> Machine:
    """A copy of *machine*, expanded where the cluster's policy for instancetypes says so, and started.

    *before*: what it was; a VM that has a revision stays as it is under the policy ``expand``.
    """
    copy = expansion.copied(machine)
    if expansion.is_expanded(machine):
        had_revision = before is not None and expansion.has_definitions(before)
        if machine.context.config.reference_policy != "expand" or not had_revision:
            expansion.expand(copy)
        _make_vmi(copy)
    return copy


def restarted(updated: Machine, before: Machine, running: Tree | None) -> Machine:
    """*updated*, whose VMI runs or not, as its controllers leave it, and with the VMI that starts next."""
    machine = updated
    if updated.context.config.reference_policy != expansion.REFERENCE:
        machine = created(updated, before)
    vm = synced(machine, running)
    if vm != machine.vm:
        machine = expansion.copied(machine)
        machine.vm = vm
        _make_vmi(machine)
    return machine


def _make_vmi(machine: Machine) -> None:
    """Give *machine* the VMI that the controller creates of it as it is stored now."""
    vm_controller.create_vmi(machine)
    if machine.context.presets:
        preset_mutator.merge_presets(machine)


def started(machine: Machine) -> Tree:
    """The VMI that *machine* starts."""
    vmi = emit.started(machine)
    place = (*FIRMWARE, "uuid")
    if not _can(machine, Ability.NAMES_UUID) or tree.get(vmi, *place):
        return vmi
    draft = Draft(vmi)
    draft.put(place, str(uuid5(_UUIDS, machine.resource.name)))
    return draft.tree


def identified(vmi: Tree, machine: Machine, running: Tree) -> Tree:
    """*vmi*, made of *machine*, with the identity of the one *running*, unless the author gives it one.

    What follows from a name in one release, or is given to new VMs in another, an older VM keeps: controllers write it
    into its template (pkg/virt-controller/watch/vm/firmware.go, syncPCITopologyAnnotationsToVM in vm.go).
    """
    draft = Draft(vmi)
    for place in _IDENTITY:
        kept = tree.get(running, *place)
        written = tree.get(machine.decoded, *machine.template, *place)
        if written is not None or kept == draft.get(*place):
            continue
        if kept is not None:
            draft.put(place, kept)
            continue
        draft.remove(place)
        if not draft.get(*place[:-1]):
            draft.remove(place[:-1])
    return draft.tree


def annotated(machine: Machine, vmi: Tree) -> Tree:
    """*vmi* with the annotation that the controller copies of the VM *machine* while it runs."""
    place = ("metadata", "annotations", SKIP_HOOKS)
    value = tree.get(machine.vm, *place)
    runs = strategy_of(machine.vm) != HALTED and _can(machine, Ability.SYNCS_ANNOTATIONS)
    if not runs or value is None or value == tree.get(vmi, *place):
        return vmi
    draft = Draft(vmi)
    draft.put(place, value)
    return draft.tree


def running(machine: Machine) -> Tree:
    """The VMI that *machine* starts, once the network controller has put its networks in order.

    An interface that was absent from the start is gone by then, and the VM's own annotation is there.
    """
    draft = Draft(annotated(machine, started(machine)))
    spec = draft.get("spec") or {}
    interfaces, retained = networks.retained(spec, spec)
    if strategy_of(machine.vm) != HALTED or _can(machine, Ability.CLEARS_HALTED):
        interfaces, retained = networks.without_absent(spec)
        if interfaces != networks.interfaces_of(spec):
            draft.put(("spec", "domain", "devices", "interfaces"), interfaces)
    if retained != networks.networks_of(spec):
        draft.put(("spec", "networks"), retained)
    return draft.tree


def recreated(machine: Machine) -> Tree:
    """The VMI that runs once the VM of *machine* is deleted and created again, as it is written."""
    anew = created(machine)
    vm = anew.vm if strategy_of(anew.vm) not in _STARTED_LATER else synced(anew, None)
    if vm != anew.vm:
        anew.vm = vm
        _make_vmi(anew)
    return started(anew)


def synced(machine: Machine, running: Tree | None) -> Tree:
    """The stored VM of *machine* after the network controller has seen it beside the VMI *running*."""
    vm = machine.vm
    if running is None and not _can(machine, Ability.CLEARS_HALTED):
        return vm
    spec = tree.get(vm, *TEMPLATE, "spec") or {}
    interfaces, retained = networks.retained(spec, running.get("spec") or {} if running else None)
    draft = Draft(vm)
    for path, value in ((_INTERFACES, interfaces), (_NETWORKS, retained)):
        if value != (draft.get(*path) or []):
            draft.put(path, value)
    return draft.tree


def applied(machine: Machine, release: Version) -> Tree:
    """The template's spec of a VM with its instancetype and preference, as *release* applies them.

    Upstream: ApplyToVM. *release* is that of the controller, which applies by its own rules also the definitions with
    which an earlier one started a VM.
    """
    draft = Draft(tree.get(machine.vm, *TEMPLATE) or {})
    application.apply(
        draft,
        machine.instancetype.spec if machine.instancetype else None,
        machine.preference.spec if machine.preference else None,
        release,
    )
    return draft.tree.get("spec") or {}
