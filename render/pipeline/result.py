"""What a rendering gives."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from render.diagnostics.diagnostic import Diagnostic
from render.model.hints import TYPE_CHECKING, Any, overload
from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef
from render.model.tree import Tree

if TYPE_CHECKING:
    from render.model.provenance import Provenance
    from render.room.figures import ClusterCapacity
else:
    ClusterCapacity = tuple  # which it is: its module is imported where an input has any of it


class RenderedMachine(NamedTuple):
    """A VM, or a bare VMI, of the input.

    resource: (kind, namespace, name).
    vm: the object as it was given.
    vmi: the VirtualMachineInstance that KubeVirt starts of it, None where none can be made.
    diagnostics: the findings about it.
    """

    resource: ResourceRef
    vm: Tree
    vmi: Tree | None
    diagnostics: tuple[Diagnostic, ...]


class RenderedMachines(Sequence[RenderedMachine]):
    """The machines of an input, in its order, made when somebody looks."""

    def __init__(self, make: Callable[[], Iterable[RenderedMachine]]) -> None:
        self._make = make

    @cached_property
    def _all(self) -> tuple[RenderedMachine, ...]:
        return tuple(self._make())

    @overload
    def __getitem__(self, index: int) -> RenderedMachine: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[RenderedMachine, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        """One of them, or several."""
        return self._all[index]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._all)

    def __eq__(self, other: object) -> bool:
        """Whether *other* has the same machines."""
        return isinstance(other, Sequence) and self._all == tuple(other)

    def __hash__(self) -> int:
        """As of any sequence of these."""
        return hash(len(self))

    def __repr__(self) -> str:
        """The machines, as a tuple has them."""
        return repr(self._all)


class Rendered(NamedTuple):
    """The outcome of a rendering.

    resources: what could be rendered, in the order of the input; front ends print nothing if there is any error.
    diagnostics: every finding, in a fixed order.
    provenance: which rule's object decided which field of a VM.
    sources: for each resource the index of the input object that it is, unchanged; None for a rendered one.
    machines: each VM of the input with the VMI that it starts and what was found about it; of `render` alone.
    capacity: what the pods ask for against quotas and nodes of the input, None where it has neither.
    """

    resources: list[Tree]
    diagnostics: tuple[Diagnostic, ...]
    provenance: tuple["Provenance", ...]
    sources: tuple[int | None, ...]
    machines: Sequence[RenderedMachine] = ()
    capacity: ClusterCapacity | None = None
