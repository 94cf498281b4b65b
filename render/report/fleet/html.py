"""A fleet as one HTML page: its table can be read without scripts, and a small fleet whole."""

from typing import Any

from render.diagnostics.diagnostic import Severity
from render.model.counting import counted
from render.report.findings import Finding
from render.report.fleet.capacity import data as capacity_data
from render.report.fleet.capacity import tables
from render.report.fleet.machines import OWN, Fleet, FleetMachine, total, totals
from render.report.impact.review import Total, gibibytes
from render.report.page import page
from render.report.places import Place
from render.revisions import hashes

#: So many fields stand in the page as they are; of more, the script makes them of the data.
_WRITTEN_OUT = 5_000
_WORDS = ("instancetype", "preference")
_HOLDERS = ("VirtualMachinePool", "VirtualMachineInstanceReplicaSet")


def report(fleet: Fleet) -> str:
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
    return page(
        "fleet/fleet.html.j2",
        more_script="fleet/fleet.js",
        data=data,
        title=counted(len(machines), "VM"),
        total=_amounts(every),
        halted=len(machines) - every.machines,
        releases=sorted({one.release for one in machines}),
        errors=counted(_found(fleet, Severity.ERROR), "error"),
        warnings=counted(_found(fleet, Severity.WARNING), "warning"),
        has_holders=any(one.resource.kind in _HOLDERS for one in machines),
        pinned=sum(bool(one.pins) for one in machines),
        is_small=is_small,
        machines=[_machine(one) for one in machines],
        entry=lambda number, one: _field([texts[n] for n in entries[number]], one),
        findings=[_finding(one) for one in fleet.findings],
        capacity=[(root, tables(one)) for root, one in fleet.capacity],
        sums=[
            (word, [(name, _amounts(one)) for name, one in totals(machines, key).items()])
            for word, key in (
                ("namespace", lambda one: one.resource.namespace),
                ("instancetype", lambda one: one.size.instancetype if one.size else ""),
            )
        ],
    )


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
        return "does not start"
    return next(
        (f"{word.value}s" for word in (Severity.ERROR, Severity.WARNING) if one.count(word)), "none"
    )


def _definition(one: FleetMachine, word: str) -> tuple[str, str]:
    """The name and the first digits of the hash of a definition."""
    ref = one.definitions.get(word)
    return (ref.name, hashes.suffix(ref.hash)) if ref else ("", "")


def _machine(one: FleetMachine) -> dict[str, Any]:
    return {
        "name": _name(one),
        "kind": "" if one.resource.kind == "VirtualMachine" else one.resource.kind,
        "kustomization": one.kustomization,
        "place": str(one.place) if one.place.file else "",
        "start": one.place,
        "vcpus": f"{one.size.vcpus:,}" if one.size else "",
        "memory": f"{gibibytes(one.size.memory)} GiB" if one.size else "",
        "definitions": [_definition(one, word) for word in _WORDS],
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


def _finding(one: Finding) -> dict[str, str]:
    return {
        "severity": one.diagnostic.severity.value,
        "title": one.title,
        "text": one.text,
        "place": str(one.place) if one.place.file else "",
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
