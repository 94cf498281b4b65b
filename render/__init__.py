"""Render KubeVirt virtual machines from the YAML in a repository, as KubeVirt would run them."""

from render.diagnostics.diagnostic import Diagnostic
from render.pipeline import Rendered, render
from render.settings import Settings

__all__ = ["Diagnostic", "Rendered", "Settings", "__version__", "render"]
__version__ = "0.1.0"
