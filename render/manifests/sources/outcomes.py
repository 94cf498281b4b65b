"""What kustomize and helm have printed, for another state of the repository in which a build reads the same."""

import os
import stat
from collections.abc import Hashable, Iterator

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import kustomization
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.system import files
from render.system.files import real_path
from render.yaml.budget import Limits

if TYPE_CHECKING:
    from render.manifests.boxed.kustomize import KustomizeBuild
    from render.manifests.boxed.program import ProgramBounds
    from render.manifests.charts.layout import Chart
    from render.manifests.discover import HelmRelease
    from render.manifests.kustomization import KnownKustomizations
    from render.system.programs.processes import Steps

_MOST = 5_000
"""Files and folders below one: to compare more may take longer than to build it."""
_LARGEST = 32 << 20
"""Bytes of these files, for the same reason."""


class BuildInputs(NamedTuple):
    """All that decides what a build prints: the *key*, and what stands in the resolved *folders*.

    Names in the *key* are seen from the top of the state. *is_whole*: the program lists the folders, and so takes files
    that nothing names.
    """

    key: Hashable
    folders: tuple[str, ...]
    is_whole: bool = False


class KnownOutcomes:
    """What was printed for the states of a repository, seen from one of them, which has its top at *base*.

    Only what succeeded counts. All that the program has read was there then; where it finds the same at each step, it
    prints the same. What it says of a failure has names of one state in it. Of a chart with random values that nobody
    has changed, both states have those of the first.
    """

    __slots__ = ("_alike", "_base", "_printed")

    def __init__(self, base: str) -> None:
        self._base = real_path(base)
        self._printed: dict[Hashable, list[tuple[tuple[str, ...], bytes]]] = {}
        self._alike: dict[tuple[str, str, bool], bool] = {}

    def at(self, base: str) -> "KnownOutcomes":
        """The same, seen from the state with its top at *base*."""
        beside = KnownOutcomes(base)
        beside._printed, beside._alike = self._printed, self._alike
        return beside

    def kustomizing(
        self,
        build: "KustomizeBuild",
        known: "KnownKustomizations",
        steps: "Steps[bytes | Diagnostic]",
    ) -> "Steps[bytes | Diagnostic]":
        """The *steps* of *build*, or none where its outcome is known; what kustomizations say is *known*."""
        return self._reusing(self._of_kustomization(build, known), build.bounds.most, steps)

    def templating(
        self,
        started: "tuple[str, Chart, HelmRelease]",
        bounds: "ProgramBounds",
        steps: "Steps[bytes | Diagnostic]",
    ) -> "Steps[bytes | Diagnostic]":
        """The same where a program is *started*, for a chart and its release, within *bounds*."""
        return self._reusing(self._of_chart(*started, bounds.limits), bounds.most, steps)

    def _reusing(
        self, inputs: BuildInputs | None, most: int, steps: "Steps[bytes | Diagnostic]"
    ) -> "Steps[bytes | Diagnostic]":
        known = None if inputs is None else self._find(inputs)
        if known is not None:
            return known
        output = yield from steps
        if inputs is not None and isinstance(output, bytes) and len(output) <= most:
            self._printed.setdefault(inputs.key, []).append((inputs.folders, output))
        return output

    def _find(self, inputs: BuildInputs) -> bytes | None:
        for folders, output in self._printed.get(inputs.key, ()):
            pairs = zip(folders, inputs.folders, strict=True)
            if all(self._are_alike(*pair, is_whole=inputs.is_whole) for pair in pairs):
                return output
        return None

    def _of_kustomization(
        self, build: "KustomizeBuild", known: "KnownKustomizations"
    ) -> BuildInputs | None:
        """What decides what *build* prints, None where nobody knows.

        kustomize lists no folder, and reads no file out of the folder of the kustomization that names it. Where else
        that leads, as links are now, is part of the key. What generators and transformers load is not followed.
        """
        reach, limits = build.reach, build.bounds.limits
        every = (*reach.kustomizations, *reach.resources, *reach.others)
        is_open = build.allow_remote or reach.fetches or files.overlay()
        if is_open or not all(files.inside(known.resolve(file), reach.folders) for file in every):
            return None
        leading: list[tuple[str, ...]] = []
        for file in reach.kustomizations:
            loaded = known.load(file, limits)
            if any(known.stated(document).plugins for document in loaded.documents):
                return None
            entries = [each.entry for references in loaded.references for each in references]
            leading.append(self._led_to(file, entries, known))
        if reach.edited is not None:
            entries = [each.entry for each in kustomization.references(reach.edited)]
            leading.append(self._led_to(reach.kustomizations[0], entries, known))
        changed = tuple((self._called(name), data) for name, data in build.changed.items())
        read = tuple(self._called(known.resolve(file)) for file in every)
        top = self._called(known.resolve(build.folder))
        key = real_path(build.program), top, tuple(leading), changed, read
        return BuildInputs(key, tuple(sorted(reach.folders, key=self._called)))

    def _led_to(
        self, file: str, entries: list[str], known: "KnownKustomizations"
    ) -> tuple[str, ...]:
        """The kustomization *file*, and where its *entries* lead."""
        folder = os.path.dirname(file)
        every = (file, *(known.target(folder, entry) for entry in entries))
        return tuple(self._called(known.resolve(each)) for each in every)

    def _of_chart(
        self, program: str, chart: "Chart", release: "HelmRelease", limits: Limits
    ) -> BuildInputs | None:
        """What decides what *program* prints of *chart* for *release*, None where nobody knows."""
        texts = release.text_files(chart.folder)
        named = [
            files.read(file, file, limits.file_bytes) for file in (*release.values, *texts.values())
        ]
        if files.overlay() or not all(isinstance(data, bytes) for data in named):
            return None
        wanted = tuple(
            each._replace(folder=each.folder and self._called(real_path(each.folder)))
            for each in chart.wanted
        )
        installed = release._replace(values=(), file_parameters=(), texts=())
        stated = tuple(values.text for values in release.texts)
        folders = tuple(map(real_path, chart.files))
        key = real_path(program), *map(self._called, folders), wanted, installed, tuple(texts)
        return BuildInputs((key, tuple(named), stated), folders, is_whole=True)

    def _called(self, real: str) -> str:
        """What stands at the resolved path *real*, as it is seen from the top."""
        return os.path.relpath(real, self._base)

    def _are_alike(self, first: str, second: str, *, is_whole: bool) -> bool:
        """Whether all that is in the folder *first* is so in *second*; if that *is_whole*, also the other way round."""
        if first == second:
            return True
        key = first, second, is_whole
        if key not in self._alike:
            try:
                self._alike[key] = all(_compared(first, second, is_whole=is_whole))
            except OSError:
                self._alike[key] = False
        return self._alike[key]


