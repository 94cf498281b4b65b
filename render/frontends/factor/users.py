"""Which inputs of a repository apply a file, each by itself, and what they are once files say something new."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from render.frontends.fixing import files_of, in_use
from render.frontends.request.request import Request
from render.frontends.session import reading, reading_roots
from render.manifests import discover, kustomization
from render.manifests.documents import Documents
from render.manifests.sources import loading
from render.manifests.sources.passed_over import Unread
from render.manifests.uses.use import FolderUse
from render.model.named_tuple import NamedTuple
from render.system import files
from render.system.files import real_path


class AppliedInput(NamedTuple):
    """What is applied by itself: the kustomization in *folder*, or the files there, as *use* has it if one does.

    *reads* are the files that the kustomization reaches, by their resolved names; None where there is none.
    """

    folder: str
    use: FolderUse | None = None
    reads: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """What it is called among other inputs."""
        return f"{self.folder} ({self.use.title})" if self.use is not None else self.folder

    def has(self, file: str) -> bool:
        """Whether it applies *file*."""
        real = real_path(file)
        if self.reads is not None:
            return real in self.reads
        return self.use is not None and self.use.applying()(real)

    def builds(self, folder: str) -> bool:
        """Whether it takes what the kustomization in *folder* is built to."""
        file = kustomization.find(folder)
        return self.reads is not None and file is not None and self.has(file)


class InputUsers:
    """The inputs of the repositories of the paths of a request, by the files that they apply."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._limits = request.reading.limits
        self._known = kustomization.KnownKustomizations()

    def own(self, loaded: Documents) -> AppliedInput:
        """The input that *loaded* was read of, which kustomize builds."""
        real = real_path(loaded.folder)
        for known in self._inputs:
            title = known.use.title if known.use is not None else ""
            is_same = real_path(known.folder) == real and title == loaded.user
            if is_same and known.reads is not None:
                return known
        return self._kustomized(loaded.folder)

    def _kustomized(self, folder: str, use: FolderUse | None = None) -> AppliedInput:
        """The kustomization in *folder* as an input."""
        components = use.edit.components if use is not None and use.edit is not None else ()
        return AppliedInput(folder, use, files_of(folder, self._limits, self._known, components))

    def of(self, names: Iterable[str]) -> list[AppliedInput]:
        """All that apply one of the files *names*, each once."""
        users: dict[str, AppliedInput] = {}
        for file in names:
            real = real_path(file)
            users |= {user.name: user for user in self._readers.get(real, ())}
            users |= {user.name: user for user in self._directories if user.has(file)}
        return [*users.values()]

    def why_not(self, file: str) -> str:
        """Why *file* is left alone, ``""`` if it need not be: several use it of which none takes what another is."""
        users = [user for user in self.of([file]) if user.reads is not None]
        last = [
            user.name
            for user in users
            if not any(
                other.builds(user.folder) and not user.builds(other.folder) for other in users
            )
        ]
        return in_use(last, file) if len(last) > 1 else ""

    def built(
        self, user: AppliedInput, request: Request, contents: Mapping[str, bytes]
    ) -> Documents:
        """What kustomize makes of *user* where files say *contents*, by their resolved names."""
        unread = Unread([user.folder], []) if user.use is None else Unread([], [], [user.use])
        with files.overlaid(contents):
            (made,) = loading.made(unread, reading(request, None))
        return made

    @cached_property
    def _readers(self) -> Mapping[str, Sequence[AppliedInput]]:
        """The kustomizations that reach each file, by its resolved name."""
        readers: dict[str, list[AppliedInput]] = {}
        for known in self._inputs:
            for real in known.reads or ():
                readers.setdefault(real, []).append(known)
        return readers

    @cached_property
    def _directories(self) -> Sequence[AppliedInput]:
        """The folders that are applied as they are."""
        return [known for known in self._inputs if known.reads is None]

    @cached_property
    def _inputs(self) -> Sequence[AppliedInput]:
        tops = dict.fromkeys(_top(path) for path in self._request.paths or (".",))
        inputs: list[AppliedInput] = []
        for top in tops:
            unread = loading.inputs_below(top, reading_roots(self._request, None))
            inputs += map(self._kustomized, unread.kustomizations)
            inputs += (
                self._kustomized(use.folder, use) for use in unread.uses if use.release is None
            )
            inputs += (
                AppliedInput(use.folder, use)
                for use in unread.plain
                if not kustomization.find(use.folder) and not discover.is_chart(use.folder)
            )
        return inputs


def _top(path: str) -> str:
    """The first folder of the repository around *path*, or without one the folder that it is or stands in."""
    near = path if os.path.isdir(path) else os.path.dirname(path) or "."
    top = files.repository(real_path(near))
    return os.path.relpath(top or near)
