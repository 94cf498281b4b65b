"""What the pods of a fleet ask for against what there is, for pages and as data."""

from collections.abc import Iterable, Sequence

from render.diff.sizes import gibibytes
from render.model.counting import counted
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.room import amounts
from render.room.figures import (
    CapacityGroup,
    ClusterCapacity,
    PoolFigure,
    QuotaFigure,
    ResourceShare,
)

_CPU, _MEMORY = "CPU", "memory"
#: How long a bar is: as much as there is, or as is asked for.
_LENGTH = 100
_NOBODY = CapacityGroup("")


class Bar(NamedTuple):
    """A bar: how much of its length the guests, their *overhead* and what is *startable* take, and what it means.

    *limit*: where on it what there is ends; None where nothing says that.
    """

    label: str
    text: str
    guests: float
    overhead: float
    startable: float
    limit: float | None
    is_exceeded: bool


class CapacityRow(NamedTuple):
    """A line of a table: a *name*, what there is to say of it in words, and its bars."""

    name: str
    pods: str
    notes: tuple[str, ...]
    bars: tuple[Bar, ...]

    @property
    def fullness(self) -> tuple[bool, float]:
        """Whether anything limits it, and how full the fullest of its bars is then, as a part of what there is."""
        limited = [bar for bar in self.bars if bar.limit is not None]
        parts = (
            (bar.guests + bar.overhead + bar.startable) / (bar.limit or _LENGTH)
            for bar in limited or self.bars
        )
        return bool(limited), max(parts, default=0)


class CapacityTable(NamedTuple):
    """A table of *rows* by what *word* says, the fullest first."""

    word: str
    rows: tuple[CapacityRow, ...]

    @property
    def folded(self) -> tuple[Sequence[CapacityRow], Sequence[CapacityRow]]:
        """Its rows that are open, and those that are folded: all where nothing limits them."""
        from render.report.page import folded

        return folded(self.rows) if any(row.fullness[0] for row in self.rows) else ((), self.rows)

    @property
    def is_exceeded(self) -> bool:
        """Whether more is asked for somewhere than there is."""
        return any(bar.is_exceeded for row in self.rows for bar in row.bars)


def tables(capacity: ClusterCapacity) -> list[CapacityTable]:
    """The tables of a page, those that have a row."""
    groups = {group.name: group for group in capacity.namespaces}
    limiting: dict[str, set[str]] = {}
    others = []
    for figure in capacity.quotas:
        if _is_of_namespace(figure, groups.get(figure.namespace, _NOBODY)):
            limiting.setdefault(figure.namespace, set()).add(figure.quota)
        else:
            others.append(figure)
    namespaces = tuple(
        row._replace(notes=tuple(f"quota {name}" for name in sorted(limiting.get(group.name, ()))))
        for group, row in zip(capacity.namespaces, _rows(capacity.namespaces), strict=True)
    )
    is_by_name = any(group.name for group in capacity.instancetypes)
    made = [
        CapacityTable("namespace", namespaces),
        CapacityTable("quota", _quotas(others)),
        CapacityTable("node pool", tuple(map(_pool, capacity.pools))),
        CapacityTable("instancetype", _rows(capacity.instancetypes) if is_by_name else ()),
    ]
    return [table._replace(rows=_fullest_first(table.rows)) for table in made if table.rows]


def _fullest_first(rows: Iterable[CapacityRow]) -> tuple[CapacityRow, ...]:
    by_name = sorted(rows, key=lambda row: row.name)
    return tuple(sorted(by_name, key=lambda row: row.fullness, reverse=True))


def _quotas(figures: Iterable[QuotaFigure]) -> tuple[CapacityRow, ...]:
    """A row a quota."""
    bars: dict[str, list[Bar]] = {}
    for figure in figures:
        always, startable, hard = (
            _amount(figure.resource, amount)
            for amount in (figure.always, figure.startable, figure.hard)
        )
        text = f"{figure.resource}: {always}"
        text += f", and {startable} that may be started" if figure.startable_part else ""
        bars.setdefault(f"{figure.namespace}/{figure.quota}", []).append(
            _bar(
                figure.resource, f"{text}, of {hard}", figure.part, 0.0, figure.startable_part, 1.0
            )
        )
    return tuple(CapacityRow(name, "", (), tuple(found)) for name, found in bars.items())


def _is_of_namespace(figure: QuotaFigure, group: CapacityGroup) -> bool:
    """Whether the bars of the namespace *group* show what *figure* says, so that it need not be said twice."""
    kind = figure.resource.removeprefix("requests.")
    shares = {"cpu": (group.cpu, 1000), "memory": (group.memory, 1)}
    if kind not in shares:
        return False
    share, unit = shares[kind]
    numbers = tuple(
        int(unit * amounts.number_of(amounts.read({kind: amount}), kind))
        for amount in (figure.always, figure.startable, figure.hard)
    )
    return numbers == (share.always, share.startable, share.limit)