def _compared(first: str, second: str, *, is_whole: bool) -> Iterator[bool]:
    """Whether each thing below *first* is the same below *second*. Raises OSError."""
    yield _access(os.stat(first)) == _access(os.stat(second))
    number = size = 0
    pending = [(first, second)]
    while pending:
        above, other = pending.pop()
        names = [name for name in os.listdir(above) if name != files.GIT]
        if is_whole:
            yield {*names} == {*os.listdir(other)} - {files.GIT}
        for name in names:
            pair = os.path.join(above, name), os.path.join(other, name)
            statuses = os.lstat(pair[0]), os.lstat(pair[1])
            yield _access(statuses[0]) == _access(statuses[1])
            mode = statuses[0].st_mode
            if stat.S_ISLNK(mode):
                reals = real_path(pair[0]), real_path(pair[1])
                yield files.is_below(reals[0], first) and files.is_below(reals[1], second)
                yield os.path.relpath(reals[0], first) == os.path.relpath(reals[1], second)
            elif stat.S_ISDIR(mode):
                pending.append(pair)
            else:
                size += statuses[0].st_size
                yield stat.S_ISREG(mode) and size <= _LARGEST
                yield os.path.samestat(*statuses) or _say_the_same(*pair)
        number += len(names)
        yield number <= _MOST


def _access(status: os.stat_result) -> tuple[int, ...]:
    """What something is, and who may read it, as the program asks that is not privileged."""
    kind, wanted = stat.S_IFMT(status.st_mode), 0o5 if stat.S_ISDIR(status.st_mode) else 0o4
    if stat.S_ISLNK(status.st_mode):
        return (kind,)
    allowed = status.st_mode & (wanted * 0o111)
    is_open = allowed & wanted == wanted
    return (kind, allowed) if is_open else (kind, allowed, status.st_uid, status.st_gid)


def _say_the_same(first: str, second: str) -> bool:
    data = files.read(first, first, _LARGEST)
    return isinstance(data, bytes) and data == files.read(second, second, _LARGEST)
