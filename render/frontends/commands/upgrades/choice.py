"""Which VMs get what their definitions hold now: by name, namespace, pattern and label, and how many at once."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.parts import FleetPart
from render.frontends.request.request import Request
from render.manifests.uses.destinations import applied_as
from render.model import tree
from render.model.apimachinery import selectors
from render.model.apimachinery.selectors import SelectorError
from render.model.counting import counted
from render.model.named_tuple import NamedTuple
from render.model.naming import ambiguity, fitting, is_pattern, like, matching, name_of, spellings
from render.model.nearest import did_you_mean
from render.model.release import NEWEST
from render.model.resource import Resource
from render.pipeline import pinning
from render.pipeline.pinning import Pinned

_NARROWING = ("selector", "limit", "percent")


def chosen(
    known: Mapping[str, Resource], request: Request, parts: Sequence[FleetPart] = ()
) -> tuple[frozenset[str], list[Diagnostic]]:
    """Which of the VMs *known*, by their names in a lock, are to be upgraded; and what is wrong with the question.

    *parts* have them: one may be named with the namespace that what applies its part gives it, as other commands do.
    """
    own = request.own
    if not own["upgrade_all"] and not own["upgrade"]:
        return frozenset(), list(_narrowing_nothing(request))
    names: set[str] = set(known) if own["upgrade_all"] else set()
    faults: list[Diagnostic] = []
    for name in own["upgrade"]:
        meant = _meant(name, known)
        if not meant and "/" in name:
            placed = _placed(parts)
            meant = [placed[each] for each in _meant(name, placed)]
        if len(meant) == 1 or (meant and is_pattern(name)):
            names.update(meant)
        else:
            faults.append(_no_such(name, meant, known))
    if own["selector"] and not faults:
        return _labelled(names, known, own["selector"])
    return frozenset(names), faults


def _meant(name: str, known: Iterable[str]) -> list[str]:
    return matching(name, known) if is_pattern(name) else fitting(name, known)


def _placed(parts: Iterable[FleetPart]) -> dict[str, str]:
    """The names in a lock of the VMs of *parts*, by what they are called in the cluster."""
    return {
        name_of(applied_as(vm.ref, part.loaded.namespace)): name
        for part in parts
        for name, vm in pinning.vms(part.resources).items()
    }


def _narrowing_nothing(request: Request) -> Iterable[Diagnostic]:
    for name in _NARROWING:
        if request.own[name]:
            message = f"--{name} narrows down which VMs are upgraded, and none is to be"
            yield codes.USAGE.at(
                Location(), message, help="add --upgrade-all, or --upgrade with what VMs are meant"
            )


def _labelled(
    names: Iterable[str], known: Mapping[str, Resource], selector: str
) -> tuple[frozenset[str], list[Diagnostic]]:
    """Those of *names* with the labels that are asked for; labels are those of the object that people write."""
    try:
        holds = selectors.compiled(selectors.parsed(selector), NEWEST)
    except SelectorError as error:
        message = f"--selector: {selector} is no label selector: {error}"
        return frozenset(), [
            codes.USAGE.at(Location(), message, help="write it as for kubectl -l: wave=1,tier!=db")
        ]
    found = frozenset(name for name in names if holds(_labels(known[name])))
    if found:
        return found, []
    message = f"none of {counted(len(set(names)), 'VirtualMachine')} has the labels {selector}"
    return found, [
        codes.USAGE.at(Location(), message, help="labels are those of the VM's metadata")
    ]


def _labels(vm: Resource) -> dict[str, str]:
    labels = tree.get(vm.written.body, "metadata", "labels")
    pairs = labels.items() if isinstance(labels, dict) else ()
    return {key: value for key, value in pairs if isinstance(value, str)}


def _no_such(name: str, names: Sequence[str], known: Iterable[str]) -> Diagnostic:
    if names:
        message, cure = ambiguity(name, names)
    elif is_pattern(name):
        message = f"no VirtualMachine in the input fits {name}"
        shape = "a pattern is of names (web-*), or of namespaces and names (prod/web-*, prod/)"
        cure = did_you_mean(name, like(name, known), shape)
    else:
        message = f"no VirtualMachine {name} in the input"
        cure = did_you_mean(name, spellings(known), "a VM is named NAME or NAMESPACE/NAME")
    return codes.USAGE.at(Location(), message, help=cure)


class Wave(NamedTuple):
    """The VMs of each lock that are upgraded now, and how many would be: *made* of *whole*."""

    vms: list[frozenset[str]]
    made: int
    whole: int


def wave(before: Sequence[Pinned], after: Sequence[Pinned], request: Request) -> Wave:
    """The first VMs, as many as asked for, that an upgrade would change: *after* is each lock with all of them.

    *before*: the same locks without any. First come the locks in their order, then the VMs by their names in them.
    """
    moved = [
        (at, vm)
        for at, (kept, new) in enumerate(zip(before, after, strict=True))
        for vm in _moved(kept, new)
    ]
    count = request.own["limit"] or -(-len(moved) * request.own["percent"] // 100)
    first = moved[:count]
    vms = [frozenset(vm for number, vm in first if number == at) for at in range(len(before))]
    return Wave(vms, len(first), len(moved))


def _moved(kept: Pinned, new: Pinned) -> Collection[str]:
    """The VMs that are pinned already, and otherwise with the upgrade than without."""
    stayed = {move.vm: move for move in kept.moves}
    return [
        move.vm
        for move in new.moves
        if move.old and (move.vm not in stayed or stayed[move.vm].new != move.new)
    ]
