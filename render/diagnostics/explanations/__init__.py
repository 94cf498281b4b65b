"""What every code means, for ``virt-render rule``, the documentation and code scanning services.

One module a digit; the registry itself (`render.diagnostics.codes`) stays free of prose, since every start of the
program loads it.
"""

from render.diagnostics.explanations import (
    admission,
    conflicts,
    conversion,
    defaults,
    ours,
    pins,
    reading,
    requirements,
    resolution,
    settings,
)
from render.diagnostics.explanations.explanation import Explanation

__all__ = ["EXPLANATIONS", "Explanation"]

EXPLANATIONS: dict[str, Explanation] = {
    **reading.EXPLANATIONS,
    **resolution.EXPLANATIONS,
    **conflicts.EXPLANATIONS,
    **requirements.EXPLANATIONS,
    **admission.EXPLANATIONS,
    **conversion.EXPLANATIONS,
    **pins.EXPLANATIONS,
    **defaults.EXPLANATIONS,
    **settings.EXPLANATIONS,
    **ours.EXPLANATIONS,
}
