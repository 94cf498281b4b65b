"""What KubeVirt does with a VM that changed while its VMI runs: which changes need a restart, and for which cause.

Upstream: pkg/virt-controller/watch/vm/vm.go (sync, syncRestartRequired and the handlers after it),
pkg/virt-controller/watch/workload-updater/workload-updater.go.
"""

from collections.abc import Callable
from enum import Enum
from functools import cache

from render.diff import compare, networks, volumes
from render.diff.compare import Route
from render.diff.migratability import Claims, is_migratable, storage_obstacles
from render.diff.networks import NetworkRules
from render.model import tree
from render.model.apimachinery import quantity
from render.model.cluster.liveupdate import memory_fault
from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.hints import Any, Literal
from render.model.named_tuple import NamedTuple
from render.model.release import MAIN, Version, Windowed, in_force, since, until
from render.model.tree import Tree

#: Everything that may come of a change, worst first.
EFFECTS = (
    "refused", "error", "stop", "start", "restart", "migrate", "live", "next", "recreate", "none",
    "same", "repaired", "new", "gone", "unrenderable",
)  # fmt: skip

#: What the workload updater does with a VMI that waits for a migration; ``""`` for one that does not wait.
#: ``unmigratable``: nothing, and nobody else can migrate it; KubeVirt asks that of more memory alone.
Action = Literal["", "migrate", "evict", "none", "unmigratable"]

_CPU = ("spec", "domain", "cpu")
_MEMORY = ("spec", "domain", "memory")
_RESOURCES = ("spec", "domain", "resources")
_INTERFACES = ("spec", "domain", "devices", "interfaces")
_DISKS = ("spec", "domain", "devices", "disks")
_VOLUMES = ("spec", "volumes")
_PLACEMENT = ("affinity", "nodeSelector", "tolerations")
_DENIED = "admission webhook denied the request"
_REDUCED = "Reduction of CPU socket count requires a restart"
_GENERAL = "a non-live-updatable field was changed in the template spec"
#: What the next launcher pod of a VMI whose memory grows is told.
_OVERHEAD = ("metadata", "labels", "kubevirt.io/memory-hotplug-overhead-ratio")
#: An annotation of a VM, and some of its template, that reach the VMI while it runs.
SKIP_HOOKS = "kubevirt.io/skip-backup-hooks"
_SYNCED = (
    "descheduler.alpha.kubernetes.io/evict",
    "descheduler.alpha.kubernetes.io/prefer-no-eviction",
)


class Ability(Enum):
    """What only some releases do."""

    SYNCS_ANNOTATIONS = "some annotations reach the VMI while it runs"
    PLUGS_VOLUMES = "volumes of the VM are plugged into the VMI"
    PLUGS_WHILE_STAGED = "volumes may differ under the rollout strategy Stage"
    KEEPS_DRIVES = "a CD-ROM drive that goes needs a restart"
    REPLACES_VOLUMES = "replaced volumes have a message of their own"
    LIVE_TARGETS = "another network attachment is no restart with the gate LiveUpdateNADRef"
    TARGETS_NEED_MIGRATION = (
        "another network attachment waits for a restart where the VMI cannot migrate"
    )
    POD_NETWORK_RESTARTS = "a pod network is not plugged in"
    MIGRATES_FOR_NETWORKS = "a plugged interface asks for the migration by itself"
    REFUSES_ARM_SOCKETS = "sockets are not added on arm64"
    NEEDS_MEMORY_REQUEST = "memory changes only beside a request for memory"
    KEEPS_UUID = "the firmware uuid of the VMI may be written into the VM"
    PINS_IN_STATUS = "the revisions of a VM stand in its status, and not in its matchers"
    STORES_KINDS = "the kind of a definition is written into a matcher that leaves it out"
    CHECKS_PATCHES = "the webhook looks at the whole of a VMI that is patched"
    CLEARS_HALTED = "an absent interface leaves a VM that does not run"
    NAMES_UUID = "the firmware uuid of a VMI follows from the name of its VM"


_ABILITIES: tuple[Ability | Windowed[Ability], ...] = (
    since("1.5", Ability.PINS_IN_STATUS),
    until("1.7", Ability.STORES_KINDS),
    since("1.5.2", Ability.REFUSES_ARM_SOCKETS),
    until("1.6", Ability.NAMES_UUID),
    until("1.6", Ability.REPLACES_VOLUMES),
    until("1.6", Ability.NEEDS_MEMORY_REQUEST),
    since("1.6", Ability.SYNCS_ANNOTATIONS),
    since("1.6", Ability.PLUGS_VOLUMES),
    since("1.6", Ability.PLUGS_WHILE_STAGED),
    since("1.6", Ability.KEEPS_DRIVES),
    since("1.6", Ability.MIGRATES_FOR_NETWORKS),
    since("1.6", Ability.KEEPS_UUID),
    since("1.6", Ability.CLEARS_HALTED),
    until("1.7", Ability.CHECKS_PATCHES),
    since("1.8", Ability.POD_NETWORK_RESTARTS),
    since("1.8", Ability.LIVE_TARGETS),
    since(MAIN, Ability.TARGETS_NEED_MIGRATION),
)


