"""Fixes at work: chosen, tried out on texts that nobody has written yet, and kept only if nothing else changes."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from render.diagnostics import diagnostic as diagnostics
from render.diagnostics.codes import UNKNOWN_FIELD
from render.diagnostics.diagnostic import Severity
from render.frontends.parts import FleetPart
from render.frontends.request.request import Request
from render.manifests import discover, kustomization
from render.manifests.fixes import EditedPlaces, FileFix, FileTexts, by_file
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree
from render.pipeline.migration import trial
from render.report.findings import Finding
from render.system import files
from render.system.files import boundary, inside, real_path
from render.yaml.budget import Limits

_ROUNDS = 20
"""A fix may bring to light what another finding hid; more often than this nothing does."""
_NAMED = 3
_UNKNOWN = UNKNOWN_FIELD.number


class Look(NamedTuple):
    """What a look at the input finds: all *findings* and, of these, those that may be *mended*, by *parts*."""

    findings: Sequence[Finding]
    mended: Sequence[Finding]
    parts: Sequence[FleetPart]


class Fixed(NamedTuple):
    """The *texts* of files, by their names, with what was *done* to them, a line each; *last* is the look at these.

    *left* says why a fix was not made, by what it does; *known* is what the files were read as.
    """

    texts: dict[str, str]
    done: list[str]
    left: dict[Hashable, str]
    last: Look
    known: dict[str, bytes]


class _Choice(NamedTuple):
    """A *fix* for a *finding*."""

    finding: Finding
    fix: FileFix

    @property
    def is_reading(self) -> bool:
        """Whether it lets something be read that was not."""
        return self.finding.diagnostic.code == _UNKNOWN

    @property
    def does_away(self) -> bool:
        """Whether it takes away what somebody wrote: where nothing is in it, what belongs there may stand elsewhere."""
        return any(edit.edit.action == "remove" or edit.edit.value == [] for edit in self.fix.edits)

    @property
    def words(self) -> str:
        """What it does, in a line."""
        ref = self.finding.diagnostic.resource
        return f"{self.finding.place}: {ref or self.finding.diagnostic.code}: {self.fix.title}"


def fixed(request: Request, look: Callable[[], Look], *, unsafe: bool) -> Fixed:
    """What is left when every safe fix is made that *look* finds, and where *unsafe* those without a choice.

    Nothing is written: *look* sees the new texts, as often as something changes. A fix is kept if the VMI of each
    machine stays what it is (of an unsafe one: of the other machines), its finding is gone, and none is new but those
    of a machine that could not be rendered before.
    """
    return _Fixing(request, look).run(unsafe=unsafe)


class _Fixing:
    """The texts that are new by now, and what stands against others."""

    def __init__(self, request: Request, look: Callable[[], Look]) -> None:
        self._request = request
        self._look = look
        self._files = Editable(request)
        self._originals: dict[str, bytes] = {}
        self._texts: dict[str, str] = {}
        self._edited = FileTexts(self._data, request.reading.limits)
        self._refused: dict[Hashable, str] = {}
        self._done: list[str] = []
        self._waiting: list[_Choice] = []
        self._now = _Seen(look())

    def run(self, *, unsafe: bool) -> Fixed:
        for is_safe in (True, False)[: 1 + unsafe]:
            for _ in range(_ROUNDS):
                refused = len(self._refused)
                choices = list(self._choices(is_safe=is_safe))
                made = self._make(choices)
                self._done += [choice.words for choice in made]
                if not made and len(self._refused) == refused:
                    break
        for choice in self._waiting:
            self._refuse(choice, "an unknown field of the object may be what it misses")
        known = {file: self._originals[file] for file in self._texts}
        return Fixed(self._texts, self._done, self._refused, self._now.look, known)

    def _choices(self, *, is_safe: bool) -> Iterator[_Choice]:
        """The fixes to be made next, of which none touches what another one does."""
        taken = EditedPlaces()
        worst_first = sorted(self._now.look.mended, key=_rank)
        fixes = ((finding, finding.fix(is_safe=is_safe)) for finding in worst_first)
        choices = [_Choice(finding, fix) for finding, fix in fixes if fix is not None]
        choices = [choice for choice in choices if _key(choice) not in self._refused]
        unread = {_about(choice.finding) for choice in choices if choice.is_reading}
        unknown = {_about(found) for found in worst_first if found.diagnostic.code == _UNKNOWN}
        self._waiting = []
        for choice in choices:
            # What nobody reads as it is written may be what others miss, who would do away with the rest.
            if _about(choice.finding) in unread and not choice.is_reading:
                continue
            if choice.does_away and not choice.is_reading and _about(choice.finding) in unknown:
                self._waiting.append(choice)
                continue
            why = next(
                filter(None, (self._files.why_not(edit.file) for edit in choice.fix.edits)), ""
            )
            if why:
                self._refuse(choice, why)
            elif not taken.overlap(choice.fix.edits):
                taken.take(choice.fix.edits)
                yield choice

    def _refuse(self, choice: _Choice, why: str) -> None:
        self._refused[_key(choice)] = f"{choice.words}: not done: {why}"

    def _make(self, choices: Sequence[_Choice]) -> list[_Choice]:
        """Make those of *choices* against which nothing speaks."""
        accepted: list[_Choice] = []
        for choice, why in trial.add(accepted, choices, self._objection):
            self._refuse(choice, why)
        if accepted:
            texts = self._rewritten(accepted)
            if isinstance(texts, str) or self._objection(accepted):
                return []
            self._texts, self._now = {**self._texts, **texts}, self._tried[1]
        return accepted

    _tried: tuple[Hashable, "_Seen"]

    def _objection(self, choices: Sequence[_Choice]) -> str:
        """What speaks against *choices*, ``""`` if nothing."""
        texts = self._rewritten(choices)
        if isinstance(texts, str):
            return texts
        after = self._after(texts)
        unsafe = {
            edit.file for choice in choices if not choice.fix.safe for edit in choice.fix.edits
        }
        why = self._now.objection(after, choices, unsafe)
        if why and any(self._unsteady):
            return self._now.objection(after, choices, unsafe, self._unsteady)
        return why

    @cached_property
    def _unsteady(self) -> "_Unsteady":
        """What is another one each time that it is looked at, though nothing is edited: a chart may draw lots."""
        if not any(part.loaded.filled for part in self._now.look.parts):
            return _STEADY
        contents = {real_path(file): text.encode() for file, text in self._texts.items()}
        with files.overlaid(contents):
            again = _Seen(self._look())
            again.complete()
        others = (self._now.counts - again.counts) | (again.counts - self._now.counts)
        found = (*self._now.look.findings, *again.look.findings)
        return _Unsteady(
            frozenset(key for key, vmi in self._now.vmis.items() if again.vmis.get(key) != vmi),
            frozenset(finding.place.file for finding in found if _identity(finding) in others),
        )

    def _after(self, texts: Mapping[str, str]) -> "_Seen":
        key = tuple(sorted(texts.items()))
        if getattr(self, "_tried", (None,))[0] != key:
            new = {**self._texts, **texts}
            contents = {real_path(file): text.encode() for file, text in new.items()}
            with files.overlaid(contents):
                state = _Seen(self._look())
                state.complete()
            self._tried = key, state
        return self._tried[1]

    def _rewritten(self, choices: Iterable[_Choice]) -> dict[str, str] | str:
        """The new texts of the files of *choices*, or why there are none."""
        return self._edited.after(by_file(edit for choice in choices for edit in choice.fix.edits))

    def _data(self, file: str) -> bytes:
        if file in self._texts:
            return self._texts[file].encode()
        if file not in self._originals:
            data = files.read(file, file, self._request.reading.limits.file_bytes)
            self._originals[file] = data if isinstance(data, bytes) else b""
        return self._originals[file]


def with_options(
    findings: Iterable[Finding], request: Request, refused: Collection[Hashable] = ()
) -> list[Finding]:
    """*findings* with the option that mends each: not where a file may not be edited, or its fix was *refused*."""
    editable = Editable(request)

    def option(finding: Finding) -> str:
        fix = finding.fix(is_safe=True) or finding.fix(is_safe=False)
        if fix is None or _key(_Choice(finding, fix)) in refused:
            return ""
        if any(editable.why_not(edit.file) for edit in fix.edits):
            return ""
        return "--fix" if fix.safe else "--unsafe-fixes"

    return [
        finding._replace(option=option(finding)) if finding.fixes else finding
        for finding in findings
    ]


def _rank(finding: Finding) -> int:
    return list(Severity).index(finding.diagnostic.severity)


def _key(choice: _Choice) -> Hashable:
    return choice.fix.title, tuple(
        (edit.file, edit.document, edit.path) for edit in choice.fix.edits
    )


class _Unsteady(NamedTuple):
    """Which VMIs, by their keys, and findings, by the files of their places, are others without any edit."""

    vmis: frozenset[tuple[str, str, str, int]] = frozenset()
    files: frozenset[str] = frozenset()


_STEADY = _Unsteady()


class _Seen:
    """What a *look* found, and what the machines of its parts start as."""

    def __init__(self, look: Look) -> None:
        self.look = look

    @cached_property
    def vmis(self) -> dict[tuple[str, str, str, int], Tree]:
        """The VMI of each machine without an error: by folder, release, the file of the machine, and its place."""
        vmis = {}
        for part in self.look.parts:
            resources, settings = part.resources, part.request.settings
            for index, vmi in trial.started(resources, settings).vmis.items():
                if index >= len(resources) or resources[index].ref not in self._broken:
                    vmis[part.loaded.folder, settings.kubevirt, _file(part, index), index] = vmi
        return vmis

    def complete(self) -> None:
        """Know all while the texts are there."""
        _ = self.vmis

    @cached_property
    def _broken(self) -> frozenset[Hashable]:
        return frozenset(
            _about(finding) for finding in self.look.findings if finding.diagnostic.is_error
        )

    @cached_property
    def counts(self) -> Counter[Hashable]:
        """How often each finding is there."""
        return Counter(map(_identity, self.look.findings))

    def objection(
        self,
        after: "_Seen",
        choices: Iterable[_Choice],
        unsafe: set[str],
        unsteady: _Unsteady = _STEADY,
    ) -> str:
        """What speaks against *choices*, which bring the state *after*; in the files *unsafe* VMIs may change.

        What is *unsteady* says nothing.
        """
        for key, vmi in self.vmis.items():
            is_steady = key[2] not in unsafe and key not in unsteady.vmis
            if is_steady and after.vmis.get(key) != vmi:
                return "a VMI would change"
        remaining = Counter(after.counts)
        remaining.subtract(self.counts)
        for finding in after.look.findings:
            if finding.place.file in unsteady.files:
                continue
            if remaining[_identity(finding)] > 0 and _about(finding) not in self._broken:
                return f"it would bring {finding.title}: {finding.text}"
        for choice in choices:
            if remaining[_identity(choice.finding)] >= 0:
                return "the finding would stay"
        return ""


def _file(part: FleetPart, index: int) -> str:
    documents = part.loaded.documents
    return documents[index].origin.file if index < len(documents) else ""


def _identity(finding: Finding) -> Hashable:
    return finding.place.file, diagnostics.identity(finding.diagnostic)


def _about(finding: Finding) -> Hashable:
    return (
        finding.place.file if finding.diagnostic.resource is None else finding.diagnostic.resource
    )


def in_use(users: Sequence[str], file: str) -> str:
    """That all of *users* use *file*, in words."""
    more = f" and {len(users) - _NAMED} more" if len(users) > _NAMED else ""
    return f"{', '.join(users[:_NAMED])}{more} {'use' if len(users) > 1 else 'uses'} {file}"


def files_of(
    folder: str,
    limits: Limits,
    known: kustomization.KnownKustomizations,
    components: Sequence[str] = (),
) -> frozenset[str]:
    """The resolved names of all files that kustomize reads for *folder*, with *components* that others add to it."""
    reach = kustomization.reach(
        folder,
        limits,
        allow_remote=True,
        bounds=boundary(real_path(folder)),
        known=known,
        components=components,
    )
    return frozenset(map(real_path, (*reach.kustomizations, *reach.resources, *reach.others)))


class Editable:
    """Which files may be edited: of the repositories of the paths of a request, and of one root each."""

    def __init__(self, request: Request) -> None:
        self._paths = [real_path(path) for path in request.paths or (".",)]
        self._limits = request.reading.limits
        self._why: dict[str, str] = {}

    def why_not(self, file: str) -> str:
        """Why *file* is not edited, ``""`` if it may be."""
        if file not in self._why:
            self._why[file] = self._reason(file)
        return self._why[file]

    def _reason(self, file: str) -> str:
        real = real_path(file)
        if real != os.path.abspath(file):
            return f"{file} is reached through a link"
        if real.endswith(".json"):
            return f"{file} is JSON, which is not rewritten"
        top = files.repository(os.path.dirname(real))
        if top not in self._tops or not (top or inside(real, self._paths)):
            return f"{file} is not in the repository"
        users = self._users.get(real, ())
        return in_use(users, file) if len(users) > 1 else ""

    @cached_property
    def _tops(self) -> frozenset[str]:
        """The repositories of what was named."""
        folders = (path if os.path.isdir(path) else os.path.dirname(path) for path in self._paths)
        return frozenset(map(files.repository, folders))

    @cached_property
    def _users(self) -> dict[str, list[str]]:
        """The kustomizations that nothing refers to, by the resolved files that they read."""
        folders: dict[str, str] = {}
        for path in self._paths:
            near = path if os.path.isdir(path) else os.path.dirname(path)
            top = files.repository(near) or near
            for folder in discover.walk(top, (top,), plain=False).kustomizations:
                folders.setdefault(real_path(folder), os.path.relpath(folder))
        known = kustomization.KnownKustomizations()
        users: dict[str, list[str]] = {}
        for folder in kustomization.survey([*folders.values()], self._limits, known).tops:
            for real in files_of(folder, self._limits, known):
                users.setdefault(real, []).append(folder)
        return users
