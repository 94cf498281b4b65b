"""The instancetype and the preference that say what a preset says.

A preset and its replacement reach a VM at different moments, so a replacement is an advice: whether VMs stay as they
are is seen by rendering them both ways.
"""

import json
import math

from render.model import tree
from render.model.apimachinery import quantity
from render.model.fieldpath import FieldPath, text
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree

#: What an instancetype has to say and a preset may leave to the VM.
FROM_THE_VM = "(as in the VM)"

_TOPOLOGY = ("sockets", "cores", "threads")
_CPU = {
    "model": "model",
    "dedicatedCpuPlacement": "dedicatedCPUPlacement",
    "isolateEmulatorThread": "isolateEmulatorThread",
    "numa": "numa",
    "realtime": "realtime",
    "maxSockets": "maxSockets",
}
FEATURES = {
    "acpi": "preferredAcpi",
    "apic": "preferredApic",
    "hyperv": "preferredHyperv",
    "kvm": "preferredKvm",
    "pvspinlock": "preferredPvspinlock",
    "smm": "preferredSmm",
}


class Replacement(NamedTuple):
    """Specs (v1beta1) of an instancetype and a preference, None where nothing calls for one.

    *left*: what of the preset neither can say, as paths below its ``spec.domain``.
    """

    instancetype: Tree | None
    preference: Tree | None
    left: tuple[str, ...]


def replacement(domain: Tree) -> Replacement:
    """What replaces a preset with the decoded *domain*; parts that KubeVirt never merges are no loss."""
    instancetype: Tree = {}
    preference: Tree = {}
    left: list[FieldPath] = []
    _cpu(domain.get("cpu") or {}, instancetype, preference, left)
    _requests(tree.get(domain, "resources", "requests") or {}, instancetype, left)
    _clock(domain.get("clock") or {}, preference)
    for key, value in (domain.get("features") or {}).items():
        _say(preference, ("features", FEATURES.get(key, "")), value, ("features", key), left)
    _firmware(domain.get("firmware") or {}, preference, left)
    if "ioThreadsPolicy" in domain:
        instancetype["ioThreadsPolicy"] = domain["ioThreadsPolicy"]
    if tree.get(domain, "devices", "watchdog") is not None:
        left.append(("devices", "watchdog"))
    if instancetype:
        tree.put(instancetype, ("cpu", "guest"), tree.get(instancetype, "cpu", "guest") or 1)
        if tree.get(instancetype, "memory", "guest") is None:
            tree.put(instancetype, ("memory", "guest"), FROM_THE_VM)
    return Replacement(instancetype or None, preference or None, tuple(map(text, left)))


def _say(
    target: Tree, path: FieldPath, value: Any, origin: FieldPath, left: list[FieldPath]
) -> None:
    if path[-1]:
        tree.put(target, path, value)
    else:
        left.append(origin)


def _cpu(cpu: Tree, instancetype: Tree, preference: Tree, left: list[FieldPath]) -> None:
    counts = {key: cpu[key] for key in _TOPOLOGY if cpu.get(key)}
    wide = [key for key, count in counts.items() if count > 1]
    vcpus = math.prod(counts.values())
    if len(wide) > 1:
        left += (("cpu", key) for key in wide)
    for key, value in cpu.items():
        if key == "features":
            tree.put(preference, ("cpu", "preferredCPUFeatures"), value)
        elif key not in _TOPOLOGY:
            _say(instancetype, ("cpu", _CPU.get(key, "")), value, ("cpu", key), left)
    if counts:
        tree.put(instancetype, ("cpu", "guest"), vcpus)
    if len(wide) == 1 and wide[0] != "sockets":
        tree.put(preference, ("cpu", "preferredCPUTopology"), wide[0])


def _requests(requests: Tree, instancetype: Tree, left: list[FieldPath]) -> None:
    for key, amount in requests.items():
        if key == "memory":
            tree.put(instancetype, ("memory", "guest"), amount)
        elif key == "cpu" and tree.get(instancetype, "cpu", "guest") is None:
            tree.put(instancetype, ("cpu", "guest"), quantity.value(amount))
        else:
            left.append(("resources", "requests", key))


def _clock(clock: Tree, preference: Tree) -> None:
    offset = {key: clock[key] for key in ("utc", "timezone") if key in clock}
    if offset:
        tree.put(preference, ("clock", "preferredClockOffset"), offset)
    if "timer" in clock:
        tree.put(preference, ("clock", "preferredTimer"), clock["timer"])


def _firmware(firmware: Tree, preference: Tree, left: list[FieldPath]) -> None:
    bios, efi = (tree.get(firmware, "bootloader", key) for key in ("bios", "efi"))
    if bios is not None:
        tree.put(preference, ("firmware", "preferredUseBios"), value=True)
        if "useSerial" in bios:
            tree.put(preference, ("firmware", "preferredUseBiosSerial"), bios["useSerial"])
    if efi is not None:
        tree.put(preference, ("firmware", "preferredEfi"), efi)
    left += (("firmware", key) for key in firmware if key != "bootloader")


def compact(value: Any) -> str:
    """*value* as it stands in a message: JSON on one line."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True)
