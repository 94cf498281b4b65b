"""Folders and files: what of them is read as it is, and what is left to be built or filled in."""

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, filterfalse
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import discover, kustomization, relevance
from render.manifests.discover import Discovery, Hidden, skipped, tidy
from render.manifests.documents import Documents
from render.manifests.kustomization import LOCK
from render.manifests.relevance import Scope
from render.manifests.sources import intended
from render.manifests.sources.intake import SourceIntake
from render.manifests.sources.reading import GIT, PROGRAMS
from render.model.counting import counted
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.model.resource import Origin
from render.system import files
from render.yaml.budget import Limits
from render.yaml.reader import Document

#: Where the unfilled inputs have why files cannot be read in which objects may stand that fill in others.
UNREAD_USERS = ("", "")
#: What is counted that only wants for what is elsewhere.
OF_ELSEWHERE = "kustomization with a remote base"
#: What is counted that only wants for programs which we do not let kustomize run, with these.
OF_HELM = "helmCharts kustomization", "helm"
OF_PLUGINS = "kustomization with plugins of others", "a plugin"
#: In so many ways objects may apply a folder before nobody tries each of them for each of its files.
_MOST_ALIKE = 64
#: What is counted that would be read, did no kustomization name it.
_PATCH = "VM file that a kustomization takes for a patch"

if TYPE_CHECKING:
    from render.manifests.uses.asking import Uses
    from render.manifests.uses.repository import Home
    from render.manifests.uses.use import FolderUse


class Unread(NamedTuple):
    """What a walk leaves to programs: the folders of *kustomizations* that no other one refers to, and of *charts*.

    And the *uses* of such folders by objects that say how they are filled in; *directories* are the files of folders
    that are applied as they are, and are otherwise read as parts of kustomizations alone. *plain* are the uses of
    folders as they are written, whether or not these are otherwise read.
    """

    kustomizations: list[str]
    charts: list[str]
    uses: Sequence["FolderUse"] = ()
    directories: Mapping[str, Sequence[str]] = MappingProxyType({})
    plain: Sequence["FolderUse"] = ()


def through(intake: SourceIntake, path: str, allowed: Sequence[str], into: Documents) -> Unread:
    """Read *path* into *into* except for what kustomizations own and charts are filled with.

    Links may lead to anything in *allowed*.
    """
    if path == "-":
        intake.stream(into)
    elif os.path.isdir(path):
        return _folder(intake, tidy(path), allowed, into)
    else:
        _named(intake, tidy(path), into)
    return Unread([], [])


def patch_files(path: str, limits: Limits) -> list[str]:
    """The kustomizations at and below *path*, and the files that they use beside their resources; sorted."""
    folders = discover.walk(tidy(path), (os.path.realpath(path),), plain=False).kustomizations
    used = (os.path.relpath(real) for real in kustomization.survey(folders, limits).patches)
    return sorted({*filter(None, map(kustomization.find, folders)), *used})


def locks(path: str) -> list[str]:
    """The locks in and below the folder *path*, sorted."""
    discovered = discover.walk(path, (os.path.realpath(path),), plain=True)
    return [file for file, _ in discovered.files if os.path.basename(file) == LOCK]


def torn_locks(path: str, limits: Limits) -> list[str]:
    """The locks in and below the folder *path* that have git's conflict markers, sorted."""
    names = locks(path)
    texts = ((name, files.read(name, name, limits.file_bytes)) for name in names)
    return [
        name for name, data in texts if isinstance(data, bytes) and b"\n<<<<<<< " in b"\n" + data
    ]


class _Omitted:
    """What does not count below a resolved folder: what git ignores, other repositories, and what *scope* excludes.

    *submodules* are those of these that have been left out, or that nobody has checked out.
    """

    __slots__ = ("_asks_git", "_ignored", "_scope", "diagnostics", "submodules")

    def __init__(self, top: str, scope: Scope, *, asks_git: bool) -> None:
        self._scope = scope
        self._ignored: frozenset[str] = frozenset()
        self._asks_git = asks_git
        self.diagnostics: list[Diagnostic] = []
        self.submodules: list[str] = []
        if not asks_git:
            return
        from render.system import git

        try:
            around = files.repository(top)
            if around and not files.is_checkout(around):
                self._ignored = git.ignored(top)
                self.submodules += filterfalse(self.path, git.absent_submodules(top))
        except git.StuckError as error:
            self.diagnostics.append(files.special(os.path.relpath(error.file)))
        except git.ExhaustedError as error:
            message = f"what git ignores here is not known: {error}"
            cure = "let the patterns of its .gitignore have fewer ** and *"
            place = Location(file=os.path.relpath(top))
            self.diagnostics.append(codes.LIMIT_EXCEEDED.at(place, message, help=cure))
        except git.GitError:  # not installed, or not for us to ask
            pass

    def path(self, real: str) -> str:
        """Why the file or folder *real* does not count."""
        if real in self._ignored:
            return "git ignores it"
        pattern = self._scope.exclude.match(real)
        return f"excluded by {pattern}" if pattern else ""

    def repository(self, real: str) -> str:
        """Why the repository in the folder *real* does not count: it is no submodule, or these do not count."""
        if not self._is_submodule(real):
            return "another repository"
        if self._scope.has_submodules:
            return ""
        self.submodules.append(real)
        return "a submodule, of which a commit has the name alone"

    def _is_submodule(self, real: str) -> bool:
        """Whether the repository in the folder *real* is one of that around it, as far as anybody says."""
        if not self._asks_git:  # a submodule has a file that says where its own are
            return os.path.isfile(os.path.join(real, ".git"))
        from render.system import git

        try:
            return git.is_submodule(real)
        except git.GitError:
            return True


