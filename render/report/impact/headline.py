"""The answer to a change: how many VMs break, go, wait for a restart or change, and what each cause changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from render.diff.impact import FieldChange, MachineImpact
from render.model.counting import counted
from render.model.named_tuple import NamedTuple
from render.report.impact.review import (
    CLAIMS,
    FOLLOWING,
    CauseKey,
    MachineEntry,
    Review,
    behind,
    cause_key,
    is_shown,
    leaves,
    unknown,
    worst,
)
from render.report.impact.text import short

#: So many changes of one cause are shown.
VALUES = 3
#: What VMs do: effects that read alike to who asks what breaks, each of one VM and of several.
_BREAK = dict.fromkeys(("unrenderable", "refused", "error"), ("breaks", "break"))
_STOP = {
    "gone": ("goes", "go"),
    "stop": ("stops", "stop"),
    "start": ("starts", "start"),
    "evict": ("is evicted", "are evicted"),
    "restart": ("needs a restart", "need a restart"),
}
_CHANGE = {
    "other": ("stays broken", "stay broken"),
    "migrate": ("migrates", "migrate"),
    "wait": ("waits for a migration", "wait for a migration"),
    "held": ("cannot migrate and waits for a restart", "cannot migrate and wait for a restart"),
    **dict.fromkeys(("live", "next", "recreate"), ("changes", "change")),
    "repaired": ("is repaired", "are repaired"),
    "new": ("is new", "are new"),
}


#: What a VM that changes with a live migration does where the cluster does not migrate it by itself.
_UNMIGRATED = {"evict": "evict", "none": "wait", "unmigratable": "held"}


class HeadlinePart(NamedTuple):
    """How many VMs do what, in words: *kind* is what a page marks it as."""

    number: int
    words: str
    kind: str


class Headline(NamedTuple):
    """*parts*: what how many of the *subjects* do, the worst first, zero too; *before*: so many were as broken.

    *errors*: new ones, of whatever. *unknown*: what changed and cannot be compared, in words. *is_partial*: there is
    something that cannot be compared, changed or not.
    """

    parts: tuple[HeadlinePart, ...]
    before: int
    subjects: str
    errors: int
    unknown: str = ""
    is_partial: bool = False

    def __str__(self) -> str:
        """The two worst in a few words, behind errors that break none of the VMs and before what nobody knows."""
        worst_first = [part for part in self.parts if part.number]
        is_broken = bool(self.parts[0].number)
        lead = f"{counted(self.errors, 'new error')}: " if self.errors and not is_broken else ""
        known = self._worst(worst_first)
        if self.unknown and not worst_first:  # that nobody knows is the answer
            return f"{lead}{self.unknown}{f'; {known[:1].lower()}{known[1:]}' if known else ''}"
        return f"{lead}{'; '.join(filter(None, (known, self.unknown)))}"

    def _worst(self, worst_first: Sequence[HeadlinePart]) -> str:
        if not worst_first and self.subjects.startswith("0 "):
            if self.unknown:
                return ""
            return "Nothing can be compared" if self.is_partial else "There are no VMs"
        if not worst_first:
            return f"Nothing changes for any {'other ' if self.unknown else ''}VM"
        first, *others = worst_first
        more = "".join(f", {part.number:,} {part.words}" for part in others[:1])
        return f"{first.number:,} of {self.subjects} {first.words}{more}"


def headline(review: Review, errors: int, quote: Callable[[str], str] = str) -> Headline:
    """What the change of *review* does with so many new *errors*, in a few words, names as *quote* has them."""
    machines = review.machines
    found = [_done(machine) for machine in machines if is_shown(machine)]
    old = sum(worst(machine) in _BREAK and not is_shown(machine) for machine in machines)
    noun = "object" if any(machine.resource.kind in CLAIMS for machine in machines) else "VM"
    parts = (
        _part(found, _BREAK, "bad"),
        _part(found, _STOP, "odd"),
        _part(found, _CHANGE, ""),
    )
    whole = len(machines)
    return Headline(
        parts, old, counted(whole, noun), errors,
        unknown(review.uncompared, quote), bool(review.uncompared),
    )  # fmt: skip


def _done(machine: MachineImpact) -> str:
    """The worst that becomes of *machine*; of a migration, whether anything starts that.

    One that could not be rendered before either does not break.
    """
    if len(machine.unrendered) > 1:
        return "other"
    effect = worst(machine)
    return _UNMIGRATED.get(machine.workload, effect) if effect == "migrate" else effect


def _part(found: Iterable[str], verbs: dict[str, tuple[str, str]], kind: str) -> HeadlinePart:
    """How many effects of *verbs* there are among those *found*, and what these VMs do."""
    own = [effect for effect in found if effect in verbs]
    named = [effect for effect in verbs if effect in own] or [next(reversed(verbs))]
    words = [*dict.fromkeys(verbs[effect][len(own) != 1] for effect in named)]
    *most, last = words
    return HeadlinePart(len(own), f"{', '.join(most)} or {last}" if most else last, kind)


def values(machines: Iterable[MachineEntry]) -> dict[CauseKey, list[tuple[str, str, str]]]:
    """What each cause changes: the value before and the one after, with a name where the VMI calls the field otherwise.

    The edited field itself stands for what KubeVirt computes from it, as the most that may be plugged in. What is
    deleted changes no value.
    """
    found: dict[CauseKey, dict[tuple[str, str, str], FieldChange]] = {}
    ranks: dict[CauseKey, int] = {}
    for part, machine in machines:
        for change in leaves(machine.changes):
            if change.cause is None:
                continue
            key = cause_key(*behind(part, change.cause))
            rank = _distance(change, _last(change.cause.field))
            if rank < ranks.get(key, rank + 1):
                ranks[key], found[key] = rank, {}
            if rank == ranks[key]:
                found[key].setdefault((_last(change.field), *short(change)), change)
    return {key: _named(key[2], changes) for key, changes in found.items()}


def _distance(change: FieldChange, name: str) -> int:
    """How far *change* is from an edit of the field *name*."""
    return 0 if _last(change.field) == name else 2 if change.field.startswith(FOLLOWING) else 1


def _named(
    field: str, changes: Mapping[tuple[str, str, str], FieldChange]
) -> list[tuple[str, str, str]]:
    """*changes* of one *field*, with their places in the VMI where there are several."""
    if len(changes) > 1:
        names = (
            change.field.removeprefix("spec.").removeprefix("domain.")
            for change in changes.values()
        )
        return [(name, *pair[1:]) for name, pair in zip(names, changes, strict=True)]
    own = _last(field)
    return [("" if name == own else name, old, new) for name, old, new in changes]


def _last(field: str) -> str:
    """What the last step of *field* is called, whichever item of a list it is."""
    last = field.rpartition(".")[2]
    return (field.rpartition("[")[0].rpartition(".")[2] if last.endswith("]") else last).partition(
        "["
    )[0]
