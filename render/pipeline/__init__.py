"""From resources to rendered resources: what every front end calls."""

from render.pipeline.result import Rendered
from render.pipeline.run import render, run

__all__ = ["Rendered", "render", "run"]