@cache
def abilities(release: Version) -> frozenset[Ability]:
    """What KubeVirt *release* does of what only some do."""
    return frozenset(in_force(_ABILITIES, release))


class Update(NamedTuple):
    """A VM that changed while its VMI runs.

    *started* and *applied* are the template's specs that the VMI was started with and that of now, each with its
    instancetype and preference; *started* is None where the revisions of these are gone. *vm* is the VM as it is stored
    now, *running* the VMI. *was_live*: whether the cluster rolled out what it could since the VMI was started.
    """

    started: Tree | None
    applied: Tree
    vm: Tree
    running: Tree
    namespace: str
    config: ClusterConfig
    release: Version
    claims: Claims
    was_live: bool = True

    @property
    def template(self) -> Tree:
        """The template of the VM: ``metadata`` and ``spec``."""
        return tree.get(self.vm, "spec", "template") or {}

    @property
    def spec(self) -> Tree:
        """The spec of the template, as it is stored."""
        return self.template.get("spec") or {}

    @property
    def strategy(self) -> str:
        """How claims that change are to be updated."""
        return tree.get(self.vm, "spec", "updateVolumesStrategy") or ""

    @property
    def is_live(self) -> bool:
        """Whether the cluster rolls out what it can while the VMI runs."""
        return self.config.rollout_strategy == "LiveUpdate"

    def has_gate(self, name: str) -> bool:
        """Whether a feature gate is on."""
        return self.config.has_gate(name, self.release)

    def can(self, ability: Ability) -> bool:
        """Whether the release has an *ability*."""
        return ability in abilities(self.release)


class Reconciliation(NamedTuple):
    """What became of it: the VMI, the text of RestartRequired, why the controller fails; ``""`` for neither.

    *action*: what becomes of a VMI that waits for a migration. *is_staged*: whether something waits for a restart
    because the cluster's rollout strategy is not LiveUpdate. *blocking*: the fields of the VMI that need the restart;
    what else differs waits for it.
    """

    vmi: Tree
    restart: str
    error: str
    action: Action
    is_staged: bool = False
    blocking: tuple[Route, ...] = ()


def _network_rules(update: Update) -> NetworkRules:
    live = update.can(Ability.LIVE_TARGETS) and update.has_gate("LiveUpdateNADRef")
    if update.can(Ability.TARGETS_NEED_MIGRATION):
        live = is_migratable(update.running, update.config, update.claims, update.release)
    return NetworkRules(
        live,
        update.can(Ability.POD_NETWORK_RESTARTS),
        update.can(Ability.MIGRATES_FOR_NETWORKS),
    )


class _Live(NamedTuple):
    """A part of the template that may differ from what the VMI was started with.

    Without a restart, if *may_differ* says so.
    """

    path: tuple[str, ...]
    may_differ: Callable[[Update], bool]


def _has_cpu(update: Update) -> bool:
    cpus = (tree.get(side, "domain", "cpu") for side in (update.started, update.applied))
    return update.is_live and all(cpu is not None for cpu in cpus)


def _has_guest(update: Update) -> bool:
    return update.is_live and tree.get(update.applied, *_MEMORY[1:], "guest") is not None


def _is_live(update: Update) -> bool:
    return update.is_live


def _is_network_live(update: Update) -> bool:
    running = update.running.get("spec") or {}
    return not networks.needs_restart(update.applied, running, _network_rules(update))


def _are_volumes_live(update: Update) -> bool:
    allowed = update.is_live or update.can(Ability.PLUGS_WHILE_STAGED)
    started = update.started or {}
    return allowed and volumes.are_volumes_live(started, update.applied, update.strategy)


def _are_disks_live(update: Update) -> bool:
    allowed = update.is_live or update.can(Ability.PLUGS_WHILE_STAGED)
    started, keeps = update.started or {}, update.can(Ability.KEEPS_DRIVES)
    if _are_volumes_live(update):
        # The volumes are taken over before the disks are looked at.
        started = {**started, "volumes": volumes.volumes_of(update.applied)}
    return allowed and volumes.are_disks_live(started, update.applied, keeps_drives=keeps)


