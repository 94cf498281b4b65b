"""Kustomizations that list what is not there: kustomize refuses them, though nobody knows whether they make VMs."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.manifests.kustomization import Reach
from render.manifests.sources.intake import SourceIntake
from render.model.counting import counted
from render.system import files
from render.system.files import boundary, inside, real_path

_MOST = 5
"""Files and folders that are named one by one."""


def warnings(intake: SourceIntake, reaches: Mapping[str, Reach]) -> list[Diagnostic]:
    """That kustomize refuses what has these *reaches*, each file and folder that is not there at its first entry.

    Not where somebody else may put there what is missing: git ignores it, a sparse checkout leaves it out, or it stands
    in a submodule that is not checked out. Nor for what is outside of the repository.
    """
    lacking: dict[str, dict[str, Reach]] = {}
    for top, reach in reaches.items():
        for path in reach.resources:
            if not os.path.lexists(path):
                lacking.setdefault(real_path(path), {})[top] = reach
    if not lacking:
        return []
    top = boundary(real_path(next(iter(reaches))))
    meant = [*unprovided(intake, top, [path for path in lacking if top and inside(path, (top,))])]
    every = (_warning(intake, path, lacking[path]) for path in meant)
    found = [*islice(filter(None, every), _MOST)]  # each costs as much as its kustomization is long
    rest = len(meant) - _MOST if len(found) == _MOST else 0
    if rest > 0:
        last = found[_MOST - 1]
        words = f"{last.message}, and {counted(rest, 'more path')} of kustomizations (-v)"
        found[_MOST - 1 :] = [last._replace(message=words)]
    return found


def unprovided(intake: SourceIntake, top: str, paths: Sequence[str]) -> Iterator[str]:
    """Those of the resolved *paths* that nobody else puts into the repository *top*; none where git cannot say so."""
    from render.system import git

    if not paths or not files.repository(top) or files.is_checkout(top):
        return
    try:
        skipped = (os.path.join(top, os.fsdecode(name)) for _, _, name in git.skipped(top))
        left_out = {part for name in skipped for part in _ways(name)}
        elsewhere = {*git.would_ignore(top, paths), *intake.absent_submodules(top)}
    except git.GitError:
        return
    for path in paths:
        if path not in left_out and elsewhere.isdisjoint(_ways(path)):
            yield path


def _ways(path: str) -> Iterator[str]:
    """The absolute *path*, and all folders around it."""
    while path != os.sep:
        yield path
        path = os.path.dirname(path)


def _warning(intake: SourceIntake, path: str, reaches: Mapping[str, Reach]) -> Diagnostic | None:
    """What is wrong with the kustomizations of *reaches*, which list *path*."""
    from render.manifests.blame import failures

    reach = next(iter(reaches.values()))
    for file in reach.kustomizations:
        loaded = intake.kustomizations.load(file, intake.limits)
        fault = failures.absent(loaded, file, path, reach, intake.limits)
        if fault.place is not None:
            folder = os.path.dirname(file) or "."
            others = len(reaches.keys() - {folder})
            needed = f" and {others:,} more" if others else ""
            message = (
                f"kustomize cannot build {folder}{needed}: {os.path.relpath(path)} is not there"
            )
            return codes.KUSTOMIZE_FAILED.at(
                Location(file=fault.place[0], line=fault.place[1], column=fault.place[2]),
                message,
                help=fault.cure,
                severity=Severity.WARNING,
            )
    return None
