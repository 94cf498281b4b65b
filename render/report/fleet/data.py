"""A fleet as data: JSON (``schemas/fleet.schema.json``), and CSV for spreadsheets."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from render.diagnostics.diagnostic import Severity
from render.report import escaping
from render.report.fleet import capacity
from render.report.fleet.machines import Fleet, FleetMachine, total
from render.report.page_origin import PageOrigin
from render.report.plain_json import finding
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
        "machines": [_machine(one) for one in fleet.machines],
        "capacity": capacity.data(fleet.capacity),
        "findings": [finding(one) for one in fleet.findings],
    }
    return escaping.dumps(document, indent=2) + "\n"


def users_as_json(name: str, users: Sequence[tuple[FleetMachine, Ref]]) -> str:
    """The VMs that use the definition *name*, as in the document of a fleet, and which one it is that each uses."""
    machines = [{**_machine(one), "uses": _definition(ref)} for one, ref in users]
    document = {"formatVersion": FORMAT_VERSION, "name": name, "machines": machines}
    return escaping.dumps(document, indent=2) + "\n"


def as_csv(fleet: Fleet) -> str:
    """A line a VM; a cell that a spreadsheet would calculate stands behind an apostrophe."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows(map(_cells, fleet.machines))
    return written.getvalue()


def _machine(one: FleetMachine) -> dict[str, Any]:
    return {
        **one.resource._asdict(),
        "kustomization": one.kustomization,
        "file": one.place.file or None,
        "line": one.place.line or None,
        "starts": one.size is not None,
        "vcpus": one.size.vcpus if one.size else None,
        "memory": one.size.memory if one.size else None,
        "kubevirt": one.release,
        **{word: _definition(one.definitions.get(word)) for word in ("instancetype", "preference")},
        "pins": list(one.pins),
        "errors": one.count(Severity.ERROR),
        "warnings": one.count(Severity.WARNING),
        "findings": [finding(each) for each in one.findings],
    }


def _definition(ref: Ref | None) -> dict[str, str] | None:
    return ref._asdict() if ref else None


def _cells(one: FleetMachine) -> Sequence[str]:
    told = _machine(one)
    for word in ("instancetype", "preference"):
        definition = told[word] or {}
        told |= {word: definition.get("name"), f"{word}Hash": definition.get("hash")}
    told["pins"] = " ".join(one.pins)
    told["starts"] = "yes" if told["starts"] else "no"
    return [_cell(told[name]) for name in COLUMNS]


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