def _folder(intake: SourceIntake, folder: str, allowed: Sequence[str], into: Documents) -> Unread:
    plain = intake.reading.kustomize == "never"
    asks_git = GIT in intake.reading.programs
    real = os.path.realpath(folder)
    omitted = _Omitted(real, intake.scope, asks_git=asks_git) if intake.scope else None
    discovered = discover.walk(
        folder, allowed, plain=plain, omitted=omitted, buffers=intake.reading.buffers
    )
    _name_unread(intake, folder, discovered, into)
    if omitted:
        _name_omitted(omitted, into)
    _name_settings(discovered, into)
    _name_misnamed(intake, discovered, into)
    _add_charts_below(intake, discovered)
    _name_closed(intake, discovered.charts, into)
    _name_incomplete(intake, discovered.charts, into)
    built, apart = _kept_apart(intake, discovered)
    tops, named = kustomization.survey(built, intake.limits, intake.kustomizations)
    intake.charts = discovered.charts
    wanted = _loose(intake, discovered, named, into)
    if intake.scope is None:
        for file in wanted:
            intake.file(file, into, named=False)
        return Unread([] if plain else tops, discovered.charts)
    asking = _search(intake, wanted, into)
    reaches = _reaches(intake, () if plain else tops, into)
    reached = _reached(intake, folder, reaches, into, discovered)
    _name_absent(intake, reaches, into)
    _name_passed(folder, len(into.passed), len(reaches) - len(reached), into)
    hidden = _hidden(discovered, omitted, allowed)
    places = _Asking(wanted, asking, reaches, discovered, hidden, named)
    _name_veiled(intake, places, into)
    _name_unasked(intake, folder, places, allowed, into)
    unread = _used(intake, folder, places, Unread(reached, discovered.charts), into)
    _name_misnamed_of_charts(intake, discovered, unread.uses, into)
    unread = _with_gathered(intake, apart, unread)
    _name_unlisted(intake, places, {*chain(*unread.directories.values())}, into)
    _name_hidden(intake, places, allowed, unread, into)
    return unread


def _hidden(discovered: Discovery, omitted: _Omitted | None, allowed: Collection[str]) -> Hidden:
    """What is hidden of what was *discovered*, without what is *omitted*; links lead to what is *allowed*."""
    if not discovered.hidden:
        return Hidden()
    from render.manifests.sources import hidden

    why_omitted = omitted.path if omitted else lambda _: ""
    return hidden.look(discovered.hidden, why_omitted, allowed)


def _name_omitted(omitted: _Omitted, into: Documents) -> None:
    """Say in *into* what git could not be asked about, and which submodules were *omitted*."""
    into.diagnostics += omitted.diagnostics
    for submodule in omitted.submodules:
        into.unseen.add("submodule", submodule)


def _with_gathered(intake: SourceIntake, apart: Sequence[str], unread: Unread) -> Unread:
    """*unread* with the files that the kustomizations *apart* gather."""
    if not apart:
        return unread
    from render.manifests.sources.gatherers import gathered_files

    gathered = {each: gathered_files(each, intake.limits, intake.kustomizations) for each in apart}
    return unread._replace(directories={**gathered, **unread.directories})


def _kept_apart(intake: SourceIntake, discovered: Discovery) -> tuple[list[str], list[str]]:
    """The folders of the kustomizations that are built, and of those whose parts are read by themselves."""
    kept = intake.scope.apart if intake.scope else frozenset[str]()
    folders: tuple[list[str], list[str]] = [], []
    for folder in discovered.kustomizations:
        folders[bool(kept) and intake.kustomizations.resolve(folder) in kept].append(folder)
    return folders


def _name_unread(intake: SourceIntake, folder: str, discovered: Discovery, into: Documents) -> None:
    """Say in *into* what the walk through *folder* left out, and could not look into: an error of *folder* itself."""
    named = discover.printable(folder)
    met = [
        found
        if found.location.file == named or _is_misencoded(intake, discovered, found.location.file)
        else intake.met(found)
        for found in discovered.diagnostics
    ]
    into.diagnostics += met
    if intake.is_lenient:
        passed = [
            found
            for found, kept in zip(discovered.diagnostics, met, strict=True)
            if found.is_error and not kept.is_error
        ]
        into.unopened |= {found.location.file: found for found in passed}
        led_out = frozenset(map(discover.printable, discovered.led_out))
        for found in passed:
            file = found.location.file
            is_led_out = file in led_out
            what = "link out of the folder" if is_led_out else "path that cannot be read"
            into.unseen.add(what, file)


