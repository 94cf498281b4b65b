"""What a machine becomes: one function an emit mode."""

from render import schemas
from render.defaults import devices, network
from render.defaults.identity import PCI_TOPOLOGY
from render.defaults.vm import FIRMWARE, Unknown
from render.kubevirt.vm_controller import apply_definitions
from render.machine import Machine
from render.model import tree
from render.model.draft import Draft
from render.model.kinds import KIND_CLASSES
from render.model.release import Version
from render.model.resource import TEMPLATE, text_at
from render.model.tree import Tree
from render.model.types import VM_TYPE, VMI_TYPE

_MATCHERS = frozenset(kind_class.word for kind_class in KIND_CLASSES)
_REQUESTS = ("spec", "domain", "resources", "requests")
_SELECTOR = ("spec", "nodeSelector")
#: What the controller puts on a VMI that waits for a VM of another cluster.
_RECEIVER = "kubevirt.io/create-migration-target"


def vm(machine: Machine) -> Tree:
    """The VM with everything written out that a rule decided, and without its matchers."""
    template = machine.draft(machine.vmi)
    if machine.context.settings.defaults == "cluster":
        from render.defaults.spec import fill_spec

        _complete_input(machine, template)
        error = fill_spec(template, machine.context.config, machine.context.release)
        machine.record_defaults(template)
        if error:
            machine.refuse_network(error)
    else:
        _drop_additions(machine, template)
        _drop_identity(machine, template)
    _drop_unknown(template)
    return _as_vm(machine, template.tree)


def _as_vm(machine: Machine, template: Tree) -> Tree:
    spec = {key: value for key, value in machine.spec.items() if key not in _MATCHERS}
    # Where the author wrote no metadata of the template, it comes first all the same.
    spec["template"] = {"metadata": {}, **template}
    body = {key: value for key, value in machine.vm.items() if key != "status"}
    body["spec"] = spec
    return encoded(body, machine.context.release)


def encoded(vm: Tree, release: Version) -> Tree:
    """*vm* as Go writes it, but for what no author writes into metadata, and nobody misses there.

    That is empty metadata of the template, and the ``creationTimestamp: null`` of the types before 1.8.
    """
    body = schemas.encode(vm, VM_TYPE, release)
    template = body["spec"]["template"]
    metadata = _undated(template["metadata"])
    if metadata is not template["metadata"] or not metadata:
        rest = {key: value for key, value in template.items() if key != "metadata"}
        template = {"metadata": metadata, **rest} if metadata else rest
        body = {**body, "spec": {**body["spec"], "template": template}}
    metadata = _undated(body["metadata"])
    return body if metadata is body["metadata"] else {**body, "metadata": metadata}


def _undated(metadata: Tree) -> Tree:
    if metadata.get("creationTimestamp", "") is not None:
        return metadata
    return {key: value for key, value in metadata.items() if key != "creationTimestamp"}


def _complete_input(machine: Machine, template: Draft) -> None:
    for index, entry in enumerate(template.get(*devices.INPUTS) or ()):
        if machine.additions.inputs and not entry.get("type"):
            # The schema requires a type, and tablet is what KubeVirt would fill in.
            template.put((*devices.INPUTS, index, "type"), "tablet")


def _drop_additions(machine: Machine, template: Draft) -> None:
    """Leave out what KubeVirt adds by itself again, unless a rule changed it."""
    added = machine.additions
    if added.disks:
        unchanged = set(map(id, added.disks))
        disks = template.get(*devices.DISKS) or []
        kept = [disk for disk in disks if id(disk) not in unchanged]
        if len(kept) != len(disks):
            _put_or_remove(template, devices.DISKS, kept)
    if added.inputs:
        inputs = template.get(*devices.INPUTS) or [None]
        if inputs[0] is added.inputs[0]:
            template.remove(devices.INPUTS)
        _complete_input(machine, template)
    if added.interfaces:
        interfaces = template.get(*network.INTERFACES) or [None]
        if interfaces[0] is added.interfaces[0]:
            template.remove(network.INTERFACES)
            template.remove(network.NETWORKS)


def _put_or_remove(draft: Draft, path: tuple[str, ...], items: list[Tree]) -> None:
    if items:
        draft.put(path, items)
    else:
        draft.remove(path)


