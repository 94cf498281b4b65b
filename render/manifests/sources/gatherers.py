"""Kustomizations that but gather others: what these make is all there is to them."""

import os
from itertools import chain

from render.manifests.kustomization import (
    GATHERING,
    KnownKustomizations,
    LoadedKustomization,
    find,
    is_component,
)
from render.system.files import boundary, inside
from render.yaml.budget import Limits


def gatherers(folder: str, limits: Limits) -> frozenset[str]:
    """The resolved *folder*, if its kustomization but gathers others, and those of these which do so too.

    What kustomize makes of them is what it makes of all that they gather, one beside the other. Nothing outside of the
    repository is looked at.
    """
    known = KnownKustomizations()
    found: set[str] = set()
    pending = [known.resolve(folder)]
    around = boundary(pending[0]) or pending[0]
    while pending:
        real = pending.pop()
        file = find(real)
        if file is None or real in found or not inside(known.resolve(file), [around]):
            continue
        if not _is_plain(known.load(file, limits)):
            continue
        gathered = [
            real_target
            for reference in chain.from_iterable(known.load(file, limits).references)
            if os.path.isdir(target := os.path.join(real, reference.entry))
            and inside(real_target := known.resolve(target), [around])
        ]
        if gathered:
            found.add(real)
            pending += gathered
    return frozenset(found)


def _is_plain(loaded: LoadedKustomization) -> bool:
    """Whether a kustomization changes nothing of its resources."""
    if len(loaded.documents) != 1 or loaded.diagnostics:
        return False
    body = loaded.documents[0].body
    return GATHERING.issuperset(map(str.casefold, body)) and not is_component(body)


def gathered_files(folder: str, limits: Limits, known: KnownKustomizations) -> list[str]:
    """The files that the kustomization in *folder* has as resources, as far as they are there."""
    file = find(folder)
    references = known.load(file, limits).references if file else []
    names = (
        os.path.normpath(os.path.join(folder, reference.entry))
        for reference in chain.from_iterable(references)
        if reference.is_resource
    )
    return [name for name in names if os.path.isfile(name)]