def _is_misencoded(intake: SourceIntake, discovered: Discovery, file: str) -> bool:
    """Whether *file* has a VM and a name that is not UTF-8, which kubectl and Argo CD take all the same."""
    real = discovered.misencoded.get(file)
    return real is not None and intake.demands_closed and intake.texts.is_of_machines(real)


def _name_passed(folder: str, loose: int, kustomizations: int, into: Documents) -> None:
    """Say in *into* how many *loose* files and *kustomizations* of *folder* have no word of KubeVirt's."""
    if loose or kustomizations:
        passed, unbuilt = counted(loose, "file"), counted(kustomizations, "kustomization")
        why = f"no word of KubeVirt's in {passed} and {unbuilt} of it"
        into.diagnostics.append(skipped(folder, why))


def _name_misnamed(intake: SourceIntake, discovered: Discovery, into: Documents) -> None:
    """Say in *into* which kustomizations of VMs have a name by which kustomize does not find them."""
    for file in discovered.misnamed:
        bodies = [
            document.body
            for document in intake.kustomizations.load(file, intake.limits).documents[:1]
        ]
        if any(map(kustomization.is_meant, bodies)) and intended.is_of_kubevirt(intake, file):
            into.unseen.add("kustomization with another name than kustomize reads", file)
            into.diagnostics.append(
                codes.KUSTOMIZATION_MISNAMED.at(
                    Location(file=file, line=1, column=1),
                    f"kustomize does not read {file}: what it says does not count",
                    help=f"call it {kustomization.FILES[0]}",
                )
            )


def _name_misnamed_of_charts(
    intake: SourceIntake, discovered: Discovery, uses: Sequence["FolderUse"], into: Documents
) -> None:
    """Say in *into* which files of charts of VMs have a name by which helm does not find them, nor *uses* name them."""
    used = {*intake.reading.chart.values}.union(
        *(use.release.values for use in uses if use.release)
    )
    named = {*map(os.path.realpath, used)}
    for file, right in discovered.misnamed_of_charts:
        is_used = os.path.realpath(file) in named
        if not is_used and intake.texts.in_chart(os.path.dirname(file) or "."):
            into.unseen.add("file of a chart with another name than helm reads", file)
            into.diagnostics.append(skipped(file, f"helm reads {right}: call it that"))


def _name_veiled(intake: SourceIntake, asking: "_Asking", into: Documents) -> None:
    """Count in *into* the files of kustomizations and charts, and the hidden ones, that nobody can read here."""
    read: dict[str, None] = {}
    for reach in asking.reaches.values():
        read.update(dict.fromkeys((*reach.kustomizations, *reach.resources)))
        # What is no YAML, a key of a generated Secret say, can be no patch.
        read.update(dict.fromkeys(file for file in reach.others if file.endswith(discover.YAML)))
    for file in (*read, *_templates(asking.discovered.charts), *asking.hidden.files):
        if os.path.isfile(file) and (what := intake.texts.veil(file)):
            into.unseen.add(what, tidy(file))


def _name_absent(
    intake: SourceIntake, reaches: Mapping[str, kustomization.Reach], into: Documents
) -> None:
    """Say in *into* what kustomizations with these *reaches* list that is not there, of those nobody builds here."""
    unbuilt = {top: reach for top, reach in reaches.items() if (top, "") in into.unfilled}
    if unbuilt and GIT in intake.reading.programs:
        from render.manifests.sources import absent

        into.diagnostics += absent.warnings(intake, unbuilt)


def _name_settings(discovered: Discovery, into: Documents) -> None:
    """Say in *into* which settings of folders further below do not count."""
    into.diagnostics += (
        skipped(
            discover.join(below, discover.SETTINGS_FILE),
            f"these settings count where {below} itself is named",
        )
        for below in discovered.settings
    )
    for below in discovered.settings:
        into.unseen.add(f"nested {discover.SETTINGS_FILE} file", below)


def _loose(
    intake: SourceIntake, discovered: Discovery, named: Mapping[str, str], into: Documents
) -> list[str]:
    """The files that are read by themselves: neither *named* by a kustomization, nor read with a chart, nor before."""
    loose: list[str] = []
    locks_of_charts = {discover.join(chart, LOCK) for chart in filled(intake, discovered.charts)}
    for file, real in discovered.files:
        if file in locks_of_charts:
            continue  # read with the chart, whose lock it is
        if real in named:
            into.diagnostics.append(_note_of_patch(file, named[real]))
        elif not intake.is_repeated(real):
            loose.append(file)
    return loose


def _note_of_patch(file: str, owner: str) -> Diagnostic:
    return skipped(file, f"no resource: {owner} refers to it")


def _reaches(
    intake: SourceIntake, tops: Iterable[str], into: Documents
) -> dict[str, kustomization.Reach]:
    """What the kustomizations *tops* read; which of it is remote and stays unread is said in *into*."""
    limits, known = intake.limits, intake.kustomizations
    reaches = {
        top: kustomization.reach(top, limits, allow_remote=True, known=known) for top in tops
    }
    if not intake.reading.allow_remote:
        remotes = {top: reach.remotes for top, reach in reaches.items() if reach.remotes}
        into.remotes.update(remotes)
        into.add(_operators(remotes))
    return reaches


