"""What kustomizations make of files that are to change: each is built as it is, and with the new texts."""

import os
from collections.abc import Iterator, Mapping, Sequence

from render.diagnostics.diagnostic import Diagnostic
from render.frontends.request.request import Request
from render.manifests import discover, kustomization, objects
from render.manifests.boxed import kustomize
from render.manifests.boxed.kustomize import KustomizeBuild
from render.manifests.boxed.program import ProgramBounds
from render.manifests.sources import programs
from render.manifests.sources.intake import excess, room
from render.model.resource import from_body
from render.model.tree import Tree
from render.pipeline.input import definitions
from render.pipeline.migration import trial
from render.system import files
from render.system.files import boundary, real_path
from render.system.programs import processes
from render.yaml import reader

_FileContents = Mapping[str, str]


class Builds:
    """The kustomizations that may reach the files below the paths of a request.

    Inside a git repository these are all of it; elsewhere those below the paths and in the folders above them. *fault*
    is why they cannot be built at all, once one of them had to be.
    """

    __slots__ = ("_request", "_roots", "fault")

    def __init__(self, request: Request) -> None:
        self._request = request
        self._roots: list[_Root] | None = None
        self.fault: Diagnostic | None = None

    def objection(self, texts: _FileContents, unsafe: frozenset[str]) -> str:
        """What speaks against the new *texts* by resolved file name; ``""``: every build starts the same VMIs.

        *unsafe*: the files with changes that a VM may show: one that cannot be rendered is an objection to those.
        """
        if self._request.reading.kustomize == "never" or self.fault is not None:
            return ""
        for root in self._all_roots():
            if not texts.keys().isdisjoint(root.reads):
                program = programs.binary(
                    programs.KUSTOMIZE, self._request.reading.kustomize, root.folder
                )
                if isinstance(program, Diagnostic):
                    self.fault = program
                    return ""
                objection = root.objection(texts, unsafe, program, self._request)
                if objection:
                    return objection
        return ""

    def _all_roots(self) -> list["_Root"]:
        if self._roots is None:
            folders = list(_folders(self._request.paths or (".",)))
            tops = kustomization.survey(folders, self._request.reading.limits).tops
            roots = (_Root(folder, folder in tops, self._request) for folder in folders)
            self._roots = [root for root in roots if not root.is_component]
        return self._roots


def _folders(paths: Sequence[str]) -> Iterator[str]:
    """The folders with a kustomization that may reach what is below *paths*, each once."""
    seen: set[str] = set()
    for path in paths:
        real = real_path(path if os.path.isdir(path) else os.path.dirname(path) or ".")
        top = files.repository(real)
        kustomizations = discover.walk(top or real, (top or real,), plain=False).kustomizations
        for folder in (*kustomizations, *_above(real)):
            resolved = real_path(folder)
            if resolved not in seen:
                seen.add(resolved)
                yield os.path.relpath(resolved)


def _above(folder: str) -> Iterator[str]:
    while folder != os.path.dirname(folder):
        if os.path.lexists(os.path.join(folder, ".git")):
            return
        folder = os.path.dirname(folder)
        if kustomization.find(folder) is not None:
            yield folder


class _Root:
    """A folder that can be built; *reads* are its files, by their resolved names."""

    __slots__ = (
        "_after", "_before", "_reach", "folder", "is_component", "is_top", "reads",
    )  # fmt: skip

    def __init__(self, folder: str, is_top: bool, request: Request) -> None:  # noqa: FBT001
        self.folder = folder
        self.is_top = is_top
        self._reach = kustomization.reach(
            folder,
            request.reading.limits,
            allow_remote=request.reading.allow_remote,
            bounds=boundary(real_path(folder)),
        )
        names = (*self._reach.kustomizations, *self._reach.resources, *self._reach.others)
        self.reads = frozenset(map(real_path, names))
        own = kustomization.find(folder)
        documents = kustomization.load(own, request.reading.limits).documents if own else []
        self.is_component = any(kustomization.is_component(document.body) for document in documents)
        self._before: _Built | str | None = None
        self._after: dict[tuple[tuple[str, bytes], ...], _Built | str] = {}

    def objection(
        self, texts: _FileContents, unsafe: frozenset[str], program: str, request: Request
    ) -> str:
        """What speaks against *texts* in this build, ``""`` if nothing."""
        if self._before is None:
            self._before = self._build(program, request)
        if isinstance(self._before, str):
            # One that only works inside another is seen there.
            return f"nothing tells what it does to the VMs: {self._before}" if self.is_top else ""
        if self._before.has_untold and not unsafe.isdisjoint(self.reads):
            return (
                f"nothing tells what it does to the VMs of {self.folder}, of which one cannot be "
                "rendered: see `virt-render check`"
            )
        own_texts = {real: texts[real].encode() for real in self.reads & texts.keys()}
        key = tuple(sorted(own_texts.items()))
        if key not in self._after:
            with files.overlaid(own_texts):
                self._after[key] = self._build(program, request)
        after = self._after[key]
        if isinstance(after, str):
            return f"a build that works would fail: {after}"
        if not self._before.started.becomes(after.started):
            return f"a VM that kustomize builds from {self.folder} would change"
        return ""

    def _build(self, program: str, request: Request) -> "_Built | str":
        """What the build starts, or why there is none."""
        for fault in self._reach.diagnostics:
            return fault.message
        limits = request.reading.limits
        building = kustomize.building(
            KustomizeBuild(
                self.folder,
                program,
                self._reach,
                ProgramBounds(limits, room(limits), request.reading.is_box_required),
                allow_remote=request.reading.allow_remote,
            )
        )
        output = processes.finish(building)
        if isinstance(output, Diagnostic):
            return output.message
        if large := excess(f"{self.folder} (kustomize build)", len(output), request.reading.limits):
            return large.message
        contents = reader.read(output, self.folder, request.reading.limits)
        documents, diagnostics = objects.sift(contents, output, self.folder, named=True)
        for fault in (diagnostic for diagnostic in diagnostics if diagnostic.is_error):
            return fault.message
        return _Built([document.body for document in documents], request)


class _Built:
    """What a build starts, and whether it holds a VM that cannot be rendered."""

    __slots__ = ("has_untold", "started")

    def __init__(self, bodies: Sequence[Tree], request: Request) -> None:
        resources = [from_body(body, index, None) for index, body in enumerate(bodies)]
        self.started = trial.started(resources, request.settings)
        self.has_untold = len(self.started.vmis) < sum(map(definitions.is_machine, resources))
