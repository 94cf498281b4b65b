"""A field that is refused, in the words of KubeVirt."""

from render.diagnostics.fix import Fix
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple


class Cause(NamedTuple):
    """Why a webhook or a schema refuses an object (upstream: metav1.StatusCause).

    *check* is the name of the check that found it (``boot-order/unique``), *path* the field that KubeVirt names,
    *message* KubeVirt's text, *help* what to do. *source* is the field of an instancetype, a preference or a preset
    that asks for more than the object has; it is empty where the object alone is at fault. *place* is where the
    refused value stands, if KubeVirt names another field. *fixes* are edits of the object that has *path*.
    """

    check: str
    path: FieldPath
    message: str
    help: str = ""
    source: FieldPath = ()
    place: FieldPath = ()
    fixes: tuple[Fix, ...] = ()