def _operators(remotes: Mapping[str, Sequence[str]]) -> Iterator[Document]:
    """What the *remotes* of kustomizations install KubeVirt with, if all of them have the same release of it."""
    if not remotes:
        return
    from render.model.cluster_release import operator_of

    installed = {
        entry: (top, operator)
        for top, entries in remotes.items()
        for entry in entries
        if (operator := operator_of(entry)) is not None
    }
    if len(installed) == 1:
        ((top, operator),) = installed.values()
        yield Document(operator, Origin(kustomization.find(top) or top), None)


def _name_unlisted(
    intake: SourceIntake, asking: "_Asking", applied: Collection[str], into: Documents
) -> None:
    """Say in *into* which VMs stand in files that are read with no kustomization, and that are not *applied* so.

    Those stand below kustomizations, of which none lists them; or one names them, and as no resource.
    """
    discovered, patches = asking.discovered, asking.patches
    loose = {file: real for file, real in discovered.files if real in patches}
    suspects = [
        file
        for file in (*discovered.owned, *loose.items())
        if file[0] not in applied and intake.texts.is_of_machines(file[0])
    ]
    if not suspects:
        return
    known = discovered.kustomizations, intake.limits, intake.kustomizations
    listed = kustomization.listed(*known)
    of_components = kustomization.of_unused_components(*known)
    generated = kustomization.listed(*known, kustomization.GENERATORS)
    resources = kustomization.listed(*known, kustomization.RESOURCES)
    for file, real in suspects:
        if real not in listed:
            into.unseen.add("VM file that no kustomization lists", file)
            into.diagnostics.append(skipped(file, "no kustomization lists it"))
        elif real in generated and real not in resources:
            into.unseen.add("VM file that a kustomization puts into a ConfigMap", file)
            into.diagnostics.append(skipped(file, "a kustomization puts it into a ConfigMap"))
        elif real in of_components:
            into.unseen.add("VM file of a component that no kustomization uses", file)
            into.diagnostics.append(skipped(file, "no kustomization uses its component"))
        elif real in patches and real not in resources and intake.texts.is_whole_machine(file):
            into.unseen.add(_PATCH, file)
            into.diagnostics += [] if file in loose else [_note_of_patch(file, patches[real])]


def _name_hidden(
    intake: SourceIntake,
    asking: "_Asking",
    allowed: Collection[str],
    unread: Unread,
    into: Documents,
) -> None:
    """Count in *into* the files with VMs that are hidden, or called as files with expectations are, or in Jsonnet.

    Argo CD and kubectl take them for manifests all the same; Jsonnet Argo CD alone, in a directory. What a
    kustomization lists, or is *allowed* by its own name, is read; so is what of it is *unread* yet. Hidden
    kustomizations are counted too.
    """
    discovered = asking.discovered
    tests = [
        file
        for file, _ in discovered.expectations
        if discover.inside(os.path.realpath(file), allowed)
    ]
    read = _read_of_hidden(intake, asking, unread, into).union(intake.seen)
    for what, found in (
        ("hidden VM file", asking.hidden.files),
        ("VM file with the name of a test", tests),
        ("VM file in Jsonnet", _jsonnet(asking, unread)),
        ("VM file whose name ends in capitals", discovered.shouted),
        ("VM file of a chart that is applied as it is", _applied_templates(discovered, unread)),
    ):
        suspects = {os.path.realpath(file) for file in found if intake.texts.is_of_machines(file)}
        if suspects:
            listed = kustomization.listed(
                discovered.kustomizations, intake.limits, intake.kustomizations
            )
            for file in suspects.difference(listed, allowed, read):
                into.unseen.add(what, file)


def _jsonnet(asking: "_Asking", unread: Unread) -> list[str]:
    """The files in Jsonnet that Argo CD may evaluate: below a kustomization those of folders that an object applies."""
    discovered, hidden = asking.discovered, asking.hidden
    below = _applied_as_they_are(discovered.owned_jsonnet, unread)
    return [*filter(os.path.isfile, chain(discovered.jsonnet, below, hidden.jsonnet))]


def _applied_templates(discovered: Discovery, unread: Unread) -> list[str]:
    """The templates of charts that objects apply as they are: helm may make nothing of what is a comment there."""
    return _applied_as_they_are(_templates(discovered.charts), unread) if unread.plain else []


def _applied_as_they_are(paths: Iterable[str], unread: Unread) -> list[str]:
    """Those of the files *paths* that stand in folders which objects apply, and nothing builds."""
    from render.manifests.uses.use import FolderUse

    applying: dict[str, dict[object, Callable[[str], bool]]] = {}
    for use in unread.plain:
        if kustomization.find(use.folder) is None:
            alike = applying.setdefault(os.path.realpath(use.folder), {})
            if len(alike) < _MOST_ALIKE:
                alike.setdefault((use.is_deep, use.patterns), use.applying())
            else:  # whoever applies a folder in so many ways may well apply all of it
                alike["", ""] = FolderUse(
                    use.title, use.document, use.folder, is_deep=True
                ).applying()
    found: list[str] = []
    for file in paths:  # each by its own name, whatever it is a link to
        at = os.path.realpath(os.path.dirname(file))
        real = os.path.join(at, os.path.basename(file))
        around = (at, *_above(at)) if applying else ()
        if any(applies(real) for folder in around for applies in applying.get(folder, {}).values()):
            found.append(file)
    return found


