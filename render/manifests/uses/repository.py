"""Which addresses mean the repository that is read, and where its paths lead."""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import discover, kustomization
from render.manifests.discover import join, tidy
from render.manifests.kustomization import KnownKustomizations
from render.manifests.sources.texts import Texts
from render.manifests.uses import values
from render.manifests.uses.use import AbsentError, ElsewhereError, UnevaluatedError, texts
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.system import checkout, files
from render.system.files import boundary, inside, real_path
from render.yaml.budget import Limits
from render.yaml.reader import Read, read

_ADDRESS = pattern(
    r"(?:(?:[a-z][a-z0-9+.-]*)://)?(?:[^@/]*@)?(?P<host>[^:/]+)(?::\d+(?=/))?[:/](?P<path>.+)",
    re.IGNORECASE,
)


class Home:
    """The repository around what is read below *path*, of which *top* is the resolved first folder.

    *layout* says what is below it, *texts* where an object of KubeVirt's may stand, *known* what kustomizations say.
    """

    def __init__(
        self,
        path: str,
        texts: Texts,
        limits: Limits,
        layout: "RootsLayout",
        known: KnownKustomizations,
    ) -> None:
        self.path = tidy(path)
        self._texts = texts
        self.limits = limits
        self._layout = layout
        self.known = known
        #: What is asked of one folder by each object that applies it.
        self._is_chart_with_machines = cache(self._holds_machines_as_chart)
        self._is_built_with_machines = cache(self._holds_machines_once_built)
        self.read = cache(self._contents)
        self._real = real_path(path)
        self.top = boundary(self._real) or self._real

    @cached_property
    def _addresses(self) -> "frozenset[_Address]":
        return frozenset(map(_parted, checkout.remotes(self.top)))

    def claimed(self, address: str) -> tuple[str, ...]:
        """What has to be assumed so that *address* means this repository. Raises UnevaluatedError where it does not."""
        assumption = self.assumption(address)
        if assumption is None:
            raise ElsewhereError
        return (assumption,) if assumption else ()

    def assumption(self, address: str) -> str | None:
        """What has to be assumed so that *address* means this repository; ``""`` for nothing, None where it does not.

        Forks and mirrors keep the name of what they come from, and a repository without a remote may have any.
        """
        parted = _parted(address)
        if parted in self._addresses:
            return ""
        names = {os.path.basename(path) for _, path in self._addresses}
        if not names or os.path.basename(parted[1]) in names:
            return f"{address} is this repository"
        return None

    def folder(self, path: str) -> str:
        """The folder *path* of the repository, as it is shown. Raises UnevaluatedError where it is not below."""
        return self._path_inside(path, self.top)

    def absent_step(self, pattern: str) -> str:
        """The first folder that *pattern* spells out and that is not there, as it is shown; ``""`` where all are."""
        target = self.top
        for step in pattern.split("/"):
            if "*" in step or "?" in step:
                return ""
            target = os.path.join(target, step)
            if not os.path.lexists(target):
                return self.display_name(target)
        return ""

    def demand(self, folder: str, place: FieldPath, reason: str) -> None:
        """Raise AbsentError for the *reason* if *folder*, which the field at *place* names, is not there, or a file."""
        if not checkout.holds(self.top, os.path.relpath(real_path(folder), self.top)):
            raise AbsentError(reason, folder, place)
        if os.path.isfile(folder):
            raise AbsentError(f"{reason}, but a file", folder, place)

    def file(self, path: str, around: str) -> str:
        """The file *path*, seen from the folder *around*, or from the top where it begins with a slash."""
        return self._path_inside(path, self.top if path.startswith("/") else real_path(around))

    def _path_inside(self, path: str, around: str) -> str:
        target = os.path.normpath(f"{around}/{path}")
        is_inside = "\0" not in path and inside(target, [self.top]) and self.is_inside(target)
        if not is_inside:
            raise UnevaluatedError(
                "path out of the repository", f"{path} leads out of the repository"
            )
        return self.display_name(target)

    def is_inside(self, file: str) -> bool:
        """Whether *file* is in the repository, links followed."""
        return inside(real_path(file), [self.top])

    def display_name(self, target: str) -> str:
        """How the absolute path *target* is shown."""
        below = os.path.relpath(target, self._real)
        if below.split("/", maxsplit=1)[0] == "..":
            return os.path.relpath(target)
        return self.path if below == "." else join(self.path, below)

    def is_chart_of_machines(self, folder: str) -> bool:
        """Whether *folder* is a chart in whose files an object of KubeVirt's may stand."""
        return self._is_chart_with_machines(folder)

    def _holds_machines_as_chart(self, folder: str) -> bool:
        texts = self._texts
        return discover.is_chart(folder) and (texts.anywhere(folder) or texts.in_chart(folder))

    def is_chart_with(self, folder: str, has_machines: bool) -> bool:  # noqa: FBT001 - what is asked
        """Whether *folder* is a chart that makes VMs: of its own files, or of values, if these *has_machines*."""
        return self.is_chart_of_machines(folder) or (has_machines and discover.is_chart(folder))

    @cached_property
    def has_charts_of_machines(self) -> bool:
        """Whether an object of KubeVirt's may stand in a chart below what is read."""
        return any(map(self.is_chart_of_machines, self._layout.charts))

    @cached_property
    def has_kustomizations_of_machines(self) -> bool:
        """Whether an object of KubeVirt's may stand in what a kustomization below what is read makes."""
        return any(map(self.is_built_of_machines, sorted(self._layout.kustomizations)))

    def holds_machines(self, loose: Iterable[str]) -> bool:
        """Whether an object of KubeVirt's may stand in the files *loose*, in a chart or in a kustomization."""
        return (
            self._texts.any(loose)
            or self.has_kustomizations_of_machines
            or self.has_charts_of_machines
        )

    def is_built_of_machines(self, folder: str, options: Any = None) -> bool:
        """Whether what is built of *folder*, edited by *options*, may hold an object of KubeVirt's.

        Patches among these may make one of any object, and components too.
        """
        if options and values.may_hold(options):
            return True
        return self._is_built_with_machines(folder) or any(
            map(self._is_built_with_machines, self._components(folder, options))
        )

    def _components(self, folder: str, options: Any) -> Iterator[str]:
        """The folders of the components that *options* add to that of *folder*, as far as they are there."""
        for path in texts(options, "components"):
            with contextlib.suppress(UnevaluatedError):
                if os.path.isdir(component := self.file(path, folder)):
                    yield component

    def _holds_machines_once_built(self, folder: str) -> bool:
        if kustomization.find(folder) is None:
            return self._texts.anywhere(folder)
        return self._texts.reached(
            kustomization.reach(
                folder, self.limits, allow_remote=True, bounds=self.top, known=self.known
            )
        )

    def _contents(self, path: str) -> Read | None:
        """What the file *path* holds, parsed once however many ask; None where it cannot be read."""
        data = files.read(path, path, self.limits.file_bytes)
        return None if isinstance(data, Diagnostic) else read(data, path, self.limits)

    def is_configured(self, folder: str, transformer: bytes, options: Any) -> bool:
        """Whether configurations in what is built of *folder*, edited by *options*, name fields for *transformer*."""
        reach = kustomization.reach(
            folder, self.limits, allow_remote=True, bounds=self.top, known=self.known,
            components=[*self._components(folder, options)],
        )  # fmt: skip
        folders = sorted(reach.folders)
        named = kustomization.listed(folders, self.limits, self.known, {"configurations"})
        return self._texts.mention(sorted(named), transformer)

    def is_part(self, folder: str) -> bool:
        """Whether *folder* is otherwise read as a part of kustomizations alone, and may hold KubeVirt's objects."""
        real = real_path(folder)
        if real in self._layout.kustomizations:
            return real not in self._layout.tops and self.is_built_of_machines(folder)
        if not os.path.isdir(real) or kustomization.find(folder) or discover.is_chart(folder):
            return False
        is_owned = inside(real, self._layout.kustomizations)
        return is_owned and self._texts.anywhere(folder)

    def is_read(self, folder: str) -> bool:
        """Whether *folder* is below what is read."""
        return inside(real_path(folder), [self._real])


class RootsLayout(NamedTuple):
    """What is below the folder that is read: *charts* and, by their resolved folders, *kustomizations*.

    *tops* are those of them to which no other one refers.
    """

    charts: Sequence[str]
    kustomizations: frozenset[str]
    tops: frozenset[str]

    @classmethod
    def of(
        cls, charts: Sequence[str], kustomizations: Iterable[str], tops: Iterable[str]
    ) -> "RootsLayout":
        """That of these folders, as they are shown."""
        resolved = (frozenset(map(real_path, folders)) for folders in (kustomizations, tops))
        return cls(charts, *resolved)


class _Address(NamedTuple):
    """Where a repository is, whichever notation its address has."""

    host: str
    path: str


def _parted(address: str) -> _Address:
    match = _ADDRESS.fullmatch(address.strip().rstrip("/"))
    host, path = (match["host"], match["path"]) if match else ("", address.rstrip("/"))
    return _Address(host.lower(), path.strip("/").removesuffix(".git").lower())
