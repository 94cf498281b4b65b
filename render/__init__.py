"""Render KubeVirt virtual machines from the YAML in a repository, as KubeVirt would run them."""

from render.model.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from render.diagnostics.diagnostic import Diagnostic
    from render.diff.impact import Impact
    from render.frontends.library import ReadError, load
    from render.pipeline import Rendered, render
    from render.pipeline.comparison.fleet import compare
    from render.pipeline.factor.answers import Factoring
    from render.pipeline.factor.fleet import FactorOptions, factor
    from render.pipeline.pods import pod
    from render.settings import Settings

__all__ = [
    "Diagnostic",
    "FactorOptions",
    "Factoring",
    "Impact",
    "ReadError",
    "Rendered",
    "Settings",
    "__version__",
    "compare",
    "factor",
    "load",
    "pod",
    "render",
]
__version__ = "0.1.0"
__project__ = "virt-render"

_HOMES = {
    "Diagnostic": "render.diagnostics.diagnostic",
    "FactorOptions": "render.pipeline.factor.fleet",
    "Factoring": "render.pipeline.factor.answers",
    "Impact": "render.diff.impact",
    "ReadError": "render.frontends.library",
    "Rendered": "render.pipeline",
    "Settings": "render.settings",
    "compare": "render.pipeline.comparison.fleet",
    "factor": "render.pipeline.factor.fleet",
    "load": "render.frontends.library",
    "pod": "render.pipeline.pods",
    "render": "render.pipeline",
}


def __getattr__(name: str) -> Any:
    """Import what the library offers when it is asked for: the commands import what they use, and no more."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value
