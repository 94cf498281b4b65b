"""The impact of a change as JSON (``schemas/impact.schema.json``): everything that is known of each VM."""

from collections.abc import Iterable

from render.diff.impact import DefinitionWithoutEffect, Departure, FieldChange, RolloutStrategy
from render.diff.sizes import Size
from render.diff.source import ChangeSource
from render.model.hints import Any
from render.report import escaping, findings, plain_json
from render.report.findings import Finding
from render.report.impact import room
from render.report.impact.formats import ImpactStyle
from render.report.impact.review import (
    HolderEntry,
    Locate,
    MachineEntry,
    Review,
    ReviewedState,
    Totals,
    became,
    by_instancetype,
    by_namespace,
    counts,
    entries,
    errors,
    holders,
    leaves,
    redefined,
    total,
    worst,
)

FORMAT_VERSION = 1.3


def report(review: Review, style: ImpactStyle) -> str:
    """One JSON document; keys are stable within a `FORMAT_VERSION`, new ones may be added."""
    machines = review.machines
    sides = _findings(review)
    document = {
        "formatVersion": FORMAT_VERSION,
        "before": _state(review.before),
        "after": _state(review.after),
        "emit": review.emit,
        "otherwise": review.otherwise and review.otherwise._asdict(),
        "uncompared": [
            {**uncompared._asdict(), "codes": list(uncompared.codes)}
            for uncompared in review.uncompared
        ],
        "settings": [change._asdict() for change in review.settings],
        "locked": review.locked,
        "unseen": dict(sorted(review.unseen.items())),
        "unseenBefore": dict(sorted(review.unseen_before.items())),
        "gitops": dict(sorted(review.gitops.items())),
        "uninstalled": [str(ref) for ref in review.uninstalled],
        "counts": counts(machines),
        "totals": {
            "all": _totals(total(machines)),
            "namespaces": {k: _totals(v) for k, v in by_namespace(machines).items()},
            "instancetypes": {k: _totals(v) for k, v in by_instancetype(machines).items()},
        },
        "requests": room.requests(review.parts),
        "quotas": [
            {**quota._asdict(), "causes": [_cause(cause, part.locate) for cause in quota.causes]}
            for part in review.parts
            for quota in part.impact.quotas
        ],
        "assumptions": list(review.assumptions),
        "machines": [_machine(entry) for entry in entries(review.parts, every=True)],
        "holders": [_holder(entry) for entry in holders(review.parts)],
        "definitions": _definitions(review),
        **_found(review, sides, style),
    }
    return escaping.dumps(document, indent=2) + "\n"


def _definitions(review: Review) -> list[dict[str, Any]]:
    """The definitions that changed, what became of them, and whether a VM of any input asks for one of that name."""
    outcomes = became(review)
    return [
        {"resource": ref._asdict(), "became": outcomes[ref], "used": is_used}
        for ref, is_used in redefined(review).items()
    ]


def _found(
    review: Review, sides: tuple[list[Finding], list[Finding]], style: ImpactStyle
) -> dict[str, Any]:
    """The errors that are new, those that were there before, those that are gone; and what is found in both states."""
    before, after = (findings.fingerprints(side, style.seen_from) for side in sides)
    of_change = errors(review.parts)
    return {
        "errors": {
            key: [plain_json.finding((before if key == "gone" else after)(found)) for found in some]
            for key, some in of_change._asdict().items()
            if key != "edits"
        },
        "diagnostics": {
            name: [plain_json.finding(identified(found)) for found in findings.merge(side)]
            for name, side, identified in zip(
                ("before", "after"), sides, (before, after), strict=True
            )
        },
    }


def _findings(review: Review) -> tuple[list[Finding], list[Finding]]:
    """What is found in both states, as in the report of ``check``."""
    sides: tuple[list[Finding], list[Finding]] = ([], [])
    for part in review.parts:
        builds = (part.name,) if part.name else ()
        for side, more in zip(sides, part.findings(), strict=True):
            side.extend(finding._replace(builds=builds) for finding in more)
    return sides


