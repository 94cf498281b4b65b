"""``virt-render explain``: who decided each field of the VMI that a VM starts."""

import json
import os
from typing import Any

from render.diagnostics import codes
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Location
from render.diagnostics.exits import Exit
from render.frontends import locks
from render.frontends.commands.snapshots import SnapshotError, refuse
from render.frontends.progress import Work
from render.frontends.reporting import findings_of, print_findings
from render.frontends.request.request import Request
from render.frontends.session import load, rendering, resources_of
from render.manifests.sources import Documents
from render.model.naming import ambiguity, fitting, name_of
from render.pipeline.deciders import Decision, Explained
from render.report.findings import merge
from render.report.places import Place, Sources
from render.report.text import printable
from render.system.streams import STDOUT, emit, standard_input

FORMAT_VERSION = 1
_SHOWN = 100


def explain(asked: Request, work: Work) -> Exit:
    """Print the fields of a VM, each with its value and who decided it."""
    words = asked.paths
    paths = tuple(word for word in words if os.path.exists(word)) or (".",)
    fields = [word for word in words if not os.path.exists(word)]
    try:
        loaded = load(asked._replace(paths=paths), work, standard_input())
        found = _one(asked.own["vm"], loaded, asked, work)
        decisions = _about(found, fields)
    except SnapshotError as refused:
        print_findings(refused.findings, asked)
        return refused.exit
    origins = [document.origin for document in (*loaded.documents, *asked.catalog)]
    places = Sources(origins, loaded.data, loaded.blame)
    write = _as_json if asked.own["format"] == "json" else _as_text
    emit(write(found, decisions, places), STDOUT)
    return Exit.OK


def _one(name: str, loaded: Documents, asked: Request, work: Work) -> Explained:
    """The VM *name* of *loaded*. Raises SnapshotError."""
    from render.pipeline import deciders

    locks.choose(loaded, asked)
    if status(loaded.diagnostics) is not Exit.OK:
        found = findings_of(loaded, loaded.diagnostics, asked)
        raise SnapshotError(merge(found), status(loaded.diagnostics))
    work.begin("render", rendering(loaded))
    explained = deciders.explain(resources_of(loaded), asked.settings)
    known = {name_of(one.resource): one for one in explained}
    names = fitting(name, known)
    if len(names) != 1:
        message, cure = ambiguity(name, names) if names else (f"no VirtualMachine {name}", "")
        raise refuse(codes.USAGE.at(Location(), message, help=cure))
    chosen = known[names[0]]
    if not chosen.decisions:
        found = merge(findings_of(loaded, chosen.diagnostics, asked))
        raise SnapshotError(found, status(chosen.diagnostics))
    return chosen


def _about(found: Explained, fields: list[str]) -> list[Decision]:
    """The decisions on *fields* and what is below them, on all without any. Raises SnapshotError."""
    wanted = [f".{field.removeprefix('spec.template.')}" for field in fields]
    chosen = [
        one for one in found.decisions if not wanted or any(_has(one.field, f) for f in wanted)
    ]
    if chosen:
        return chosen
    from render.model.nearest import nearest

    near = nearest(wanted[0][1:], [one.field for one in found.decisions])
    cure = f"did you mean {near}?" if near else "without a FIELD all are listed"
    message = f"{found.resource} starts with no field {', '.join(fields)}"
    raise refuse(codes.USAGE.at(Location(), message, help=cure))


def _has(field: str, wanted: str) -> bool:
    """Whether *wanted* is all of *field*, some whole steps of it, or something around it."""
    before, found, after = f".{field}".partition(wanted)
    return bool(found) and not before.endswith("]") and after[:1] in ("", ".", "[")


def _as_text(found: Explained, decisions: list[Decision], places: Sources) -> str:
    lines = [printable(str(found.resource))]
    for one in decisions:
        value = one.value if isinstance(one.value, str) else json.dumps(one.value)
        value = value if len(value) <= _SHOWN else f"{value[: _SHOWN - 3]}..."
        lines.append(printable(f"  {one.field}: {value}  {_source(one, places)}"))
    return "".join(f"{line}\n" for line in lines)


def _source(one: Decision, places: Sources) -> str:
    if one.source is None:
        return "KubeVirt's default"
    place = _place(one, places)
    located = _located(one, place)
    return " ".join(
        filter(None, (str(place) if place.file else "", located["resource"], located["field"]))
    )


def _located(one: Decision, place: Place) -> dict[str, str]:
    from render.model import fieldpath

    bundled = " of KubeVirt itself" if one.decider == "definition" and not place.file else ""
    return {"resource": f"{one.source}{bundled}", "field": fieldpath.text(one.source_field)}


def _place(one: Decision, places: Sources) -> Place:
    return places.place(Location(one.source, one.source_field, one.index))


def _as_json(found: Explained, decisions: list[Decision], places: Sources) -> str:
    document = {
        "formatVersion": FORMAT_VERSION,
        "resource": found.resource._asdict(),
        "fields": [
            {
                "field": one.field,
                "value": one.value,
                "decider": one.decider,
                "source": _as_tree(one, places),
            }
            for one in decisions
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _as_tree(one: Decision, places: Sources) -> dict[str, Any] | None:
    if one.source is None:
        return None
    place = _place(one, places)
    return {
        "resource": one.source._asdict(),
        "field": _located(one, place)["field"],
        "file": place.file or None,
        "line": place.line or None,
        "column": place.column or None,
    }