def _drop_identity(machine: Machine, template: Draft) -> None:
    """Leave out architecture, machine type and PCI topology where only the cluster decides them."""
    preference = machine.preference.content if machine.preference else {}
    written = tree.get(machine.raw, *TEMPLATE) or {}
    spec = written.get("spec") or {}
    if not spec.get("architecture") and not preference.get("preferredArchitecture"):
        template.remove(("spec", "architecture"))
    preferred = (preference.get("machine") or {}).get("preferredMachineType")
    if not tree.get(spec, "domain", "machine", "type") and not preferred:
        template.remove(("spec", "domain", "machine"))
    if PCI_TOPOLOGY not in (tree.get(written, "metadata", "annotations") or {}):
        template.remove(("metadata", "annotations", PCI_TOPOLOGY))
    metadata = template.tree.get("metadata")
    if metadata is not None and metadata.get("annotations") == {}:
        template.remove(("metadata", "annotations"))
    if template.tree.get("metadata") == {}:
        template.remove(("metadata",))


def _drop_unknown(template: Draft) -> None:
    """Leave out what only the cluster knows; an empty firmware that is left over goes too."""
    firmware = template.get(*FIRMWARE)
    if firmware is None:
        return
    known = {key: value for key, value in firmware.items() if not isinstance(value, Unknown)}
    if not known:
        template.remove(FIRMWARE)
    elif len(known) < len(firmware):
        template.put(FIRMWARE, known)


def started(machine: Machine) -> Tree:
    """``metadata`` and ``spec`` of the VMI as KubeVirt starts it, defaults included."""
    from render.defaults.vmi import fill_vmi

    template = machine.draft(machine.vmi)
    error = fill_vmi(template, machine.context.config, machine.context.release)
    machine.record_defaults(template)
    if error:
        machine.refuse_network(error)
    _drop_unknown(template)
    if template.get(*_REQUESTS) == {}:
        template.remove(_REQUESTS)
    if machine.spec.get("runStrategy") == "WaitAsReceiver":
        template.put(("metadata", "annotations", _RECEIVER), "true")
    return template.tree


def vmi(machine: Machine) -> Tree:
    """The VMI as KubeVirt starts it, as an object."""
    template = started(machine)
    metadata = {
        key: value
        for key, value in (template.get("metadata") or {}).items()
        if key in ("labels", "annotations")
    }
    name = machine.resource.name
    beginning = text_at(machine.raw.get("metadata"), "generateName")
    identity = {"name": name} if name else {"generateName": beginning}
    if machine.resource.namespace:
        identity["namespace"] = machine.resource.namespace
    spec: Tree = template.get("spec") or {}
    body = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {**identity, **metadata},
        "spec": spec,
    }
    written = schemas.encode(body, VMI_TYPE, machine.context.release)
    machine.record_notation(spec, written["spec"])
    return written


def bare_vmi(machine: Machine) -> Tree:
    """A bare VMI with its presets, without the defaults that KubeVirt adds on every start."""
    draft = Draft(machine.vm)
    draft.remove(("status",))
    for key, value in machine.vmi.items():
        draft.put((key,), value)
    body = schemas.encode(draft.tree, VMI_TYPE, machine.context.release)
    return {**body, "metadata": _undated(body["metadata"])}


def _claims_selector(machine: Machine) -> bool:
    """Whether the VM as written and its instancetype both have a node selector, that of the VM an empty one."""
    claimed = machine.instancetype is not None and "nodeSelector" in machine.instancetype.spec
    return claimed and tree.get(machine.raw, *TEMPLATE, *_SELECTOR) == {}


def expand(machine: Machine) -> Tree:
    """What expand-vm-spec answers (expand-spec, where the webhook's stages ran before).

    Upstream: pkg/virt-api/rest/expand.go, pkg/instancetype/expand/expand.go.
    """
    from render.defaults.spec import fill_spec

    draft = Draft(machine.vm)
    if machine.instancetype is None and machine.preference is None:
        template = Draft(machine.spec.get("template") or {})
        _drop_unknown(template)
        draft.put(TEMPLATE, template.tree)
        return schemas.encode(draft.tree, VM_TYPE, machine.context.release)
    template = machine.draft(machine.spec.get("template") or {})
    if not machine.context.settings.stored and _claims_selector(machine):
        # QUIRK(pkg/instancetype/apply/nodeselector.go): an empty selector conflicts too; a stored VM has lost it.
        template.put(_SELECTOR, {})
    devices.add_disks(template)
    added = network.add_default(template, machine.context.config)
    if added.error:
        machine.refuse_network(added.error)
        return {}
    machine.record_defaults(template)
    apply_definitions(machine, template)
    error = fill_spec(template, machine.context.config, machine.context.release)
    machine.record_defaults(template)
    if error:
        machine.refuse_network(error)
    _drop_unknown(template)
    for kind_class in KIND_CLASSES:
        draft.remove(("spec", kind_class.word))
        draft.remove(("status", kind_class.status))
    draft.put(TEMPLATE, template.tree)
    return schemas.encode(draft.tree, VM_TYPE, machine.context.release)
