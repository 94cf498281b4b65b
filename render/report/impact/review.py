"""The impact of a change, ready to be shown: by kustomization, with places, counts and totals."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from render.diff.effects import EFFECTS
from render.diff.impact import ChangeSource, Impact, MachineImpact
from render.diff.sizes import Size
from render.model.resource import ResourceRef
from render.report.places import Place

Locate = Callable[[ChangeSource], Place]

#: Effects as a reader ranks them: what is lost comes before what takes a restart.
RANKED = (
    "unrenderable", "refused", "error", "gone",
    *(effect for effect in EFFECTS if effect not in ("unrenderable", "refused", "error", "gone", "same", "none")),
    "none", "same",
)  # fmt: skip
#: What each effect means, for who has not read docs/review.md.
MEANINGS = {
    "unrenderable": "cannot be rendered: nothing is synced",
    "refused": "KubeVirt refuses the update",
    "error": "the controller fails, or the next start does",
    "gone": "is no longer in the repository",
    "stop": "is stopped",
    "start": "is started",
    "restart": "waits for a restart (RestartRequired)",
    "migrate": "changes with a live migration",
    "live": "changes while it runs",
    "next": "changes at the next start, without a word",
    "recreate": "changes only if the VM is made anew",
    "new": "is new",
    "none": "is stored otherwise; nothing that runs changes",
    "same": "stays as it is",
}
WORKLOAD = {
    "migrate": "KubeVirt migrates it by itself (workloadUpdateMethods has LiveMigrate)",
    "evict": "KubeVirt evicts it: it is shut down, and started again by its run strategy",
    "none": "nothing migrates it by itself: the guest has this after a migration or a restart",
}
#: Effects of which a reader is told no more than the number.
QUIET = frozenset({"same", "none"})


def nowhere(_: ChangeSource) -> Place:
    """Names no place."""
    return Place()


class ReviewPart(NamedTuple):
    """What becomes of the VMs of one kustomization, *name*; *locate* says where a cause stands."""

    name: str
    impact: Impact
    locate: Locate = nowhere


class ReviewedState(NamedTuple):
    """A state that is compared: its *name*, and where asked for, KubeVirt's *release* and the file of its settings."""

    name: str
    release: str = ""
    cluster: str = ""

    def __str__(self) -> str:
        extras = [f"KubeVirt {self.release}" if self.release else "", self.cluster]
        return " with ".join([self.name, *filter(None, extras)])


class Review(NamedTuple):
    """A comparison of the states *before* and *after*, synced with *emit*."""

    before: ReviewedState
    after: ReviewedState
    emit: str
    parts: tuple[ReviewPart, ...]

    @property
    def machines(self) -> list[MachineImpact]:
        """The VMs of all parts."""
        return [machine for part in self.parts for machine in part.impact.machines]


class MachineEntry(NamedTuple):
    """A VM, and the part that it belongs to."""

    part: ReviewPart
    machine: MachineImpact


class Total(NamedTuple):
    """How many VMs there are, and what they ask for."""

    machines: int = 0
    vcpus: int = 0
    memory: int = 0

    def adding(self, size: Size) -> "Total":
        """With one VM more."""
        return Total(self.machines + 1, self.vcpus + size.vcpus, self.memory + size.memory)


#: Before and after.
Totals = tuple[Total, Total]


def worst(machine: MachineImpact) -> str:
    """The effect by which a VM is counted."""
    return min(machine.effects, key=RANKED.index)


def counts(machines: Iterable[MachineImpact]) -> dict[str, int]:
    """How many VMs there are of each worst effect, the worst first."""
    found = Counter(map(worst, machines))
    return {effect: found[effect] for effect in RANKED if found[effect]}


def entries(review: Review, *, every: bool = False) -> list[MachineEntry]:
    """The VMs that something happens to, the worst first; *every*: also those that stay as they are."""
    found = (
        MachineEntry(part, machine) for part in review.parts for machine in part.impact.machines
    )
    shown = (one for one in found if every or is_shown(one.machine))
    return sorted(shown, key=lambda one: (rank(one.machine), one.part.name))


