"""How a machine is named, on the command line and in a lock: ``NAME``, ``NAMESPACE/NAME`` or ``KIND/NAMESPACE/NAME``.

VirtualMachines, and VMs of the store, which become one, go without their kind; others have it, since a VM and a pool
may share a name.
"""

from collections.abc import Iterable, Iterator, Sequence

from render.model.resource import MACHINES, VM, Resource, ResourceRef

_PLAIN = frozenset({VM, "VM"})


def name_of(machine: Resource | ResourceRef) -> str:
    """The name of *machine*, as short as it is unique, with the namespace that its manifest has."""
    kind = "" if machine.kind in _PLAIN else machine.kind
    return "/".join(filter(None, (kind, machine.namespace, machine.name)))


def whole(name: str) -> str:
    """*name*, which `name_of` gave, with the kind."""
    kind, rest = _parted(name)
    return f"{kind or VM}/{rest}"


class KnownNames:
    """Names that `name_of` gave, of which many are looked for."""

    __slots__ = ("_found", "_parted")

    def __init__(self, known: Iterable[str]) -> None:
        self._parted = {name: _parted(name) for name in sorted(known)}
        self._found: dict[str, list[str]] = {}
        for name, (_, rest) in self._parted.items():
            for word in {rest, rest.rpartition("/")[2]}:
                self._found.setdefault(word, []).append(name)

    def __len__(self) -> int:
        return len(self._parted)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parted)

    def fitting(self, name: str) -> list[str]:
        """Those that *name* means; without a kind any, without a namespace any."""
        kind, wanted = _parted(name)
        candidates = [
            known_name
            for known_name in self._found.get(wanted, ())
            if not kind or kind == (self._parted[known_name][0] or VM)
        ]
        exact = [known_name for known_name in candidates if self._parted[known_name][1] == wanted]
        return exact or candidates

    def matching(self, pattern: str) -> list[str]:
        """Those that a *pattern* means: ``web-*``, ``prod/web-*``, ``prod/``.

        Without a kind any kind, without a slash any namespace; a wildcard stands for no slash.
        """
        from render.model import patterns

        kind, wanted = _parted(pattern)
        namespace, slash, name = wanted.rpartition("/")
        named, spaced = patterns.named(name or "*"), patterns.named(namespace)
        found = []
        for known_name, (other, rest) in self._parted.items():
            space, _, last = rest.rpartition("/")
            if (not kind or kind == (other or VM)) and named(last) and (not slash or spaced(space)):
                found.append(known_name)
        return found


def fitting(name: str, known: Iterable[str]) -> list[str]:
    """Those of *known*, which `name_of` gave, that *name* means, see `KnownNames.fitting`."""
    return KnownNames(known).fitting(name)


def is_pattern(name: str) -> bool:
    """Whether *name* may mean several machines: it has a wildcard, or is a namespace with a slash behind it."""
    return name.endswith("/") or any(wildcard in name for wildcard in "*?[")


def matching(pattern: str, known: Iterable[str]) -> list[str]:
    """Those of *known*, which `name_of` gave, that a *pattern* means, see `KnownNames.matching`."""
    return KnownNames(known).matching(pattern)


def spellings(known: Iterable[str]) -> list[str]:
    """How those of *known*, which `name_of` gave, may be meant: by all of that, or without kind and namespace."""
    return sorted({spelling for name in known for spelling in (name, name.rpartition("/")[2])})


def like(pattern: str, known: Iterable[str]) -> list[str]:
    """What of *known*, which `name_of` gave, a *pattern* that fits none may mean: namespaces, with a slash behind."""
    namespaces = {_parted(name)[1].rpartition("/")[0] for name in known}
    return sorted(f"{name}/" for name in namespaces if name) if pattern.endswith("/") else []


def ambiguity(name: str, names: Sequence[str]) -> tuple[str, str]:
    """That *name* may mean each of *names*, and what to do."""
    full_names = [whole(candidate) for candidate in names]
    if len({full_name.partition("/")[0] for full_name in full_names}) == 1:
        return f"{name} may be {' or '.join(names)}", "name the VM with its namespace"
    return f"{name} may be {' or '.join(full_names)}", f"name the kind too, like {full_names[0]}"


def _parted(name: str) -> tuple[str, str]:
    """The kind, ``""`` without one, and the rest. No namespace is called like a kind: it has no capitals."""
    kind, slash, rest = name.partition("/")
    if slash and kind in _PLAIN:
        return VM, rest
    return (kind, rest) if slash and kind in MACHINES else ("", name)
