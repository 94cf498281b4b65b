"""Objects by which KubeVirt does something with a VM, once, as soon as they are there."""

from collections import Counter
from collections.abc import Iterator

from render.frontends.commands.compare.states import NamedState, Side
from render.model.resource import ResourceRef, from_body, text_at

#: What puts a VM back to a snapshot, has it migrate, or makes another one of it.
_ACTIONS = frozenset(
    {"VirtualMachineClone", "VirtualMachineInstanceMigration", "VirtualMachineRestore"}
)


def new_actions(before: Side, after: Side) -> Counter[str]:
    """The objects that only the side *after* has and by which KubeVirt does something with a VM, by their kinds."""
    known = {each for state in before.values() for each in _actions(state)}
    found = {each for state in after.values() for each in _actions(state)}
    return Counter(f"new {ref.kind}" for ref in found - known)


def _actions(state: NamedState) -> Iterator[ResourceRef]:
    return (from_body(body, 0).ref for body in state.objects if text_at(body, "kind") in _ACTIONS)
