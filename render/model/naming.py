"""How a machine is named, on the command line and in a lock: ``NAME``, ``NAMESPACE/NAME`` or ``KIND/NAMESPACE/NAME``.

VirtualMachines, and VMs of the store, which become one, go without their kind; others have it, since a VM and a pool
may share a name.
"""

from collections.abc import Iterable, Sequence

from render.model import patterns
from render.model.resource import VM, Resource, ResourceRef

_PLAIN = frozenset({VM, "VM"})
_KINDS = frozenset(
    {VM, "VirtualMachineInstance", "VirtualMachineInstanceReplicaSet", "VirtualMachinePool"}
)


def name_of(machine: Resource | ResourceRef) -> str:
    """The name of *machine*, as short as it is unique, with the namespace that its manifest has."""
    kind = "" if machine.kind in _PLAIN else machine.kind
    return "/".join(filter(None, (kind, machine.namespace, machine.name)))


def whole(name: str) -> str:
    """*name*, which `name_of` gave, with the kind."""
    kind, rest = _parted(name)
    return f"{kind or VM}/{rest}"


def fitting(name: str, known: Iterable[str]) -> list[str]:
    """Those of *known*, which `name_of` gave, that *name* means; without a kind any, without a namespace any."""
    kind, wanted = _parted(name)
    parted = {one: _parted(one) for one in sorted(known)}
    candidates = {
        one: rest for one, (other, rest) in parted.items() if not kind or kind == (other or VM)
    }
    exact = [one for one, rest in candidates.items() if rest == wanted]
    return exact or [one for one, rest in candidates.items() if rest.rpartition("/")[2] == wanted]


def is_pattern(name: str) -> bool:
    """Whether *name* may mean several machines: it has a wildcard, or is a namespace with a slash behind it."""
    return name.endswith("/") or any(one in name for one in "*?[")


def matching(pattern: str, known: Iterable[str]) -> list[str]:
    """Those of *known*, which `name_of` gave, that a *pattern* means: ``web-*``, ``prod/web-*``, ``prod/``.

    Without a kind any kind, without a slash any namespace; a wildcard stands for no slash.
    """
    kind, wanted = _parted(pattern)
    namespace, slash, name = wanted.rpartition("/")
    named, spaced = patterns.named(name or "*"), patterns.named(namespace)
    found = []
    for one in sorted(known):
        other, rest = _parted(one)
        space, _, last = rest.rpartition("/")
        if (not kind or kind == (other or VM)) and named(last) and (not slash or spaced(space)):
            found.append(one)
    return found


def ambiguity(name: str, names: Sequence[str]) -> tuple[str, str]:
    """That *name* may mean each of *names*, and what to do."""
    shown = [whole(one) for one in names]
    if len({one.partition("/")[0] for one in shown}) == 1:
        return f"{name} may be {' or '.join(names)}", "name the VM with its namespace"
    return f"{name} may be {' or '.join(shown)}", f"name the kind too, like {shown[0]}"


def _parted(name: str) -> tuple[str, str]:
    """The kind, ``""`` without one, and the rest. No namespace is called like a kind: it has no capitals."""
    kind, slash, rest = name.partition("/")
    if slash and kind in _PLAIN:
        return VM, rest
    return (kind, rest) if slash and kind in _KINDS else ("", name)