def _state(state: ReviewedState) -> dict[str, Any]:
    return {
        "name": state.name,
        "kubevirt": state.release or None,
        "clusterConfig": state.cluster or None,
        "emit": state.emit or None,
    }


def _totals(totals: Totals) -> dict[str, Any]:
    before, after = totals
    return {"before": before._asdict(), "after": after._asdict()}


def _machine(entry: MachineEntry) -> dict[str, Any]:
    part, machine = entry
    before, after = machine.sizes
    return {
        "resource": machine.resource._asdict(),
        "kustomization": part.name or None,
        "movedFrom": part.moved_from,
        "class": worst(machine),
        "effects": list(machine.effects),
        "messages": list(machine.messages),
        "unrendered": list(machine.unrendered),
        "workload": machine.workload or None,
        "rolloutStrategy": machine.rollout and _rollout(machine.rollout, part.locate),
        "staleDataVolumes": list(machine.stale),
        "madeDataVolumes": list(machine.made),
        "leftDataVolumes": list(machine.left),
        "pins": list(machine.pins),
        "unpinned": list(machine.unpinned),
        "edited": _without_effect(machine.edited),
        "deleted": _without_effect(machine.deleted),
        "before": _size(before),
        "after": _size(after),
        "changes": [_change(change, part.locate) for change in leaves(machine.changes)],
        "source": machine.source and _cause(machine.source, part.locate),
        "lacking": [_cause(source, part.locate) for source in machine.lacking],
        "renamed": machine.renamed and machine.renamed._asdict(),
        "departed": _departed(machine.departed, part.locate),
        "redefined": [_cause(source, part.locate) for source in machine.redefined],
        "configured": [_cause(source, part.locate) for source in machine.configured],
    }


def _departed(departed: Iterable[Departure], locate: Locate) -> list[dict[str, Any]]:
    return [
        {key: _cause(source, locate) for key, source in departure._asdict().items()}
        for departure in departed
    ]


def _without_effect(definitions: Iterable[DefinitionWithoutEffect]) -> list[dict[str, Any]]:
    return [
        {"resource": definition.resource._asdict(), "pin": definition.pin or None}
        for definition in definitions
    ]


def _size(size: Size | None) -> dict[str, Any] | None:
    return size and {**size._asdict(), "instancetype": size.instancetype or None}


def field_change(change: FieldChange) -> dict[str, Any]:
    """*change* without what caused it."""
    return {key: getattr(change, key) for key in ("field", "before", "after", "effect")}


def _change(change: FieldChange, locate: Locate) -> dict[str, Any]:
    return {
        **field_change(change),
        "waits": change.waits,
        "cause": change.cause and _cause(change.cause, locate),
    }


def _holder(entry: HolderEntry) -> dict[str, Any]:
    part, holder = entry
    before, after = holder.replicas
    changed = (_change(change, part.locate) for change in leaves(holder.changes))
    return {
        "resource": holder.resource._asdict(),
        "kustomization": part.name or None,
        "movedFrom": part.moved_from,
        "outcome": holder.outcome,
        "selective": holder.is_selective,
        "replicas": {"before": before, "after": after},
        "edited": [ref._asdict() for ref in holder.edited],
        "departed": _departed(holder.departed, part.locate),
        "changes": [
            {key: value for key, value in change.items() if key not in ("effect", "waits")}
            for change in changed
        ],
    }


def _rollout(rollout: RolloutStrategy, locate: Locate) -> dict[str, Any]:
    return {
        "value": rollout.value,
        "missingGate": rollout.gate or None,
        "cause": rollout.source and _cause(rollout.source, locate),
    }


def _cause(cause: ChangeSource, locate: Locate) -> dict[str, Any]:
    place = locate(cause)
    return {
        "resource": cause.resource._asdict(),
        "field": cause.field,
        "side": cause.side,
        "file": place.file or None,
        "line": place.line or None,
        "column": place.column or None,
    }
