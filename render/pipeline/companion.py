"""What is emitted beside a VM that needs it."""

from typing import NamedTuple

from render.model.tree import Tree


class Companion(NamedTuple):
    """An object to be emitted beside the VMs: the hash of its content, and the namespace that it means."""

    hash: str
    namespace: str
    body: Tree