def _above(folder: str) -> Iterator[str]:
    """All folders around *folder*."""
    while folder != (folder := os.path.dirname(folder)):
        yield folder


def _read_of_hidden(
    intake: SourceIntake, asking: "_Asking", unread: Unread, into: Documents
) -> set[str]:
    """The resolved hidden files that are read with what is *unread* yet; into *into* goes what is read by nobody."""
    if not asking.hidden.kustomizations:
        return set()
    from render.manifests.sources import hidden

    used = {*map(os.path.realpath, (*unread.kustomizations, *(use.folder for use in unread.uses)))}
    others = asking.discovered.kustomizations
    read = {*hidden.name_kustomizations(intake, asking.hidden, others, used, into)}
    return read.union(*map(hidden.files_of, asking.reaches.values()))


def _add_charts_below(intake: SourceIntake, discovered: Discovery) -> None:
    """Take the charts below kustomizations that none of these has to do with for charts like all others."""
    if discovered.owned_charts:
        from render.manifests.sources import charts_below

        known = intake.limits, intake.kustomizations
        found = charts_below.apart(discovered.owned_charts, discovered.kustomizations, *known)
        discovered.charts[:] = discover.outermost((*discovered.charts, *found))


def _name_incomplete(intake: SourceIntake, charts: Sequence[str], into: Documents) -> None:
    """Count in *into* the *charts* without a word of KubeVirt's that want another one of elsewhere."""
    unread = [chart for chart in charts if not intake.texts.in_chart(chart)]
    if not unread or intake.reading.helm == "never":
        return
    from render.manifests.charts import layout

    for chart in unread:
        missing = layout.of_elsewhere(chart, intake.limits, charts)
        if missing:
            into.unseen.add("Helm chart with dependencies of elsewhere", chart)
            into.diagnostics.append(skipped(chart, f"it wants the charts {', '.join(missing)}"))


def _name_closed(intake: SourceIntake, charts: Sequence[str], into: Documents) -> None:
    """Say in *into* which templates of *charts* may not be read: VMs may stand there."""
    if intake.demands_closed:
        error = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        closed = chain.from_iterable(map(intake.texts.closed_in_chart, charts))
        into.diagnostics += (intake.met(files.unreadable(path, error)) for path in closed)


def name_beside_templates(intake: SourceIntake, chart: str, into: Documents) -> None:
    """Say in *into* which VMs stand in the folder *chart* where helm makes nothing of them."""
    from render.manifests.charts import layout

    for file in layout.chart_files(chart):
        inner = os.path.relpath(file, chart).split(os.sep)
        is_beside = file.endswith(discover.YAML) and "templates" not in inner[:-1]
        if is_beside and intake.texts.is_of_machines(tidy(file)):
            into.unseen.add("VM file beside the templates of a chart", tidy(file))
            into.diagnostics.append(skipped(tidy(file), "helm makes nothing of it"))


class _Asking(NamedTuple):
    """Where objects are looked for that say how others are filled in.

    *files* are all loose ones, *loose* those with such an object; *reaches* are those of the kustomizations.
    *discovered* is all that there is, but for what is *hidden*; *patches* are the files in it that are no manifests.
    """

    files: Sequence[str]
    loose: Sequence[str]
    reaches: Mapping[str, kustomization.Reach]
    discovered: Discovery
    hidden: Hidden
    patches: Mapping[str, str]


def _used(
    intake: SourceIntake, folder: str, asking: _Asking, unread: Unread, into: Documents
) -> Unread:
    """*unread* with what objects below *folder* say of it: what these fill in is not read as it is."""
    reached = (file for reach in asking.reaches.values() for file in reach.resources)
    if not intake.reading.programs >= PROGRAMS:
        return unread
    if not asking.loose and not any(map(intake.texts.asks, reached)):
        return unread
    from render.manifests.sources import kustomization as built
    from render.manifests.uses import asking as evaluation

    home = _home(intake, folder, asking, unread.charts)
    found = evaluation.find(
        evaluation.Places(
            asking.loose,
            asking.files,
            [
                evaluation.Build(top, reach, partial(built.built_to, intake, top))
                for top, reach in asking.reaches.items()
            ],
        ),
        home,
        intake.reading.chart._replace(values=(), file_parameters=(), name=""),
        intake.limits,
    )
    _tell(found, into)
    parts = [use for use in found.uses if use.is_plain and home.is_part(use.folder)]
    _read_applied_patches(intake, asking, found.uses, into)
    return _divided(intake, asking, unread, found.uses, parts, into)


def _home(intake: SourceIntake, folder: str, asking: _Asking, charts: Sequence[str]) -> "Home":
    """The repository around *folder*, with the *charts* and kustomizations in it."""
    from render.manifests.uses.repository import Home, RootsLayout

    built = [*_kept_apart(intake, asking.discovered)[0], *asking.hidden.kustomizations]
    layout = RootsLayout.of(charts, built, asking.reaches)
    return Home(folder, intake.texts, intake.limits, layout)


