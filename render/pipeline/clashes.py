"""What only all VMs of an input show together: an address, an identity or a claim that two of them use.

KubeVirt refuses none of it; and what keeps a VM from migrating that is to migrate when its node is drained.

Upstream: pkg/virt-handler/vm.go (calculateLiveMigrationCondition), pkg/virt-controller/watch/pool/pool.go,
pkg/virt-controller/watch/replicaset/replicaset.go.
"""

from collections.abc import Iterator, Sequence

from render.defaults.network import add_default
from render.diagnostics.codes import CANNOT_MIGRATE, USED_TWICE
from render.diagnostics.diagnostic import Diagnostic, Location, Related, at
from render.machine import Context, ExclusiveUse, Machine
from render.model import fieldpath, tree
from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.model.release import holds, until
from render.model.resource import CDI, Resource
from render.model.tree import Tree

if TYPE_CHECKING:
    from render.diff.migratability import Claims

#: VMs with these do not run, or run elsewhere.
_IDLE = frozenset({"Halted", "WaitAsReceiver"})
_CURES = {
    "mac-address": "give each VM an address of its own, or leave it out",
    "firmware-uuid": "give each VM an identity of its own, or leave it out",
    "claim": "give each VM a claim of its own, or set shareable: true on the disk in both",
}
#: The same where what uses it twice is one template.
_CURES_OF_TEMPLATES = {
    "mac-address": "leave it out: each of them gets an address of its own",
    "firmware-uuid": "leave it out: each of them gets an identity of its own",
    "claim": "let a dataVolumeTemplate of a pool make a claim for each VM, or set shareable: true on the disk",
}


class _ResourceUse(NamedTuple):
    """What uses a value, and where that is written: at *path* of its VMI spec, which stands at *above*."""

    resource: Resource
    above: FieldPath
    path: FieldPath

    @property
    def place(self) -> Location:
        """Where that is written."""
        return _place(self.resource, (*self.above, *self.path))

    @property
    def replicas(self) -> int:
        """How many of the resource there are."""
        return _replicas(self.resource)


class Clashes:
    """Collects what VMs use that no two of them may."""

    def __init__(self, _: Context, resources: Sequence[Resource]) -> None:
        self._resources = resources
        self._by_value: dict[tuple[str, str, str], list[_ResourceUse]] = {}
        self._pinned_down: list[tuple[Machine, Tree]] = []

    def observe(self, machine: Machine) -> None:
        """Remember what *machine* uses."""
        spec = tree.get(machine.decoded, *machine.vmi_path)
        if not isinstance(spec, dict) or (machine.resource.holder and machine.failed):
            return
        if spec.get("evictionStrategy") == "LiveMigrate":
            self._pinned_down.append((machine, spec))
        if machine.uses is None:
            machine.uses = tuple(_uses(machine, spec))
        resource, above = machine.resource, machine.vmi_path
        for what, scope, path, value in machine.uses:
            use = _ResourceUse(resource, above, path)
            self._by_value.setdefault((what, scope, value), []).append(use)

    def diagnostics(self) -> list[Diagnostic]:
        """One warning a use after the first, and one a VM that cannot do what it asks for."""
        diagnostics = [
            diagnostic
            for (what, _, value), uses in self._by_value.items()
            if len(uses) > 1 or uses[0].resource.holders
            for diagnostic in _used_twice(what, value, [use for use in uses if use.replicas])
        ]
        if self._pinned_down:
            diagnostics += _unable(self._pinned_down, self._resources)
        return diagnostics


def _uses(machine: Machine, spec: Tree) -> Iterator[ExclusiveUse]:
    """What *machine*, whose author wrote the VMI *spec*, uses that no other one may."""
    domain = spec.get("domain") or {}
    uuid = (domain.get("firmware") or {}).get("uuid")
    if uuid:
        yield ExclusiveUse("firmware-uuid", "", ("domain", "firmware", "uuid"), uuid.lower())
    devices = domain.get("devices") or {}
    interfaces = devices.get("interfaces")
    if interfaces:
        yield from _addresses(machine, spec, interfaces)
    volumes = spec.get("volumes")
    if volumes:
        yield from _claims(machine, volumes, devices)