def _rows(groups: Sequence[CapacityGroup]) -> tuple[CapacityRow, ...]:
    """A row of each of *groups*: where nothing limits them, their bars are as long as the largest lets them be."""
    cpu = max((_requested(group.cpu) for group in groups), default=0)
    memory = max((_requested(group.memory) for group in groups), default=0)
    return tuple(_row(group, cpu, memory) for group in groups)


def _requested(share: ResourceShare) -> int:
    return share.always + share.startable


def _row(group: CapacityGroup, most_cpu: int = 0, most_memory: int = 0) -> CapacityRow:
    bars = (_share(_CPU, group.cpu, most_cpu), _share(_MEMORY, group.memory, most_memory))
    pods = counted(group.pods, "pod") if group.pods else "none always runs"
    return CapacityRow(group.name or "none", pods, (), bars)


def _pool(pool: PoolFigure) -> CapacityRow:
    left = {_cpus: pool.left_cpu, _gib: pool.left_memory}
    missing = [written(-amount) for written, amount in left.items() if amount < 0]
    if missing:
        note = f"without {pool.largest}, what always runs lacks {' and '.join(missing)}"
    else:
        spare = " and ".join(written(amount) for written, amount in left.items())
        note = f"without {pool.largest}, {spare} are left"
    row = _row(pool.group)
    name = f"{pool.group.name or 'all nodes'}, {counted(pool.nodes, 'node')}"
    return row._replace(name=name, notes=(note,))


def _amount(resource: str, amount: str) -> str:
    """*amount* of a *resource*, bytes in GiB."""
    kind = resource.removeprefix("requests.").removeprefix("limits.")
    if kind not in {"memory", "ephemeral-storage"} and not kind.startswith("hugepages-"):
        return amount
    return _gib(int(amounts.number_of(amounts.read({kind: amount}), kind)))


def _share(label: str, share: ResourceShare, most: int) -> Bar:
    """The bar of a *share*; *most*: what one that nothing limits is measured by."""
    written = _number_of_cpus if label == _CPU else _gib
    text = f"{label}: {written(share.always)}"
    if share.overhead:
        text += f", {written(share.overhead)} of it overhead"
    if share.startable:
        text += f", and {written(share.startable)} that may be started"
    if share.limit is not None:
        text += f", of {written(share.limit)}"
    most = share.limit or most or _requested(share) or 1
    guests = (share.always - share.overhead) / most
    limit = None if share.limit is None else 1.0
    return _bar(label, text, guests, share.overhead / most, share.startable / most, limit)


def _bar(  # noqa: PLR0913, PLR0917 - its parts
    label: str, text: str, guests: float, overhead: float, startable: float, limit: float | None
) -> Bar:
    """A bar of parts of what there is; it is longer where more is asked for."""
    whole = max(guests + overhead + startable, 1.0)
    scaled = [round(_LENGTH * part / whole, 2) for part in (guests, overhead, startable)]
    end = None if limit is None else round(_LENGTH * limit / whole, 2)
    is_exceeded = limit is not None and guests + overhead > limit
    return Bar(label, text, scaled[0], scaled[1], scaled[2], end, is_exceeded)


def _number_of_cpus(thousandths: int) -> str:
    return f"{thousandths / 1000:,.3f}".rstrip("0").rstrip(".")


def _cpus(thousandths: int) -> str:
    return f"{_number_of_cpus(thousandths)} CPU"


def _gib(memory: int) -> str:
    return f"{gibibytes(memory)} GiB"


def data(capacities: Iterable[tuple[str, ClusterCapacity]]) -> list[dict[str, Any]]:
    """The figures of each root as JSON has them: thousandths of a CPU, bytes, and amounts as Kubernetes writes them."""
    return [
        {
            "root": root,
            "namespaces": [group._asdict() | _shares(group) for group in capacity.namespaces],
            "instancetypes": [group._asdict() | _shares(group) for group in capacity.instancetypes],
            "quotas": [_quota(figure) for figure in capacity.quotas],
            "nodePools": [_of_pool(pool) for pool in capacity.pools],
        }
        for root, capacity in capacities
    ]


def _shares(group: CapacityGroup) -> dict[str, Any]:
    return {"cpu": group.cpu._asdict(), "memory": group.memory._asdict()}


def _quota(figure: QuotaFigure) -> dict[str, Any]:
    return {
        "namespace": figure.namespace,
        "name": figure.quota,
        "resource": figure.resource,
        "hard": figure.hard,
        "always": figure.always,
        "startable": figure.startable,
    }


def _of_pool(pool: PoolFigure) -> dict[str, Any]:
    return {
        **pool.group._asdict(),
        **_shares(pool.group),
        "nodes": pool.nodes,
        "largest": pool.largest,
        "leftCpu": pool.left_cpu,
        "leftMemory": pool.left_memory,
    }
