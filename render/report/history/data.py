"""A history as JSON (``schemas/history.schema.json``)."""

from render.diff.impact import MachineImpact
from render.model.hints import Any
from render.model.naming import whole
from render.report import escaping
from render.report.history.told import ToldCommit, ToldHistory, ToldMachine, ToldRevision
from render.report.impact.json import field_change
from render.report.impact.review import leaves, worst

FORMAT_VERSION = 1


def report(history: ToldHistory) -> str:
    """One JSON document; keys are stable within a `FORMAT_VERSION`, new ones may be added."""
    document = {
        "formatVersion": FORMAT_VERSION,
        "lock": history.locks[0] if len(history.locks) == 1 else None,
        "since": history.since or None,
        "machines": list(map(_machine, history.machines)),
    }
    return escaping.dumps(document, indent=2) + "\n"


def _machine(machine: ToldMachine) -> dict[str, Any]:
    kind, _, rest = whole(machine.name).partition("/")
    namespace, _, name = rest.rpartition("/")
    resource = {"kind": kind, "namespace": namespace, "name": name}
    revisions = list(map(_revision, machine.revisions))
    removals = [_commit(commit) for commit in machine.removals]
    moves = [
        {**_commit(move.commit), "from": move.before, "to": move.after} for move in machine.moves
    ]
    return {
        "resource": resource, "lock": machine.lock, "revisions": revisions, "removals": removals,
        "moves": moves,
    }  # fmt: skip


def _revision(revision: ToldRevision) -> dict[str, Any]:
    return {
        "number": revision.number,
        **_commit(revision.commit),
        **{word: _definition(revision, word) for word in ("instancetype", "preference")},
        "class": revision.effect,
        "fault": revision.fault or None,
        "impacts": list(map(_impact, revision.impacts)),
    }


def _commit(commit: ToldCommit) -> dict[str, str]:
    return {"commit": commit.id, "date": commit.date, "subject": commit.subject}


def _definition(revision: ToldRevision, word: str) -> dict[str, str] | None:
    ref = revision.definitions.get(word)
    return ref._asdict() if ref else None


def _impact(impact: MachineImpact) -> dict[str, Any]:
    return {
        "class": worst(impact),
        "effects": list(impact.effects),
        "messages": list(impact.messages),
        "changes": list(map(field_change, leaves(impact.changes))),
    }
