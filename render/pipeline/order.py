"""The order of the stages, one tuple an emit mode: the one place that knows it."""

from collections.abc import Callable
from functools import cache

from render.kubevirt import instancetype, vm_controller, vm_mutator
from render.machine import Context, Machine
from render.model import packaged, tree
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING, Any
from render.model.kinds import KIND_CLASSES
from render.model.resource import TEMPLATE, VM, Resource
from render.model.tree import Tree
from render.pipeline import outcomes
from render.pipeline.outcomes import Outcome
from render.pipeline.stages import emit, pins, stamping
from render.settings import Settings

if TYPE_CHECKING:
    from render.model.shape import Verdicts

#: The modes in which an instance takes the place of what makes it.
INSTANCES = frozenset({"vmi", "pod"})
Stage = Callable[[Machine], None]
Emit = Callable[[Machine], Tree]


@cache
def imported(home: str) -> Any:
    """What ``module:name`` of `render` is, imported now."""
    module, _, name = home.partition(":")
    return getattr(packaged.module(f"render.{module}"), name)


def _rare(stage: str, is_wanted: Callable[[Machine], object]) -> Stage:
    """What ``module:function`` of `render` does, for machines by which it *is_wanted*.

    It is imported with the first of these: most processes render one VM or two, and few VMs need it.
    """

    def perform(machine: Machine) -> None:
        if is_wanted(machine):
            imported(stage)(machine)

    return perform


#: What a shape leaves out of a VM: the definitions that these lead to count instead.
_MATCHERS = frozenset(kind_class.word for kind_class in KIND_CLASSES)
_ARCHITECTURE: FieldPath = (*TEMPLATE, "spec", "architecture")
_EVICTION: FieldPath = (*TEMPLATE, "spec", "evictionStrategy")
#: What the outcome of a stage hangs on beside the shape of the machine; None where it is not told by these.
HangsOn = Callable[[Machine], tuple[object, ...] | None]


def shape_of(resource: Resource, spec: Tree, context: Context) -> bytes | None:
    """What the machine that *resource* with this *spec* is has in common with others; None for one of its own kind."""
    if resource.kind != VM or resource.holders or resource.older or "flavor" in spec:
        return None
    namespace = resource.namespace or context.catalogue.namespace
    found: bytes | None = imported("model.shape:of_vm")(resource.name, namespace, spec, _MATCHERS)
    return found


def verdicts_for(context: Context) -> "Verdicts | None":
    """What is known of shapes in the run of *context*; None where it is not as it was for these."""
    verdicts = context.verdicts
    if verdicts is None:
        return None
    basis = (context.settings, context.config, context.catalogue, context.release_is_assumed)
    return verdicts if verdicts.hold(*basis) else None


def _shape_of(machine: Machine) -> bytes | None:
    if machine.shape == b"":
        spec = machine.decoded.get("spec") or {}
        is_usual = not machine.has_decode_findings
        machine.shape = shape_of(machine.resource, spec, machine.context) if is_usual else None
    return machine.shape


def _once_a_shape(stage: Stage, hangs_on: HangsOn) -> Stage:
    """*stage*, which only finds things, left out for a machine of a shape of which it has found nothing.

    What a stage finds must hang on the shape, on the run, and on what *hangs_on* says. No stage may read what a shape
    leaves out otherwise than by telling a plain value from another: see `render.model.shape`.
    """

    def perform(machine: Machine) -> None:
        verdicts = None if machine.failed else verdicts_for(machine.context)
        shape = None if verdicts is None else _shape_of(machine)
        more = hangs_on(machine) if shape else None
        if verdicts is None or shape is None or more is None:
            stage(machine)
            return
        key = stage, shape, *more
        if key not in verdicts:
            known = len(machine.diagnostics)
            stage(machine)
            if len(machine.diagnostics) == known and not machine.failed:
                verdicts.add(key, shape, _specs(machine))

    return perform


def _specs(machine: Machine) -> tuple[Tree | None, ...]:
    """The specs of the definitions of *machine*."""
    return tuple(each and each.spec for each in (machine.instancetype, machine.preference))


def _by_itself(_machine: Machine) -> tuple[object, ...]:
    return ()


def _by_no_finding(machine: Machine) -> tuple[object, ...] | None:
    """For a stage that takes account of what was found before."""
    return None if machine.diagnostics else ()


