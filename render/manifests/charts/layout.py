"""A chart with what it depends on, where that lies in the repository and not in its ``charts/``."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    """The chart in *folder* with what it has *wanted*, see `dependencies`."""
    bounds = bounds_of(folder)
    folders = (folder, *(dependency.folder for dependency in wanted if dependency.folder))
    return Chart(
        folder, wanted, {each: ChartFiles(each, bounds) for each in dict.fromkeys(folders)}
    )


def dependencies(folder: str, limits: Limits, charts: Iterable[str]) -> list[Dependency]:
    """What the chart in *folder* wants of the repository, and what that wants.

    It is named by its folder, or is one of *charts* with the name and the version that are asked for. What is neither
    is among them where values may switch it off: helm asks for it even then.
    """
    return [*_wanted(folder, "", limits, [*charts], (bounds_of(folder),), 0)][:_MOST]


def of_elsewhere(folder: str, limits: Limits, charts: Iterable[str]) -> list[str]:
    """The names of the charts that the one in *folder* wants, and that neither it has, nor the repository."""
    listed = get(_chart(folder, limits), "dependencies")
    if not isinstance(listed, list):
        return []
    found = {each.name for each in dependencies(folder, limits, charts) if each.folder}
    names = filter(None, (text_at(entry, "name") for entry in listed))
    return [name for name in names if name not in found and not _is_vendored(folder, name)]


def _wanted(  # noqa: PLR0913, PLR0917 - a way down
    folder: str,
    below: str,
    limits: Limits,
    charts: Sequence[str],
    allowed: tuple[str, ...],
    depth: int,
) -> Iterator[Dependency]:
    body = _chart(folder, limits)
    listed = get(body, "dependencies")
    for entry in listed if isinstance(listed, list) and depth < _DEEPEST else ():
        name, address = text_at(entry, "name"), text_at(entry, "repository")
        is_file_name = bool(name) and not {"/", "\0"}.intersection(name) and name not in {".", ".."}
        if not is_file_name or _is_vendored(folder, name):
            continue
        found = (
            os.path.normpath(os.path.join(folder, address.removeprefix(_LOCAL)))
            if address.startswith(_LOCAL)
            else _called(name, text_at(entry, "version"), charts, limits)
        )
        place = os.path.join(below, "charts", name)
        if not found or not is_chart(found) or not inside(real_path(found), allowed):
            if text_at(entry, "condition") or get(entry, "tags"):
                yield Dependency(name, "", place, text_at(entry, "version"))
            continue
        yield Dependency(name, found, place)
        yield from _wanted(found, place, limits, charts, allowed, depth + 1)


def _is_vendored(folder: str, name: str) -> bool:
    """Whether the chart in *folder* has what it calls *name* in its own ``charts/``."""
    try:
        names = os.listdir(os.path.join(folder, "charts"))
    except OSError:
        return False
    return any(
        entry == name or (entry.startswith(f"{name}-") and entry.endswith(".tgz"))
        for entry in names
    )


def _called(name: str, version: str, charts: Sequence[str], limits: Limits) -> str:
    """The one of *charts* with this *name* and *version*, ``""`` where there is none."""
    for folder in charts:
        body = _chart(folder, limits)
        if text_at(body, "name") == name and text_at(body, "version") == version:
            return folder
    return ""


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


def _lay(folder: str, chart: ChartFiles, to: str) -> None:
    """Copy the files of the *chart* in *folder* to the new folder *to*. Raises OSError."""
    import shutil  # not at every start: few charts are laid out

    os.makedirs(to)
    for file in chart.files:
        target = os.path.join(to, os.path.relpath(file, folder))
        if os.path.isfile(file):  # helm reads no pipe
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(file, target)
