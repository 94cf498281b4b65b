"""A fleet as one HTML page: its table can be read without scripts, and a small fleet whole."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Severity, without_positions
from render.diff.sizes import Total, gibibytes
from render.model import naming
from render.model.counting import counted
from render.model.hints import TYPE_CHECKING, Any
from render.model.resource import HOLDER_GROUPS
from render.report.findings import Finding, Group, identity, keeping, kept_by_all, merge
from render.report.fleet.machines import OWN, Fleet, FleetMachine, total, totals
from render.report.page import anchors, bar, folded, page
from render.report.page_origin import PageOrigin
from render.report.places import Place
from render.revisions import hashes

if TYPE_CHECKING:
    from render.report.fleet.capacity import CapacityTable

#: So many fields stand in the page as they are; of more, the script makes them of the data.
_WRITTEN_OUT = 5_000
_WORDS = ("instancetype", "preference")
#: What is wrong with a VM, the worst first, in words.
_DIFFERING, _FINE = "differing", "fine"
_WORSTS = {"errors": "", "warnings": "", _DIFFERING: "from what they are pinned to", _FINE: ""}
_LISTED, _NAMED, _REACHED = 12, 6, 50
#: How many squares stand for the VMs of a definition, in a row and in rows.
_ACROSS, _DOWN = 50, 6
#: How many of a row there are where no definition has more: as large squares as can be told apart on paper too.
_FEW_ACROSS = 25
#: How many VMs of which nothing is wrong stand on paper, where nothing is chosen and none is unfolded.
_PRINTED = 30
_Share = tuple[str, str, str]
#: What a link to a VM says.
_Link = dict[str, Any]
#: VMs by the identity of what is found of them.
_Concerned = Mapping[object, Sequence[FleetMachine]]


def report(fleet: Fleet, origin: PageOrigin = PageOrigin()) -> str:  # noqa: B008 - a value
    """One page, whatever stands in the repository."""
    machines = _worst_first(fleet.machines)
    texts, entries = list(fleet.wording.texts), list(fleet.wording.entries)
    is_small = sum(len(machine.fields) for machine in machines) <= _WRITTEN_OUT
    every = total(machines)
    links, concerned = _links(machines), _concerned(machines)
    worsts = Counter(map(_worst, machines))
    wrong = _alike([*fleet.findings, *(each for vm in machines for each in vm.findings)])
    return page(
        "fleet/fleet.html.j2",
        more_script="fleet/fleet.js",
        data=_data(fleet, machines, is_small=is_small),
        title=_title(len(machines), worsts["errors"], _found(fleet, Severity.ERROR)),
        origin=origin,
        versions=[f"KubeVirt {name}" for name in sorted({vm.release for vm in machines} - {""})],
        parts=bar((worst, worsts[worst], words) for worst, words in _WORSTS.items()),
        refused=worsts["errors"],
        warned=worsts["warnings"],
        wrong=[_group(alike, concerned, links) for alike in wrong[:_LISTED]],
        more_wrong=counted(len(wrong) - _LISTED, "other") if len(wrong) > _LISTED else "",
        unread=fleet.unread,
        reach=_reach(machines, links),
        more_reach=_more_reach(machines),
        total=_amounts(every),
        halted=len(machines) - every.machines,
        has_holders=any(machine.resource.kind in HOLDER_GROUPS for machine in machines),
        pinned=sum(bool(machine.pins) for machine in machines),
        differing=sum(machine.differs for machine in machines),
        is_small=is_small,
        has=_columns(machines),
        machines=_table(machines, links, worsts[_FINE]),
        cut=max(0, worsts[_FINE] - _PRINTED),
        entry=lambda number, machine: _field([texts[n] for n in entries[number]], machine),
        findings=[_finding(finding) for finding in _left(fleet, wrong[:_LISTED], concerned)],
        capacity=[*_capacity(fleet)],
        sums=_sums(machines),
    )


def _worst_first(machines: Iterable[FleetMachine]) -> list[FleetMachine]:
    """The VMs by what is wrong with them, and those alike by their names."""
    ranks = list(_WORSTS)
    return sorted(
        machines,
        key=lambda vm: (ranks.index(_worst(vm)), _name(vm), vm.resource.kind, vm.kustomization),
    )


def _capacity(fleet: Fleet) -> "Iterator[tuple[str, list[CapacityTable]]]":
    """The tables of each root that limits pods."""
    if fleet.capacity:
        from render.report.fleet import capacity

        yield from ((root, capacity.tables(pods)) for root, pods in fleet.capacity)


def _data(fleet: Fleet, machines: Sequence[FleetMachine], *, is_small: bool) -> dict[str, Any]:
    """What the script reads; unless the fleet *is_small*, with what it makes the fields of VMs of."""
    data: dict[str, Any] = {"rows": [_row(machine) for machine in machines]}
    if not is_small:
        bases, fields = _shared(machines)
        data["texts"] = list(fleet.wording.texts)
        data["entries"] = list(fleet.wording.entries)
        data |= {"bases": bases, "fields": fields}
        data["places"] = [(machine.place.file, machine.place.line) for machine in machines]
    if fleet.capacity:
        from render.report.fleet import capacity

        data["capacity"] = capacity.data(fleet.capacity)
    return data


def _sums(
    machines: Sequence[FleetMachine],
) -> list[tuple[str, tuple[Sequence[_Share], Sequence[_Share]]]]:
    """What the VMs of each namespace ask for, and those of each instancetype, and what is folded of it."""
    return [
        (word, folded(_shares(totals(machines, key))))
        for word, key in (
            ("namespace", lambda machine: machine.resource.namespace),
            ("instancetype", lambda machine: machine.size.instancetype if machine.size else ""),
        )
    ]


def _title(count: int, refused: int, errors: int) -> str:
    """What there is to say first."""
    if not count:
        return f"There are no VMs, and {counted(errors, 'error')}" if errors else "There are no VMs"
    if refused:
        return f"{counted(count, 'VM')}, {refused:,} of them with errors"
    found = f"{counted(errors, 'error')} beside them" if errors else "nothing is refused"
    return f"{counted(count, 'VM')}: {found}"


def _table(
    machines: Sequence[FleetMachine], links: Mapping[int, _Link], fine: int
) -> list[dict[str, Any]]:
    """The rows of the table; of the *fine* VMs, which stand last, all but the first are cut on paper."""
    first_cut = len(machines) - fine + _PRINTED
    return [
        {**_machine(machine), "id": links[id(machine)]["id"], "is_cut": number >= first_cut}
        for number, machine in enumerate(machines)
    ]


def _columns(machines: Sequence[FleetMachine]) -> dict[str, Any]:
    """Which columns say anything, and how many there are then."""
    has = {
        word: any(word in vm.definitions or word in vm.missing for vm in machines)
        for word in _WORDS
    }
    has["pins"] = any(machine.pins for machine in machines)
    has["releases"] = len({machine.release for machine in machines}) > 1
    return {**has, "columns": 3 + sum(has.values())}


def _alike(findings: Iterable[Finding]) -> list[Group]:
    """What is wrong, errors first, then what is wrong with most: findings that say the same stand together."""
    known: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in merge(findings):
        known.setdefault(_likeness(finding), []).append(finding)
    several = [
        Group(same[0], tuple(same[1:]))
        for (severity, *_), same in known.items()
        if severity != "info"
    ]
    return sorted(
        several, key=lambda group: (group.first.diagnostic.severity.value, -len(group.others))
    )


def _likeness(finding: Finding) -> tuple[str, str, str, str]:
    """What is the same of findings that say the same."""
    diagnostic = finding.diagnostic
    kept = keeping(finding)
    text = f"{kept[1]} at {kept[0]}" if kept else without_positions(_of_each(diagnostic))
    return diagnostic.severity.value, diagnostic.code, diagnostic.check, text


def _of_each(diagnostic: Diagnostic) -> str:
    """The message of *diagnostic* for all VMs that are alike: of a pin that ended it names the VM, which is listed."""
    if diagnostic.code != codes.PIN_ENDED.number or diagnostic.resource is None:
        return diagnostic.message
    return diagnostic.message.replace(naming.name_of(diagnostic.resource), "each of them", 1)


def _links(machines: Sequence[FleetMachine]) -> dict[int, _Link]:
    """How each VM is named elsewhere in the page; of several of one name it is said in which kustomization each is."""
    counts = Counter(map(_name, machines))
    return {
        id(vm): {
            "name": _name(vm),
            "id": anchor,
            "where": vm.kustomization if counts[_name(vm)] > 1 else "",
            "pinned": bool(vm.pins),
        }
        for vm, anchor in zip(machines, anchors(vm.resource for vm in machines), strict=True)
    }


def _concerned(machines: Sequence[FleetMachine]) -> _Concerned:
    """The VMs of each finding about one, or about what several of them share."""
    found: dict[object, list[FleetMachine]] = {}
    for machine in machines:
        for finding in (*machine.findings, *machine.concerns):
            found.setdefault(identity(finding), []).append(machine)
    return found


def _lines(group: Group, concerned: _Concerned) -> list[tuple[list[Place], list[FleetMachine]]]:
    """Where findings that are alike stand, each with its VMs; those of VMs are one line."""
    every = (group.first, *group.others)
    if group.first.diagnostic.concerned:
        placed: dict[Place, list[FleetMachine]] = {}
        for each in every:
            placed.setdefault(each.place, []).extend(concerned.get(identity(each), ()))
        return [([place], machines) for place, machines in placed.items()][:_NAMED]
    machines = {id(vm): vm for each in every for vm in concerned.get(identity(each), ())}
    others = [each.place for each in group.others if identity(each) not in concerned]
    places = list(dict.fromkeys([group.first.place, *others]))[:_NAMED]
    return [(places, list(machines.values()))]


def _left(fleet: Fleet, groups: Iterable[Group], concerned: _Concerned) -> list[Finding]:
    """What is found beside the VMs of *fleet* and does not stand in *groups* already."""
    placed = {
        (_likeness(group.first), place)
        for group in groups
        for places, _ in _lines(group, concerned)
        for place in places
    }
    return [each for each in fleet.findings if (_likeness(each), each.place) not in placed]


def _group(group: Group, concerned: _Concerned, links: Mapping[int, _Link]) -> dict[str, Any]:
    """Findings that are alike, as what is wrong with several VMs."""
    first = group.first
    every = (first, *group.others)
    known = {id(vm) for each in every for vm in concerned.get(identity(each), ())}
    return {
        "severity": first.diagnostic.severity.value,
        "count": counted(len(known), "VM") if known else "",
        "text": _text(every),
        "title": first.title,
        "lines": [
            {"places": places, **_named([links[id(vm)] for vm in machines])}
            for places, machines in _lines(group, concerned)
        ],
        "help": first.diagnostic.help,
    }


def _text(alike: Sequence[Finding]) -> str:
    """What findings that are *alike* say, once for all."""
    if keeping(alike[0]):
        return kept_by_all(alike)
    return _of_each(alike[0].diagnostic) if len(alike) > 1 else alike[0].diagnostic.message


def _named(vms: Sequence[_Link]) -> dict[str, Any]:
    """The first of *vms*, those that are folded behind them, and how many no list has."""
    few = len(vms) if len(vms) <= _NAMED + 1 else _NAMED
    return {"machines": vms[:few], "folded": vms[few:_REACHED], "more": max(0, len(vms) - _REACHED)}


def _shares(subtotals: Mapping[str, Total]) -> list[_Share]:
    """Groups of VMs, the largest first, whose bar is a whole one: of what all have, thirty groups are thirty stubs."""
    most = max((subtotal.memory for subtotal in subtotals.values()), default=0)
    ordered = sorted(subtotals.items(), key=lambda item: (-item[1].memory, item[0]))
    return [_share(name, subtotal, most) for name, subtotal in ordered]


def _share(name: str, subtotal: Total, most: int) -> _Share:
    """A group of VMs: its name, what it asks for, and which part of *most* memory that is."""
    _, vcpus, memory = _amounts(subtotal)
    part = f"{100 * subtotal.memory / (most or 1):.2f}"
    return name, f"{counted(subtotal.machines, 'VM')}, {vcpus} vCPU, {memory}", part


def _reach(
    machines: Sequence[FleetMachine], links: Mapping[int, _Link]
) -> tuple[str, int, list[dict[str, Any]]]:
    """What a square is in the pictures of definitions, how many a row has room for, and the definitions with their VMs.

    Those that most VMs use stand first.
    """
    users: dict[tuple[str, str], list[FleetMachine]] = {}
    for machine in machines:
        for ref in machine.definitions.values():
            users.setdefault((ref.kind, ref.name), []).append(machine)
    listed = sorted(users.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:_LISTED]
    most = max((len(found) for _, found in listed), default=0)
    unit = _unit(most)
    square = (
        "A square is a VM."
        if unit == 1
        else f"A square is {unit:,} VMs, and a part of one is fewer."
    )
    return (
        square,
        _FEW_ACROSS if most <= _FEW_ACROSS else _ACROSS,
        [
            {
                "kind": kind,
                "name": name,
                "runs": _reached_and_pinned(found, unit),
                "rows": math.ceil(len(found) / unit / _ACROSS),
                "words": _reached(found),
                "machines": [links[id(machine)] for machine in found[:_REACHED]],
                "more": max(0, len(found) - _REACHED),
            }
            for (kind, name), found in listed
        ],
    )


def _unit(most: int) -> int:
    """How many VMs a square stands for, so that a few are seen beside *most* and those still fit: 1, 2, 5, 10, 20..."""
    power = 1
    while True:
        for unit in (power, 2 * power, 5 * power):
            if unit * _ACROSS * _DOWN >= most:
                return unit
        power *= 10


def _more_reach(machines: Sequence[FleetMachine]) -> str:
    """How many definitions are used beside those that are listed; nothing where none is."""
    refs = {(ref.kind, ref.name) for machine in machines for ref in machine.definitions.values()}
    return counted(len(refs) - _LISTED, "more definition") if len(refs) > _LISTED else ""


def _reached_and_pinned(found: Sequence[FleetMachine], unit: int) -> list[tuple[str, str]]:
    """The squares of the VMs that an edit of what all *found* use reaches, and of those that a pin keeps from it."""
    pinned = sum(bool(machine.pins) for machine in found)
    end, reached = len(found) / unit, (len(found) - pinned) / unit
    runs = {"share": _squares(0, reached), "pinned": _squares(reached, end)}
    return [(css, path) for css, path in runs.items() if path]


def _squares(start: float, end: float) -> str:
    """The path around the squares from *start* to *end*, in rows of so many."""
    parts = []
    while start < end:
        row, before = divmod(start, _ACROSS)
        rows = 1 if before else max(1, (end - start) // _ACROSS)
        width = min(end - start, _ACROSS - before)
        parts.append(f"M{before:g} {row:g}h{width:g}v{rows:g}h{-width:g}z")
        start += rows * width
    return "".join(parts)


def _reached(found: Sequence[FleetMachine]) -> str:
    pinned = sum(bool(machine.pins) for machine in found)
    return counted(len(found), "VM") + (f", {pinned:,} of them pinned" if pinned else "")


def _found(fleet: Fleet, severity: Severity) -> int:
    """How many findings of *severity* there are, about VMs and about anything else."""
    others = sum(finding.diagnostic.severity is severity for finding in fleet.findings)
    return others + sum(machine.count(severity) for machine in fleet.machines)


def _amounts(total_: Total) -> tuple[str, str, str]:
    return f"{total_.machines:,}", f"{total_.vcpus:,}", f"{gibibytes(total_.memory)} GiB"


def _name(machine: FleetMachine) -> str:
    return "/".join(filter(None, (machine.resource.namespace, machine.resource.name)))


def _row(machine: FleetMachine) -> list[Any]:
    """What the script sorts and filters by."""
    size = machine.size
    return [
        machine.resource.namespace, machine.resource.name, *(_definition(machine, word)[0] for word in _WORDS),
        size.vcpus if size else 0, size.memory if size else 0, machine.release, ", ".join(machine.pins) or "none",
        _worst(machine),
    ]  # fmt: skip


def _worst(machine: FleetMachine) -> str:
    """What there is to say of a VM, in a word."""
    notes = machine.count(Severity.INFO)
    if machine.size is None and (not notes or len(machine.findings) > notes):
        return "errors"  # else it is filled in later
    return next(
        (f"{word.value}s" for word in (Severity.ERROR, Severity.WARNING) if machine.count(word)),
        _DIFFERING if machine.differs else _FINE,
    )


def _definition(machine: FleetMachine, word: str) -> tuple[str, str]:
    """The name and the first digits of the hash of a definition; no hash of one that is missing."""
    ref = machine.definitions.get(word)
    return (ref.name, hashes.suffix(ref.hash)) if ref else (machine.missing.get(word, ""), "")


def _machine(machine: FleetMachine) -> dict[str, Any]:
    return {
        "name": _name(machine),
        "kind": "" if machine.resource.kind == "VirtualMachine" else machine.resource.kind,
        "kustomization": "" if machine.kustomization == "." else machine.kustomization,
        "start": machine.place,
        "halted": machine.size is None,
        "vcpus": f"{machine.size.vcpus:,}" if machine.size else "",
        "memory": f"{gibibytes(machine.size.memory)} GiB" if machine.size else "",
        "definitions": [
            (word, *_definition(machine, word), word in machine.missing) for word in _WORDS
        ],
        "release": machine.release,
        "pins": machine.pins,
        "worst": _worst(machine),
        "counts": ", ".join(
            counted(machine.count(severity), severity.value)
            for severity in (Severity.ERROR, Severity.WARNING)
            if machine.count(severity)
        ),
        "findings": [_finding(each) for each in machine.findings],
        "fields": machine.fields,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.diagnostic.severity.value,
        "title": finding.title,
        "text": finding.text,
        "place": finding.place,
    }


def _field(texts: list[str], machine: dict[str, Any]) -> dict[str, Any]:
    """A field for people: its name, and who wanted what of it and where, the decider first."""
    field, *rest = texts
    triples = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    return {
        "name": field,
        "contenders": [
            (value, decider, _from_start(where, machine["start"]))
            for value, decider, where in triples
        ],
    }


def _from_start(where: str, start: Place) -> str:
    """*where* a contender says so, in the file if it is in the VM that begins at *start*."""
    if not where.startswith(OWN):
        return where
    lines, colon, rest = where.removeprefix(OWN).partition(":")
    return f"{start.file}:{start.line + int(lines)}{colon}{rest}"


def _shared(machines: Sequence[FleetMachine]) -> tuple[list[tuple[int, ...]], list[list[int]]]:
    """The fields of each VM as what another has, and where it differs from that: its number, place, entry, place..."""
    bases: list[tuple[int, ...]] = []
    known: dict[tuple[int, ...], int] = {}
    shared: list[list[int]] = []
    near: dict[int, int] = {}
    for machine in machines:
        base = near.get(len(machine.fields))
        changes = _changes(bases[base], machine.fields) if base is not None else None
        if base is None or changes is None:
            base = known.setdefault(machine.fields, len(bases))
            if base == len(bases):
                bases.append(machine.fields)
            near[len(machine.fields)] = base
            changes = []
        shared.append([base, *changes])
    return bases, shared


def _changes(base: tuple[int, ...], fields: tuple[int, ...]) -> list[int] | None:
    """Places and entries where *fields* differ from *base*, None where that is most of them."""
    differing = [n for n, (old, new) in enumerate(zip(base, fields, strict=True)) if old != new]
    if len(differing) * 2 > len(fields):
        return None
    return [number for n in differing for number in (n, fields[n])]
