"""The pods of a namespace together, and the quotas that do not hold them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from render.diagnostics.codes import QUOTA
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity, at
from render.diff.sizes import Size
from render.model.apimachinery.quantity import Quantity
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.resource import Resource, ResourceRef
from render.room import amounts, quota
from render.room.amounts import Amounts

_MOST_NAMED = 3
#: What would lift an excess, as far as nothing says what it is: of the names of resources; ``""`` if nothing would.
Lifting = Callable[[list[str], Resource, "CountedPods"], str]


class PodUse(NamedTuple):
    """What the pods of one machine count: *usage* of each of *replicas* by the indexes of quotas.

    *requests*: what they ask for, *size* that of the guest; *always*: they run whenever they can; *moves*: a drain of
    the node migrates them; *shares*: what containers have of an amount; *pod*: which of those that were judged.
    """

    where: Location
    name: str
    namespace: str
    usage: Mapping[int, Amounts]
    requests: Mapping[str, Quantity]
    size: Size
    replicas: int
    always: bool
    moves: bool
    shares: Mapping[str, str]
    pod: tuple[str, str]
    placement: Mapping[str, object]


def steady(uses: Iterable[PodUse], index: int) -> Amounts:
    """What all of *uses* count against the quota of *index*; those of pods that are alike share their usage."""
    alike: dict[int, tuple[Amounts, int]] = {}
    for use in uses:
        usage = use.usage[index]
        alike[id(usage)] = (usage, alike.get(id(usage), (usage, 0))[1] + use.replicas)
    return amounts.sums(amounts.times(usage, count) for usage, count in alike.values())


def _alike(uses: Iterable[PodUse]) -> list[PodUse]:
    """*uses*, those of a namespace whose pods are alike as one, with the replicas of all."""
    together: dict[tuple[str, tuple[str, str]], PodUse] = {}
    replicas: Counter[tuple[str, tuple[str, str]]] = Counter()
    for use in uses:
        together.setdefault((use.namespace, use.pod), use)
        replicas[use.namespace, use.pod] += use.replicas
    return [use._replace(replicas=replicas[key]) for key, use in together.items()]


class CountedPods:
    """Pod *uses* of which the quota of *index* counts the same as others do: what these share is found once."""

    def __init__(self, uses: list[PodUse], index: int) -> None:
        self.uses, self.index = uses, index
        self._largest: dict[str, tuple[list[PodUse], tuple[ResourceRef, ...]]] = {}
        #: What the same pods count where another release runs.
        self.elsewhere: dict[Version, NamespacePods] = {}

    @cached_property
    def total(self) -> Amounts:
        """What they count together."""
        return steady(self.uses, self.index)

    @cached_property
    def alike(self) -> list[PodUse]:
        """Those whose pods are alike as one."""
        return _alike(self.uses)

    @cached_property
    def moving(self) -> list[PodUse]:
        """Those that a drain of their node migrates; the first of those that count the same."""
        return [
            *{
                (id(use.usage[self.index]), use.replicas): use
                for use in reversed(self.uses)
                if use.moves
            }.values()
        ][::-1]

    @cached_property
    def most_moving(self) -> Amounts:
        """The most that one of those that migrate has of each resource."""
        most: Amounts = {}
        for use in self.moving:
            most = amounts.most(most, use.usage[self.index])
        return most

    def largest(self, name: str) -> tuple[list[PodUse], tuple[ResourceRef, ...]]:
        """Those that have something of the resource *name*, the largest first, and the objects that they are of."""
        if name not in self._largest:
            found = sorted(
                (use for use in self.uses if name in use.usage[self.index]),
                key=lambda use: _amount(use, self.index, name),
                reverse=True,
            )
            refs = (use.where.resource for use in found)
            self._largest[name] = found, tuple(ref for ref in refs if ref is not None)
        return self._largest[name]


class NamespacePods:
    """The pod *uses* of a namespace, against its quotas: most quotas count the same of the same pods."""

    def __init__(self, uses: Iterable[PodUse]) -> None:
        self._uses = [*uses]
        self._known: dict[tuple[int, ...], CountedPods] = {}

    def against(self, index: int) -> CountedPods:
        """Those that the quota of *index* counts."""
        key = tuple(id(use.usage.get(index)) for use in self._uses)
        if key not in self._known:
            self._known[key] = CountedPods([use for use in self._uses if index in use.usage], index)
        return self._known[key]


def exceeded(
    resource: Resource, always: CountedPods, every: CountedPods, lifting: Lifting
) -> Iterator[Diagnostic]:
    """What is to be said of a ResourceQuota that counts *every* pod use, of which some *always* run."""
    granted = quota.hard(resource.body)
    known: set[str] = set()
    cases = [
        (always, "what always runs", False),
        (every, "what always runs, and what may be started", True),
    ]
    for involved, what, is_mild in cases:
        names = [name for name in quota.exceeded(granted, {}, involved.total) if name not in known]
        if names:
            known.update(names)
            doubt = lifting(names, resource, involved)
            yield _too_much(_Excess(resource, names, what, is_mild=is_mild), involved, doubt)
    spare = _most_moving(always, granted, known)
    if spare is not None:
        yield _no_spare(resource, spare, always, granted)


class _Excess(NamedTuple):
    """Of the *names* of resources *what* runs needs more than a quota grants."""

    resource: Resource
    names: list[str]
    what: str
    is_mild: bool


def _too_much(excess: _Excess, involved: CountedPods, doubt: str) -> Diagnostic:
    resource, names, what, is_mild = excess
    index, first, total = involved.index, names[0], involved.total
    granted = quota.hard(resource.body)
    largest, refs = involved.largest(first)
    named, rest = largest[:_MOST_NAMED], len(largest) - _MOST_NAMED
    parts = ", ".join(
        f"{f'{use.replicas} x ' if use.replicas > 1 else ''}{use.name}"
        f" {amounts.readable({first: use.usage[index][first]})}"
        for use in named
    )
    more = f" and {rest} more" if rest > 0 else ""
    requested = amounts.listed({name: total[name] for name in names})
    limited = amounts.listed({name: granted[name] for name in names})
    found = QUOTA.at(
        at(resource, ("spec", "hard", first)),
        f"exceeded quota: {resource.name}, requested: {requested}, limited: {limited}"
        f": {what}: {parts}{more}{doubt}",
        *(Related(_named(use, names), use.where) for use in named),
        help="the VMs are admitted, but those that start last get no pod: raise the quota, or ask for less; the pod"
        " of a VM is larger than its guest",
        severity=Severity.WARNING if is_mild or doubt else None,
    )
    return found._replace(concerned=refs)


def _no_spare(
    resource: Resource, spare: tuple[PodUse, list[str]], always: CountedPods, granted: Amounts
) -> Diagnostic:
    use, names = spare
    total = amounts.add(always.total, use.usage[always.index])
    requested = amounts.readable({name: total[name] for name in names})
    limit = amounts.listed({name: granted[name] for name in names})
    found = QUOTA.at(
        at(resource, ("spec", "hard", names[0])),
        f"no room for a live migration of {use.name}, which takes a second pod: requested with it: {requested},"
        f" limited: {limit}",
        Related(f"{use.name} is to migrate when its node is drained", use.where),
        help="leave room for the largest VM that migrates, or its migration waits until something stops",
        severity=Severity.WARNING,
    )
    return found._replace(concerned=tuple(filter(None, [use.where.resource])))


def _most_moving(
    always: CountedPods, granted: Amounts, known: set[str]
) -> tuple[PodUse, list[str]] | None:
    """The VM for whose second pod there is least room, and the resources that it lacks; None if there is room."""
    short = {
        name: granted[name]
        for name in quota.exceeded(granted, always.total, always.most_moving)
        if name not in known
    }
    if not short:
        return None
    index = always.index
    lacking = [
        (use, names)
        for use in always.moving
        if (names := quota.exceeded(short, always.total, use.usage[index]))
    ]
    return max(lacking, key=lambda pair: _amount(pair[0], index, pair[1][0]), default=None)


def _named(use: PodUse, resources: Sequence[str]) -> str:
    """What *use* has of the *resources* that are exceeded, each told as its containers have it."""
    shares = dict.fromkeys(filter(None, map(use.shares.get, resources)))
    return f"{use.name}: {'; '.join(shares)}" if shares else use.name


def _amount(use: PodUse, index: int, name: str) -> float:
    amount = use.usage[index].get(name)
    return 0.0 if amount is None else float(use.replicas * amounts.number(amount))
