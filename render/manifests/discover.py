"""Folders to files: which of them may hold manifests, which are kustomizations, and why the others are left out."""

import os
from collections.abc import Collection, Container, Iterable, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import kustomization
from render.manifests.buffers import NO_BUFFERS, Buffers
from render.model.fieldpath import FieldPath
from render.model.hints import Protocol
from render.model.named_tuple import NamedTuple
from render.model.release import NEWEST, Version
from render.model.resource import Origin
from render.system import files
from render.system.files import boundary, bounds_of, inside, real_path

#: How the names of files end that may hold manifests.
YAML = (".yaml", ".yml", ".json")
CHART = "the templates of a Helm chart"
"""Why the folder with these is left out."""
TESTED = "virt-render test reads it"
"""Why a file with expectations is left out."""
HIDDEN = "hidden"
"""Why what has a name with a dot in front is left out."""
JSONNET = (".jsonnet", ".libsonnet")
"""How the names of files end that Argo CD evaluates where they stand in a directory."""
CHART_FILE = "Chart.yaml"
VALUES_FILE = "values.yaml"
SETTINGS_FILE = ".virt-render.yaml"
EXPECTATIONS = ".virt-test.yaml"
"""How the names of files end that say what is expected of VMs: nothing in them is a manifest."""


class ValuesText(NamedTuple):
    """Values that stand in an object: as helm reads them, and the *origin* of that object, with the *path* there.

    *has_places*: each key of them has a place in that object, as a mapping has; *is_text*: they are a text there.
    """

    text: bytes
    origin: Origin
    path: FieldPath
    has_places: bool = False
    is_text: bool = False


class HelmRelease(NamedTuple):
    """What a chart is installed as: with the *values* files, in *namespace*, on a cluster with KubeVirt *kubevirt*.

    It is called *name*, or as helm calls what has none. *file_parameters* are values that are texts of files, as
    ``NAME=FILE``, seen from the chart. *texts* win over the files, the last one over all; *has_defaults*: the
    ``values.yaml`` of the chart counts too.
    """

    values: tuple[str, ...] = ()
    namespace: str = "default"
    kubevirt: Version = NEWEST
    name: str = ""
    file_parameters: tuple[str, ...] = ()
    texts: tuple[ValuesText, ...] = ()
    has_defaults: bool = True

    def text_files(self, folder: str) -> dict[str, str]:
        """The files of the *file_parameters* of the chart in *folder*, by the name of the value."""
        pairs = (parameter.partition("=") for parameter in self.file_parameters)
        return {name: os.path.join(folder, file) for name, _, file in pairs}


class Hidden(NamedTuple):
    """What has a dot in front: the *files* that may hold manifests, the folders of *kustomizations*, and *jsonnet*."""

    files: Sequence[str] = ()
    kustomizations: Sequence[str] = ()
    jsonnet: Sequence[str] = ()


class Discovery:
    """What a walk found.

    *files*: (name to show, resolved name) of each file that may hold manifests, sorted; *kustomizations*: the folders
    that have one, sorted; *owned*: the files below these, which count if one lists them; *charts*: those of Helm charts
    that are no part of another one, *owned_charts*: those below kustomizations; *settings*: the folders below the first
    that have settings of their own; *expectations*: the files with these, as *files*; *hidden*: the files and folders
    with a dot in front, without links to folders and git's own; *jsonnet*: files named like those of Jsonnet, where no
    kustomization lists what counts, and *owned_jsonnet*, where one does; *led_out*: the links that lead out of what may
    be read; *misencoded*: the files
    whose names are not UTF-8, by what is shown of these; *misnamed*: files that may be meant for the kustomization of
    their folder, which has none; *misnamed_of_charts*: those beside templates that may be meant for a file which helm
    reads, with its name; *shouted*: the files whose names end in capitals, so that only a kustomization can have them
    read; *diagnostics*: what was left out, and what could not be looked into.
    """

    __slots__ = (
        "charts",
        "diagnostics",
        "expectations",
        "files",
        "hidden",
        "jsonnet",
        "kustomizations",
        "led_out",
        "misencoded",
        "misnamed",
        "misnamed_of_charts",
        "owned",
        "owned_charts",
        "owned_jsonnet",
        "settings",
        "shouted",
    )

    def __init__(self) -> None:
        self.files: list[tuple[str, str]] = []
        self.kustomizations: list[str] = []
        self.owned: list[tuple[str, str]] = []
        self.charts: list[str] = []
        self.owned_charts: list[str] = []
        self.settings: list[str] = []
        self.expectations: list[tuple[str, str]] = []
        self.hidden: list[str] = []
        self.jsonnet: list[str] = []
        self.owned_jsonnet: list[str] = []
        self.shouted: list[str] = []
        self.led_out: list[str] = []
        self.misencoded: dict[str, str] = {}
        self.misnamed: list[str] = []
        self.misnamed_of_charts: list[tuple[str, str]] = []
        self.diagnostics: list[Diagnostic] = []


