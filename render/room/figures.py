"""What the pods of a fleet ask for, against what they may have, in figures: bytes of memory, thousandths of a CPU."""

from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef


class ResourceShare(NamedTuple):
    """What is asked for of one resource.

    *always*: by what runs whenever it can, of which *overhead* is beside the guests' own; *startable*: by what may be
    started too. *limit* is what there is, None where nothing says.
    """

    always: int = 0
    overhead: int = 0
    startable: int = 0
    limit: int | None = None

    def adding(self, other: "ResourceShare") -> "ResourceShare":
        """The sum of both, with the limit of this one."""
        return ResourceShare(
            self.always + other.always,
            self.overhead + other.overhead,
            self.startable + other.startable,
            self.limit,
        )


class CapacityGroup(NamedTuple):
    """The VMs of a namespace, a node pool, or an instancetype: how many *pods* they run, and ask for."""

    name: str
    pods: int = 0
    cpu: ResourceShare = ResourceShare()
    memory: ResourceShare = ResourceShare()

    def adding(self, other: "CapacityGroup") -> "CapacityGroup":
        """This group with the pods of another one."""
        return self._replace(
            pods=self.pods + other.pods,
            cpu=self.cpu.adding(other.cpu),
            memory=self.memory.adding(other.memory),
        )


class MachineNeed(NamedTuple):
    """What the pods of the VM *resource* count against a quota: *amount*, *always* or once they are started."""

    resource: ResourceRef
    amount: float
    always: bool


class QuotaFigure(NamedTuple):
    """What a ResourceQuota grants of a *resource*, and what *always* runs and may be *startable* beside that needs.

    All as Kubernetes writes amounts; *part* and *startable_part* are both divided by what is granted. *needs*: of each
    VM.
    """

    namespace: str
    quota: str
    resource: str
    hard: str
    always: str
    startable: str
    part: float
    startable_part: float
    needs: tuple[MachineNeed, ...] = ()


class PoolFigure(NamedTuple):
    """The nodes of a pool (``""``: all of them), and the VMs that can run there alone.

    *largest* is the node that has the most memory; *left_cpu* and *left_memory* are what remains once it
    is drained, negative where the others do not hold what always runs.
    """

    group: CapacityGroup
    nodes: int
    largest: str
    left_cpu: int
    left_memory: int


class ClusterCapacity(NamedTuple):
    """All figures, each group in the order of its name."""

    namespaces: tuple[CapacityGroup, ...] = ()
    instancetypes: tuple[CapacityGroup, ...] = ()
    quotas: tuple[QuotaFigure, ...] = ()
    pools: tuple[PoolFigure, ...] = ()