def _name_unasked(
    intake: SourceIntake,
    folder: str,
    asking: _Asking,
    allowed: Collection[str],
    into: Documents,
) -> None:
    """Count in *into* the files with Applications or objects of Flux for VMs that a chart makes, or that are hidden."""
    discovered = asking.discovered
    suspects = {
        "Application or object of Flux in a chart": _templates(discovered.charts),
        "Application or object of Flux in a hidden file": asking.hidden.files,
        "Application or object of Flux in Jsonnet": discovered.jsonnet,
    }
    for what, found in suspects.items():
        users = [file for file in found if intake.texts.asks(file)]
        if not users:
            continue
        from render.manifests.uses.asking import fills_in_machines

        home = _home(intake, folder, asking, discovered.charts)
        known = discovered.kustomizations, intake.limits, intake.kustomizations
        listed = kustomization.listed(*known).union(allowed)
        for file in users:
            if os.path.realpath(file) in listed or not fills_in_machines(file, home, intake.limits):
                continue
            into.unseen.add(what, file)
            into.diagnostics.append(skipped(file, "what it applies is not evaluated"))


def _templates(charts: Sequence[str]) -> Iterator[str]:
    """The files of which helm makes objects in the folders *charts*."""
    if not charts:
        return
    from render.manifests.charts import layout

    for chart in charts:
        for file in layout.chart_files(chart):
            if file.endswith(discover.YAML) and "templates" in file.split(os.sep):
                yield tidy(file)


def _tell(found: "Uses", into: Documents) -> None:
    """Say in *into* what of the uses that were *found* is not evaluated, and what cannot be read."""
    into.unseen.update(found.unseen)
    into.diagnostics += found.notes
    into.unfilled |= found.unfilled
    if found.broken:
        into.diagnostics += found.broken
        into.unfilled[UNREAD_USERS] = [*found.broken]
        for file in {error.location.file for error in found.broken}:
            into.unseen.add("Application or object of Flux that cannot be read", file)


def _divided(  # noqa: PLR0913, PLR0917 - what was found, and where it goes
    intake: SourceIntake,
    asking: _Asking,
    unread: Unread,
    uses: Sequence["FolderUse"],
    parts: Sequence["FolderUse"],
    into: Documents,
) -> Unread:
    """*unread* with *uses*, of which *parts* are otherwise read with others alone."""
    into.diagnostics += (_note_of(use) for use in uses if not use.is_plain)
    users = {os.path.realpath(use.folder) for use in uses if not use.is_plain}
    plain = {os.path.realpath(use.folder) for use in uses if use.is_plain}
    has_values = bool(intake.reading.chart.values or intake.reading.chart.file_parameters)
    charts = [
        chart for chart in unread.charts if has_values or os.path.realpath(chart) not in users
    ]
    otherwise = users | _drawn_in(intake, asking.hidden, users | plain)
    tops = [
        top
        for top in unread.kustomizations
        if (real := os.path.realpath(top)) not in otherwise or real in plain
    ]
    directories: dict[str, Sequence[str]] = {}
    for use in {os.path.realpath(use.folder): use for use in reversed(parts)}.values():
        into.diagnostics.append(_note_of(use))
        if kustomization.find(use.folder) is None:
            directories[use.folder] = _applied(intake, asking, use)
        else:
            tops.append(use.folder)
    filling = [use for use in uses if not use.is_plain]
    return Unread(tops, charts, filling, directories, [use for use in uses if use.is_plain])


def _drawn_in(intake: SourceIntake, found: Hidden, used: Collection[str]) -> frozenset[str]:
    """The resolved folders that are built with the *used* ones of the hidden kustomizations that were *found*."""
    if not found.kustomizations:
        return frozenset()
    from render.manifests.sources import hidden

    return hidden.drawn_in(intake, found, used)


def _applied(intake: SourceIntake, asking: _Asking, use: "FolderUse") -> list[str]:
    """The files below kustomizations that are applied as they are with the folder of *use*.

    What a kustomization names as a patch is one, unless it is a whole VM: anybody could take one out of sight so.
    """
    applies = use.applying()
    resolved = ((file, os.path.realpath(file)) for file in asking.hidden.files)
    return [
        file
        for file, real in (*asking.discovered.owned, *resolved)
        if file.endswith(discover.YAML)
        and applies(real)
        and (real not in asking.patches or intake.texts.is_whole_machine(file))
    ]


def _read_applied_patches(
    intake: SourceIntake, asking: _Asking, uses: Sequence["FolderUse"], into: Documents
) -> None:
    """Read into *into* the loose files with VMs that *uses* apply, though a kustomization calls them patches.

    Anybody may write a patch for what is not there.
    """
    patches = [
        (file, real)
        for file, real in asking.discovered.files
        if real in asking.patches and intake.texts.is_of_machines(file)
    ]
    if not patches:
        return
    plain = (use for use in uses if use.is_plain and kustomization.find(use.folder) is None)
    applying = [use.applying() for use in plain]
    for file, real in patches:
        if any(applies(real) for applies in applying):
            intake.file(file, into, named=False)


