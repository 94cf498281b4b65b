"""What exists and nearly gives the VMI of a VM, with what would change: for who may decide to change it."""

from collections.abc import Mapping, Sequence

from render.diff.impact import MachineImpact
from render.model.resource import Resource
from render.pipeline.factor.answers import DefinitionName, MachineFactoring, Nearest
from render.pipeline.factor.proof import impacts_of, is_naming
from render.pipeline.factor.search import MachinePlan, MachineSearch, edits_of
from render.settings import Settings


def added(
    machines: Sequence[MachineFactoring],
    searches: Mapping[int, MachineSearch],
    resources: Sequence[Resource],
    settings: Settings,
) -> list[MachineFactoring]:
    """*machines* with what is nearest for those to which nothing that exists is exact."""
    plans = {
        one.index: plan
        for one in machines
        if one.index in searches and _wants(one) and (plan := searches[one.index].nearest()).draws
    }
    edits = {
        index: edits_of(
            searches[index].subject, [(draw, draw.offer.name) for draw in plan.draws if draw.offer]
        )
        for index, plan in plans.items()
    }
    impacts = impacts_of(resources, edits, (), settings)
    return [
        one._replace(
            outcome="near" if one.outcome == "open" else one.outcome,
            nearest=_nearest(plans[one.index], impacts[one.index]),
        )
        if one.index in impacts
        else one
        for one in machines
    ]


def _wants(machine: MachineFactoring) -> bool:
    """Whether definitions that exist are missing to a VM."""
    return machine.outcome in ("new", "open") or any(one.path for one in machine.reasons)


def _nearest(plan: MachinePlan, impact: MachineImpact) -> Nearest:
    names: dict[str, DefinitionName] = {
        draw.word: draw.offer.name for draw in plan.draws if draw.offer is not None
    }
    return Nearest(
        names.get("instancetype"),
        names.get("preference"),
        impact.effects,
        impact.messages,
        tuple(one for one in impact.changes if not is_naming(one)),
    )
