"""Files that kustomizations list and git does not have: the build succeeds here, and nowhere else."""

import os
from collections.abc import Iterator, Sequence
from itertools import islice

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.manifests import kustomization
from render.manifests.kustomization import LOCK, Reach, Reference
from render.manifests.sources.intake import SourceIntake
from render.model.named_tuple import NamedTuple
from render.system import files
from render.system.files import boundary, inside, real_path
from render.yaml.reader import locate, read

_MOST_ASKED = 2_000
"""Files that git is asked about."""
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

    top = boundary(real_path(folder))
    if not top or not files.repository(top) or files.is_checkout(top):
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
        indexed = _IndexedEntries(intake, top)
        told = (
            _told(intake, entry, ignoring.get(entry.real, ""))
            for entry in meant
            if entry.real in ignoring or indexed.lists(entry)
        )
        return [*islice(told, _MOST)]
    except git.GitError:  # not installed, or not for us to ask
        return []


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


class _IndexedEntries:
    """What the kustomizations of a repository say as git has them."""

    def __init__(self, intake: SourceIntake, top: str) -> None:
        self._limits = intake.limits
        self._top = top
        self._known: dict[str, set[str]] = {}

    def lists(self, entry: _ListedFile) -> bool:
        """Whether git has that *entry* too. Raises GitError."""
        if entry.file not in self._known:
            from render.system import git

            name = os.fsencode(os.path.relpath(entry.file, self._top))
            (text,) = git.objects(self._top, [b":" + name])
            documents = read(text or b"", entry.display_name, self._limits).documents
            self._known[entry.file] = {
                reference.entry
                for document in documents
                for reference in kustomization.references(document.body)
            }
        return entry.reference.entry in self._known[entry.file]


def _told(intake: SourceIntake, entry: _ListedFile, rule: str) -> Diagnostic:
    """That git does not have what *entry* names: by the *rule* of patterns, if it ignores it."""
    loaded = intake.kustomizations.load(entry.display_name, intake.limits)
    origin = loaded.documents[entry.number].origin
    line, column = locate(loaded.data, origin, entry.reference.path)
    place = Location(file=entry.display_name, line=line, column=column)
    path = os.path.relpath(entry.real)
    who = f"whoever builds {os.path.dirname(entry.display_name) or '.'} from git, as Argo CD does, fails"
    if not rule:
        return codes.NOT_IN_GIT.at(
            place, f"git does not have {path}: {who}", help=f"add it: git add {path}"
        )
    return codes.NOT_IN_GIT.at(
        place,
        f"git ignores {path} ({rule}): {who} unless something makes it before",
        help=f"take the pattern out, or add the file by force: git add -f {path}",
        severity=Severity.INFO,
    )
