"""The order of the stages, one tuple an emit mode: the one place that knows it."""

from collections.abc import Callable

from render.kubevirt import instancetype, vm_controller, vm_mutator
from render.machine import Machine
from render.model import tree
from render.model.resource import Resource
from render.model.tree import Tree
from render.pipeline import outcomes
from render.pipeline.outcomes import Outcome, Verdict
from render.pipeline.stages import emit, pins, references, stamping
from render.settings import Settings

#: The modes in which an instance takes the place of what makes it.
INSTANCES = frozenset({"vmi", "pod"})
Stage = Callable[[Machine], None]
Emit = Callable[[Machine], Tree]


# What few VMs need is imported with the first that does: most processes render one or two.


def asks_admission(settings: Settings) -> bool:
    """Whether the checks of the cluster's admission run."""
    return settings.admission == "strict" or (
        settings.admission == "full" and settings.emit != "expand"
    )


def asks_guest(settings: Settings) -> bool:
    """Whether it is looked into what guests boot with."""
    return settings.guest != "off" and settings.admission != "off"


def _find_flavor(machine: Machine) -> None:
    if "flavor" in machine.spec:
        from render.pipeline.stages import flavors

        flavors.find_flavor(machine)


def _refuse_flavor(machine: Machine) -> None:
    if "flavor" in machine.spec:
        from render.pipeline.stages import flavors

        flavors.refuse_flavor(machine)


def _refused(outcome: Outcome) -> Stage:
    def refuse(machine: Machine) -> None:
        from render.pipeline.stages import flavors

        flavors.refuse(machine, outcome)

    return refuse


def _merge_presets(machine: Machine) -> None:
    if machine.context.presets:
        from render.kubevirt import preset_mutator

        preset_mutator.merge_presets(machine)


def _write_out(machine: Machine) -> None:
    if machine.context.config.reference_policy != "reference":
        from render.pipeline.stages import expansion

        expansion.write_out(machine)


#: Sources of volumes with texts that the guest reads.
_BOOTED = frozenset({"cloudInitNoCloud", "cloudInitConfigDrive", "sysprep"})
_IGNITION = ("metadata", "annotations", "kubevirt.io/ignitiondata")


def _check_guest(machine: Machine) -> None:
    """What of the manifest shows what the guest boots with: whatever becomes of the machine."""
    if not asks_guest(machine.context.settings):
        return
    above = machine.vmi_path[:-1]
    volumes = tree.get(machine.decoded, *machine.vmi_path, "volumes") or ()
    if not all(map(_BOOTED.isdisjoint, volumes)) or tree.get(machine.decoded, *above, *_IGNITION):
        from render.pipeline.stages import guest

        guest.check_guest(machine)


def _check_references(machine: Machine) -> None:
    """Which names of the manifest lead nowhere: whatever becomes of the machine."""
    if asks_admission(machine.context.settings):
        references.check_references(machine)


def _admit_vm(machine: Machine) -> None:
    if machine.context.settings.admission != "off":
        from render.kubevirt import admitters

        admitters.admit_vm(machine)


def _check_disks(machine: Machine) -> None:
    if machine.spec.get("dataVolumeTemplates") and machine.context.settings.admission != "off":
        from render.kubevirt import importer

        importer.check_templates(machine)


def _check_notation(machine: Machine) -> None:
    from render.pipeline.stages import notation

    notation.check_notation(machine)


def _find_definitions(machine: Machine) -> None:
    """Find the definitions in force, and compare what stored revisions hold with what the lock says of them."""
    instancetype.resolve(machine)
    pins.check_revisions(machine)


def _resolve(machine: Machine) -> None:
    """KubeVirt admits a VM whose definitions are missing as if it had no matchers."""
    _find_definitions(machine)
    if machine.failed:
        instancetype.check_spread(machine)
        instancetype.check_requirements(machine)
        vm_controller.check_network(machine)
        _admit_vm(machine)


def _admit_vmi(machine: Machine) -> None:
    if machine.context.settings.admission != "off":
        from render.kubevirt import admitters

        admitters.admit_vmi(machine)


