"""Whether a VM is written as the cluster stores it: the webhooks answer with what Go's types print.

Upstream: apimachinery pkg/api/resource/quantity.go (a quantity is printed in its canonical form).
"""

import json
from collections.abc import Iterator

from render.diagnostics.codes import OTHER_NOTATION
from render.diagnostics.fix import Fix, remove, set_to
from render.machine import Machine
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.resource import TEMPLATE
from render.model.tree import Tree

#: Go writes the metadata of a template, empty or not.
_ALWAYS = (*TEMPLATE, "metadata")


def is_canonical(machine: Machine) -> bool:
    """Whether the object, but for its status, is as its author wrote it once it has been through Go's types."""
    return _without_status(machine.raw) == _without_status(machine.decoded)


def _without_status(body: Tree) -> Tree:
    return {key: value for key, value in body.items() if key != "status"}


def check_notation(machine: Machine) -> None:
    """Note the fields of a VM that is synced as it is written whose text the cluster stores otherwise, or not at all.

    What a pool holds no webhook reads, and it stays as it is.
    """
    if machine.resource.holder or machine.resource.older or machine.raw is machine.decoded:
        return
    written, stored = machine.raw.get("spec"), machine.decoded.get("spec")
    for path, before, after in _differing(written, stored, ("spec",)):
        becomes, cure, edit = (
            (f"stored as {after}", f"write {after}", set_to(path, after))
            if after
            else ("not stored", "remove the key", remove(path))
        )
        machine.report(
            OTHER_NOTATION,
            path,
            f"{fieldpath.text(path)}: {_literal(before)} is {becomes}, which Argo CD takes for a difference after each"
            " sync",
            help=cure,
            fixes=(Fix(cure, (edit,), safe=True),),
        )


def _literal(value: Any) -> Any:
    return value if value and isinstance(value, str) else json.dumps(value)


def _differing(written: Any, stored: Any, path: FieldPath) -> Iterator[tuple[FieldPath, Any, str]]:
    """The places with another scalar in *stored* than *written*, and both; "" for what is empty and left out."""
    if written is stored:
        return
    if isinstance(written, dict) and isinstance(stored, dict):
        for key, value in written.items():
            if key in stored:
                yield from _differing(value, stored[key], (*path, key))
            elif not value and value is not None and (*path, key) != _ALWAYS:
                yield (*path, key), value, ""
    elif isinstance(written, list) and isinstance(stored, list):
        if len(written) == len(stored):
            for index, pair in enumerate(zip(written, stored, strict=True)):
                yield from _differing(*pair, (*path, index))
    elif written != stored and isinstance(stored, str) and stored:
        yield path, written, stored
