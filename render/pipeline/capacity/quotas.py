"""The pods of a namespace together, and the quotas that do not hold them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from render.diagnostics.codes import QUOTA
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity, at
from render.diff.sizes import Size
from render.model.apimachinery.quantity import Quantity
from render.model.named_tuple import NamedTuple
from render.model.resource import Resource
from render.room import amounts, quota
from render.room.amounts import Amounts

_MOST_NAMED = 3
#: What would lift an excess, as far as nothing says what it is: of the names of resources; ``""`` if nothing would.
Lifting = Callable[[list[str], Resource, "list[PodUse]"], str]


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


def alike(uses: Iterable[PodUse]) -> list[PodUse]:
    """*uses*, those of a namespace whose pods are alike as one, with the replicas of all."""
    together: dict[tuple[str, tuple[str, str]], PodUse] = {}
    replicas: Counter[tuple[str, tuple[str, str]]] = Counter()
    for use in uses:
        together.setdefault((use.namespace, use.pod), use)
        replicas[use.namespace, use.pod] += use.replicas
    return [use._replace(replicas=replicas[key]) for key, use in together.items()]


def exceeded(resource: Resource, every: Iterable[PodUse], lifting: Lifting) -> Iterator[Diagnostic]:
    """What is to be said of a ResourceQuota in whose namespace *every* pod use is."""
    uses = [use for use in every if resource.index in use.usage]
    granted = quota.hard(resource.body)
    always = [use for use in uses if use.always]
    of_always = steady(always, resource.index)
    known: set[str] = set()
    cases = [
        (always, of_always, "what always runs", False),
        (uses, steady(uses, resource.index), "what always runs, and what may be started", True),
    ]
    for involved, total, what, is_mild in cases:
        names = [name for name in quota.exceeded(granted, {}, total) if name not in known]
        if names:
            known.update(names)
            doubt = lifting(names, resource, involved)
            excess = _Excess(resource, names, total, what, is_mild=is_mild)
            yield _too_much(excess, involved, doubt)
    spare = _most_moving(always, resource.index, granted, of_always, known)
    if spare is not None:
        yield _no_spare(resource, spare, of_always, granted)


class _Excess(NamedTuple):
    """Of the *names* of resources *what* runs needs more than a quota grants: *total*."""

    resource: Resource
    names: list[str]
    total: Amounts
    what: str
    is_mild: bool


def _too_much(excess: _Excess, involved: list[PodUse], doubt: str) -> Diagnostic:
    resource, names, total, what, is_mild = excess
    index, first = resource.index, names[0]
    granted = quota.hard(resource.body)
    largest = sorted(
        (use for use in involved if first in use.usage[index]),
        key=lambda use: _amount(use, index, first),
        reverse=True,
    )
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
    refs = tuple(use.where.resource for use in largest if use.where.resource is not None)
    return found._replace(concerned=refs)


def _no_spare(
    resource: Resource, spare: tuple[PodUse, list[str]], of_always: Amounts, granted: Amounts
) -> Diagnostic:
    use, names = spare
    total = amounts.add(of_always, use.usage[resource.index])
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
    always: list[PodUse], index: int, granted: Amounts, of_always: Amounts, known: set[str]
) -> tuple[PodUse, list[str]] | None:
    """The VM for whose second pod there is least room, and the resources that it lacks; None if there is room."""
    lacking = [
        (use, names)
        for use in always
        if use.moves
        and (
            names := [
                name
                for name in quota.exceeded(granted, of_always, use.usage[index])
                if name not in known
            ]
        )
    ]
    return max(lacking, key=lambda pair: _amount(pair[0], index, pair[1][0]), default=None)


def _named(use: PodUse, resources: Sequence[str]) -> str:
    """What *use* has of the *resources* that are exceeded, each told as its containers have it."""
    shares = dict.fromkeys(filter(None, map(use.shares.get, resources)))
    return f"{use.name}: {'; '.join(shares)}" if shares else use.name


def _amount(use: PodUse, index: int, name: str) -> float:
    amount = use.usage[index].get(name)
    return 0.0 if amount is None else float(use.replicas * amounts.number(amount))
