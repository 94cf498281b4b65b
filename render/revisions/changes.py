"""What differs between two renderings of a VM, and whether KubeVirt applies it to a running one.

Upstream: pkg/virt-controller/watch/vm/vm.go, pkg/network/vmliveupdate/restart.go.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from render.model import quantity, tree
from render.model.resource import OWN
from render.model.tree import Tree

LIVE, RESTART, NEXT_START = "live", "at restart", "at the next start"
_SPEC = ("spec", "template", "spec")
_CPU, _MEMORY = (*_SPEC, "domain", "cpu", "sockets"), (*_SPEC, "domain", "memory", "guest")
_PLACEMENT = frozenset({"nodeSelector", "affinity", "tolerations"})
_HOTPLUGGED = ("persistentVolumeClaim", "dataVolume", "memoryDump")
_SYNCED = frozenset(
    {"descheduler.alpha.kubernetes.io/evict", "descheduler.alpha.kubernetes.io/prefer-no-eviction"}
)
_SHOWN = 60

Path = tuple[str | int, ...]


class Change(NamedTuple):
    """One difference: *before* or *after* is None where there is nothing. Items of lists count by their names."""

    path: Path
    before: Any
    after: Any
    effect: str = LIVE

    def __str__(self) -> str:
        shown = ".".join(str(step) for step in self.path)
        return f"{shown}: {_text(self.before)} -> {_text(self.after)} ({self.effect})"


def _text(value: Any) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def changes(before: Tree, after: Tree, started: Tree, *, live_update: bool = True) -> list[Change]:
    """The differences between two renderings of a VM (emit=vm), in the order of their fields.

    *started*: the VMI that runs, as the first rendering starts it; it decides how much can be plugged in.
    *live_update*: the cluster's rollout strategy is not ``Stage``.
    """
    from deepdiff import DeepDiff
    from deepdiff.helper import NotPresent

    found = []
    levels = DeepDiff(
        _comparable(before), _comparable(after), view="tree", threshold_to_diff_deeper=0
    )
    for kind in levels.values():
        for level in kind:
            old, new = (
                None if isinstance(side, NotPresent) else side for side in (level.t1, level.t2)
            )
            found.append(Change(tuple(level.path(output_format="list")), old, new))
    found.sort(key=lambda change: [(isinstance(step, int), step) for step in change.path])
    judge = _Judge(before, after, started, live_update=live_update)
    judged = [change._replace(effect=judge.effect(change)) for change in found]
    if not any(one.effect == RESTART for one in judged):
        return judged
    # Nothing is plugged into a VM that waits for its restart.
    return [
        one._replace(effect=RESTART) if one.effect == LIVE and _is_plugged(one.path) else one
        for one in judged
    ]


def _comparable(vm: Tree) -> Tree:
    """*vm* without stamps, its lists of named items by name."""
    metadata = {
        key: {k: v for k, v in (vm.get("metadata", {}).get(key) or {}).items() if OWN not in k}
        for key in ("labels", "annotations")
    }
    found = {key: item for key, item in metadata.items() if item}
    return {"metadata": found, "spec": _by_name(vm.get("spec") or {})}


def _by_name(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _by_name(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    names = [item.get("name") if isinstance(item, dict) else None for item in value]
    if value and all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
        return {item["name"]: _by_name(item) for item in value}
    return [_by_name(item) for item in value]


def _is_plugged(path: Path) -> bool:
    return path[:3] == _SPEC and (
        path in (_CPU, _MEMORY) or path[3] in _PLACEMENT or path[3] == "volumes"
    )


class _Judge:
    """Whether a change of one of two VMs into the other needs a restart."""

    def __init__(self, before: Tree, after: Tree, started: Tree, *, live_update: bool) -> None:
        self._before: Tree = tree.get(before, *_SPEC) or {}
        self._after: Tree = tree.get(after, *_SPEC) or {}
        self._started: Tree = started.get("spec") or {}
        self._live_update = live_update
        self._volumes_live = self._are_volumes_live()
        self._network_live = self._is_network_live()

    def effect(self, change: Change) -> str:
        """LIVE, RESTART or NEXT_START."""
        path = change.path
        if path[:3] == ("spec", "template", "metadata"):
            return LIVE if path[-1] in _SYNCED else NEXT_START
        if path[:3] != _SPEC:
            return LIVE
        return LIVE if self._is_live(path[3:], change) else RESTART

    def _is_live(self, path: Path, change: Change) -> bool:
        if path[0] in _PLACEMENT:
            return self._live_update
        if path[0] == "networks" or path[:3] == ("domain", "devices", "interfaces"):
            return self._network_live
        if path[0] == "volumes" or path[:3] == ("domain", "devices", "disks"):
            return self._volumes_live
        if not self._live_update:
            return False
        if path == _CPU[3:]:
            return self._can_plug(change, "cpu", "sockets", "maxSockets")
        return path == _MEMORY[3:] and self._can_plug(change, "memory", "guest", "maxGuest")

    def _can_plug(self, change: Change, part: str, amount: str, limit: str) -> bool:
        """Whether the running VMI can grow to what is wanted: nothing shrinks live, and not on arm64."""
        running = tree.get(self._started, "domain", part, amount)
        most = tree.get(self._started, "domain", part, limit)
        if change.after is None or not running or not most:
            return False
        if self._started.get("architecture") == "arm64":
            return False
        return _amount(running) <= _amount(change.after) <= _amount(most)

    def _are_volumes_live(self) -> bool:
        """Every change belongs to a volume that may be plugged, and no drive goes away."""
        migrates = self._after.get("updateVolumesStrategy") == "Migration"
        old, new = _named(self._before, "volumes"), _named(self._after, "volumes")
        for name in _differing(old, new):
            sides = [side[name] for side in (old, new) if name in side]
            moves = migrates and len(sides) == 2 and all(map(_is_claim, sides))  # noqa: PLR2004 - both sides
            if not moves and not all(map(_is_hotplugged, sides)):
                return False
        old_disks = _named(self._before, "domain", "devices", "disks")
        new_disks = _named(self._after, "domain", "devices", "disks")
        for name in _differing(old_disks, new_disks):
            plugged = [side[name] for side in (old, new) if name in side]
            if not plugged or not all(map(_is_hotplugged, plugged)):
                return False
            if name not in new_disks and "cdrom" in old_disks[name]:
                return False
        return True

    def _is_network_live(self) -> bool:
        path = ("domain", "devices", "interfaces")
        old, new = _named(self._before, *path), _named(self._after, *path)
        old_networks, new_networks = (
            _named(self._before, "networks"),
            _named(self._after, "networks"),
        )
        if (
            (new and not old)
            or old.keys() - new.keys()
            or old_networks.keys() - new_networks.keys()
        ):
            return False
        for name in _differing(old, new):
            if name not in old:
                if not {"bridge", "sriov"} & new[name].keys():
                    return False
            elif _without(old[name], "state") != _without(new[name], "state"):
                return False
        for name in _differing(old_networks, new_networks):
            if name not in old_networks:
                if "pod" in new_networks[name]:
                    return False
            elif _without_target(old_networks[name]) != _without_target(new_networks[name]):
                return False
        return True


def _named(spec: Tree, *path: str) -> dict[str, Tree]:
    return {item.get("name", ""): item for item in tree.get(spec, *path) or ()}


def _differing(old: dict[str, Tree], new: dict[str, Tree]) -> Iterable[str]:
    return [name for name in {**old, **new} if old.get(name) != new.get(name)]


def _is_hotplugged(volume: Tree) -> bool:
    return any(tree.get(volume, kind, "hotpluggable") for kind in _HOTPLUGGED)


def _is_claim(volume: Tree) -> bool:
    return "persistentVolumeClaim" in volume or "dataVolume" in volume


def _without(item: Tree, key: str) -> Tree:
    return {k: v for k, v in item.items() if k != key}


def _without_target(network: Tree) -> Tree:
    multus = network.get("multus")
    return network if multus is None else {**network, "multus": _without(multus, "networkName")}


def _amount(value: Any) -> int:
    return value if isinstance(value, int) else quantity.value(value)