def is_shown(machine: MachineImpact) -> bool:
    """Whether a reader hears more of a VM than that it is there."""
    return not QUIET.issuperset(machine.effects)


def rank(machine: MachineImpact) -> tuple[list[int], str]:
    """What sorts VMs, the worst first."""
    return [RANKED.index(effect) for effect in machine.effects], str(machine.resource)


def pinned(machines: Iterable[MachineImpact]) -> str:
    """How many VMs stay as they are while the lock decides what they use, in words; nothing where none does."""
    number = sum(1 for machine in machines if machine.pins and not is_shown(machine))
    return f"pinned by the lock, of those that stay as they are: {number:,}" if number else ""


def texts(machine: MachineImpact) -> Iterator[tuple[str, str]]:
    """What is to be said of a VM beside its changes: words of ours, and text that comes from elsewhere."""
    for message in machine.messages:
        yield "", message
    if machine.workload:
        yield WORKLOAD[machine.workload], ""
    for name in machine.stale:
        yield "its template changed, and the DataVolume stays as it is:", name


class ChangeCause(NamedTuple):
    """What changed in the repository: the *field* of an object, where it stands, and what comes of it by effect."""

    place: Place
    resource: ResourceRef
    field: str
    effects: dict[str, int]


def causes(found: Iterable[MachineEntry]) -> list[ChangeCause]:
    """What is behind the changes of the VMs, those of most VMs first; a VM counts once a cause, by its worst effect."""
    counted: dict[tuple[Place, ResourceRef, str], Counter[str]] = {}
    for part, machine in found:
        behind = {
            (part.locate(one.cause), one.cause.resource, one.cause.field): None
            for one in machine.changes
            if one.cause is not None
        }
        for key in behind:
            counted.setdefault(key, Counter())[worst(machine)] += 1
    order = sorted(counted, key=lambda key: (-counted[key].total(), key[0], key[1], key[2]))
    return [
        ChangeCause(
            *key, {effect: counted[key][effect] for effect in RANKED if counted[key][effect]}
        )
        for key in order
    ]


def total(machines: Iterable[MachineImpact]) -> Totals:
    """What all *machines* ask for, before and after."""
    return _sum(size for machine in machines for size in enumerate(machine.sizes))


def by_namespace(machines: Iterable[MachineImpact]) -> dict[str, Totals]:
    """The totals of each namespace."""
    found: dict[str, list[MachineImpact]] = {}
    for machine in machines:
        found.setdefault(machine.resource.namespace, []).append(machine)
    return {name: total(found[name]) for name in sorted(found)}


def by_instancetype(machines: Iterable[MachineImpact]) -> dict[str, Totals]:
    """The totals of each instancetype, by its name; ``""`` are VMs without one."""
    found: dict[str, list[tuple[int, Size | None]]] = {}
    for machine in machines:
        for side, size in enumerate(machine.sizes):
            if size is not None:
                found.setdefault(size.instancetype, []).append((side, size))
    return {name: _sum(found[name]) for name in sorted(found)}


def _sum(sizes: Iterable[tuple[int, Size | None]]) -> Totals:
    totals = [Total(), Total()]
    for side, size in sizes:
        if size is not None:
            totals[side] = totals[side].adding(size)
    return totals[0], totals[1]


def amounts(totals: Totals) -> list[str]:
    """VMs, vCPUs and memory of *totals* in words; only one number where nothing changes."""
    before, after = totals
    pairs = [
        (f"{one:,}", f"{other:,}", unit)
        for one, other, unit in ((before.machines, after.machines, "VMs"), (before.vcpus, after.vcpus, "vCPU"))
    ]  # fmt: skip
    pairs.append((gibibytes(before.memory), gibibytes(after.memory), "GiB"))
    return [f"{old} {unit}" if old == new else f"{old} -> {new} {unit}" for old, new, unit in pairs]


def gibibytes(memory: int) -> str:
    """*memory* in GiB, with as many digits as say something."""
    return f"{memory / (1 << 30):,.2f}".rstrip("0").rstrip(".")