class Omissions(Protocol):
    """Why something is left out, ``""`` where it is not."""

    def path(self, real: str) -> str:
        """Of a file or a folder, by its resolved path."""

    def repository(self, real: str) -> str:
        """Of a folder below the first that is the top of a repository, by its resolved path."""


def tidy(path: str) -> str:
    """*path* as messages show it: as given, without a leading ``./`` and without slashes at the end."""
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return path.rstrip("/") or ("/" if path.startswith("/") else ".")


def printable(name: str) -> str:
    """*name* without the bytes that are no UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def join(folder: str, name: str) -> str:
    """*name* in *folder*, without a ``./`` in front."""
    return name if folder == "." else os.path.join(folder, name)


def is_chart(folder: str) -> bool:
    """Whether *folder* holds a Helm chart."""
    return os.path.isfile(os.path.join(folder, CHART_FILE))


def skipped(display_name: str, why: str) -> Diagnostic:
    """The note that *display_name* was left out."""
    return codes.FILE_SKIPPED.at(Location(file=display_name), f"{display_name} skipped: {why}")


def leads_out(file: str) -> bool:
    """Whether *file*, which a repository brought along, is a link to the outside of it (without one: of its folder)."""
    return not inside(real_path(file), (bounds_of(os.path.dirname(file)),))


def is_led_out(path: str) -> bool:
    """Whether a link on the way of *path*, which somebody named, leads out of the repository that the link stands in.

    Who changes a repository may put a link where a folder was that others name.
    """
    current = real_path("/" if os.path.isabs(path) else ".")
    for step in path.split(os.sep):
        beyond = os.path.normpath(os.path.join(current, step))
        if os.path.islink(beyond):
            around, beyond = boundary(current), real_path(beyond)
            if around and not inside(beyond, (around,)):
                return True
        current = beyond
    return False


def walk(
    top: str,
    allowed: Collection[str],
    *,
    plain: bool,
    omitted: Omissions | None = None,
    buffers: Buffers = NO_BUFFERS,
) -> Discovery:
    """Look through the folder *top*, in an order that does not depend on the file system.

    *allowed*: the resolved paths that the user gave; a symbolic link that leads out of all of them is refused. Files
    below a kustomization belong to it and are not listed, unless *plain*. Each file and folder is visited once,
    whatever links lead to it, so loops end. *omitted* says what else is left out; *buffers* may be new files.
    """
    walk = _FolderWalk(allowed, plain, omitted, buffers)
    walk.pending.append(_Folder(top, real_path(top), owned=False))
    while walk.pending or walk.links:
        if walk.pending:
            walk.look(walk.pending.pop())
        else:  # what stands there under its own name comes first
            walk.links.sort(reverse=True)
            walk.follow(walk.links.pop())
    walk.discovery.files.sort()
    walk.discovery.owned.sort()
    walk.discovery.kustomizations.sort()
    walk.discovery.charts[:] = outermost(walk.discovery.charts)
    return walk.discovery


def outermost(folders: Iterable[str]) -> list[str]:
    """Of the resolved *folders* those that are below no other one, sorted."""
    outermost: dict[str, None] = {}
    for folder in sorted(folders):
        if not inside(folder, outermost):
            outermost[folder] = None
    return [*outermost]


class _Folder(NamedTuple):
    """*owned*: a kustomization in it or above it says which of its files are read."""

    display_name: str
    real: str
    owned: bool


class _FolderWalk:
    """The state of one walk."""

    __slots__ = (
        "allowed",
        "buffers",
        "discovery",
        "links",
        "listed",
        "omitted",
        "pending",
        "plain",
        "visited",
    )

    def __init__(
        self,
        allowed: Collection[str],
        plain: bool,  # noqa: FBT001
        omitted: Omissions | None,
        buffers: Buffers,
    ) -> None:
        self.omitted = omitted
        self.buffers = buffers
        self.allowed = allowed
        self.plain = plain
        self.discovery = Discovery()
        self.pending: list[_Folder] = []
        self.links: list[_Folder] = []
        self.visited: set[str] = set()
        self.listed: set[str] = set()

    def look(self, folder: _Folder) -> None:
        """Sort the entries of *folder* into files, folders and links."""
        if folder.real in self.visited:
            self._skip(folder.display_name, "a link to a folder that is read already")
            return
        self.visited.add(folder.real)
        entries = self._entries(folder)
        if self._is_another_repository(folder, entries):
            return
        owned = self._is_owned(folder, entries)
        for name, entry in entries.items():
            child = _Folder(
                join(folder.display_name, name), f"{folder.real.rstrip('/')}/{name}", owned
            )
            why = self._unread(name, child.real, entries)
            if why:
                self._keep_unread(child, entry, why)
                if name.endswith(YAML) or entry.is_dir(follow_symlinks=False):
                    self._skip(child.display_name, why)
            elif entry.is_symlink():
                self.links.append(child)
            elif entry.is_dir(follow_symlinks=False):
                self.pending.append(child)
            elif name.lower().endswith(YAML):
                self._list(child, is_regular=entry.is_file(follow_symlinks=False))
            elif name.endswith(JSONNET):
                self._list_jsonnet(child)
        self._list_new(folder._replace(owned=owned), entries)

    def _list_jsonnet(self, file: _Folder) -> None:
        found = self.discovery.owned_jsonnet if file.owned else self.discovery.jsonnet
        found.append(file.display_name)

    def _keep_unread(self, child: _Folder, entry: "os.DirEntry[str]", why: str) -> None:
        """Keep where *child* is, the *entry* that is not read because of *why*, if anybody may ask for it."""
        if why == TESTED and os.path.isfile(child.display_name):
            self.discovery.expectations.append((child.display_name, child.real))
        is_met_elsewhere = entry.is_symlink() and files.is_folder(entry)
        if why == HIDDEN and entry.name != ".git" and not is_met_elsewhere:
            omitted = self.omitted.path(child.real) if self.omitted else ""
            self.discovery.hidden += [] if omitted else [child.display_name]

    def _list_new(self, folder: _Folder, entries: Container[str]) -> None:
        """List what nobody has saved yet beside the *entries* of *folder*."""
        for name in self.buffers.names(folder.real):
            real = f"{folder.real.rstrip('/')}/{name}"
            is_manifest = name.endswith(YAML) and name not in kustomization.FILES
            if name not in entries and is_manifest and not self._unread(name, real, entries):
                self._list(
                    _Folder(join(folder.display_name, name), real, folder.owned), is_regular=True
                )

    def _is_owned(self, folder: _Folder, entries: dict[str, "os.DirEntry[str]"]) -> bool:
        """Keep what *folder* is by its *entries*; whether a kustomization says which of its files are read."""
        owned = folder.owned
        if not entries.keys().isdisjoint(kustomization.FILES):
            self.discovery.kustomizations.append(folder.display_name)
            owned = not self.plain
        else:
            self.discovery.misnamed += (
                join(folder.display_name, name)
                for name, entry in entries.items()
                if kustomization.is_misnamed(name) and entry.is_file(follow_symlinks=False)
            )
        if CHART_FILE in entries:
            charts = self.discovery.owned_charts if owned else self.discovery.charts
            charts.append(folder.display_name)
        if "templates" in entries and not owned:
            right = VALUES_FILE if CHART_FILE in entries else CHART_FILE
            self.discovery.misnamed_of_charts += (
                (join(folder.display_name, name), right)
                for name, entry in entries.items()
                if right not in entries
                and name.lower() in {right.lower(), f"{right.lower()[:-4]}yml"}
                and entry.is_file(follow_symlinks=False)
            )
        if entries.pop(SETTINGS_FILE, None) and len(self.visited) > 1:
            self.discovery.settings.append(folder.display_name)
        return owned

    def _is_another_repository(self, folder: _Folder, entries: Container[str]) -> bool:
        below = self.omitted is not None and ".git" in entries and len(self.visited) > 1
        why = self.omitted.repository(folder.real) if self.omitted and below else ""
        if why:
            self._skip(folder.display_name, why)
        return why != ""

    def _unread(self, name: str, real: str, siblings: Container[str]) -> str:
        """Why *name* is not read, whatever it is."""
        if name.startswith("."):
            return HIDDEN
        if name == "templates" and CHART_FILE in siblings:
            return CHART
        omitted = self.omitted.path(real) if self.omitted else ""
        return omitted or (TESTED if name.endswith(EXPECTATIONS) else "")

    def _entries(self, folder: _Folder) -> dict[str, "os.DirEntry[str]"]:
        try:
            with os.scandir(folder.display_name) as scan:
                return {entry.name: entry for entry in scan}
        except OSError as error:
            self.discovery.diagnostics.append(
                files.unreadable(printable(folder.display_name), error)
            )
            return {}

    def follow(self, link: _Folder) -> None:
        """Go where a symbolic link leads, if that is inside."""
        may_be_manifest = link.display_name.endswith(YAML)
        try:
            # Python calls itself for each link of a chain; the kernel counts them.
            os.stat(link.display_name)
            real = os.path.realpath(link.display_name, strict=True)
        except OSError as error:
            if may_be_manifest and not link.owned:
                self.discovery.diagnostics.append(
                    files.unreadable(printable(link.display_name), error)
                )
            return
        is_folder = os.path.isdir(real)
        if not is_folder and link.display_name.endswith(JSONNET) and inside(real, self.allowed):
            self._list_jsonnet(link)
        if not is_folder and not may_be_manifest:
            return
        if not inside(real, self.allowed):
            if not link.owned:
                self.discovery.led_out.append(link.display_name)
                self.discovery.diagnostics.append(_outside(printable(link.display_name)))
        elif is_folder:
            self.pending.append(_Folder(link.display_name, real, link.owned))
        elif real in self.listed:
            self._skip(link.display_name, "a link to a file that is read already")
        else:
            self._list(
                _Folder(link.display_name, real, link.owned), is_regular=os.path.isfile(real)
            )

    def _list(self, file: _Folder, *, is_regular: bool) -> None:
        name = os.path.basename(file.display_name)
        if file.owned:
            if name not in kustomization.FILES and is_regular and printable(name) == name:
                self.discovery.owned.append((file.display_name, file.real))
            return
        if name in kustomization.FILES:
            self._skip(file.display_name, "a kustomization, and kustomize is not used")
        elif not name.endswith(YAML):
            self.discovery.shouted.append(file.display_name)
            self._skip(
                file.display_name, "kubectl and Argo CD read names that end in small letters"
            )
        elif not is_regular:
            self.discovery.diagnostics.append(files.special(printable(file.display_name)))
        elif printable(file.display_name) != file.display_name:
            self.discovery.misencoded[printable(file.display_name)] = file.real
            self.discovery.diagnostics.append(
                codes.UNREADABLE.at(
                    Location(file=printable(file.display_name)),
                    f"cannot read {printable(file.display_name)}: its name is not UTF-8",
                )
            )
        else:
            self.listed.add(file.real)
            self.discovery.files.append((file.display_name, file.real))

    def _skip(self, display_name: str, why: str) -> None:
        self.discovery.diagnostics.append(skipped(printable(display_name), why))


def _outside(display_name: str) -> Diagnostic:
    return codes.UNREADABLE.at(
        Location(file=display_name),
        f"cannot read {display_name}: a symbolic link that leads out of the folder to be read",
        help="put a copy there, or name the folder that it leads to as a PATH too",
    )