def _pod(machine: Machine) -> Tree:
    """The pod that the VMI gets."""
    from render.kubevirt import vmi_controller

    vmi = emit.vmi(machine)
    launched = None if machine.failed else vmi_controller.launched(machine, vmi)
    return launched.pod if launched else machine.raw


#: What is wrong with a manifest, whatever it becomes.
MANIFEST: tuple[Stage, ...] = (_check_guest, _check_references)
#: The first stage that is about the VMI of a start alone: what the ones before it refuse, no VM is stored with.
FIRST_OF_VMI: Stage = _write_out
#: What the VM webhooks do, and demand before they apply anything.
_ADMISSION: tuple[Stage, ...] = (
    vm_mutator.check_running,
    vm_mutator.check_matchers,
    pins.use,
    vm_mutator.infer_matchers,
    vm_mutator.set_defaults,
    _resolve,
    instancetype.check_spread,
    instancetype.check_crashes,
)
#: From there to the VMI before its defaults. What the VM's webhook checks is made of the VMI: one application for both.
_START: tuple[Stage, ...] = (
    *_ADMISSION,
    _find_flavor,
    vm_controller.create_vmi,
    instancetype.check_requirements,
    _admit_vm,
    _check_disks,
    _write_out,
    _merge_presets,
    _admit_vmi,
)
_EXPAND: tuple[Stage, ...] = (
    _refuse_flavor,
    _find_definitions,
    instancetype.check_crashes,
)
_EXPAND_STORED: tuple[Stage, ...] = (
    vm_mutator.check_matchers,
    pins.use,
    vm_mutator.infer_matchers,
    vm_mutator.set_defaults,
    *_EXPAND,
)


def _adopt(machine: Machine) -> None:
    """A bare VMI is its own template."""
    machine.vmi = {key: machine.vm[key] for key in ("metadata", "spec") if key in machine.vm}


_BARE: tuple[Stage, ...] = (_adopt, _merge_presets, _admit_vmi)


def _older(kind: outcomes.MachineKind) -> tuple[Stage, ...]:
    """The stages of a VM of kubevirt.io/v1alpha1, which was what a VMI is today, or from the store before that."""
    from render.kubevirt import preset_mutator
    from render.pipeline.stages import flavors

    if kind == "store":
        return (flavors.fill_flavour, flavors.fill_memory, *_START)
    # What it becomes is a VMI, into which a cluster of today merges the presets of today.
    return (
        _adopt,
        preset_mutator.merge_historic_presets,
        flavors.fill_defaults,
        _merge_presets,
        _admit_vmi,
    )


def stages(resource: Resource, settings: Settings) -> tuple[tuple[Stage, ...], Emit | None]:
    """The stages for a VM or a bare VMI, and what it becomes; None leaves it as it is."""
    kind = outcomes.machine_kind(resource)
    outcome = outcomes.MACHINES[kind].outcomes[settings.emit]
    # KubeVirt has words of its own for a flavor.
    if settings.emit == "expand" and kind in ("vm", "flavored"):
        return (_EXPAND_STORED if settings.stored else _EXPAND), emit.expand
    if outcome.verdict is Verdict.REFUSED:
        return (_refused(outcome),), None
    if kind in ("store", "runtime", "vmi"):
        steps = _BARE if kind == "vmi" else _older(kind)
        modes: dict[str, Emit] = {
            "vm": stamping.vm if kind == "store" else stamping.bare_vmi,
            "vmi": emit.vmi,
            "pod": _pod,
        }
        if settings.emit == "expand":
            steps = ()
        return steps, modes.get(settings.emit)
    match settings.emit:
        case "vmi":
            return _START, emit.vmi
        case "pod":
            return _START, _pod
        case "vm":
            return _START, stamping.vm
        case "hashed" | "revisions":
            from render.pipeline.stages import companions

            return _START, companions.hashed if settings.emit == "hashed" else companions.revisions
        case _:
            return (_check_notation, *_START), None