def _by_definitions(machine: Machine) -> tuple[object, ...]:
    """The architecture may be that of a DataSource."""
    if tree.get(machine.decoded, *_EVICTION) == "LiveMigrate" and _is_admitted(machine):
        instancetype.applied_template(machine)  # asked for again once all machines are known
    flavor = machine.instancetype.kind if machine.instancetype else ""
    return (flavor, tree.get(machine.vm, *_ARCHITECTURE), *map(id, _specs(machine)))


def _by_templates(machine: Machine) -> tuple[object, ...] | None:
    """A preference fills in storage classes; sources without a namespace are those of the namespace of the VM."""
    if _by_no_finding(machine) is None:
        return None
    references = [
        tree.get(template, "spec", "sourceRef")
        for template in machine.spec.get("dataVolumeTemplates") or ()
    ]
    is_apart = all(each is None or each.get("namespace") is not None for each in references)
    return ("" if is_apart else machine.namespace, *map(id, _specs(machine)))


def asks_admission(settings: Settings) -> bool:
    """Whether the checks of the cluster's admission run."""
    return settings.admission == "strict" or (
        settings.admission == "full" and settings.emit != "expand"
    )


def asks_guest(settings: Settings) -> bool:
    """Whether it is looked into what guests boot with."""
    return settings.guest != "off" and settings.admission != "off"


def _has_flavor(machine: Machine) -> bool:
    return "flavor" in machine.spec


def _is_admitted(machine: Machine) -> bool:
    return machine.context.settings.admission != "off"


def _is_booted(machine: Machine) -> bool:
    """Whether the manifest shows what the guest boots with, and it is looked into."""
    if not asks_guest(machine.context.settings):
        return False
    above = machine.vmi_path[:-1]
    volumes = tree.get(machine.decoded, *machine.vmi_path, "volumes") or ()
    shows_texts = not all(map(_BOOTED.isdisjoint, volumes))
    return shows_texts or bool(tree.get(machine.decoded, *above, *_IGNITION))


def _asks_admission(machine: Machine) -> bool:
    return asks_admission(machine.context.settings)


def _writes_out(machine: Machine) -> bool:
    return machine.context.config.reference_policy != "reference"


def _makes_disks(machine: Machine) -> bool:
    return _is_admitted(machine) and bool(machine.spec.get("dataVolumeTemplates"))


def _has_presets(machine: Machine) -> bool:
    return bool(machine.context.presets)


def _always(_machine: Machine) -> bool:
    return True


#: Sources of volumes with texts that the guest reads.
_BOOTED = frozenset({"cloudInitNoCloud", "cloudInitConfigDrive", "sysprep"})
_IGNITION = ("metadata", "annotations", "kubevirt.io/ignitiondata")

_find_flavor = _rare("pipeline.stages.flavors:find_flavor", _has_flavor)
_refuse_flavor = _rare("pipeline.stages.flavors:refuse_flavor", _has_flavor)
_merge_presets = _rare("kubevirt.preset_mutator:merge_presets", _has_presets)
_write_out = _rare("pipeline.stages.expansion:write_out", _writes_out)
_check_guest = _rare("pipeline.stages.guest:check_guest", _is_booted)
_check_domain = _once_a_shape(
    _rare("kubevirt.virt_launcher:check_domain", _asks_admission), _by_itself
)
_check_references = _rare("pipeline.stages.references:check_references", _asks_admission)
_check_names = _once_a_shape(
    _rare("pipeline.stages.references:check_names", _asks_admission), _by_no_finding
)
_check_notation = _rare("pipeline.stages.notation:check_notation", _always)
_check_disks = _once_a_shape(
    _rare("kubevirt.importer:check_templates", _makes_disks), _by_templates
)
_admit_vm = _once_a_shape(_rare("kubevirt.admitters:admit_vm", _is_admitted), _by_definitions)
_admit_vmi = _once_a_shape(_rare("kubevirt.admitters:admit_vmi", _is_admitted), _by_definitions)


def _refused(outcome: Outcome) -> Stage:
    def refuse(machine: Machine) -> None:
        from render.pipeline.stages import flavors

        flavors.refuse(machine, outcome)

    return refuse


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


def _pod(machine: Machine) -> Tree:
    """The pod that the VMI gets."""
    from render.kubevirt import vmi_controller

    vmi = emit.vmi(machine)
    launched = None if machine.failed else vmi_controller.launched(machine, vmi)
    return launched.pod if launched else machine.raw


#: What is wrong with a manifest, whatever it becomes: with what a guest boots, its domain, and names that lead nowhere.
MANIFEST: tuple[Stage, ...] = (_check_guest, _check_domain, _check_references, _check_names)
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
    if outcome.verdict == "refused":
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