def _note_of(use: "FolderUse") -> Diagnostic:
    assumed = f" (assumed: {'; '.join(use.assumptions)})" if use.assumptions else ""
    if use.is_plain:
        message = f"{use.folder} is read by itself too: {use.title} applies it{assumed}"
        return codes.FILE_SKIPPED.at(Location(file=use.folder), message)
    return skipped(use.folder, f"{use.title} says how it is filled in{assumed}")


def filled(intake: SourceIntake, charts: Sequence[str]) -> list[str]:
    """Of *charts* those that helm fills in."""
    if not charts:
        return []
    from render.manifests.sources import chart

    return [folder for folder in charts if chart.is_filled(intake, folder)]


def _reached(
    intake: SourceIntake,
    folder: str,
    reaches: Mapping[str, kustomization.Reach],
    into: Documents,
    walked: Discovery,
) -> list[str]:
    """Which of the kustomizations with *reaches* are to be built, of those *walked* in *folder*; see `_is_reached`."""
    is_alone = len(reaches) == 1
    return [
        top
        for top, reach in reaches.items()
        if _is_reached(intake, top, reach, into, walked, is_named=is_alone and top == folder)
    ]


def _is_reached(  # noqa: PLR0913 - what is asked about, where it is found, and where it goes
    intake: SourceIntake,
    top: str,
    reach: kustomization.Reach,
    into: Documents,
    walked: Discovery,
    *,
    is_named: bool,
) -> bool:
    """Whether the kustomization in *top*, found among those *walked*, is to be built by its *reach*.

    Where what it lists is not there, or a chart, nobody knows what it would hold; *into* says so. Whoever *is_named* is
    to be built: that it cannot be is no mere note.
    """
    gone = [file for file in reach.resources if not os.path.lexists(file)]
    unopened = [file for file in reach.resources if file not in gone and not _is_opened(file)]
    missing = [*gone, *reach.bare]
    closed = intake.demands_closed and any(map(_is_closed, reach.resources))
    if (
        closed
        or _is_of_kubevirt(intake, top, reach, missing, walked)
        or (is_named and (missing or unopened or _is_refused(intake, top)))
        or (is_named and _edits_machines_of_elsewhere(intake, reach))
    ):
        return True
    faults = [f"{', '.join(gone)}, which is not there"] if gone else []
    faults += [f"{folder}, which has no kustomization" for folder in reach.bare]
    faults += [f"{', '.join(unopened)}, which cannot be read"] if unopened else []
    what, why = _unknown(reach, faults, allows_remote=intake.reading.allow_remote)
    if what:
        into.unseen.add(what, top)
        note = skipped(top, why)
        into.unfilled[top, ""] = (reach.fetches and _of_elsewhere(intake, top)) or [note]
        into.diagnostics.append(note)
    return False


def _unknown(
    reach: kustomization.Reach, faults: Sequence[str], *, allows_remote: bool
) -> tuple[str, str]:
    """What a kustomization is called, and why, of which nobody knows here what it makes; ``""`` twice if it is known.

    It lists what has *faults*, or has the *reach* to what is elsewhere, or to programs that may make anything.
    """
    if faults:
        return "kustomization with missing resources", f"it lists {', and '.join(faults)}"
    if reach.remotes and not allows_remote:
        return OF_ELSEWHERE, "it lists what is elsewhere"
    if reach.fetches and not allows_remote:
        return "kustomization with a remote patch or plugin", "it reads what is elsewhere"
    for is_meant, (what, program) in ((reach.inflates, OF_HELM), (reach.extended, OF_PLUGINS)):
        if is_meant:
            return what, f"kustomize would have to run {program} for it"
    return "", ""


def _of_elsewhere(intake: SourceIntake, top: str) -> list[Diagnostic]:
    """Why the kustomization in *top* is not built: the first thing that it would fetch; nothing where it may."""
    known = intake.kustomizations
    reach = kustomization.reach(
        top, intake.limits, allow_remote=intake.reading.allow_remote, known=known
    )
    return [found for found in reach.diagnostics if found.code == codes.REMOTE_BASE.number][:1]


def _is_of_kubevirt(
    intake: SourceIntake,
    top: str,
    reach: kustomization.Reach,
    missing: Sequence[str],
    walked: Discovery,
) -> bool:
    """Whether the kustomization in *top* has a *reach* to what may hold KubeVirt's objects.

    Or is meant to, as far as anybody can tell: where kustomize refuses what it says, or where it lists what is
    *missing*.
    """
    return (
        intake.texts.reached(reach)
        or (_is_shared(intake, top) and intake.texts.any_limiting(reach.resources))
        or intended.may_hold(intake, reach)
        or (bool(missing) and _held_machines(intake, top, reach))
        or (bool(missing) and intended.is_unlisted_beside(intake, reach, missing, walked))
        or intended.is_beside_missing(intake, top, missing)
    )


def _edits_machines_of_elsewhere(intake: SourceIntake, reach: kustomization.Reach) -> bool:
    """Whether kustomizations of a *reach* to what is elsewhere have a patch for a VM, say: then one may stand there."""
    edits = (*reach.kustomizations, *reach.others)
    return bool(reach.remotes) and intake.texts.any_of_machines(edits)


