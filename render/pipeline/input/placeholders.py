"""Placeholders that nobody filled in: ``{{ value }}`` of Helm and Jinja, ``${NAME}`` of envsubst and templates.

Flux has values to fall back on too: ``${NAME:=value}`` and ``${NAME:-value}``.
"""

import re
from collections.abc import Iterator
from typing import Any

from render.diagnostics.codes import PLACEHOLDER
from render.diagnostics.diagnostic import Diagnostic, at
from render.model.fieldpath import FieldPath
from render.model.resource import Resource

#: An opening inside of another ends the search for its closing, lest a text of nothing else takes ages.
_PLACEHOLDER = (
    r"\{\{(?:(?!\{\{|\}\}).)*+\}\}|\$\{([A-Za-z_][A-Za-z0-9_]*+)(?::[=-](?:(?!\$\{)[^}])*+)?\}"
)
#: What may hold anything: guests' own files and commands, annotations, and free words.
_FREE_TEXT = frozenset(
    {
        "annotations",
        "command",
        "description",
        "managedFields",
        "networkData",
        "networkDataBase64",
        "status",
        "userData",
        "userDataBase64",
    }
)


def find(resource: Resource) -> Iterator[Diagnostic]:
    """Fields of an object of ours that still hold a placeholder, where it would be taken for a value."""
    if not resource.may_hold_placeholders:
        return
    for path, text in _texts(resource.body, ()):
        match = re.search(_PLACEHOLDER, text)
        if match:
            yield PLACEHOLDER.at(
                at(resource, path),
                f"{f'${{{match[1]}}}' if match[1] else match[0]} is not filled in",
                help="render the template first, and pipe its output into `virt-render build -`",
            )


def _texts(value: Any, path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    """Every string that holds the beginning of a placeholder; most objects hold none."""
    if isinstance(value, str):
        if "${" in value or "{{" in value:
            yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _FREE_TEXT:
                yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
