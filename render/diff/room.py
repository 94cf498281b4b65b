"""What a change does to the room of namespaces: what their pods request, and the quotas that begin to fail."""

from render.diff.source import ChangeSource
from render.model.named_tuple import NamedTuple


class RequestTotals(NamedTuple):
    """How many *pods* always run, and what they request: thousandths of a *cpu*, and bytes of *memory*."""

    pods: int = 0
    cpu: int = 0
    memory: int = 0


class NamespaceImpact(NamedTuple):
    """What the pods of a namespace request *before* and *after*; of namespaces that nothing limits nothing is said."""

    namespace: str
    before: RequestTotals
    after: RequestTotals


class QuotaImpact(NamedTuple):
    """A quota that begins to fail because of the change.

    *resource* is what it grants too little of: *hard*, where *needed* is asked for. *severity* is that of the finding,
    and *causes* are the fields that brought it, that which asks for most first.
    """

    namespace: str
    quota: str
    resource: str
    hard: str
    needed: str
    severity: str
    causes: tuple[ChangeSource, ...]
