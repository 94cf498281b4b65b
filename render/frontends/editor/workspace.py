"""A folder that an editor has open: what was read and rendered of it, kept up with what is typed.

Loose files are read as they are typed. What kustomize and helm make of a folder is made again when a file is saved,
and only where the folder is trusted: before that no program is started.
"""

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence

from render.frontends import session
from render.frontends.editor import parts, texts
from render.frontends.editor.parts import RenderedPart
from render.frontends.inputs.neighbours import with_neighbours
from render.frontends.parts import FleetPart
from render.frontends.request import config
from render.frontends.request.commands import Call
from render.frontends.request.request import Request, request
from render.manifests import kustomization
from render.manifests.buffers import Buffers
from render.manifests.discover import CHART_FILE
from render.manifests.documents import Documents
from render.manifests.relevance import Scope
from render.manifests.repository.neighbours import Neighbours
from render.manifests.sources import loading
from render.manifests.sources.reading import GIT, PROGRAMS, Reading
from render.model.counting import counted
from render.report.findings import Finding, find, merge
from render.system import signals
from render.system.files import inside, real_path
from render.system.files import read as read_file


class Workspace:
    """The *folder*, as `Call` asks for it; *trusted*: programs may be started for it.

    Paths are seen from it: whoever works on it does so `inside` of it.
    """

    def __init__(
        self, folder: str, call: Call, environ: Mapping[str, str], *, trusted: bool
    ) -> None:
        self.folder = real_path(folder)
        self.trusted = trusted
        self.buffers: dict[str, str] = {}
        self.findings: Sequence[Finding] = ()
        self.parts: Mapping[tuple[str, bool], RenderedPart] = {}
        self.fault: Finding | None = None
        self._call, self._environ = call, environ
        self._request: Request | None = None
        self._loose = Documents()
        self._built: list[Documents] = []
        self._known = texts.KnownTexts()
        self._stamps: dict[str, object] = {}
        self._plain: Documents | None = None

    @property
    def request(self) -> Request:
        """How the folder is read and rendered: what its configuration says counts when it is read."""
        if self._request is None:
            self._request = request(self._call, self._environ)
        return self._request

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Paths are seen from the folder, inside of the deadline; each time it is a run of its own."""
        self._request = self.request.as_new_run()
        with contextlib.chdir(self.folder), signals.deadline(self.request.called.deadline):
            yield

    def path_of(self, real: str) -> str | None:
        """How the file *real* is called as seen from the folder; None outside of it, wherever links lead."""
        real = real_path(real)
        return os.path.relpath(real, self.folder) if inside(real, [self.folder]) else None

    def text(self, file: str) -> str | None:
        """What *file* says to whoever edits it, else on the disk; None where it cannot be read."""
        real = real_path(os.path.join(self.folder, file))
        if real in self.buffers:
            return self.buffers[real]
        data = read_file(real, file, self.request.reading.limits.file_bytes)
        return data.decode(errors="replace") if isinstance(data, bytes) else None

    def read(self, *, build: bool = True) -> None:
        """Read the folder again, and *build* what is built in it where it is trusted."""
        if build:
            self._request = None
        known = texts.KnownTexts(self._known)
        inputs = self._loaded(PROGRAMS if build else frozenset({GIT}), known)
        layout, limits = self.request.reading.layout, self.request.reading.limits
        inputs[0].diagnostics += config.unmatched(layout, limits)
        known.forget()
        self._known = known
        self._loose = next((loaded for loaded in inputs if not loaded.is_one_root), Documents())
        if build:
            self._built = [loaded for loaded in inputs if loaded.is_one_root]
        self._render(self._touched())

    def edit(self, file: str) -> None:
        """Take notice of what the buffer of *file* says, or again what the disk does."""
        self._plain = None
        text = self.text(file)
        for loaded in self._built:
            if text is not None and file in loaded.data:
                limit = self.request.reading.limits.file_bytes
                loaded.data.add_buffer(file, limit, text.encode("utf-8", "surrogatepass"))
        changed = texts.edited(self._loose, file, text, self._reading()) if text else None
        if changed is not None:
            self._loose = changed
            self._render({file})
        elif any(file in loaded.data for loaded in self._built) and file not in self._loose.data:
            self._render({file})  # what becomes of it is known once it is saved
        else:
            self.read(build=False)

    def plain(self) -> Documents:
        """Every manifest of the folder as its author wrote it: what names lead to."""
        if self._plain is None:
            (self._plain,) = self._loaded(frozenset({GIT}), self._known, kustomize="never")
        return self._plain

    def unbuilt(self) -> str:
        """What is not built since the folder is not trusted, in words; ``""`` where nothing is left out."""
        if self.trusted:
            return ""
        counts = self._loose.unseen.counts()
        words = [
            counted(number, what)
            for what in ("kustomization", "Helm chart")
            if (number := counts[what])
        ]
        return " and ".join(words)

    def _loaded(
        self, programs: frozenset[str], known: texts.KnownTexts, kustomize: str = ""
    ) -> list[Documents]:
        reading = self._reading()._replace(
            buffers=Buffers(self.buffers),
            known=known,
            programs=programs if self.trusted else frozenset(),
        )
        if kustomize:
            reading = reading._replace(kustomize=kustomize)
        return loading.load_all((".",), reading)

    def _reading(self) -> Reading:
        layout = self.request.reading.layout
        return session.reading(self.request, None)._replace(
            scope=Scope(layout.exclude, shared=layout.shared)
        )

    def _render(self, changed: Collection[str]) -> None:
        """Render what may have become something else now that the files *changed* say something else."""
        request = self.request
        rendered: dict[tuple[str, bool], RenderedPart] = {}
        known, self.parts = self.parts, {}  # what is not finished has used it up
        findings: list[Finding] = find(request.faults.diagnostics, request.faults.sources)
        if not findings:
            inputs = [texts.copied(loaded) for loaded in (self._loose, *self._built)]
            inputs = session.laid_out(inputs, request)
            neighbours = Neighbours(inputs, request.reading.layout.shared)
            for loaded in inputs:
                part = FleetPart(loaded, with_neighbours(request, loaded, neighbours))
                key = loaded.folder, loaded.is_one_root
                before = known.get(key)
                rendered[key] = parts.render(part, request.settings, before, changed)
                findings += rendered[key].placed.findings
        self.parts = rendered
        self.findings = merge(findings)
        files = {
            place.file for finding in self.findings for place in (finding.place, *finding.related)
        }
        self._stamps = {file: _stamp(file) for file in files if file}

    def _touched(self) -> set[str]:
        """The files with findings that say something else than they did, on the disk or in a buffer."""
        return {file for file, stamp in self._stamps.items() if _stamp(file) != stamp} | {
            os.path.relpath(real, self.folder) for real in self.buffers
        }

    def place_of(self, finding: Finding) -> tuple[str, int, int]:
        """File, line and column to show *finding* at: what a program printed has the place of what it made that of."""
        file, line, column = finding.place[:3]
        if file and not os.path.isfile(file) and real_path(file) not in self.buffers:
            folder = file.partition(" (")[0]
            built = kustomization.find(folder) if os.path.isdir(folder) else None
            return built or os.path.join(folder, CHART_FILE), 1, 1
        return file, line, column


def _stamp(file: str) -> object:
    """What tells that *file* was written anew."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
