"""What only all VMs of an input show together: an address, an identity or a claim that two of them use.

KubeVirt refuses none of it; and what keeps a VM from migrating that is to migrate when its node is drained.

Upstream: pkg/virt-handler/vm.go (calculateLiveMigrationCondition).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from render.diagnostics.codes import CANNOT_MIGRATE, USED_TWICE
from render.diagnostics.diagnostic import Diagnostic, Related, at
from render.model import fieldpath, tree
from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.resource import CDI, Resource
from render.model.tree import Tree
from render.pipeline.machine import Machine

#: VMs with these do not run, or run elsewhere.
_IDLE = frozenset({"Halted", "WaitAsReceiver"})
_CURES = {
    "mac-address": "give each VM an address of its own, or leave it out",
    "firmware-uuid": "give each VM an identity of its own, or leave it out",
    "claim": "give each VM a claim of its own, or set shareable: true on the disk in both",
}


class _ResourceUse(NamedTuple):
    resource: Resource
    path: FieldPath
    value: str


class Clashes:
    """Collects what VMs use that no two of them may."""

    def __init__(self) -> None:
        self._uses: dict[tuple[str, str, str], list[_ResourceUse]] = {}
        self._pinned_down: list[tuple[Machine, Tree]] = []

    def observe(self, machine: Machine) -> None:
        """Remember what *machine* uses."""
        spec = tree.get(machine.decoded, *machine.vmi_path)
        if not isinstance(spec, dict):
            return
        domain = spec.get("domain") or {}
        if spec.get("evictionStrategy") == "LiveMigrate":
            self._pinned_down.append((machine, spec))
        uuid = (domain.get("firmware") or {}).get("uuid")
        if uuid:
            self._use(machine, "firmware-uuid", "", ("domain", "firmware", "uuid"), uuid.lower())
        devices = domain.get("devices") or {}
        for index, interface in enumerate(devices.get("interfaces") or ()):
            if interface.get("macAddress"):
                self._address(machine, spec, index, interface)
        volumes = spec.get("volumes")
        if volumes:
            self._claims(machine, volumes, devices)

    def _use(self, machine: Machine, what: str, scope: str, path: FieldPath, value: str) -> None:
        one = _ResourceUse(machine.resource, (*machine.vmi_path, *path), value)
        self._uses.setdefault((what, scope, value), []).append(one)

    def _address(self, machine: Machine, spec: Tree, index: int, interface: Tree) -> None:
        """Only networks that several VMs are on: behind masquerade nobody sees the address."""
        for network in spec.get("networks") or ():
            name = tree.get(network, "multus", "networkName")
            if name and network.get("name") == interface.get("name"):
                scope = name if "/" in name else f"{machine.namespace}/{name}"
                address = interface["macAddress"].lower().replace("-", ":")
                path = ("domain", "devices", "interfaces", index, "macAddress")
                self._use(machine, "mac-address", scope, path, address)

    def _claims(self, machine: Machine, volumes: Sequence[Tree], devices: Tree) -> None:
        """Of VMs that may run: claims that are written to, by this VM alone as it believes."""
        running = machine.spec.get("running")
        if running is False or machine.spec.get("runStrategy") in _IDLE:
            return
        by_name = {disk.get("name"): disk for disk in devices.get("disks") or ()}
        mounted = {one.get("name") for one in devices.get("filesystems") or ()} - set(by_name)
        for index, volume in enumerate(volumes):
            source = volume.get("persistentVolumeClaim") or volume.get("dataVolume") or {}
            claim = source.get("claimName") or source.get("name")
            if not claim or source.get("readOnly") or volume.get("name") in mounted:
                continue
            if _is_written(by_name.get(volume.get("name")) or {}):
                self._use(machine, "claim", machine.namespace, ("volumes", index), claim)

    def diagnostics(self, resources: Sequence[Resource]) -> list[Diagnostic]:
        """One warning a use after the first, and one a VM that cannot do what it asks for."""
        diagnostics = [one for key, uses in self._uses.items() for one in _used_twice(key[0], uses)]
        if self._pinned_down:
            diagnostics += _unable(self._pinned_down, resources)
        return diagnostics


def _is_written(disk: Tree) -> bool:
    """Whether a VM writes to what is behind *disk*, and nobody else may: what says nothing is a plain disk.

    Upstream: pkg/util/util.go (SetDefaultVolumeDisk), pkg/virt-launcher/virtwrap/converter/converter.go.
    """
    if disk.get("shareable") or disk.get("cdrom") is not None:
        return False
    lun = disk.get("lun") or {}
    target = disk.get("disk") or {}
    return not (target.get("readonly") or lun.get("readonly") or lun.get("reservation"))


def _used_twice(what: str, uses: Sequence[_ResourceUse]) -> Iterator[Diagnostic]:
    """VMs of one name are one VM, in several environments; which one was read first does not matter."""
    first, *others = sorted(uses, key=lambda one: (one.resource.ref, fieldpath.text(one.path)))
    for use in others:
        if use.resource.ref.name != first.resource.ref.name:
            shown = what.replace("-", " ").replace("mac", "MAC")
            yield USED_TWICE.at(
                at(use.resource, use.path),
                f"the {shown} {use.value} is that of {first.resource.ref}, too",
                Related(f"{first.resource.ref} uses {use.value}", at(first.resource, first.path)),
                help=_CURES[what],
            )._replace(check=f"{USED_TWICE.slug}/{what}")


def _unable(
    machines: Sequence[tuple[Machine, Tree]], resources: Sequence[Resource]
) -> Iterator[Diagnostic]:
    from render.diff.migratability import OBSTACLES, Claims, claim_of

    modes: dict[tuple[str, str], tuple[str, ...]] = {}
    for one in resources:
        for storage in _storage(one):
            if storage.get("accessModes"):
                modes[one.namespace, one.ref.name] = tuple(storage["accessModes"])
    for machine, spec in machines:
        config = _settings_for(machine, spec)
        claims = Claims(
            {
                name: words
                for (space, name), words in modes.items()
                if space == machine.resource.namespace
            }
            | _claims_of_templates(machine)
        )
        vmi = _started(machine, spec, config)
        reasons = [one.holds(vmi, config) for one in OBSTACLES if not one.only_then]
        for volume in spec.get("volumes") or ():
            claim = claim_of(volume)
            if claim and not claims.is_shared(claim):
                reasons.append(f"the claim {claim} is not ReadWriteMany")
            if volume.get("hostDisk") is not None and not volume["hostDisk"].get("shared"):
                reasons.append(f"the host disk {volume.get('name', '')} is not shared")
        reason = next(filter(None, reasons), "")
        if reason:
            yield CANNOT_MIGRATE.at(
                at(machine.resource, (*machine.vmi_path, "evictionStrategy")),
                f"the VM is to migrate when its node is drained, and cannot: {reason}",
                help="a drain of its node waits for it for ever: remove the obstacle, or use evictionStrategy:"
                " LiveMigrateIfPossible or None",
            )


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


def _started(machine: Machine, spec: Tree, config: ClusterConfig) -> Tree:
    """The VMI, with the network that it gets where it names none; a preference may decide that, too."""
    from render.defaults.network import add_default

    draft = Draft(
        {
            "metadata": tree.get(machine.decoded, *machine.vmi_path[:-1], "metadata"),
            "spec": spec,
        }
    )
    if machine.is_bare or machine.spec.get("preference") is None:
        add_default(draft, config)
    return draft.tree


def _settings_for(machine: Machine, spec: Tree) -> ClusterConfig:
    """The settings of the cluster; where nothing says them, those under which most can migrate."""
    config = machine.context.config
    if not config.is_assumed or machine.context.settings.admission == "strict":
        return config
    devices = tree.get(spec, "domain", "devices") or {}
    plugins = {tree.get(one, "binding", "name") for one in devices.get("interfaces") or ()}
    return config._replace(
        default_network="masquerade",
        feature_gates=config.feature_gates | {"VGPULiveMigration"},
        mediated_devices=frozenset(one.get("deviceName") for one in devices.get("gpus") or ()),
        migratable_bindings=frozenset(plugins),
    )
