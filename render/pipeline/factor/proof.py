"""What `compare` says of the edits of VMs: the proof that nothing happens to them, or what does."""

from collections.abc import Collection, Mapping, Sequence

from render.diff.impact import FieldChange, MachineImpact
from render.model.edits import Operation, edited
from render.model.resource import Resource, ResourceRef
from render.model.tree import Tree
from render.pipeline.comparison.fleet import compare
from render.pipeline.factor.subject import NAMES
from render.settings import Settings

_ANNOTATIONS = "metadata.annotations"
#: What comes of a VM of which no field changes, or only such annotations.
_HARMLESS = frozenset({"same", "none", "next", "recreate"})
_NOTHING = frozenset({"same", "none"})
_RESTART = "restart"
#: The fields that an instancetype writes out where a VM leaves them open, and that mean 1 then.
_LAID_OUT = frozenset(
    f"spec.domain.cpu.{key}" for key in ("sockets", "cores", "threads", "maxSockets")
)


def impacts_of(
    resources: Sequence[Resource],
    edits: Mapping[int, Sequence[Operation]],
    definitions: Collection[Tree],
    settings: Settings,
) -> dict[int, MachineImpact]:
    """What becomes of each VM in *edits* once these are applied to the cluster, with new *definitions*."""
    if not edits:
        return {}
    before = [resource.body for resource in resources]
    after = [
        edited(resource.body, edits[resource.index]) if resource.index in edits else resource.body
        for resource in resources
    ]
    by_ref = impacts(before, [*after, *definitions], settings)
    return {index: by_ref[ref] for index in edits if (ref := resources[index].ref) in by_ref}


def impacts(
    before: Sequence[Tree], after: Sequence[Tree], settings: Settings
) -> dict[ResourceRef, MachineImpact]:
    """What becomes of each VM of a cluster that holds *before* and gets *after*, as they are written."""
    settings = settings._replace(
        emit="source", stored=False, defaults="manifest", pins="ignore", lock=None,
        firmware_uuid="none", launcher_image="", allow_empty=True,
    )  # fmt: skip
    return {machine.resource: machine for machine in compare(before, after, settings).machines}


def is_naming(change: FieldChange, marks: Collection[str] = ()) -> bool:
    """Whether *change* is only that a VMI names its definitions, or no longer the presets that left *marks*."""
    ignored = {*NAMES, *marks}
    if change.field == _ANNOTATIONS:
        before, after = (
            {key: text for key, text in value.items() if key not in ignored}
            if isinstance(value, dict)
            else value
            for value in (change.before or {}, change.after or {})
        )
        return bool(before == after)
    return change.field.removeprefix(f"{_ANNOTATIONS}.") in ignored


def is_affected(impact: MachineImpact) -> bool:
    """Whether anything at all happens to a VM that nobody edited."""
    return not _NOTHING.issuperset(impact.effects)


def objection(impact: MachineImpact | None, *, restarts: bool, marks: Collection[str] = ()) -> str:
    """What speaks against the edits of a VM, ``""`` if nothing.

    *restarts*: see `FactorOptions.restart`; *marks*: the annotations of presets that go.
    """
    if impact is None:
        return "nothing tells what would become of it"
    allowed = _HARMLESS | {_RESTART} if restarts else _HARMLESS
    if not allowed.issuperset(impact.effects) or impact.unrendered or impact.stale:
        return "; ".join(filter(None, (f"{', '.join(impact.effects)}", *impact.messages)))
    for change in impact.changes:
        is_nothing = change.effect == "none" or is_naming(change, marks)
        if not is_nothing and not (restarts and _is_written_out(change)):
            return f"{change.field} would change"
    return ""


def _is_written_out(change: FieldChange) -> bool:
    return change.field in _LAID_OUT and change.before is None and change.after == 1
