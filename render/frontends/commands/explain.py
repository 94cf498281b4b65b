"""``virt-render explain``: who decided each field of the VMI that a VM starts, and who wanted it otherwise."""

import json
import os

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
from render.model import fieldpath
from render.model.naming import ambiguity, fitting, name_of
from render.model.provenance import Decision
from render.pipeline.deciders import Explained
from render.report.deciders import FORMAT_VERSION, Input, brief, document, input_of, trace, words
from render.report.findings import merge
from render.report.text import printable
from render.system.streams import STDOUT, emit, standard_input


def explain(asked: Request, work: Work) -> Exit:
    """Print the fields of a VM, each with its value, who decided it, and who lost."""
    given = asked.paths
    paths = tuple(word for word in given if os.path.exists(word)) or (".",)
    fields = [word for word in given if not os.path.exists(word)]
    try:
        loaded = load(asked._replace(paths=paths), work, standard_input())
        found = _one(asked.own["vm"], loaded, asked, work)
        decisions = _about(found, fields)
    except SnapshotError as refused:
        print_findings(refused.findings, asked)
        return refused.exit
    write = _as_json if asked.own["format"] == "json" else _as_text
    emit(write(found, decisions, input_of(loaded, asked.around, asked.limits)), STDOUT)
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
    texts = [fieldpath.text(one.field) for one in found.decisions]
    chosen = [
        one
        for one, text in zip(found.decisions, texts, strict=True)
        if not wanted or any(_has(text, f) for f in wanted)
    ]
    if chosen:
        return chosen
    from render.model.nearest import nearest

    near = nearest(wanted[0][1:], texts)
    cure = f"did you mean {near}?" if near else "without a FIELD all are listed"
    message = f"{found.resource} starts with no field {', '.join(fields)}"
    raise refuse(codes.USAGE.at(Location(), message, help=cure))


def _has(field: str, wanted: str) -> bool:
    """Whether *wanted* is all of *field*, some whole steps of it, or something around it."""
    before, found, after = f".{field}".partition(wanted)
    return bool(found) and not before.endswith("]") and after[:1] in ("", ".", "[")


def _as_text(found: Explained, decisions: list[Decision], given: Input) -> str:
    lines = [str(found.resource)]
    for one in decisions:
        winner, *losers = trace(one, given)
        field, value = fieldpath.text(one.field), brief(winner.contender.value)
        lines.append(f"  {field}: {value}  {words(winner)}")
        lines += (f"    lost: {brief(each.contender.value)}  {words(each)}" for each in losers)
    return "".join(f"{printable(line)}\n" for line in lines)


def _as_json(found: Explained, decisions: list[Decision], given: Input) -> str:
    answer = {
        "formatVersion": FORMAT_VERSION,
        "resource": found.resource._asdict(),
        "fields": [document(one, given) for one in decisions],
    }
    return json.dumps(answer, indent=2, ensure_ascii=False) + "\n"
