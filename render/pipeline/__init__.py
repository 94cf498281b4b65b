"""From resources to rendered resources: what every front end calls."""

from render.pipeline.order import render, run
from render.pipeline.result import Rendered

__all__ = ["Rendered", "render", "run"]
