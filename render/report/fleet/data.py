"""A fleet as data: JSON (``schemas/fleet.schema.json``), and CSV for spreadsheets."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from render.diagnostics.diagnostic import Severity
from render.model.hints import Any
from render.model.resource import ResourceRef
from render.report import escaping
from render.report.findings import Finding
from render.report.fleet import capacity
from render.report.fleet.machines import Fleet, FleetMachine, total
from render.report.page_origin import PageOrigin
from render.report.plain_json import finding
from render.report.text import printable
from render.revisions.hashes import Ref

FORMAT_VERSION = 1
COLUMNS = (
    "kind", "namespace", "name", "kustomization", "file", "line", "starts", "vcpus", "memory", "kubevirt",
    "instancetype", "instancetypeHash", "preference", "preferenceHash", "pins", "errors", "warnings",
)  # fmt: skip
#: What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_json(fleet: Fleet, origin: PageOrigin) -> str:
    """One JSON document; keys are stable within a `FORMAT_VERSION`, new ones may be added."""
    every = total(fleet.machines)
    document = {
        "formatVersion": FORMAT_VERSION,
        "repository": origin.repository,
        "commit": origin.commit,
        "total": every._asdict(),
        "machines": [_machine(machine) for machine in fleet.machines],
        "capacity": capacity.data(fleet.capacity),
        "findings": [finding(found) for found in fleet.findings],
    }
    return escaping.dumps(document, indent=2) + "\n"


def users_as_json(name: str, users: Sequence[tuple[FleetMachine, Ref]]) -> str:
    """The VMs that use the definition *name*, as in the document of a fleet, and which one it is that each uses."""
    machines = [{**_machine(machine), "uses": _definition(ref)} for machine, ref in users]
    document = {"formatVersion": FORMAT_VERSION, "name": name, "machines": machines}
    return escaping.dumps(document, indent=2) + "\n"


def as_csv(fleet: Fleet, _origin: PageOrigin) -> str:
    """A line a VM, and behind them one for each other object or file of which something is found.

    A cell that a spreadsheet would calculate stands behind an apostrophe, and none drives a runner.
    """
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows(map(_cells, fleet.machines))
    rows.writerows(_others(fleet.findings))
    return written.getvalue()


def _others(findings: Iterable[Finding]) -> Iterator[Sequence[str]]:
    """The lines of what is no VM, each with how much is found of it: what cannot be read is not passed over."""
    found: dict[tuple[ResourceRef | None, str], list[Finding]] = {}
    for each in findings:
        found.setdefault((each.diagnostic.resource, each.place.file), []).append(each)
    for (resource, file), its in found.items():
        if resource or file:
            counts = Counter(each.diagnostic.severity for each in its)
            told = resource._asdict() if resource else {}
            told |= {"file": file, "line": its[0].place.line or None}
            told |= {"errors": counts[Severity.ERROR], "warnings": counts[Severity.WARNING]}
            yield [_cell(told.get(name)) for name in COLUMNS]


def _machine(machine: FleetMachine) -> dict[str, Any]:
    return {
        **machine.resource._asdict(),
        "kustomization": machine.kustomization,
        "file": machine.place.file or None,
        "line": machine.place.line or None,
        "starts": machine.size is not None,
        "vcpus": machine.size.vcpus if machine.size else None,
        "memory": machine.size.memory if machine.size else None,
        "kubevirt": machine.release,
        **{
            word: _definition(machine.definitions.get(word))
            for word in ("instancetype", "preference")
        },
        "pins": list(machine.pins),
        "errors": machine.count(Severity.ERROR),
        "warnings": machine.count(Severity.WARNING),
        "findings": [finding(each) for each in machine.findings],
    }


def _definition(ref: Ref | None) -> dict[str, str] | None:
    return ref._asdict() if ref else None


def _cells(machine: FleetMachine) -> Sequence[str]:
    told = _machine(machine)
    for word in ("instancetype", "preference"):
        definition = told[word] or {}
        told |= {word: definition.get("name"), f"{word}Hash": definition.get("hash")}
    told["pins"] = " ".join(machine.pins)
    told["starts"] = "yes" if told["starts"] else "no"
    return [_cell(told[name]) for name in COLUMNS]


def _cell(value: Any) -> str:
    text = "" if value is None else printable(str(value))
    return f"'{text}" if text.startswith(_FORMULA) else text