def _is_opened(file: str) -> bool:
    """Whether what the resource *file* says can be read: no link leads out of the repository, or to nothing."""
    is_led_out = os.path.islink(file) and discover.leads_out(file)
    return not is_led_out and os.access(file, os.R_OK)


def _is_closed(file: str) -> bool:
    """Whether *file* is there, under its own name, and may not be read."""
    return os.path.isfile(file) and not (os.path.islink(file) or os.access(file, os.R_OK))


def _held_machines(intake: SourceIntake, top: str, reach: kustomization.Reach) -> bool:
    """Whether the kustomization in *top*, which lists what is not there, was made for objects of KubeVirt's.

    It has a lock, or patches VMs; or such objects stand in a folder that it lists, and that lost its kustomization.
    """
    edits = (*reach.kustomizations, *reach.others)
    is_locked = os.path.lexists(os.path.join(top, LOCK))
    return (
        is_locked
        or intake.texts.any_of_machines(edits)
        or any(map(intake.texts.anywhere, reach.bare))
    )


def _is_refused(intake: SourceIntake, top: str) -> bool:
    """Whether kustomize refuses the kustomization in *top* for what itself says."""
    file = kustomization.find(top)
    return file is not None and kustomization.is_refused(
        intake.kustomizations.load(file, intake.limits)
    )


def _is_shared(intake: SourceIntake, path: str) -> bool:
    """Whether what *path* says about room for pods is meant for the VMs of other inputs."""
    return intake.scope is not None and bool(intake.scope.shared.match(os.path.realpath(path)))


def _search(intake: SourceIntake, wanted: Sequence[str], into: Documents) -> list[str]:
    """Read those of the files *wanted* that may hold an object of KubeVirt's, or what one of these asks for.

    The answer are those that may say how something else is filled in.
    """
    asking: list[str] = []
    referents: list[tuple[str, bytes]] = []
    refers = False
    limiting: list[tuple[str, bytes]] = []
    for file in wanted:
        data = intake.reading.buffers.read(file, intake.limits.file_bytes)
        if isinstance(data, Diagnostic):
            into.diagnostics.append(intake.met(data))
            if not into.diagnostics[-1].is_error:
                into.unopened[file] = data
                into.unseen.add("path that cannot be read", file)
            continue
        if relevance.may_ask(data):
            asking.append(file)
        may_hold = relevance.may_hold(data) and not _is_of_chart(file, data)
        if may_hold or os.path.basename(file) == LOCK:
            refers = refers or relevance.refers(data)
            intake.add(file, data, into, named=False)
        else:
            into.passed.append(file)
            if what := relevance.veil(data):
                into.unseen.add(what, file)
            if relevance.may_be_referent(data):
                referents.append((file, data))
            if relevance.may_limit(data):
                limiting.append((file, data))
    intake.beside_machines(referents if refers else (), relevance.is_referent, into)
    if not into.documents:
        limiting = [(file, data) for file, data in limiting if _is_shared(intake, file)]
    intake.beside_machines(limiting, relevance.limits, into)
    return asking


def _is_of_chart(file: str, data: bytes) -> bool:
    """Whether *file* has the values of a chart, which helm reads by rules of its own, and *data* in it is no VM."""
    folder, name = os.path.split(file)
    is_values = name == discover.VALUES_FILE and discover.is_chart(folder)
    return is_values and not relevance.may_be_of_machine(data)


def _named(intake: SourceIntake, file: str, into: Documents) -> None:
    real = os.path.realpath(file)
    if intake.scope and (pattern := intake.scope.exclude.match(real)):
        into.passed.append(file)
        into.diagnostics.append(skipped(file, f"excluded by {pattern}"))
    elif os.path.basename(file) in kustomization.FILES:
        into.diagnostics.append(skipped(file, "a kustomization: name its folder to build it"))
    elif file.endswith(discover.EXPECTATIONS):
        into.passed.append(file)
        into.diagnostics.append(skipped(file, discover.TESTED))
    elif owner := kustomization.user_of(real, intake.limits):
        if intake.texts.is_whole_machine(file):
            into.unseen.add(_PATCH, file)
        into.diagnostics.append(_note_of_patch(file, owner))
    elif not os.path.lexists(file) and file not in intake.reading.buffers:
        into.diagnostics.append(_not_there(file))
    elif not intake.is_repeated(real):
        intake.file(file, into, named=not intake.anything)
    else:
        _demand(file, real, into)


def _not_there(file: str) -> Diagnostic:
    """That nothing is called *file*, and what is meant with it."""
    from render.manifests.blame import missing

    near = missing.near_path(file)
    fault = files.unreadable(file, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
    return fault._replace(help=f"did you mean {discover.printable(near)}?" if near else "")


def _demand(file: str, real: str, into: Documents) -> None:
    """Make it an error in *into* that *file*, resolved *real*, cannot be opened: it was met before, and is named."""
    met = [name for name in into.unopened if os.path.realpath(name) == real]
    for name in met:
        fault = into.unopened.pop(name)
        into.diagnostics.append(fault._replace(location=Location(file=file)))
        into.unseen.remove("path that cannot be read", name)
