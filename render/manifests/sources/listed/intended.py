"""What kustomizations were meant to read that cannot be built: what stands beside them, and what their text names."""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import islice

from render.manifests import kustomization
from render.manifests.discover import Discovery
from render.manifests.kustomization import Reach
from render.manifests.sources.intake import SourceIntake
from render.model.nearest import is_slip
from render.system.files import boundary, inside, real_path

_MOST = 100
"""Entries that lead to nothing of which is looked for what they mean: each takes as long as the folders are full."""
_COMMENT = r"(?m)(?:^|\s)#.*"
#: What may be the name of a file in a text that is perhaps no YAML: `-../base` and `resources:../base` have one too.
_NAME = r"[^\s\"'\[\]{},:=\0]+"


def may_hold(intake: SourceIntake, reach: Reach) -> bool:
    """Whether what kustomize refuses of a *reach* for what itself says is meant for an object of KubeVirt's.

    That stands below its folder, or in what its text names in the same repository, or in what the kustomizations read
    to which that leads.
    """
    pending = _refused(intake, reach.kustomizations)
    seen: set[str] = set()
    while pending:
        folder = pending.pop()
        real = intake.kustomizations.resolve(folder)
        if real in seen:
            continue
        seen.add(real)
        if intake.texts.anywhere(folder):
            return True
        bounds = boundary(real) or "/"
        file = kustomization.find(folder)
        for target in _named(intake, file, real, bounds) if file else ():
            if not os.path.isdir(target):
                is_held = intake.texts.any((target,))
            elif kustomization.find(target) is None:
                is_held = intake.texts.anywhere(target)
            else:
                beyond = intake.reach(target, bounds)
                pending += _refused(intake, beyond.kustomizations)
                is_held = intake.texts.reached(beyond)
            if is_held:
                return True
    return False


def is_of_kubevirt(intake: SourceIntake, file: str) -> bool:
    """Whether the kustomization *file*, which kustomize does not find by its name, is meant for KubeVirt's objects.

    These stand below its folder, or in what its text names.
    """
    folder = os.path.dirname(file) or "."
    real = intake.kustomizations.resolve(folder)
    texts = intake.texts
    return texts.anywhere(folder) or any(
        texts.anywhere(target) if os.path.isdir(target) else texts.any((target,))
        for target in _named(intake, file, real, boundary(real) or "/")
    )


def _refused(intake: SourceIntake, files: Iterable[str]) -> list[str]:
    """The folders of those of the kustomizations *files* that kustomize refuses for what they say."""
    return [
        os.path.dirname(file) or "."
        for file in files
        if kustomization.is_refused(intake.kustomizations.load(file, intake.limits))
    ]


def _named(intake: SourceIntake, file: str, real: str, bounds: str) -> Iterator[str]:
    """The files and folders of *bounds* that the text of the kustomization *file* in the resolved folder *real* names.

    None is around it: kustomize refuses a circle.
    """
    folder = os.path.dirname(file) or "."
    data = intake.kustomizations.load(file, intake.limits).data
    text = re.sub(_COMMENT, "", data.decode(errors="replace"))
    for word in dict.fromkeys(re.findall(_NAME, text)):
        name = word.lstrip("-")
        target = os.path.normpath(os.path.join(folder, name))
        if not name or os.path.isabs(name) or not os.path.exists(target):
            continue
        beyond = real_path(target)
        if inside(beyond, (bounds,)) and not inside(real, (beyond,)):
            yield target


def is_unlisted_beside(
    intake: SourceIntake, reach: Reach, missing: Collection[str], discovered: Discovery
) -> bool:
    """Whether an object of KubeVirt's may stand beside a kustomization of *reach* that lists something *missing*.

    In a file that none of those *discovered* lists, and that is below no nearer one.
    """
    known = intake.kustomizations
    lacking = {
        known.resolve(folder)
        for file in reach.kustomizations
        if not {*_listed(intake, folder := os.path.dirname(file) or ".")}.isdisjoint(
            map(known.resolve, missing)
        )
    }
    folders = {*map(known.resolve, discovered.kustomizations)}
    beside = [(file, real) for file, real in discovered.owned if _nearest(real, folders) in lacking]
    if not beside:
        return False
    listed = kustomization.listed(discovered.kustomizations, intake.limits, known)
    return intake.texts.any(file for file, real in beside if real not in listed)


