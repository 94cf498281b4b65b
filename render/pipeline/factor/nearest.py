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
        machine.index: plan
        for machine in machines
        if machine.index in searches
        and _wants(machine)
        and (plan := searches[machine.index].nearest()).choices
    }
    edits = {
        index: edits_of(
            searches[index].subject,
            [(choice, choice.offer.name) for choice in plan.choices if choice.offer],
        )
        for index, plan in plans.items()
    }
    impacts = impacts_of(resources, edits, (), settings)
    return [
        machine._replace(
            outcome="near" if machine.outcome == "open" else machine.outcome,
            nearest=_nearest(plans[machine.index], impacts[machine.index]),
        )
        if machine.index in impacts
        else machine
        for machine in machines
    ]


def _wants(machine: MachineFactoring) -> bool:
    """Whether definitions that exist are missing to a VM."""
    return machine.outcome in ("new", "open") or any(reason.path for reason in machine.reasons)


def _nearest(plan: MachinePlan, impact: MachineImpact) -> Nearest:
    names: dict[str, DefinitionName] = {
        choice.word: choice.offer.name for choice in plan.choices if choice.offer is not None
    }
    return Nearest(
        names.get("instancetype"),
        names.get("preference"),
        impact.effects,
        impact.messages,
        tuple(change for change in impact.changes if not is_naming(change)),
    )
