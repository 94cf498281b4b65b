"""Who decided what of a VM."""

from typing import NamedTuple

from render.model.fieldpath import FieldPath
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
