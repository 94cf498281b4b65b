"""What the pods of a fleet ask for against what there is, for pages and as data."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from render.model.counting import counted
from render.report.impact.review import gibibytes
from render.room.figures import CapacityGroup, ClusterCapacity, PoolFigure, ResourceShare

_CPU, _MEMORY = "CPU", "memory"
#: How long a bar is: as much as there is, or as is asked for.
_LENGTH = 100


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


class CapacityTable(NamedTuple):
    """A table of *rows* by what *word* says."""

    word: str
    rows: tuple[CapacityRow, ...]


def tables(capacity: ClusterCapacity) -> list[CapacityTable]:
    """The tables of a page, those that have a row."""
    quotas: dict[str, list[CapacityRow]] = {}
    for one in capacity.quotas:
        text = f"{one.resource}: {one.always}"
        text += f" and {one.startable} that may be started" if one.startable_part else ""
        bar = _bar(one.resource, f"{text} of {one.hard}", one.part, 0.0, one.startable_part, 1.0)
        name = f"{one.namespace}/{one.quota}"
        quotas.setdefault(name, []).append(CapacityRow(name, "", (), (bar,)))
    made = [
        CapacityTable("namespace", tuple(map(_row, capacity.namespaces))),
        CapacityTable(
            "quota",
            tuple(
                CapacityRow(name, "", (), tuple(bar for row in rows for bar in row.bars))
                for name, rows in quotas.items()
            ),
        ),
        CapacityTable("node pool", tuple(map(_pool, capacity.pools))),
        CapacityTable("instancetype", tuple(map(_row, capacity.instancetypes))),
    ]
    return [table for table in made if table.rows]


def _row(group: CapacityGroup) -> CapacityRow:
    bars = (_share(_CPU, group.cpu), _share(_MEMORY, group.memory))
    return CapacityRow(group.name or "none", counted(group.pods, "pod"), (), bars)


def _pool(pool: PoolFigure) -> CapacityRow:
    left = f"{_cpus(pool.left_cpu)} and {_gib(pool.left_memory)}"
    notes = [f"left once {pool.largest} is drained: {left}"]
    if min(pool.left_cpu, pool.left_memory) < 0:
        notes.append("what always runs has no room then")
    row = _row(pool.group)
    name = f"{pool.group.name or 'all nodes'}, {counted(pool.nodes, 'node')}"
    return row._replace(name=name, notes=tuple(notes))


def _share(label: str, share: ResourceShare) -> Bar:
    written = _cpus if label == _CPU else _gib
    text = f"{label}: {written(share.always)}"
    if share.overhead:
        text += f", {written(share.overhead)} of it overhead"
    if share.startable:
        text += f", and {written(share.startable)} that may be started"
    if share.limit is not None:
        text += f", of {written(share.limit)}"
    most = share.limit or share.always + share.startable or 1
    guests = (share.always - share.overhead) / most
    limit = None if share.limit is None else 1.0
    return _bar(label, text, guests, share.overhead / most, share.startable / most, limit)


def _bar(  # noqa: PLR0913, PLR0917 - its parts
    label: str, text: str, guests: float, overhead: float, startable: float, limit: float | None
) -> Bar:
    """A bar of parts of what there is; it is as long as the largest of both."""
    whole = max(guests + overhead + startable, limit or 0.0) or 1.0
    scaled = [round(_LENGTH * part / whole, 2) for part in (guests, overhead, startable)]
    end = None if limit is None else round(_LENGTH * limit / whole, 2)
    is_exceeded = limit is not None and guests + overhead > limit
    return Bar(label, text, scaled[0], scaled[1], scaled[2], end, is_exceeded)


def _cpus(thousandths: int) -> str:
    return f"{thousandths / 1000:,.3f}".rstrip("0").rstrip(".") + " CPU"


def _gib(memory: int) -> str:
    return f"{gibibytes(memory)} GiB"


def data(capacities: Iterable[tuple[str, ClusterCapacity]]) -> list[dict[str, Any]]:
    """The figures of each root as JSON has them: thousandths of a CPU, bytes, and amounts as Kubernetes writes them."""
    return [{"root": root, **_plain(capacity)} for root, capacity in capacities]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: _plain(part) for key, part in value._asdict().items() if key != "needs"}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value
