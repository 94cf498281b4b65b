"""The order of application (upstream: pkg/instancetype/apply/vmi.go, pkg/instancetype/preference/apply/vmi.go)."""

from functools import cache

from render import rules
from render.apply import instancetype, preference
from render.model import topology
from render.model.draft import Draft
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.tree import Tree
from render.rules import Conflict, Edit, Rules, plain, spec

_CPU = spec("domain", "cpu")


class Applied(NamedTuple):
    """What was decided by which, and the conflicts; where there are any, the draft is of no use."""

    from_instancetype: tuple[Edit, ...]
    from_preference: tuple[Edit, ...]
    conflicts: tuple[Conflict, ...]


def rules_for(kind: str) -> Rules:
    """The rules by which an object of *kind* (an instancetype, or a flavor of old) reaches a VM."""
    if not kind.endswith("Flavor"):
        return instancetype.RULES
    from render.apply import flavor

    return flavor.RULES


def _topology(vcpus: int, preference_spec: Tree | None, draft: Draft) -> tuple[Edit, ...]:
    cpu: dict[str | int, Any] = dict(draft.get(*_CPU) or {})
    edits = _laid_out(topology.layout(vcpus, preference_spec))
    for place, value, _ in edits:
        if value is rules.ABSENT:
            cpu.pop(place[-1], None)
        else:
            cpu[place[-1]] = value
    draft.put(_CPU, cpu)  # once, and not field by field
    return edits


@cache
def _laid_out(layout: topology.CPUTopology) -> tuple[Edit, ...]:
    return tuple(
        Edit((*_CPU, key), plain(value), ("cpu", "guest"))
        for key, value in zip(layout._fields, layout, strict=True)
    )


def apply(
    draft: Draft,
    instancetype_spec: Tree | None,
    preference_spec: Tree | None,
    release: Version,
    instancetype_rules: Rules = instancetype.RULES,
) -> Applied:
    """Apply both specs (either may be None) to the *draft* of a template: ``spec`` and perhaps ``metadata``.

    *instancetype_rules*: see `rules_for`. All conflicts of the instancetype are collected; if there is any, no
    preference is applied. Raises ZeroDivisionError for a spread ratio of 0: callers refuse that first.
    """
    edits: tuple[Edit, ...] = ()
    if instancetype_spec is not None:
        outcome = rules.run(instancetype_rules, instancetype_spec, draft, release)
        if outcome.conflicts:
            return Applied((), (), outcome.conflicts)
        edits = outcome.edits
        # A flavor need not count vCPUs.
        vcpus = (instancetype_spec.get("cpu") or {}).get("guest")
        if vcpus is not None or instancetype_rules is instancetype.RULES:
            edits = (*edits, *_topology(vcpus or 0, preference_spec, draft))
    if preference_spec is None:
        return Applied(edits, (), ())
    outcome = rules.run(preference.RULES, preference_spec, draft, release)
    return Applied(edits, outcome.edits, ())


def auto_attach(draft: Draft, preference_spec: Tree, release: Version) -> tuple[Edit, ...]:
    """The auto-attach preferences alone: the start path needs them before it adds devices.

    Upstream: pkg/virt-controller/watch/vm/vm.go, pkg/instancetype/preference/apply/device.go.
    """
    return rules.run(preference.AUTO_ATTACH, preference_spec, draft, release).edits
