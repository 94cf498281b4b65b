"""What only all VMs of an input show together: an address, an identity or a claim that two of them use.

KubeVirt refuses none of it; and what keeps a VM from migrating that is to migrate when its node is drained.

Upstream: pkg/virt-handler/vm.go (calculateLiveMigrationCondition).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from render.diagnostics.codes import CANNOT_MIGRATE, USED_TWICE
from render.diagnostics.diagnostic import Diagnostic, Related, at
from render.model import fieldpath, tree
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
            self._claims(machine, volumes, devices.get("disks") or ())

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

    def _claims(self, machine: Machine, volumes: Sequence[Tree], disks: Sequence[Tree]) -> None:
        """Of VMs that may run: claims that are written to, by this VM alone as it believes."""
        running = machine.spec.get("running")
        if running is False or machine.spec.get("runStrategy") in _IDLE:
            return
        by_name = {disk.get("name"): disk for disk in disks}
        for index, volume in enumerate(volumes):
            source = volume.get("persistentVolumeClaim") or volume.get("dataVolume") or {}
            disk = by_name.get(volume.get("name"))
            if source.get("readOnly") or disk is None or disk.get("shareable"):
                continue
            target = disk.get("disk")
            claim = source.get("claimName") or source.get("name")
            if claim and target is not None and not target.get("readonly"):
                self._use(machine, "claim", machine.namespace, ("volumes", index), claim)

    def diagnostics(self, resources: Sequence[Resource]) -> list[Diagnostic]:
        """One warning a use after the first, and one a VM that cannot do what it asks for."""
        found = [one for key, uses in self._uses.items() for one in _used_twice(key[0], uses)]
        if self._pinned_down:
            found += _unable(self._pinned_down, resources)
        return found


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
        config = machine.context.config
        claims = Claims(
            {
                name: words
                for (space, name), words in modes.items()
                if space == machine.resource.namespace
            }
        )
        vmi = {
            "metadata": tree.get(machine.decoded, *machine.vmi_path[:-1], "metadata"),
            "spec": spec,
        }
        if not (config.is_assumed and _depends_on_settings(spec)):
            reasons = [one.holds(vmi, config) for one in OBSTACLES if not one.only_then]
        else:
            reasons = []
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


def _depends_on_settings(spec: Tree) -> bool:
    """Whether devices or bindings are migratable as the cluster says."""
    devices = tree.get(spec, "domain", "devices") or {}
    plugged = any(one.get("binding") is not None for one in devices.get("interfaces") or ())
    return plugged or bool(devices.get("gpus"))