def _has_uuid(update: Update) -> bool:
    path = ("domain", "firmware", "uuid")
    uuid = tree.get(update.applied, *path)
    same = uuid is not None and uuid == tree.get(update.running, "spec", *path)
    return same and update.can(Ability.KEEPS_UUID)


_MAY_DIFFER: tuple[_Live, ...] = (
    _Live(("volumes",), _are_volumes_live),
    _Live(("domain", "devices", "disks"), _are_disks_live),
    _Live(("domain", "cpu", "sockets"), _has_cpu),
    _Live(("domain", "memory", "guest"), _has_guest),
    *(_Live((field,), _is_live) for field in _PLACEMENT),
    _Live(("domain", "devices", "interfaces"), _is_network_live),
    _Live(("networks",), _is_network_live),
    _Live(("domain", "firmware", "uuid"), _has_uuid),
)


def needs_restart(update: Update) -> bool:
    """Whether the template differs from what the VMI was started with in a field that needs a restart."""
    return bool(_blocking(update))


def _blocking(update: Update) -> tuple[Route, ...]:
    """The fields of the VMI in which the template differs so."""
    if update.started is None:
        # QUIRK(pkg/virt-controller/watch/vm/vm.go): what cannot be read any more is not compared.
        return ()
    started = Draft(update.started)
    for part in _MAY_DIFFER:
        if part.may_differ(update):
            value = tree.get(update.applied, *part.path)
            if value is None:
                started.remove(part.path)
            else:
                started.put(part.path, value)
    found = compare.differences(started.tree, update.applied, compare.TEMPLATE_SPEC)
    return tuple(("spec", *difference.route) for difference in found)


def _plugs_volumes(update: Update) -> bool:
    if not update.can(Ability.PLUGS_VOLUMES) or update.has_gate("HotplugVolumes"):
        return False
    return update.has_gate("DeclarativeHotplugVolumes")


def stop(update: Update) -> Reconciliation:
    """What is left to say of a VMI that *update* stops."""
    restart = _GENERAL if needs_restart(update) else ""
    return Reconciliation(update.running, restart, "", "")


def reconcile(update: Update) -> Reconciliation:
    """What the controllers make of *update*, once nothing moves any more."""
    return _Controller(update).run()


def _since_start(update: Update) -> str:
    """What a VM says from its start on: its CPU names no sockets, and the VMI has some (handleCPUChangeRequest).

    The condition keeps the text that it had first.
    """
    if update.started is None or not update.is_live or not update.was_live:
        return ""
    started, running = tree.get(update.started, *_CPU[1:]), tree.get(update.running, *_CPU)
    if started is None or running is None or started.get("sockets", 0) >= running.get("sockets", 0):
        return ""
    return _REDUCED