def _addresses(machine: Machine, spec: Tree, interfaces: Sequence[Tree]) -> Iterator[ExclusiveUse]:
    """Only networks that several VMs are on: behind masquerade nobody sees the address."""
    attached: dict[str, str] = {}
    for network in spec.get("networks") or ():
        name = (network.get("multus") or {}).get("networkName")
        if name:
            attached.setdefault(network.get("name", ""), name)
    for index, interface in enumerate(interfaces):
        name = attached.get(interface.get("name", ""))
        if name and interface.get("macAddress"):
            scope = name if "/" in name else f"{machine.namespace}/{name}"
            address = interface["macAddress"].lower().replace("-", ":")
            path = ("domain", "devices", "interfaces", index, "macAddress")
            yield ExclusiveUse("mac-address", scope, path, address)


def _claims(machine: Machine, volumes: Sequence[Tree], devices: Tree) -> Iterator[ExclusiveUse]:
    """Of VMs that may run: claims that are written to, by this VM alone as it believes."""
    running = machine.spec.get("running")
    if running is False or machine.spec.get("runStrategy") in _IDLE:
        return
    by_name = {disk.get("name"): disk for disk in devices.get("disks") or ()}
    filesystems = devices.get("filesystems") or ()
    mounted = {filesystem.get("name") for filesystem in filesystems} - by_name.keys()
    of_each = _numbered_claims(machine)
    for index, volume in enumerate(volumes):
        source = volume.get("persistentVolumeClaim") or volume.get("dataVolume") or {}
        claim = source.get("claimName") or source.get("name")
        if not claim or source.get("readOnly") or volume.get("name") in mounted:
            continue
        if claim in of_each:
            continue
        if _is_written(by_name.get(volume.get("name")) or {}):
            yield ExclusiveUse("claim", machine.namespace, ("volumes", index), claim)


def _place(resource: Resource, path: FieldPath) -> Location:
    """Where *path* of the machine *resource* is written."""
    if resource.holder is None:
        return at(resource.written, path)
    from render.kubevirt.replicas import template_of

    return at(resource.holder, (*template_of(resource.holder), *path))


def _replicas(resource: Resource) -> int:
    """How many of *resource* there are: of what a pool or a replica set makes, 0 while it is paused."""
    if resource.holder is None:
        return 1
    spec = resource.holder.spec
    replicas = spec.get("replicas")
    if spec.get("paused") is True:
        return 0
    return replicas if isinstance(replicas, int) else 1


def _numbered_claims(machine: Machine) -> set[str]:
    """The claims that a pool makes for each of its VMs anew, under a name of its own."""
    if machine.resource.holder is None:
        return set()
    templates = machine.spec.get("dataVolumeTemplates") or ()
    return {str(tree.get(template, "metadata", "name")) for template in templates}


def _is_written(disk: Tree) -> bool:
    """Whether a VM writes to what is behind *disk*, and nobody else may: what says nothing is a plain disk.

    Upstream: pkg/util/util.go (SetDefaultVolumeDisk), pkg/virt-launcher/virtwrap/converter/converter.go.
    """
    if disk.get("shareable") or disk.get("cdrom") is not None:
        return False
    lun = disk.get("lun") or {}
    target = disk.get("disk") or {}
    return not (target.get("readonly") or lun.get("readonly") or lun.get("reservation"))


def _used_twice(what: str, value: str, uses: Sequence[_ResourceUse]) -> Iterator[Diagnostic]:
    """VMs of one name are one VM, in several environments; which one was read first does not matter."""
    label = what.replace("-", " ").replace("mac", "MAC")
    if not uses:
        return
    first, *others = sorted(
        uses, key=lambda use: (use.resource.ref, fieldpath.text(use.place.path))
    )
    for use in uses:
        if use.replicas > 1:
            yield USED_TWICE.at(
                use.place,
                f"the {label} {value} is that of all {use.replicas} replicas",
                help=_CURES_OF_TEMPLATES[what],
            )._replace(check=f"{USED_TWICE.slug}/{what}")
    for use in others:
        if use.resource.ref.name != first.resource.ref.name:
            yield USED_TWICE.at(
                use.place,
                f"the {label} {value} is that of {first.resource.ref}, too",
                Related(f"{first.resource.ref} uses {value}", first.place),
                help=_CURES[what],
            )._replace(check=f"{USED_TWICE.slug}/{what}")


#: Upstream: pkg/virt-handler/vm.go (calculateLiveMigrationCondition), which names one reason.
_VOLUMES_FIRST = until("1.6", "a volume that cannot migrate is named before all else")


