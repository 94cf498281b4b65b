"""Files that kustomizations list and git does not have: the build succeeds here, and nowhere else."""

import os
from collections.abc import Iterator, Sequence
from itertools import islice

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.manifests import kustomization
from render.manifests.kustomization import LOCK, Reach, Reference
from render.manifests.sources.intake import SourceIntake
from render.model.counting import counted
from render.model.named_tuple import NamedTuple
from render.system import files
from render.system.files import inside, real_path
from render.yaml.budget import Limits
from render.yaml.reader import locate, read

_MOST_ASKED = 2_000
"""Files that git is asked about."""
_AT_ONCE = 64
"""Kustomizations that git is asked for at once."""
_MOST = 5
"""Files that are told one by one."""


class _ListedFile(NamedTuple):
    """The *reference*, in the document *number* of the kustomization *file*, by which the file *real* is read.

    Both are resolved; *display_name* is how the kustomization is called.
    """

    display_name: str
    file: str
    number: int
    reference: Reference
    real: str


def diagnostics(intake: SourceIntake, folder: str, reaches: Sequence[Reach]) -> list[Diagnostic]:
    """What the kustomizations of *reaches*, below the *folder* that is read, list that git does not have.

    Not in a kustomization that is itself not in git, nor before git has the entry: somebody is at work there. What git
    ignores is a note, for something else may make it before the build; of a lock that is told as of each.
    """
    from render.system import git

    top = files.repository(
        real_path(folder)
    )  # of a submodule or a linked work tree that has an index of its own
    if not top or files.is_checkout(top):
        return []
    entries = [*islice(_entries(intake, reaches, top), _MOST_ASKED)]
    names = dict.fromkeys(
        os.path.relpath(path, top) for entry in entries for path in (entry.file, entry.real)
    )
    try:
        listed = git.untracked(top, names) if names else []
        untracked = {os.path.join(top, name) for name in listed}
        meant = [e for e in entries if e.real in untracked and e.file not in untracked]
        ignoring = git.ignoring(top, {entry.real for entry in meant}) if meant else {}
        indexed = _indexed(top, [e for e in meant if e.real not in ignoring], intake.limits)
    except git.GitError:  # not installed, or not for us to ask
        return []
    lost = [e for e in meant if e.real in ignoring or e.reference.entry in indexed.get(e.file, ())]
    told = [_told(intake, entry, ignoring.get(entry.real, "")) for entry in lost[:_MOST]]
    if len(lost) > _MOST:
        words = (
            f"{told[-1].message}; and {counted(len(lost) - _MOST, 'more file')} of kustomizations"
        )
        told[-1] = told[-1]._replace(message=words)
    return told


def _entries(intake: SourceIntake, reaches: Sequence[Reach], top: str) -> Iterator[_ListedFile]:
    """The entries of the kustomizations of *reaches* that name a file or a kustomization below *top*."""
    known = intake.kustomizations
    for file in dict.fromkeys(file for reach in reaches for file in reach.kustomizations):
        folder = os.path.dirname(file) or "."
        for number, references in enumerate(known.load(file, intake.limits).references):
            for reference in references:
                target = known.target(folder, reference.entry)
                path = kustomization.find(target) or target if reference.is_resource else target
                real = known.resolve(path)
                is_own = inside(real, (top,)) and os.path.basename(real) != LOCK
                if is_own and os.path.isfile(real):
                    yield _ListedFile(file, known.resolve(file), number, reference, real)


def _indexed(top: str, entries: Sequence[_ListedFile], limits: Limits) -> dict[str, set[str]]:
    """What the kustomizations of *entries* list as git has them, by their files. Raises GitError.

    Not of those with a line break in their names: git reads a name a line.
    """
    from render.system import git

    called = {entry.file: entry.display_name for entry in entries if "\n" not in entry.file}
    found: dict[str, set[str]] = {}
    for start in range(0, len(called), _AT_ONCE):
        batch = [*called][start : start + _AT_ONCE]
        names = [b":" + os.fsencode(os.path.relpath(file, top)) for file in batch]
        for file, text in zip(batch, git.objects(top, names), strict=True):
            documents = read(text or b"", called[file], limits).documents
            references = (kustomization.references(document.body) for document in documents)
            found[file] = {each.entry for listed in references for each in listed}
    return found


def _told(intake: SourceIntake, entry: _ListedFile, rule: str) -> Diagnostic:
    """That git does not have what *entry* names: by the *rule* of patterns, if it ignores it."""
    import shlex

    loaded = intake.kustomizations.load(entry.display_name, intake.limits)
    origin = loaded.documents[entry.number].origin
    line, column = locate(loaded.data, origin, entry.reference.path)
    place = Location(file=entry.display_name, line=line, column=column)
    path = os.path.relpath(entry.real)
    word = shlex.quote(path)
    who = f"whoever builds {os.path.dirname(entry.display_name) or '.'} from git, as Argo CD does, fails"
    if not rule:
        return codes.NOT_IN_GIT.at(
            place, f"git does not have {path}: {who}", help=f"add it: git add {word}"
        )
    return codes.NOT_IN_GIT.at(
        place,
        f"git ignores {path} ({rule}): {who} unless something makes it before",
        help=f"take the pattern out, or add the file by force: git add -f {word}",
        severity=Severity.INFO,
    )
