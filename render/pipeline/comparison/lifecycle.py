"""What the controllers make of a stored VM: created, started, restarted.

Upstream: pkg/virt-controller/watch/vm/vm.go, pkg/instancetype/controller/vm/controller.go,
pkg/instancetype/revision/store.go.
"""

from render import schemas
from render.apply import application
from render.defaults.vm import FIRMWARE, RANDOM
from render.diff import networks
from render.diff.effects import Ability, abilities
from render.kubevirt import preset_mutator, vm_controller
from render.machine import Machine
from render.model import tree
from render.model.draft import Draft
from render.model.kinds import KIND_CLASSES, KindClass
from render.model.release import Version
from render.model.resource import TEMPLATE
from render.model.tree import Tree
from render.model.types import VM_TYPE
from render.pipeline.stages import emit

REFERENCE = "reference"
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


def reference_policy(machine: Machine) -> str:
    """What the cluster does with instancetypes and preferences: refer to them, or write them into VMs."""
    config = machine.context.config
    asked = "InstancetypeReferencePolicy" in config.feature_gates
    known = asked or _can(machine, Ability.POLICY_UNASKED)
    return config.reference_policy if known else REFERENCE


def pinned(machine: Machine) -> Tree:
    """The stored VM of *machine*, with the names of revisions where the release keeps them in matchers."""
    if _can(machine, Ability.PINS_IN_STATUS):
        return machine.vm
    draft = Draft(machine.vm)
    for kind_class in KIND_CLASSES:
        place = ("spec", kind_class.word, "revisionName")
        if getattr(machine, kind_class.word) is not None and not draft.get(*place):
            draft.put(place, RANDOM)
    return draft.tree


def created(machine: Machine, before: Machine | None = None) -> Machine:
    """A copy of *machine*, expanded where the cluster's policy for instancetypes says so, and started.

    *before*: what it was; a VM that has a revision stays as it is under the policy ``expand``.
    """
    policy = reference_policy(machine)
    created = _copied(machine)
    if policy == "expandAll" or (policy == "expand" and not (before and has_revision(before))):
        _expand(created)
        _started(created)
    return created


def restarted(updated: Machine, before: Machine, running: Tree | None) -> Machine:
    """*updated*, whose VMI runs or not, as its controllers leave it, and with the VMI that starts next."""
    restarted = updated
    if reference_policy(updated) != REFERENCE:
        restarted = created(updated, before)
    vm = synced(restarted.vm, running)
    if vm != restarted.vm:
        restarted = _copied(restarted)
        restarted.vm = vm
        _started(restarted)
    return restarted


def has_revision(machine: Machine) -> bool:
    """Whether KubeVirt keeps a revision for *machine*: what it names, it has."""
    return machine.instancetype is not None or machine.preference is not None


def _copied(machine: Machine) -> Machine:
    copy = machine.under(machine.context.settings)
    copy.diagnostics, copy.provenance, copy.companions = [], [], []
    return copy


def _expand(machine: Machine) -> None:
    """Write instancetype and preference into the stored VM (upstream: handleExpand)."""
    if not has_revision(machine):
        return
    firmware = tree.get(machine.vm, *TEMPLATE, *FIRMWARE)
    machine.context = machine.context._replace(traced=True)
    expanded, _ = schemas.decode(emit.expand(machine), VM_TYPE, machine.context.release)
    draft = Draft(expanded)
    if firmware is not None:
        draft.put((*TEMPLATE, *FIRMWARE), {**firmware, **(draft.get(*TEMPLATE, *FIRMWARE) or {})})
    machine.vm = draft.tree
    machine.instancetype = machine.preference = None


def _started(machine: Machine) -> Machine:
    """*machine* with the VMI that the controller creates of it as it is stored now."""
    vm_controller.create_vmi(machine)
    if machine.context.presets:
        preset_mutator.merge_presets(machine)
    return machine


def running(machine: Machine) -> Tree:
    """The VMI that *machine* starts, once the network controller has put its networks in order."""
    draft = Draft(emit.started(machine))
    spec = draft.get("spec") or {}
    interfaces, retained = networks.retained(spec, spec)
    if interfaces and retained != networks.networks_of(spec):
        draft.put(("spec", "networks"), retained)
    return draft.tree


def synced(vm: Tree, running: Tree | None) -> Tree:
    """The stored *vm* after the network controller has seen it beside the VMI *running*."""
    spec = tree.get(vm, *TEMPLATE, "spec") or {}
    interfaces, retained = networks.retained(spec, running.get("spec") or {} if running else None)
    draft = Draft(vm)
    for path, value in ((_INTERFACES, interfaces), (_NETWORKS, retained)):
        if value != (draft.get(*path) or []):
            draft.put(path, value)
    return draft.tree


def applied(machine: Machine, release: Version) -> Tree:
    """The template's spec of a VM with its instancetype and preference, as *release* applies them.

    Upstream: ApplyToVM. The controller of now applies what a VM was started with too.
    """
    draft = Draft(tree.get(machine.vm, *TEMPLATE) or {})
    application.apply(
        draft,
        machine.instancetype.spec if machine.instancetype else None,
        machine.preference.spec if machine.preference else None,
        release,
    )
    return draft.tree.get("spec") or {}
