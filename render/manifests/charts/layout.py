"""A chart with what it depends on, where that lies in the repository and not in its ``charts/``."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from render.diagnostics.diagnostic import Diagnostic
from render.manifests.discover import CHART_FILE, VALUES_FILE, is_chart
from render.model.named_tuple import NamedTuple
from render.model.resource import text_at
from render.model.tree import Tree, get
from render.system import files
from render.system.files import bounds_of, inside, real_path
from render.yaml import writer
from render.yaml.budget import Limits
from render.yaml.reader import read

_LOCAL = "file://"
#: A version that most ranges which begin with it allow.
_VERSION = r"\d+(?:\.\d+){0,2}(?:[-+][\w.+-]+)?"
_DEEPEST = 4
_NOTES = "NOTES.txt"
#: How the names of partials begin, and of those that helm leaves alone by itself.
_UNPRINTED = ("_", ".")
_MOST = 32


class Dependency(NamedTuple):
    """A chart on which another one depends: it is called *name*, lies in *folder* and belongs *below* that one.

    *below* are the steps from the chart that is filled in. *folder* is ``""`` where the repository does not have the
    chart, of that *version*, and values may switch it off.
    """

    name: str
    folder: str
    below: str
    version: str = ""


class ChartFiles:
    """What one walk finds in the chart in *folder*, as helm does: links to folders are followed, each folder once.

    *paths* are its folders, with that itself, and files; *files* are those alone, but for what git keeps for itself and
    is no part of a chart: *has_git* says that there is some, which helm would take for the chart's. A link to a folder
    out of *bounds*, the repository where none are named, is not followed, and stands for what is there.
    """

    __slots__ = ("files", "has_git", "paths")

    def __init__(self, folder: str, bounds: str = "") -> None:
        self.files: list[str] = []
        self.has_git = False
        self.paths: list[str] = []
        allowed = (bounds or bounds_of(folder),)
        reals = {folder: real_path(folder)}  # resolving each anew costs the square of the depth
        seen = {*reals.values()}
        for above, folders, names in files.walk(folder, follows=True):
            around = reals.pop(above)
            self.has_git |= files.GIT in (*folders, *names)
            followed: list[str] = []
            for name in sorted(folders):
                path = os.path.join(above, name)
                is_link = os.path.islink(path)
                real = real_path(path) if is_link else os.path.join(around, name)
                if is_link and not inside(real, allowed):
                    names.append(name)
                elif real not in seen and name != files.GIT:
                    seen.add(real)
                    followed.append(name)
                    reals[path] = real
            folders[:] = followed
            self.paths.append(above)
            for name in sorted(names):
                self.paths.append(os.path.join(above, name))
                if name != files.GIT:
                    self.files.append(self.paths[-1])


class Chart(NamedTuple):
    """A chart in *folder*, what of its repository it has *wanted*, and the files of all of these by their folders."""

    folder: str
    wanted: Sequence[Dependency]
    files: Mapping[str, ChartFiles]

    @property
    def own(self) -> ChartFiles:
        """Those of *folder*."""
        return self.files[self.folder]

    @property
    def every_file(self) -> Iterator[str]:
        """All of them."""
        return (file for each in self.files.values() for file in each.files)


def chart_in(folder: str, wanted: Sequence[Dependency] = ()) -> Chart:
    """The chart in *folder* with what it has *wanted*, see `KnownCharts.dependencies`."""
    bounds = bounds_of(folder)
    folders = (folder, *(dependency.folder for dependency in wanted if dependency.folder))
    return Chart(
        folder, wanted, {each: ChartFiles(each, bounds) for each in dict.fromkeys(folders)}
    )


class KnownCharts:
    """What charts say of themselves, each read once, and which of the *charts* of a repository they want."""

    __slots__ = ("_bodies", "_by_version", "_limits", "_listed", "charts")

    def __init__(self, charts: Sequence[str], limits: Limits) -> None:
        self.charts = charts
        self._limits = limits
        self._bodies: dict[str, Tree] = {}
        self._listed: dict[tuple[str, tuple[str, ...]], list[Dependency]] = {}
        self._by_version: dict[tuple[str, str], str] | None = None

    def dependencies(self, folder: str) -> list[Dependency]:
        """What the chart in *folder* wants of the repository, and what that wants.

        It is named by its folder, or is one of the charts with the name and the version that are asked for. What is
        neither is among them where values may switch it off: helm asks for it even then.
        """
        return [*islice(self._wanted(folder, "", (bounds_of(folder),), 0), _MOST)]

    def of_elsewhere(self, folder: str) -> list[str]:
        """The names of the charts that the one in *folder* wants, and that neither it has, nor the repository."""
        listed = get(self._chart(folder), "dependencies")
        if not isinstance(listed, list):
            return []
        found = {each.name for each in self.dependencies(folder) if each.folder}
        vendored = _vendored(folder)
        names = filter(None, (text_at(entry, "name") for entry in listed))
        return [name for name in names if name not in found and not vendored.has(name)]

    def _wanted(
        self, folder: str, below: str, allowed: tuple[str, ...], depth: int
    ) -> Iterator[Dependency]:
        for name, found, _, version in self._direct(folder, allowed) if depth < _DEEPEST else ():
            place = os.path.join(below, "charts", name)
            yield Dependency(name, found, place, version)
            if found:
                yield from self._wanted(found, place, allowed, depth + 1)

    def _direct(self, folder: str, allowed: tuple[str, ...]) -> list[Dependency]:
        """The first of what the chart in *folder* itself wants, looked up once however many want that chart."""
        key = folder, allowed
        if key not in self._listed:
            self._listed[key] = [*islice(self._looked_up(folder, allowed), _MOST)]
        return self._listed[key]

    def _looked_up(self, folder: str, allowed: tuple[str, ...]) -> Iterator[Dependency]:
        listed = get(self._chart(folder), "dependencies")
        vendored = _vendored(folder)
        for entry in listed if isinstance(listed, list) else ():
            name, address = text_at(entry, "name"), text_at(entry, "repository")
            is_name = name not in {"", ".", ".."} and not {"/", "\0"}.intersection(name)
            if not is_name or vendored.has(name):
                continue
            version = text_at(entry, "version")
            found = (
                os.path.normpath(os.path.join(folder, address.removeprefix(_LOCAL)))
                if address.startswith(_LOCAL) and "\0" not in address
                else self._called(name, version)
            )
            if found and is_chart(found) and inside(real_path(found), allowed):
                yield Dependency(name, found, "")
            elif text_at(entry, "condition") or get(entry, "tags"):
                yield Dependency(name, "", "", version)

    def _called(self, name: str, version: str) -> str:
        """The one of the charts with this *name* and *version*, ``""`` where there is none."""
        if self._by_version is None:
            self._by_version = {}
            for folder in self.charts:
                body = self._chart(folder)
                called = text_at(body, "name"), text_at(body, "version")
                self._by_version.setdefault(called, folder)
        return self._by_version.get((name, version), "")

    def _chart(self, folder: str) -> Tree:
        """What the chart in *folder* says of itself."""
        if folder not in self._bodies:
            self._bodies[folder] = _chart(folder, self._limits)
        return self._bodies[folder]


class _Vendored(NamedTuple):
    """The *names* in the ``charts/`` of a chart, and all that packed ones may have *before* the version in theirs."""

    names: frozenset[str]
    before: frozenset[str]

    def has(self, name: str) -> bool:
        """Whether the chart that is called *name* is among them."""
        return name in self.names or name in self.before


def _vendored(folder: str) -> _Vendored:
    """What the chart in *folder* has in its own ``charts/``."""
    try:
        names = frozenset(os.listdir(os.path.join(folder, "charts")))
    except OSError:
        return _Vendored(frozenset(), frozenset())
    packed = (name for name in names if name.endswith(".tgz"))
    before = (name[: dash.start()] for name in packed for dash in re.finditer("-", name))
    return _Vendored(names, frozenset(before))


def _chart(folder: str, limits: Limits) -> Tree:
    """What the chart in *folder* says of itself."""
    file = os.path.join(folder, CHART_FILE)
    data = files.read(file, file, limits.file_bytes)
    documents = [] if isinstance(data, Diagnostic) else read(data, file, limits).documents
    return documents[0].body if documents else {}


def copy(chart: Chart, to: str, *, has_defaults: bool) -> None:
    """Lay out *chart* in the new folder *to*, with all that it has wanted where helm looks for it.

    Without the chart's own values, unless it *has_defaults*. Raises OSError.
    """
    _lay(chart.folder, chart.own, to)
    for dependency in chart.wanted:
        target = os.path.join(to, dependency.below)
        if os.path.lexists(target):
            continue
        if dependency.folder:
            _lay(dependency.folder, chart.files[dependency.folder], target)
        else:
            _stand_in(dependency, target)
    if not has_defaults:
        values = os.path.join(to, VALUES_FILE)
        if os.path.lexists(values):
            os.remove(values)


def _stand_in(dependency: Dependency, to: str) -> None:
    """Lay out in the new folder *to* a chart for the *dependency*, which nobody has: it fails where it is switched on.

    Helm itself says whether it is, by condition and tags (processDependencyEnabled in pkg/chartutil/dependencies.go).
    Raises OSError.
    """
    os.makedirs(os.path.join(to, "templates"))
    version = re.search(_VERSION, dependency.version)
    body = {
        "apiVersion": "v2",
        "name": dependency.name,
        "version": version[0] if version else "0.0.0",
    }
    with open(os.path.join(to, CHART_FILE), "x", encoding="utf-8") as stream:
        stream.write(writer.dump(body))
    with open(os.path.join(to, "templates", "absent.yaml"), "x", encoding="utf-8") as stream:
        stream.write('{{ fail "it is not in the repository" }}\n')


def names_of_templates(chart: Chart, limits: Limits) -> set[str]:
    """What helm calls the templates of *chart*: by the chart's name."""
    above = text_at(_chart(chart.folder, limits), "name")
    inner = (os.path.relpath(file, chart.folder) for file in chart.own.files)
    return {f"{above}/{name}" for name in inner if name.startswith("templates/")}


def templates(folder: str, chart: ChartFiles, limits: Limits) -> Iterator[str]:
    """The files of the *chart* in *folder* of which helm makes objects, with those of the charts in its ``charts/``.

    No partials, and nothing of a library, of which helm takes partials alone.
    """
    libraries: dict[str, bool] = {}
    for file in chart.files:
        inner = os.path.relpath(file, folder).split(os.sep)
        if "templates" not in inner[:-1] or inner[-1] == _NOTES or inner[-1].startswith(_UNPRINTED):
            continue
        within = os.path.join(folder, *inner[: inner.index("templates")])
        if within not in libraries:
            libraries[within] = text_at(_chart(within, limits), "type") == "library"
        if not libraries[within]:
            yield os.path.normpath(file)


def _lay(folder: str, chart: ChartFiles, to: str) -> None:
    """Copy the files of the *chart* in *folder* to the new folder *to*. Raises OSError."""
    import shutil  # not at every start: few charts are laid out

    os.makedirs(to)
    for file in chart.files:
        target = os.path.join(to, os.path.relpath(file, folder))
        if os.path.isfile(file):  # helm reads no pipe
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(file, target)
