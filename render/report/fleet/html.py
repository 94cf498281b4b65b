"""A fleet as one HTML page: its table can be read without scripts, and a small fleet whole."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from render.diagnostics.diagnostic import Severity, without_positions
from render.model.counting import counted
from render.model.resource import ResourceRef
from render.report.findings import Finding, Group, merge
from render.report.fleet.capacity import data as capacity_data
from render.report.fleet.capacity import tables
from render.report.fleet.machines import OWN, Fleet, FleetMachine, total, totals
from render.report.impact.review import Total, gibibytes
from render.report.page import anchors, bar, page
from render.report.page_origin import PageOrigin
from render.report.places import Place
from render.revisions import hashes

#: So many fields stand in the page as they are; of more, the script makes them of the data.
_WRITTEN_OUT = 5_000
_WORDS = ("instancetype", "preference")
#: What is wrong with a VM, the worst first, in words.
_WORSTS = {"errors": "", "warnings": "", "fine": ""}
_LISTED, _NAMED, _REACHED = 12, 6, 50
_HOLDERS = ("VirtualMachinePool", "VirtualMachineInstanceReplicaSet")


def report(fleet: Fleet, origin: PageOrigin = PageOrigin()) -> str:  # noqa: B008 - a value
    """One page, whatever stands in the repository."""
    machines = sorted(
        fleet.machines, key=lambda one: (_name(one), one.resource.kind, one.kustomization)
    )
    texts = list(fleet.wording.texts)
    entries = list(fleet.wording.entries)
    is_small = sum(len(one.fields) for one in machines) <= _WRITTEN_OUT
    data: dict[str, Any] = {"rows": [_row(one) for one in machines]}
    if not is_small:
        bases, fields = _shared(machines)
        data |= {"texts": texts, "entries": entries, "bases": bases, "fields": fields}
        data["places"] = [(one.place.file, one.place.line) for one in machines]
    if fleet.capacity:
        data["capacity"] = capacity_data(fleet.capacity)
    every = total(machines)
    names = anchors(one.resource for one in machines)
    ids = {id(one): name for one, name in zip(machines, names, strict=True)}
    by_resource = {one.resource: (_name(one), ids[id(one)]) for one in machines}
    worsts = Counter(map(_worst, machines))
    wrong = _alike([*fleet.findings, *(each for vm in machines for each in vm.findings)])
    return page(
        "fleet/fleet.html.j2",
        more_script="fleet/fleet.js",
        data=data,
        title=_title(len(machines), worsts["errors"], _found(fleet, Severity.ERROR)),
        origin=origin,
        versions=[f"KubeVirt {one}" for one in sorted({vm.release for vm in machines} - {""})],
        parts=bar((worst, worsts[worst], words) for worst, words in _WORSTS.items()),
        refused=worsts["errors"],
        warned=worsts["warnings"],
        wrong=[_group(one, by_resource) for one in wrong[:_LISTED]],
        more_wrong=counted(len(wrong) - _LISTED, "other") if len(wrong) > _LISTED else "",
        reach=_reach(machines, ids),
        total=_amounts(every),
        halted=len(machines) - every.machines,
        has_holders=any(one.resource.kind in _HOLDERS for one in machines),
        pinned=sum(bool(one.pins) for one in machines),
        is_small=is_small,
        has=_columns(machines),
        machines=[{**_machine(one), "id": ids[id(one)]} for one in machines],
        entry=lambda number, one: _field([texts[n] for n in entries[number]], one),
        findings=[_finding(one) for one in fleet.findings],
        capacity=[(root, tables(one)) for root, one in fleet.capacity],
        sums=[
            (word, [_share(name, one, every) for name, one in totals(machines, key).items()])
            for word, key in (
                ("namespace", lambda one: one.resource.namespace),
                ("instancetype", lambda one: one.size.instancetype if one.size else ""),
            )
        ],
    )


def _title(count: int, refused: int, errors: int) -> str:
    """What there is to say first."""
    if refused:
        return f"{counted(count, 'VM')}, {refused:,} of them with errors"
    found = f"{counted(errors, 'error')} beside them" if errors else "nothing is refused"
    return f"{counted(count, 'VM')}: {found}"


def _columns(machines: Sequence[FleetMachine]) -> dict[str, Any]:
    """Which columns say anything, and how many there are then."""
    has = {word: any(word in one.definitions for one in machines) for word in _WORDS}
    has["pins"] = any(one.pins for one in machines)
    has["releases"] = len({one.release for one in machines}) > 1
    return {**has, "columns": 4 + sum(has.values())}


def _alike(findings: Iterable[Finding]) -> list[Group]:
    """What is wrong, errors first, then what is wrong with most: findings that say the same stand together."""
    known: dict[tuple[str, str, str, str], list[Finding]] = {}
    for one in merge(findings):
        said = one.diagnostic
        text = without_positions(said.message)
        known.setdefault((said.severity.value, said.code, said.check, text), []).append(one)
    several = [
        Group(same[0], tuple(same[1:]))
        for (severity, *_), same in known.items()
        if severity != "info"
    ]
    return sorted(several, key=lambda one: (one.first.diagnostic.severity.value, -len(one.others)))


def _group(group: Group, machines: Mapping[ResourceRef, tuple[str, str]]) -> dict[str, Any]:
    """Findings that are alike, as what is wrong with several VMs."""
    first = group.first
    named = [one.diagnostic.resource for one in (first, *group.others)]
    known = [machines[one] for one in dict.fromkeys(named) if one is not None and one in machines]
    return {
        "severity": first.diagnostic.severity.value,
        "count": counted(len(known), "VM") if known else "",
        "text": first.diagnostic.message,
        "title": first.title,
        "place": first.place,
        "help": first.diagnostic.help,
        "machines": [{"name": name, "id": anchor} for name, anchor in known[:_NAMED]],
        "more": len(known) - _NAMED if len(known) > _NAMED else 0,
    }


def _share(name: str, one: Total, every: Total) -> tuple[str, str, str]:
    """A group of VMs: its name, what it asks for, and which part of the memory of all that is."""
    _, vcpus, memory = _amounts(one)
    part = f"{100 * one.memory / (every.memory or 1):.2f}"
    return name, f"{counted(one.machines, 'VM')}, {vcpus} vCPU, {memory}", part


def _reach(machines: Sequence[FleetMachine], ids: Mapping[int, str]) -> list[dict[str, Any]]:
    """The definitions with the VMs that use them, those that most do first."""
    users: dict[str, list[FleetMachine]] = {}
    for one in machines:
        for ref in one.definitions.values():
            users.setdefault(f"{ref.kind} {ref.name}", []).append(one)
    listed = sorted(users.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        {
            "name": name,
            "part": f"{100 * len(found) / len(machines):.2f}",
            "words": _reached(found),
            "machines": [
                {"name": _name(one), "id": ids[id(one)], "pinned": bool(one.pins)}
                for one in found[:_REACHED]
            ],
            "more": max(0, len(found) - _REACHED),
        }
        for name, found in listed[:_LISTED]
    ]


def _reached(found: Sequence[FleetMachine]) -> str:
    pinned = sum(bool(one.pins) for one in found)
    return counted(len(found), "VM") + (f", {pinned:,} of them pinned" if pinned else "")


def _found(fleet: Fleet, severity: Severity) -> int:
    """How many findings of *severity* there are, about VMs and about anything else."""
    others = sum(one.diagnostic.severity is severity for one in fleet.findings)
    return others + sum(one.count(severity) for one in fleet.machines)


def _amounts(total_: Total) -> tuple[str, str, str]:
    return f"{total_.machines:,}", f"{total_.vcpus:,}", f"{gibibytes(total_.memory)} GiB"


def _name(one: FleetMachine) -> str:
    return "/".join(filter(None, (one.resource.namespace, one.resource.name)))


def _row(one: FleetMachine) -> list[Any]:
    """What the script sorts and filters by."""
    size = one.size
    return [
        one.resource.namespace, one.resource.name, *(_definition(one, word)[0] for word in _WORDS),
        size.vcpus if size else 0, size.memory if size else 0, one.release, ", ".join(one.pins) or "none",
        _worst(one), one.count(Severity.ERROR) * 1_000_000 + one.count(Severity.WARNING),
    ]  # fmt: skip


def _worst(one: FleetMachine) -> str:
    """What there is to say of a VM, in a word."""
    if one.size is None:
        return "errors"
    return next(
        (f"{word.value}s" for word in (Severity.ERROR, Severity.WARNING) if one.count(word)), "fine"
    )


def _definition(one: FleetMachine, word: str) -> tuple[str, str]:
    """The name and the first digits of the hash of a definition."""
    ref = one.definitions.get(word)
    return (ref.name, hashes.suffix(ref.hash)) if ref else ("", "")


def _machine(one: FleetMachine) -> dict[str, Any]:
    return {
        "name": _name(one),
        "kind": "" if one.resource.kind == "VirtualMachine" else one.resource.kind,
        "kustomization": "" if one.kustomization == "." else one.kustomization,
        "start": one.place,
        "halted": one.size is None,
        "vcpus": f"{one.size.vcpus:,}" if one.size else "",
        "memory": f"{gibibytes(one.size.memory)} GiB" if one.size else "",
        "definitions": [(word, *_definition(one, word)) for word in _WORDS],
        "release": one.release,
        "pins": one.pins,
        "worst": _worst(one),
        "counts": ", ".join(
            counted(one.count(severity), severity.value)
            for severity in (Severity.ERROR, Severity.WARNING)
            if one.count(severity)
        ),
        "findings": [_finding(each) for each in one.findings],
        "fields": one.fields,
    }


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "severity": one.diagnostic.severity.value,
        "title": one.title,
        "text": one.text,
        "place": one.place,
    }


def _field(said: list[str], one: dict[str, Any]) -> dict[str, Any]:
    """A field for people: its name, and who wanted what of it and where, the decider first."""
    field, *rest = said
    triples = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    return {
        "name": field,
        "contenders": [
            (value, decider, _from_start(where, one["start"])) for value, decider, where in triples
        ],
    }


def _from_start(where: str, start: Place) -> str:
    """*where* a contender says so, in the file if it is in the VM that begins at *start*."""
    if not where.startswith(OWN):
        return where
    lines, colon, rest = where.removeprefix(OWN).partition(":")
    return f"{start.file}:{start.line + int(lines)}{colon}{rest}"


def _shared(machines: list[FleetMachine]) -> tuple[list[tuple[int, ...]], list[list[int]]]:
    """The fields of each VM as what another has, and where it differs from that: its number, place, entry, place..."""
    bases: list[tuple[int, ...]] = []
    known: dict[tuple[int, ...], int] = {}
    shared: list[list[int]] = []
    near: dict[int, int] = {}
    for one in machines:
        base = near.get(len(one.fields))
        changes = _changes(bases[base], one.fields) if base is not None else None
        if base is None or changes is None:
            base = known.setdefault(one.fields, len(bases))
            if base == len(bases):
                bases.append(one.fields)
            near[len(one.fields)] = base
            changes = []
        shared.append([base, *changes])
    return bases, shared


def _changes(base: tuple[int, ...], fields: tuple[int, ...]) -> list[int] | None:
    """Places and entries where *fields* differ from *base*, None where that is most of them."""
    differing = [n for n, (old, new) in enumerate(zip(base, fields, strict=True)) if old != new]
    if len(differing) * 2 > len(fields):
        return None
    return [number for n in differing for number in (n, fields[n])]
