"""What a rendering gives."""

from typing import TYPE_CHECKING, NamedTuple

from render.diagnostics.diagnostic import Diagnostic
from render.model.tree import Tree

if TYPE_CHECKING:
    from render.model.provenance import Provenance


class Rendered(NamedTuple):
    """The outcome of a rendering.

    resources: what could be rendered, in the order of the input; front ends print nothing if there is any error.
    diagnostics: every finding, in a fixed order.
    provenance: which rule's object decided which field of a VM.
    sources: for each resource the index of the input object that it is, unchanged; None for a rendered one.
    """

    resources: list[Tree]
    diagnostics: tuple[Diagnostic, ...]
    provenance: tuple["Provenance", ...]
    sources: tuple[int | None, ...]
