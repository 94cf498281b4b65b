"""What every code means, for ``virt-render rule``, the documentation and code scanning services.

One module a group of stages; the registry itself (`render.diagnostics.codes`) stays free of prose, since every
start of the program loads it.
"""

from render.diagnostics.explanations import asking, conflicts, pinning, reading, resolving
from render.diagnostics.explanations.explanation import Explanation

__all__ = ["EXPLANATIONS", "Explanation"]

EXPLANATIONS: dict[str, Explanation] = dict(
    sorted(
        {
            **reading.EXPLANATIONS,
            **resolving.EXPLANATIONS,
            **conflicts.EXPLANATIONS,
            **pinning.EXPLANATIONS,
            **asking.EXPLANATIONS,
        }.items()
    )
)