def _unable(
    machines: Sequence[tuple[Machine, Tree]], resources: Sequence[Resource]
) -> Iterator[Diagnostic]:
    from render.diff.migratability import Claims, obstacle

    modes: dict[tuple[str, str], tuple[str, ...]] = {}
    for resource in resources:
        for storage in _storage(resource):
            if storage.get("accessModes"):
                modes[resource.namespace, resource.ref.name] = tuple(storage["accessModes"])
    for machine, spec in machines:
        numbered = _numbered_claims(machine)
        claims = Claims(
            {
                name: words
                for (space, name), words in modes.items()
                if space == machine.resource.namespace and name not in numbered
            }
            | _claims_of_templates(machine)
        )
        started = machine.checked.vmi if machine.checked else _as_written(machine, spec)
        config = _settings_for(machine, started.get("spec") or {})
        vmi = _networked(machine, spec, started, config)
        release = machine.context.release
        reasons = [obstacle(vmi, config, release), _unshared(spec, claims)]
        if holds(_VOLUMES_FIRST, release):
            reasons.reverse()
        reason = next(filter(None, reasons), "")
        if reason:
            yield CANNOT_MIGRATE.at(
                _place(machine.resource, (*machine.vmi_path, "evictionStrategy")),
                f"the VM is to migrate when its node is drained, and cannot: {reason}",
                help="a drain of its node waits for it for ever: remove the obstacle, or use evictionStrategy:"
                " LiveMigrateIfPossible or None",
            )


def _unshared(spec: Tree, claims: "Claims") -> str:
    """The first volume of *spec* that only one node can have at a time, ``""`` if all can be shared."""
    from render.diff.migratability import claim_of

    for volume in spec.get("volumes") or ():
        claim = claim_of(volume)
        if claim and not claims.is_shared(claim):
            return f"the claim {claim} is not ReadWriteMany"
        if volume.get("hostDisk") is not None and not volume["hostDisk"].get("shared"):
            return f"the host disk {volume.get('name', '')} is not shared"
    return ""


def _storage(resource: Resource) -> Iterator[Tree]:
    if resource.kind == "PersistentVolumeClaim" and resource.group == "":
        yield resource.spec
    elif resource.kind == "DataVolume" and resource.group == CDI:
        yield resource.spec.get("pvc") or {}
        yield resource.spec.get("storage") or {}


def _claims_of_templates(machine: Machine) -> dict[str, tuple[str, ...]]:
    """The access modes that the dataVolumeTemplates of a VM ask for, by the name of the claim."""
    claims = {}
    for template in machine.spec.get("dataVolumeTemplates") or ():
        for kind in ("pvc", "storage"):
            modes = tree.get(template, "spec", kind, "accessModes")
            if modes:
                claims[str(tree.get(template, "metadata", "name"))] = tuple(modes)
    return claims


def _as_written(machine: Machine, spec: Tree) -> Tree:
    """The VMI of *machine* with *spec*, where nobody knows more than its author wrote."""
    metadata = tree.get(machine.decoded, *machine.vmi_path[:-1], "metadata")
    return {"metadata": metadata, "spec": spec}


def _networked(machine: Machine, spec: Tree, started: Tree, config: ClusterConfig) -> Tree:
    """The VMI *started*, with the network that *config* gives it where its author named none in *spec*."""
    draft = Draft(started)
    is_open = not spec.get("networks") and not tree.get(spec, "domain", "devices", "interfaces")
    if is_open:
        draft.remove(("spec", "networks"))
        draft.remove(("spec", "domain", "devices", "interfaces"))
    # An unknown preference may decide that there is none.
    if is_open and (machine.checked or machine.spec.get("preference") is None):
        add_default(draft, config)
    return draft.tree


def _settings_for(machine: Machine, spec: Tree) -> ClusterConfig:
    """The settings of the cluster; where nothing says them, those under which most can migrate."""
    config = machine.context.config
    if not config.is_assumed or machine.context.settings.admission == "strict":
        return config
    devices = tree.get(spec, "domain", "devices") or {}
    plugins = {
        tree.get(interface, "binding", "name") for interface in devices.get("interfaces") or ()
    }
    return config.with_gate("VGPULiveMigration")._replace(
        default_network="masquerade",
        mediated_devices=frozenset(gpu.get("deviceName") for gpu in devices.get("gpus") or ()),
        migratable_bindings=frozenset(plugins),
    )
