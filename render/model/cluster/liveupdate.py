"""Whether the memory of a guest can be changed while it runs (upstream: pkg/liveupdate/memory/memory.go)."""

from collections.abc import Callable

from render.model import tree
from render.model.apimachinery import quantity
from render.model.named_tuple import NamedTuple
from render.model.release import Version, Windowed, in_force, since, until
from render.model.tree import Tree

_MIB = 1 << 20
_GIB = 1 << 30
#: Of which the sizes must be multiples, and its name: for hugepages of 1Gi, and for all others.
_HUGE, _SMALL = (_GIB, "1Gi"), (2 * _MIB, "2Mi")


class _Restriction(NamedTuple):
    """Memory cannot be changed where *fails* says so of the domain, the maximum and the architecture.

    *text* is what KubeVirt says then; ``{}`` in it stands for the alignment.
    """

    name: str
    fails: Callable[[Tree, str, str], bool]
    text: str


def _alignment(domain: Tree) -> tuple[int, str]:
    return _HUGE if tree.get(domain, "memory", "hugepages", "pageSize") == "1Gi" else _SMALL


def _has(*path: str) -> Callable[[Tree, str, str], bool]:
    return lambda domain, *_: tree.get(domain, *path) is not None


def _is_too_much(domain: Tree, maximum: str, _: str) -> bool:
    return quantity.compare(domain["memory"]["guest"], maximum) > 0


def _is_unaligned(domain: Tree, *_: str) -> bool:
    return quantity.value(domain["memory"]["guest"]) % _alignment(domain)[0] != 0


def _is_maximum_unaligned(domain: Tree, maximum: str, _: str) -> bool:
    return quantity.value(maximum) % _alignment(domain)[0] != 0


def _is_small(domain: Tree, *_: str) -> bool:
    return quantity.value(domain["memory"]["guest"]) < _GIB


_RULES: tuple[_Restriction | Windowed[_Restriction], ...] = (
    _Restriction(
        "realtime", _has("cpu", "realtime"), "Memory hotplug is not compatible with realtime VMs"
    ),
    _Restriction(
        "numa",
        _has("cpu", "numa", "guestMappingPassthrough"),
        "Memory hotplug is not compatible with guest mapping passthrough",
    ),
    _Restriction(
        "encrypted", _has("launchSecurity"), "Memory hotplug is not compatible with encrypted VMs"
    ),
    _Restriction(
        "guest",
        lambda domain, *_: tree.get(domain, "memory", "guest") is None,
        "Guest memory must be configured when memory hotplug is enabled",
    ),
    _Restriction(
        "bound", _is_too_much, "Guest memory is greater than the configured maxGuest memory"
    ),
    _Restriction("aligned", _is_unaligned, "Guest memory must be {} aligned"),
    _Restriction("aligned", _is_maximum_unaligned, "MaxGuest must be {} aligned"),
    since(
        "1.5.2",
        _Restriction(
            "architecture",
            lambda _, __, architecture: architecture != "amd64",
            "Memory hotplug is only available for x86_64 VMs",
        ),
    ),
    until(
        "1.5.2",
        _Restriction(
            "architecture",
            lambda _, __, architecture: architecture not in ("amd64", "arm64"),
            "Memory hotplug is only available for x86_64 and arm64 VMs",
        ),
    ),
    _Restriction(
        "least",
        _is_small,
        "Memory hotplug is only available for VMs with at least 1Gi of guest memory",
    ),
)


class MemoryFault(NamedTuple):
    """The *rule* by which memory cannot be changed live, KubeVirt's *text*, and of what sizes must be multiples."""

    rule: str
    text: str
    alignment: str


def memory_fault(spec: Tree, maximum: str, release: Version) -> MemoryFault | None:
    """Why the memory of a VMI *spec* cannot be changed live up to *maximum*, None if it can."""
    domain = spec.get("domain") or {}
    architecture = spec.get("architecture") or ""
    for rule in in_force(_RULES, release):
        if rule.fails(domain, maximum, architecture):
            alignment = _alignment(domain)[1]
            return MemoryFault(rule.name, rule.text.format(alignment), alignment)
    return None
