"""Whether a VM is written as the cluster stores it: the webhooks answer with what Go's types print.

Upstream: apimachinery pkg/api/resource/quantity.go (a quantity is printed in its canonical form).
"""

from collections.abc import Iterator
from typing import Any

from render.diagnostics.codes import OTHER_NOTATION
from render.diagnostics.fix import Fix, set_to
from render.machine import Machine
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.tree import Tree


def is_canonical(machine: Machine) -> bool:
    """Whether the object, but for its status, is as its author wrote it once it has been through Go's types."""
    return _without_status(machine.raw) == _without_status(machine.decoded)


def _without_status(body: Tree) -> Tree:
    return {key: value for key, value in body.items() if key != "status"}


def check_notation(machine: Machine) -> None:
    """Note the fields of a VM that is synced as it is written whose text the cluster stores otherwise.

    What a pool holds no webhook reads, and it stays as it is.
    """
    if machine.resource.holder or machine.resource.older or machine.raw is machine.decoded:
        return
    written, stored = machine.raw.get("spec"), machine.decoded.get("spec")
    for path, before, after in _differing(written, stored, ("spec",)):
        machine.report(
            OTHER_NOTATION,
            path,
            f"{fieldpath.text(path)}: {before} is stored as {after}, which Argo CD takes for a difference after each"
            " sync",
            help=f"write {after}",
            fixes=(Fix(f"write {after}", (set_to(path, after),), safe=True),),
        )


def _differing(written: Any, stored: Any, path: FieldPath) -> Iterator[tuple[FieldPath, Any, str]]:
    """The places with another scalar in *stored* than *written*, and both."""
    if written is stored:
        return
    if isinstance(written, dict) and isinstance(stored, dict):
        for key, value in written.items():
            if key in stored:
                yield from _differing(value, stored[key], (*path, key))
    elif isinstance(written, list) and isinstance(stored, list):
        if len(written) == len(stored):
            for index, pair in enumerate(zip(written, stored, strict=True)):
                yield from _differing(*pair, (*path, index))
    elif written != stored and isinstance(stored, str) and stored:
        yield path, written, stored