class _Controller:
    """The turns of the VM controller over one VM."""

    def __init__(self, update: Update) -> None:
        self._update = update
        self._vmi = Draft(update.running)
        self._blocking = _blocking(update)
        self._restart = (_since_start(update) or _GENERAL) if self._blocking else ""
        self._error = ""
        self._migrates = self._moves = self._plugs = False

    def run(self) -> Reconciliation:
        """Do what is always done, then what is done live."""
        update = self._update
        self._sync_networks()
        if not self._error:
            self._plug_volumes()
        if not self._error:
            self._annotate()
            self._look_again()
            if update.is_live and not self._restart:
                self._update_live()
        return Reconciliation(
            self._vmi.tree,
            self._restart,
            self._error,
            self._action(),
            self._is_staged(),
            self._all_blocking(),
        )

    def _all_blocking(self) -> tuple[Route, ...]:
        """What needs the restart; where one is needed, nothing is done live, and what could not be is asked for."""
        update = self._update
        if not self._restart or not update.is_live or update.started is None:
            return self._blocking
        return (*self._blocking, *_Controller(update._replace(started=None)).run().blocking)

    def _look_again(self) -> None:
        """A pod network that was plugged all the same needs no restart any more."""
        if (
            self._restart
            and self._update.can(Ability.POD_NETWORK_RESTARTS)
            and networks.plugs_pod(
                self._vmi.tree.get("spec", {}), self._update.running.get("spec", {})
            )
            and not needs_restart(self._update._replace(running=self._vmi.tree))
        ):
            self._restart, self._blocking = "", ()

    def _is_staged(self) -> bool:
        update = self._update
        if update.is_live:
            return False
        if not self._restart:
            is_move = update.strategy == volumes.MIGRATION
            return is_move and bool(volumes.moved(update.spec, self._running()))
        live = update.config._replace(rollout_strategy="LiveUpdate")
        return not needs_restart(update._replace(config=live))

    def _update_live(self) -> None:
        for step in (self._cpu, self._placement, self._memory, self._volumes):
            step()
            if self._error:
                return

    def _need_restart(self, text: str, path: Route) -> None:
        # The message that was set first stays.
        self._restart = self._restart or text
        self._blocking = (*self._blocking, path)

    def _running(self) -> Tree:
        return self._vmi.get("spec") or {}

    def _put(self, path: tuple[str, ...], value: Any) -> None:
        if value is None:
            self._vmi.remove(path)
        else:
            self._vmi.put(path, value)

    def _sync_networks(self) -> None:
        update = self._update
        running = self._running()
        rules = _network_rules(update)
        synced = networks.sync(update.spec, running, update.namespace, rules)
        refusal = networks.refusal(synced) if update.can(Ability.CHECKS_PATCHES) else ""
        if refusal:
            self._error = f"error encountered when trying to patch vmi: {_DENIED}: {refusal}"
            return
        if synced.interfaces != networks.interfaces_of(running):
            self._put(_INTERFACES, synced.interfaces)
        if synced.networks != networks.networks_of(running):
            self._put(("spec", "networks"), synced.networks)
        self._plugs = synced.migrates
        self._migrates |= synced.migrates

    def _plug_volumes(self) -> None:
        update = self._update
        if update.strategy == volumes.MIGRATION or not _plugs_volumes(update):
            return
        running = self._running()
        plugged = volumes.plug(update.spec, running, empty_drives=True)
        if plugged.error:
            self._error = (
                "Error encountered while handling declarative hotplug volumes: "
                f"{_DENIED}: {plugged.error}"
            )
        if plugged.volumes != volumes.volumes_of(running):
            self._put(_VOLUMES, plugged.volumes)
        if plugged.disks != volumes.disks_of(running):
            self._put(_DISKS, plugged.disks)

    def _annotate(self) -> None:
        update = self._update
        if not update.can(Ability.SYNCS_ANNOTATIONS):
            return
        place = ("metadata", "annotations")
        wanted, own = (tree.get(body, *place) or {} for body in (update.template, update.vm))
        rows = [(key, wanted.get(key)) for key in _SYNCED]
        for key, value in (*rows, (SKIP_HOOKS, own.get(SKIP_HOOKS))):
            if value != self._vmi.get(*place, key):
                self._put((*place, key), value)

    def _cpu(self) -> None:
        """Upstream: handleCPUChangeRequest, VMICPUsPatch."""
        update = self._update
        wanted, running = tree.get(update.applied, *_CPU[1:]), self._vmi.get(*_CPU)
        if wanted is None or running is None:
            return
        before, after = running.get("sockets", 0), wanted.get("sockets", 0)
        sockets = (*_CPU, "sockets")
        if before == after:
            return
        if after > running.get("maxSockets", 0):
            self._need_restart(
                "CPU sockets updated in template spec to a value higher than what's available",
                sockets,
            )
        elif after < before:
            self._need_restart(_REDUCED, sockets)
        elif tree.get(update.spec, "architecture") == "arm64" and update.can(
            Ability.REFUSES_ARM_SOCKETS
        ):
            self._need_restart("ARM doesn't support CPU hotplug", sockets)
        elif not before:
            self._error = f"Error encountered while handling CPU change request: {_absent(sockets)}"
        else:
            added = _vcpus(wanted) - _vcpus(running)
            self._put(sockets, after)
            self._migrates |= added != 0
            step = 1000 // self._update.config.cpu_allocation_ratio
            for kind in ("requests", "limits"):
                amount = tree.get(update.applied, *_RESOURCES[1:], kind, "cpu")
                if amount is not None and not quantity.is_zero(amount):
                    self._add((*_RESOURCES, kind, "cpu"), f"{added * step}m")

    def _add(self, path: tuple[str, ...], amount: str) -> None:
        self._put(path, quantity.add(self._vmi.get(*path) or "0", amount))

    def _placement(self) -> None:
        for field in _PLACEMENT:
            wanted = self._update.applied.get(field)
            kind = {"affinity": "*core.Affinity", "tolerations": "[]core.Toleration"}
            if not compare.same(
                wanted, self._vmi.get("spec", field), kind.get(field, "map[string]string")
            ):
                self._put(("spec", field), wanted)

    def _memory(self) -> None:
        """Upstream: handleMemoryHotplugRequest."""
        update = self._update
        after = tree.get(update.applied, *_MEMORY[1:], "guest")
        before = self._vmi.get(*_MEMORY, "guest")
        if after is None or before is None or quantity.compare(after, before) == 0:
            return
        prefix = "memory updated in template spec"
        guest = (*_MEMORY, "guest")
        maximum = self._vmi.get(*_MEMORY, "maxGuest")
        if not is_migratable(update.running, update.config, update.claims, update.release):
            self._need_restart(
                f"{prefix}. Memory-hotplug is only available for migratable VMs", guest
            )
            return
        if maximum is None:
            self._need_restart(
                f"{prefix}. Memory-hotplug is not available for this VM configuration", guest
            )
            return
        fault = memory_fault(update.applied, maximum, update.release)
        if fault is not None:
            self._need_restart(f"memory hotplug not supported, {fault.text}", guest)
            return
        if quantity.compare(after, tree.get(update.running, *_MEMORY, "guest")) < 0:
            self._need_restart(f"{prefix} to a value lower than what the VM started with", guest)
            return
        path = (*_RESOURCES, "requests", "memory")
        if self._vmi.get(*path) is None and update.can(Ability.NEEDS_MEMORY_REQUEST):
            self._error = (
                f"error encountered while handling memory hotplug requests: {_absent(path)}"
            )
            return
        self._plug_memory(before, after)

    def _plug_memory(self, before: str, after: str) -> None:
        """Upstream: the patch of handleMemoryHotplugRequest, and syncMemoryHotplug of the VMI controller."""
        update, path = self._update, (*_RESOURCES, "requests", "memory")
        requested = self._vmi.get(*path)
        added = quantity.value(after) - quantity.value(before)
        self._put((*_MEMORY, "guest"), after)
        self._migrates = True
        if update.config.memory_overhead_ratio is not None:
            self._put(_OVERHEAD, update.config.memory_overhead_ratio)
        if requested is not None and not quantity.is_zero(requested):
            self._add(path, str(added))
            if quantity.compare(self._vmi.get(*path), after) < 0:
                self._put(path, after)
                added = 0
        limit = tree.get(update.applied, *_RESOURCES[1:], "limits", "memory")
        if limit is not None and not quantity.is_zero(limit):
            self._add((*_RESOURCES, "limits", "memory"), str(added))

    def _volumes(self) -> None:
        """Upstream: handleVolumeUpdateRequest."""
        update = self._update
        running = self._running()
        names = volumes.moved(update.spec, running)
        if update.strategy != volumes.MIGRATION and update.can(Ability.REPLACES_VOLUMES):
            self._replace_volumes(running)
        allowed = all(map(update.has_gate, ("VolumesUpdateStrategy", "VolumeMigration")))
        if update.strategy != volumes.MIGRATION or not names or not allowed:
            return
        fault = volumes.immovable(names, running)
        obstacles = storage_obstacles(self._vmi.tree, update.config, update.release)
        left = volumes.left_behind(names, running, update.claims)
        if fault:
            self._need_restart(fault, _VOLUMES)
        elif obstacles:
            self._need_restart(
                f"cannot migrate the volumes as the VMI isn't migratable: {obstacles}", _VOLUMES
            )
        elif left:
            self._need_restart(
                f"cannot migrate the VM. The volume {left} is RWO and not included in the migration volumes",
                _VOLUMES,
            )
        else:
            self._put(_VOLUMES, volumes.migrated(names, update.spec, running))
            self._migrates = self._moves = True

    def _replace_volumes(self, running: Tree) -> None:
        update = self._update
        allowed = update.has_gate("VolumesUpdateStrategy")
        if allowed and volumes.are_replaced(update.spec, running):
            self._need_restart("the volumes replacement is effective only after restart", _VOLUMES)

    def _action(self) -> Action:
        update = self._update
        if not self._migrates:
            return ""
        methods = update.config.workload_update_methods
        can = self._moves or is_migratable(
            self._vmi.tree, update.config, update.claims, update.release
        )
        if "LiveMigrate" in methods and can:
            return "migrate"
        if "Evict" in methods:
            return "evict"
        # An interface may be plugged in place where the cluster runs the Dynamic Networks Controller.
        return "none" if can or self._plugs else "unmigratable"


def _absent(path: tuple[str, ...]) -> str:
    return f"the patch tests /{'/'.join(path)}, which the VirtualMachineInstance does not have"


def _vcpus(cpu: Tree) -> int:
    """Upstream: pkg/util/hardware/hw_utils.go (GetNumberOfVCPUs)."""
    count = 0
    for key in ("cores", "sockets", "threads"):
        number = cpu.get(key, 0)
        if number:
            count = count * number if count else number
    return count