def is_beside_missing(intake: SourceIntake, top: str, missing: Iterable[str]) -> bool:
    """Whether an object of KubeVirt's may stand in a folder that is called as something *missing*, but for a slip.

    What the kustomization in *top* lists outside of its repository is nobody's to look at.
    """
    bounds = (boundary(intake.kustomizations.resolve(top)) or "/",)
    for path in islice(missing, _MOST):
        folder, name = os.path.split(path)
        names: list[str] = []
        if inside(real_path(folder), bounds):
            with suppress(OSError):  # it is not there either, or closed
                names = os.listdir(folder or ".")
        for other in sorted(names):
            target = os.path.join(folder, other)
            is_near = is_slip(name, other) and os.path.isdir(target)
            if is_near and inside(real_path(target), bounds) and intake.texts.anywhere(target):
                return True
    return False


def is_misplaced(intake: SourceIntake, top: str, reach: Reach, missing: Iterable[str]) -> bool:
    """Whether something *missing* of the *reach* of *top* means a folder of KubeVirt's objects by a wrong way.

    Not where somebody else may put there what is missing: git ignores it, say.
    """
    from render.manifests.sources.listed import absent

    bounds = boundary(intake.kustomizations.resolve(top))
    lacking = {real_path(path) for path in missing if not os.path.lexists(path)}
    if not bounds or not lacking:
        return False
    meant = {
        path: target
        for file in reach.kustomizations
        for path, target in _by_another_way(intake, file, lacking)
        if intake.texts.reached(intake.reach(target, bounds))
    }
    own = [path for path in meant if inside(path, (bounds,))]
    return any(absent.unprovided(intake, bounds, own))


def _by_another_way(
    intake: SourceIntake, file: str, lacking: Collection[str]
) -> Iterator[tuple[str, str]]:
    """What the kustomization *file* lists of what is *lacking*, resolved, each with the folder that it probably means.

    That is one to which more or fewer ``..`` lead, or whose way has a slip: ``base2`` may be meant for who adds it.
    """
    from render.manifests.blame import missing

    folder = os.path.dirname(file) or "."
    loaded = intake.kustomizations.load(file, intake.limits)
    references = [reference for named in loaded.references for reference in named]
    paths = [intake.kustomizations.resolve(os.path.join(folder, each.entry)) for each in references]
    listed = {*paths}
    wanted = (
        (reference, path)
        for reference, path in zip(references, paths, strict=True)
        if reference.is_resource and path in lacking
    )
    for reference, path in islice(wanted, _MOST):
        near = missing.near(reference.entry, folder, listed, kustomization.find)
        target = os.path.normpath(os.path.join(folder, near))
        if near and os.path.isdir(target) and _is_same_way(reference.entry, near):
            yield path, target


def _is_same_way(entry: str, near: str) -> bool:
    """Whether *entry* is *near* but for the number of its ``..`` or for slips."""
    steps, others = (
        [step for step in os.path.normpath(way).split(os.sep) if step != os.pardir]
        for way in (entry, near)
    )
    return len(steps) == len(others) and all(
        step == other or is_slip(step, other) for step, other in zip(steps, others, strict=True)
    )


def _listed(intake: SourceIntake, folder: str) -> set[str]:
    """The resolved names of what the kustomization of *folder* lists."""
    return kustomization.listed(
        (folder,), intake.limits, intake.kustomizations, kustomization.RESOURCES
    )


def _nearest(real: str, folders: Collection[str]) -> str:
    """Which of the resolved *folders* is the nearest around the file *real*; ``""`` where none is."""
    while real != (folder := os.path.dirname(real)):
        if folder in folders:
            return folder
        real = folder
    return ""
