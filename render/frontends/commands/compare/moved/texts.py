"""The texts of two states that differ: manifests, templates, and what is packed."""

import os
from collections.abc import Iterator

from render.frontends.commands.compare.states import Side
from render.system import files
from render.yaml.budget import Limits

#: What may say how an object is made.
_ENDINGS = (".yaml", ".yml", ".json", ".jsonnet", ".libsonnet", ".tpl", ".tgz")


def changed_texts(before: Side, after: Side, limits: Limits) -> dict[str, tuple[bytes, bytes]]:
    """What is new, gone or another *after*, by its name in the repository: as it was and as it is.

    Empty is what is not there, or cannot be read; nothing where the states have no repository.
    """
    tops = [next((state.top for state in side.values()), "") for side in (before, after)]
    if not all(tops) or tops[0] == tops[1]:
        return {}
    found = {}
    for name in dict.fromkeys((*_names_below(tops[1]), *_names_below(tops[0]))):
        old, new = (files.read(os.path.join(top, name), name, limits.file_bytes) for top in tops)
        if old != new:
            found[name] = (
                old if isinstance(old, bytes) else b"", new if isinstance(new, bytes) else b""
            )  # fmt: skip
    return found


def _names_below(top: str) -> Iterator[str]:
    """The texts below *top*, as seen from there; what is hidden nobody applies."""
    for folder, folders, names in files.walk(top):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.lower().endswith(_ENDINGS):
                yield os.path.relpath(os.path.join(folder, name), top)
