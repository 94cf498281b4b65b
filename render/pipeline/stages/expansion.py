"""Instancetype and preference written into the stored VM, where the cluster's policy says so.

Upstream: handleExpand in pkg/instancetype/controller/vm/controller.go.
"""

from render import schemas
from render.defaults.devices import DISKS
from render.defaults.network import INTERFACES
from render.defaults.vm import FIRMWARE
from render.diagnostics.codes import MATCHERS_EXPANDED
from render.kubevirt import vm_controller
from render.machine import Additions, Machine
from render.model import fieldpath, tree
from render.model.cluster_config import REFERENCE_POLICY
from render.model.draft import Draft
from render.model.kinds import KIND_CLASSES
from render.model.resource import TEMPLATE
from render.model.tree import Tree
from render.model.types import VM_TYPE
from render.pipeline.stages import emit

#: The modes that print a VM with its matchers.
_KEEP_MATCHERS = ("source", "hashed", "revisions")
#: The policy under which VMs keep their matchers.
REFERENCE = "reference"


def is_expanded(machine: Machine) -> bool:
    """Whether the cluster rewrites a new *machine* and takes its matchers away."""
    is_rewritten = machine.context.config.reference_policy != REFERENCE
    return is_rewritten and has_definitions(machine)


def has_definitions(machine: Machine) -> bool:
    """Whether an instancetype or a preference is in force."""
    return machine.instancetype is not None or machine.preference is not None


def write_out(machine: Machine) -> None:
    """The VMI of a VM that the cluster rewrites before it starts, in `machine.vmi`."""
    if not is_expanded(machine):
        return
    if machine.context.settings.emit in _KEEP_MATCHERS and not machine.resource.holders:
        _warn(machine)
    stored = copied(machine)
    expand(stored)
    decided = stored.provenance
    stored.provenance = []
    vm_controller.create_vmi(stored)
    machine.additions = _added(stored.vmi, machine.additions, stored.additions)
    machine.vmi = stored.vmi
    known = {provenance.field for provenance in machine.provenance}
    machine.provenance += (
        provenance
        for provenance in (*decided, *stored.provenance)
        if provenance.decider and provenance.field not in known
    )


def _warn(machine: Machine) -> None:
    """What comes of the matchers that stay in the manifest of *machine*."""
    context, path = machine.context, REFERENCE_POLICY
    source = context.config_source.says(path) if context.config_source else None
    later = "differs from what the cluster holds for good"
    if machine.instancetype is not None:
        later += ", and each later apply of it is refused"
    word = next(
        kind_class.word
        for kind_class in KIND_CLASSES
        if machine.spec.get(kind_class.word) is not None
    )
    machine.report(
        MATCHERS_EXPANDED,
        ("spec", word),
        f"KubeVirt writes what this names into the VM and takes it away ({fieldpath.text(path)}:"
        f" {context.config.reference_policy}), so that the manifest {later}",
        *((source,) if source else ()),
        help="--emit vm writes it out; or set referencePolicy: reference",
    )


def _added(vmi: Tree, before: Additions, now: Additions) -> Additions:
    """What KubeVirt added to the *vmi* by itself: *before* it stored the VM, and *now* that it starts."""
    disks, interfaces = (tree.get(vmi, *place) or () for place in (DISKS, INTERFACES))
    return Additions(
        disks=tuple(disk for disk in disks if disk in before.disks),
        inputs=now.inputs,
        interfaces=tuple(interface for interface in interfaces if interface in before.interfaces),
    )


def copied(machine: Machine) -> Machine:
    """*machine* once more, with nothing found or recorded about it."""
    copy = machine.under(machine.context.settings)
    copy.diagnostics, copy.provenance, copy.companions = [], [], []
    return copy


def expand(machine: Machine) -> None:
    """Write instancetype and preference into the stored VM, and take its matchers away."""
    if not has_definitions(machine):
        return
    firmware = tree.get(machine.vm, *TEMPLATE, *FIRMWARE)
    context = machine.context
    stored = context.settings._replace(stored=True)
    machine.context = context._replace(settings=stored, traced=True)
    expanded, _ = schemas.decode(emit.expand(machine), VM_TYPE, context.release)
    machine.context = context._replace(traced=True)
    draft = Draft(expanded)
    if firmware is not None:
        draft.put((*TEMPLATE, *FIRMWARE), {**firmware, **(draft.get(*TEMPLATE, *FIRMWARE) or {})})
    machine.vm = draft.tree
    machine.instancetype = machine.preference = None
