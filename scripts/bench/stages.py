"""Where the time of a rendering goes, stage by stage: printed as JSON by a process of its own.

``python -m scripts.bench.stages FOLDER`` renders FOLDER as ``virt-render build`` does, with a clock around each stage.
"""

import functools
import gc
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

gc.disable()

_spent: dict[str, float] = {}


def _clocked(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*arguments: Any, **named: Any) -> Any:
        start = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            _spent[name] = _spent.get(name, 0.0) + time.process_time() - start

    return timed


def main() -> None:
    """Render the folder that is the argument."""
    start = time.process_time()
    from render.frontends import execute
    from render.frontends.request.request import Call
    from render.manifests.sources import intake, loading
    from render.pipeline import order
    from render.pipeline.input import definitions
    from render.system import files
    from render.yaml import writer

    _spent["start: the interpreter"] = start
    _spent["start: imports"] = time.process_time() - start
    stages = order.stages

    def clocked_stages(*arguments: Any) -> Any:
        steps, made = stages(*arguments)
        named = tuple(_clocked(step, f"render: {step.__name__.lstrip('_')}") for step in steps)
        return named, made and _clocked(made, "render: emit")

    for module, name, label in (
        (files, "read", "read: files"),
        (intake, "read", "read: YAML"),
        (definitions, "decode", "render: decode"),
        (writer, "write", "write: YAML"),
        (loading, "load", "read"),
    ):
        setattr(module, name, _clocked(getattr(module, name), label))
    setattr(order, "stages", clocked_stages)  # noqa: B010 - mypy minds an assignment
    output = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    begin = time.process_time()
    execute.execute(Call("build", (sys.argv[1],), {"--kustomize": "never"}), {})
    whole = time.process_time() - begin
    _spent["read: folders, limits, sifting"] = _spent.pop("read") - sum(
        _spent[name] for name in ("read: files", "read: YAML")
    )
    known = sum(seconds for name, seconds in _spent.items() if not name.startswith("start"))
    _spent["the rest"] = whole - known
    os.write(output, json.dumps(_spent).encode())


if __name__ == "__main__":
    main()
