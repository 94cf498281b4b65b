"""From resources to rendered resources: what every front end calls."""

from render.pipeline.order import render, run
from render.pipeline.result import Provenance, Rendered

__all__ = ["Provenance", "Rendered", "render", "run"]
