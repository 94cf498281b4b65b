"""What has a name with a dot in front: Argo CD, Flux and kubectl take it for manifests all the same."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain

from render.manifests import discover, kustomization
from render.manifests.discover import Hidden
from render.manifests.documents import Documents
from render.manifests.kustomization import Reach
from render.manifests.sources.intake import SourceIntake
from render.system import files
from render.system.files import inside, real_path


def look(
    paths: Iterable[str], why_omitted: Callable[[str], str], allowed: Collection[str]
) -> Hidden:
    """The hidden files among *paths* and below the folders among them; nothing of git's, and nothing that is omitted.

    *why_omitted* says why a resolved path is omitted, ``""`` where it is not. No link is followed to a folder, nor to a
    file outside of the resolved folders *allowed*.
    """
    found: list[str] = []
    folders: list[str] = []

    def is_taken(file: str, real: str) -> bool:
        is_named = file.endswith((*discover.YAML, *discover.JSONNET))
        return is_named and inside(real_path(file) if os.path.islink(file) else real, allowed)

    for path in paths:
        # Each folder is resolved by that of its parent: anew from the top costs the square of the depth.
        reals = {path: real_path(path)}
        if is_taken(path, reals[path]) and os.path.isfile(path):
            found.append(path)
        for at, below, names in files.walk(path):
            real = reals.pop(at)
            below[:] = [
                name
                for name in sorted(below)
                if name != ".git" and not why_omitted(f"{real}/{name}")
            ]
            reals |= {os.path.join(at, name): f"{real}/{name}" for name in below}
            found += (
                file
                for name in names
                if is_taken(file := os.path.join(at, name), beyond := f"{real}/{name}")
                and not why_omitted(beyond)
            )
            folders += [at] * (kustomization.find(at) is not None)
    manifests = [file for file in found if file.endswith(discover.YAML)]
    return Hidden(manifests, folders, [file for file in found if file.endswith(discover.JSONNET)])


def drawn_in(intake: SourceIntake, hidden: Hidden, used: Collection[str]) -> frozenset[str]:
    """The resolved folders that the *hidden* kustomizations read whose own folder is among the resolved ones *used*.

    These kustomizations themselves are not in the answer.
    """
    known = intake.kustomizations
    folders = [folder for folder in hidden.kustomizations if known.resolve(folder) in used]
    reached = chain.from_iterable(intake.reach(folder).folders for folder in folders)
    return frozenset(reached).difference(map(known.resolve, folders))


def name_kustomizations(
    intake: SourceIntake,
    hidden: Hidden,
    others: Sequence[str],
    used: Collection[str],
    into: Documents,
) -> Iterator[str]:
    """Count in *into* the *hidden* kustomizations that may hold an object of KubeVirt's, and that nobody builds.

    Nobody builds those that the *others* do not refer to and whose resolved folder is not among *used*. Yields the
    resolved files that they and the used ones read.
    """
    if not hidden.kustomizations:
        return
    known = intake.kustomizations
    tops = {*kustomization.survey([*others, *hidden.kustomizations], intake.limits, known).tops}
    for folder in hidden.kustomizations:
        is_used = known.resolve(folder) in used
        if not (is_used or folder in tops):
            continue
        reach = intake.reach(folder)
        if not is_used and not intake.texts.reached(reach):
            continue
        if not is_used:
            into.unseen.add("hidden kustomization", folder)
            into.diagnostics.append(discover.skipped(folder, "a hidden kustomization"))
        yield from files_of(reach)


def files_of(reach: Reach) -> Iterator[str]:
    """The resolved files that a kustomization with *reach* reads."""
    return map(real_path, chain(reach.resources, reach.others))
