"""What the target of a patch or a replacement selects (kustomize's api/types/selector.go)."""

from collections.abc import Sequence

from render.model import patterns


def selects(pattern: str, names: Sequence[str]) -> bool:
    """Whether the *pattern* of a target of kustomize's selects one of *names*; an empty one does any."""
    if not pattern:
        return True
    expression = patterns.regular(pattern)
    return expression is not None and any(map(expression.matches, names))
