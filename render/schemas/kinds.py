"""Objects whose spec is that of another kind: a VirtualMachineInstance that is written as a VirtualMachine is."""

from collections.abc import Collection

from render.diagnostics.diagnostic import Diagnostic, at
from render.model import types
from render.model.release import NEWEST
from render.model.resource import POOL, REPLICA_SET, VM, VMI, Resource

#: The types of the specs of kinds that are taken for each other.
_ALIKE: tuple[dict[str, str], ...] = (
    {
        VM: "kubevirt.VirtualMachineSpec",
        VMI: "kubevirt.VirtualMachineInstanceSpec",
        REPLICA_SET: "kubevirt.VirtualMachineInstanceReplicaSetSpec",
        POOL: "pool.VirtualMachinePoolSpec",
    },
    {
        "VirtualMachineInstancetype": "instancetype.VirtualMachineInstancetypeSpec",
        "VirtualMachinePreference": "instancetype.VirtualMachinePreferenceSpec",
    },
    {
        "VirtualMachineClusterInstancetype": "instancetype.VirtualMachineInstancetypeSpec",
        "VirtualMachineClusterPreference": "instancetype.VirtualMachinePreferenceSpec",
    },
)


def questioned(
    resource: Resource, found: list[Diagnostic], codes: Collection[str]
) -> list[Diagnostic]:
    """What was *found* about *resource*; where its spec is that of another kind, nothing that *codes* say is mended.

    The first of these findings then stands at the kind, and asks for the other one.
    """
    about = [
        entry for entry in found if entry.code in codes and entry.location.path[:1] == ("spec",)
    ]
    meant = _meant(resource) if about else ""
    if not meant:
        return found
    question = about[0]._replace(
        help=f"did you mean kind: {meant}? that has each field of this spec",
        position=at(resource, ("kind",)),
        fixes=(),
    )
    return [
        question if entry is about[0] else _without_fixes(entry) if entry in about else entry
        for entry in found
    ]


def _without_fixes(entry: Diagnostic) -> Diagnostic:
    """*entry* without what would mend it in this kind, and without a word of that, but for where a field belongs."""
    actions = [edit.action for fix in entry.fixes for edit in fix.edits]
    return entry._replace(help=entry.help if "move" in actions else "", fixes=())


def _meant(resource: Resource) -> str:
    """The one other kind whose fields those of the spec of *resource* are, with all that it needs; ``""`` if none.

    What tells is a field that this kind needs and the spec has not, or one that only the other kind has and needs.
    """
    alike = next((kinds for kinds in _ALIKE if resource.kind in kinds), {})
    written = set(resource.spec)
    if not alike or not written:
        return ""
    own, needed = _fields(alike[resource.kind])
    if written <= own:
        return ""
    meant = []
    for kind, type_name in alike.items():
        known, required = _fields(type_name)
        telling = not needed <= written or not required <= own
        if kind != resource.kind and required <= written <= known and telling:
            meant.append(kind)
    return meant[0] if len(meant) == 1 else ""


def _fields(type_name: str) -> tuple[set[str], set[str]]:
    """The fields of a struct, and those that it needs."""
    fields = types.fields(type_name, NEWEST)
    return set(fields), {name for name, field in fields.items() if field.required}
