"""Who decided what of a VM."""

from render.model.fieldpath import FieldPath
from render.model.hints import Any, Literal
from render.model.kinds import INSTANCETYPES, PREFERENCES
from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef


class Provenance(NamedTuple):
    """*field* of the VM *resource* was set by *source_field* of *source*, which the input has at *position*.

    *position* is None for a bundled object. Where no object decided, *source* is None, and *decider* says who did:
    ``KubeVirt's default for amd64``; of a cluster's settings it says which (``cluster setting cpuModel``). Of several
    for one field the last one counts.
    """

    resource: ResourceRef
    field: FieldPath
    source: ResourceRef | None
    source_field: FieldPath
    position: int | None
    decider: str = ""


def field_in(ref: ResourceRef, field: FieldPath) -> FieldPath:
    """Where the object *ref* has what `Provenance.source_field` calls *field*."""
    if ref.kind == "ControllerRevision":
        return ("data", "spec", *field)
    is_definition = ref.kind in INSTANCETYPES or ref.kind in PREFERENCES
    return ("spec", *field) if is_definition or ref.kind.endswith("Flavor") else field


#: ``kubevirt`` is its default, or what it computes from other fields: which of them is not known.
Decider = Literal[
    "vm", "patch", "instancetype", "preference", "flavor", "preset", "cluster", "kubevirt"
]
HIDDEN = "(hidden)"


class Contender(NamedTuple):
    """*decider* wants *value* for a field: *source_field* of *source* says so; the input has that at *position*.

    No source: KubeVirt's own. No position: an object that is not in the input, or of which a lock has what counts
    (*pinned*), under the hash *content*. A secret value is `HIDDEN`.
    """

    value: Any
    decider: Decider
    source: ResourceRef | None = None
    source_field: FieldPath = ()
    position: int | None = None
    pinned: bool = False
    content: str = ""


class Decision(NamedTuple):
    """*field* of a VMI is as the *winner* wants it; the *losers* wanted it otherwise.

    *sum* says of a field of the pod how its value came about.
    *text* is the field as everybody calls it: items of lists by their names, which stay when their positions do not.
    """

    field: FieldPath
    text: str
    winner: Contender
    losers: tuple[Contender, ...] = ()
    sum: str = ""
