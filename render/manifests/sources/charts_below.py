"""Charts below kustomizations: those that no kustomization has anything of are inputs of their own."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from render.manifests import kustomization
from render.manifests.discover import outermost
from render.manifests.kustomization import KnownKustomizations
from render.system.files import GIT, inside
from render.yaml.budget import Limits


def apart(
    charts: Sequence[str], folders: Sequence[str], limits: Limits, known: KnownKustomizations
) -> list[str]:
    """Of the folders *charts*, which stand below some of the kustomizations *folders*, those of which none has a part.

    It lists something in them, or has helm fill them in. What a kustomization in the chart itself lists does not count:
    helm makes the chart of other files.
    """
    alone = [chart for chart in outermost(charts) if kustomization.find(chart) is None]
    real = {chart: known.resolve(chart) for chart in alone}
    if not alone:
        return []
    resolved = {*real.values()}
    outside = [folder for folder in folders if not inside(known.resolve(folder), resolved)]
    listed = kustomization.listed(outside, limits, known, kustomization.RESOURCES)
    inflated = {*chain.from_iterable(_inflated(folder, limits, known) for folder in outside)}
    holding = _around(listed)
    return [
        chart for chart in alone if not inside(real[chart], inflated) and real[chart] not in holding
    ]


def _around(paths: Iterable[str]) -> set[str]:
    """The resolved *paths*, and all folders around them; of what git keeps for itself that alone."""
    found: set[str] = set()
    for path in paths:
        step = path
        while step not in found:
            found.add(step)
            above, name = os.path.split(step)
            step = step if name.lower() == GIT else above
    return found


def _inflated(folder: str, limits: Limits, known: KnownKustomizations) -> Iterator[str]:
    """The resolved folders in which the charts stand that the kustomization of *folder* has helm fill in.

    That is where kustomize pulls all of them to, with their versions; or each, where this is no folder of its own.
    """
    here = known.resolve(folder)
    for home, name in kustomization.chart_homes(folder, limits, known):
        whole = known.resolve(os.path.join(here, home))
        if inside(whole, (here,)) and whole != here:
            yield whole
        elif name:
            yield known.resolve(os.path.join(whole, name))
