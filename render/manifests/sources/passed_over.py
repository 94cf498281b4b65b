"""What a walk through a folder does not read itself: what it leaves to programs, and what is counted instead.

Each kind of the latter is a function and a row of `_OF_WALK`, or of `_OF_READING` where what is read decides it. It
says in the `Documents` what nobody looks at (`unseen`, for the last line), and why (a diagnostic, for ``-v``). No row
needs what another one has said.
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, filterfalse
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import discover, kustomization
from render.manifests.discover import Discovery, Hidden, skipped, tidy
from render.manifests.documents import Documents
from render.manifests.relevance import Scope
from render.manifests.sources.intake import SourceIntake
from render.manifests.sources.reading import GIT
from render.model.counting import counted
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.system import files
from render.system.files import inside, real_path

if TYPE_CHECKING:
    from render.manifests.uses.repository import Home
    from render.manifests.uses.use import FolderUse

#: What a chart is called that makes no object of KubeVirt's.
WITHOUT_MACHINES = "Helm chart without a VM by default"
#: What Argo CD merges into the sources of all Applications of a folder, or into one's.
_OVERRIDES = pattern(r"\.argocd-source(-.+)?\.yaml")
#: What is counted that would be read, did no kustomization name it.
PATCH = "VM file that a kustomization takes for a patch"


class Omitted:
    """What does not count below a resolved folder: what git ignores, other repositories, and what *scope* excludes.

    *submodules* are those of these that have been left out, or that nobody has checked out.
    """

    __slots__ = ("_asks_git", "_ignored", "_scope", "diagnostics", "submodules")

    def __init__(self, intake: SourceIntake, top: str, scope: Scope) -> None:
        self._scope = scope
        self._ignored: frozenset[str] = frozenset()
        self._asks_git = GIT in intake.reading.programs
        self.diagnostics: list[Diagnostic] = []
        self.submodules: list[str] = []
        if not self._asks_git:
            return
        from render.system import git

        try:
            around = files.repository(top)
            if around and not files.is_checkout(around):
                self._ignored = git.ignored(top)
                self.submodules += filterfalse(self.path, intake.absent_submodules(top))
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


class Walked(NamedTuple):
    """What a walk through *folder* has *discovered*; *omitted*: what does not count there, None where all does.

    Links may lead to anything in *allowed*.
    """

    intake: SourceIntake
    folder: str
    allowed: Sequence[str]
    discovered: Discovery
    omitted: Omitted | None


class Sifted:
    """What of a folder that was *walked* through is read by itself, and what is built.

    *files* are all loose ones, *asking* those with an object that says how others are filled in. *built* are the
    folders of the kustomizations that are not kept apart, *reaches* those of their tops, *reached* the tops that are
    built; *patches* are the files that are no manifests, each with the kustomization that says so; *hidden* is what has
    a dot in front.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what was found of each kind
        self,
        walked: Walked,
        files: Sequence[str],
        asking: Sequence[str],
        built: Sequence[str],
        reaches: Mapping[str, kustomization.Reach],
        reached: list[str],
        patches: Mapping[str, str],
        hidden: Hidden,
    ) -> None:
        self.walked = walked
        self.files = files
        self.asking = asking
        self.built = built
        self.reaches = reaches
        self.reached = reached
        self.patches = patches
        self.hidden = hidden

    @cached_property
    def home(self) -> "Home":
        """The repository around the folder, with the charts and kustomizations in it."""
        from render.manifests.uses.repository import Home, RootsLayout

        intake, walked = self.walked.intake, self.walked
        built = [*self.built, *self.hidden.kustomizations]
        layout = RootsLayout.of(walked.discovered.charts, built, self.reaches)
        return Home(walked.folder, intake.texts, intake.limits, layout, intake.kustomizations)


def name_of_walk(walked: Walked, into: Documents) -> None:
    """Say in *into* what is not looked at of what was *walked* through, whatever else is read there."""
    for name in _OF_WALK:
        name(walked, into)


def name_of_reading(sifted: Sifted, unread: Unread, into: Documents) -> None:
    """Say in *into* what is not looked at of what was *sifted*, once loose files are read and the rest is *unread*."""
    for name in _OF_READING:
        name(sifted, unread, into)


def _name_unread(walked: Walked, into: Documents) -> None:
    """Say in *into* what the walk left out, and could not look into: an error of its folder itself."""
    intake, discovered = walked.intake, walked.discovered
    named = discover.printable(walked.folder)
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


def _name_omitted(walked: Walked, into: Documents) -> None:
    """Say in *into* what git could not be asked about, and which submodules were omitted."""
    if walked.omitted:
        into.diagnostics += walked.omitted.diagnostics
        for submodule in walked.omitted.submodules:
            into.unseen.add("submodule", submodule)


def _name_settings(walked: Walked, into: Documents) -> None:
    """Say in *into* which settings of folders further below do not count."""
    into.diagnostics += (
        skipped(
            discover.join(below, discover.SETTINGS_FILE),
            f"these settings count where {below} itself is named",
        )
        for below in walked.discovered.settings
    )
    for below in walked.discovered.settings:
        into.unseen.add(f"nested {discover.SETTINGS_FILE} file", below)


def _name_misnamed(walked: Walked, into: Documents) -> None:
    """Say in *into* which kustomizations of VMs have a name by which kustomize does not find them."""
    intake = walked.intake
    for file in walked.discovered.misnamed:
        bodies = [
            document.body
            for document in intake.kustomizations.load(file, intake.limits).documents[:1]
        ]
        if any(map(kustomization.is_meant, bodies)) and _is_of_kubevirt(intake, file):
            into.unseen.add("kustomization with another name than kustomize reads", file)
            into.diagnostics.append(
                codes.KUSTOMIZATION_MISNAMED.at(
                    Location(file=file, line=1, column=1),
                    f"kustomize does not read {file}: what it says does not count",
                    help=f"call it {kustomization.FILES[0]}",
                )
            )


def _is_of_kubevirt(intake: SourceIntake, file: str) -> bool:
    """Whether the kustomization *file*, which kustomize does not find by its name, is meant for KubeVirt's objects."""
    from render.manifests.sources.listed import intended

    return intended.is_of_kubevirt(intake, file)


def _name_closed(walked: Walked, into: Documents) -> None:
    """Say in *into* which templates of charts may not be read: VMs may stand there."""
    intake = walked.intake
    if intake.demands_closed:
        error = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        closed = chain.from_iterable(map(intake.texts.closed_in_chart, walked.discovered.charts))
        into.diagnostics += (intake.met(files.unreadable(path, error)) for path in closed)


def _name_incomplete(walked: Walked, into: Documents) -> None:
    """Count in *into* the charts without a word of KubeVirt's that want another one of elsewhere."""
    intake, charts = walked.intake, walked.discovered.charts
    unread = [chart for chart in charts if not intake.texts.in_chart(chart)]
    if not unread or intake.reading.helm == "never":
        return
    for chart in unread:
        missing = intake.known_charts.of_elsewhere(chart)
        if missing:
            into.unseen.add("Helm chart with dependencies of elsewhere", chart)
            into.diagnostics.append(skipped(chart, f"it wants the charts {', '.join(missing)}"))


_OF_WALK: tuple[Callable[[Walked, Documents], None], ...] = (
    _name_unread,
    _name_omitted,
    _name_settings,
    _name_misnamed,
    _name_closed,
    _name_incomplete,
)


def _name_veiled(sifted: Sifted, _: Unread, into: Documents) -> None:
    """Count in *into* the files of kustomizations and charts, and the hidden ones, that nobody can read here."""
    read: dict[str, None] = {}
    for reach in sifted.reaches.values():
        read.update(dict.fromkeys((*reach.kustomizations, *reach.resources)))
        # What is no YAML, a key of a generated Secret say, can be no patch.
        read.update(dict.fromkeys(file for file in reach.others if file.endswith(discover.YAML)))
    for file in (*read, *_templates(sifted.walked.discovered.charts), *sifted.hidden.files):
        if os.path.isfile(file) and (what := sifted.walked.intake.texts.veil(file)):
            into.unseen.add(what, tidy(file))


def _name_absent(sifted: Sifted, _: Unread, into: Documents) -> None:
    """Say in *into* what kustomizations list that is not there, of those nobody builds here."""
    intake = sifted.walked.intake
    unbuilt = {top: reach for top, reach in sifted.reaches.items() if (top, "") in into.unfilled}
    if unbuilt and GIT in intake.reading.programs:
        from render.manifests.sources.listed import absent

        into.diagnostics += absent.warnings(intake, unbuilt)


def _name_untracked(sifted: Sifted, _: Unread, into: Documents) -> None:
    """Say in *into* what kustomizations list that is here, and not in git."""
    intake = sifted.walked.intake
    if sifted.reached and GIT in intake.reading.programs:
        from render.manifests.sources.listed import untracked

        reaches = [sifted.reaches[top] for top in sifted.reached]
        into.diagnostics += untracked.diagnostics(intake, sifted.walked.folder, reaches)


def _name_passed(sifted: Sifted, _: Unread, into: Documents) -> None:
    """Say in *into* how many loose files and kustomizations have no word of KubeVirt's."""
    loose, kustomizations = len(into.passed), len(sifted.reaches) - len(sifted.reached)
    if loose or kustomizations:
        passed, unbuilt = counted(loose, "file"), counted(kustomizations, "kustomization")
        why = f"no word of KubeVirt's in {passed} and {unbuilt} of it"
        into.diagnostics.append(skipped(sifted.walked.folder, why))


def _name_unasked(sifted: Sifted, _: Unread, into: Documents) -> None:
    """Count in *into* the files with Applications or objects of Flux for VMs that a chart makes, or that are hidden."""
    intake, discovered = sifted.walked.intake, sifted.walked.discovered
    suspects = {
        "Application or object of Flux in a chart": _templates(discovered.charts),
        "Application or object of Flux in a hidden file": sifted.hidden.files,
        "Application or object of Flux in Jsonnet": discovered.jsonnet,
    }
    for what, found in suspects.items():
        users = [file for file in found if intake.texts.asks(file)]
        if not users:
            continue
        from render.manifests.uses.asking import fills_in_machines

        known = discovered.kustomizations, intake.limits, intake.kustomizations
        listed = kustomization.listed(*known).union(sifted.walked.allowed)
        for file in users:
            is_listed = real_path(file) in listed
            if is_listed or not fills_in_machines(file, sifted.home, intake.limits):
                continue
            into.unseen.add(what, file)
            into.diagnostics.append(skipped(file, "what it applies is not evaluated"))


def _name_overrides(sifted: Sifted, unread: Unread, into: Documents) -> None:
    """Count in *into* what overrides Applications of folders with VMs, where none is known that applies the folder."""
    overriding = [
        *filter(_is_override, sifted.hidden.files),
        *chain.from_iterable(map(_overrides, sifted.walked.discovered.charts)),
    ]
    applied = {real_path(use.folder) for use in (*unread.uses, *unread.plain)} if overriding else ()
    for file in overriding:
        folder = os.path.dirname(file) or "."
        is_ours = sifted.home.is_chart_of_machines(folder) or sifted.home.is_built_of_machines(
            folder
        )
        if is_ours and real_path(folder) not in applied:
            _name_override(file, into)


def name_overrides(chart: str, into: Documents) -> None:
    """Count in *into* what overrides Applications of the folder *chart*, which was named and has VMs."""
    for file in _overrides(chart) if into.documents else ():
        _name_override(file, into)


def _overrides(folder: str) -> list[str]:
    """What overrides Applications of *folder* in it; nothing of what may not be listed."""
    try:
        return [
            discover.join(folder, name) for name in sorted(os.listdir(folder)) if _is_override(name)
        ]
    except OSError:
        return []


def _is_override(path: str) -> bool:
    return _OVERRIDES.fullmatch(os.path.basename(path)) is not None


def _name_override(file: str, into: Documents) -> None:
    into.unseen.add("override of an Application of elsewhere", file)
    into.diagnostics.append(skipped(file, "no Application is known that applies its folder"))


def _templates(charts: Sequence[str]) -> Iterator[str]:
    """The files of which helm makes objects in the folders *charts*."""
    if not charts:
        return
    from render.manifests.charts import layout

    for chart in charts:
        for file in layout.ChartFiles(chart).files:
            if file.endswith(discover.YAML) and "templates" in file.split(os.sep):
                yield tidy(file)


def _name_misnamed_of_charts(sifted: Sifted, unread: Unread, into: Documents) -> None:
    """Say in *into* which files of charts of VMs have a name by which helm does not find them, nor uses name them."""
    intake = sifted.walked.intake
    used = {*intake.reading.chart.values}.union(
        *(use.release.values for use in unread.uses if use.release)
    )
    named = {*map(real_path, used)}
    for file, right in sifted.walked.discovered.misnamed_of_charts:
        is_used = real_path(file) in named
        if not is_used and intake.texts.in_chart(os.path.dirname(file) or "."):
            into.unseen.add("file of a chart with another name than helm reads", file)
            into.diagnostics.append(skipped(file, f"helm reads {right}: call it that"))


def _name_patches(sifted: Sifted, _: Unread, into: Documents) -> None:
    """Say in *into* which loose files are not read, since a kustomization names them as something else."""
    into.diagnostics += notes_of_patches(sifted.walked, sifted.patches)


def notes_of_patches(walked: Walked, patches: Mapping[str, str]) -> Iterator[Diagnostic]:
    """That those of the loose files that are *patches*, by their kustomizations, are no manifests, and not read."""
    for file, real in walked.discovered.files:
        if real in patches and real not in walked.intake.seen:
            yield note_of_patch(file, patches[real])


def note_of_patch(file: str, owner: str) -> Diagnostic:
    """That *file* is no manifest by itself: the kustomization *owner* names it."""
    return skipped(file, f"no resource: {owner} refers to it")


def _name_unlisted(sifted: Sifted, unread: Unread, into: Documents) -> None:
    """Say in *into* which VMs stand in files that are read with no kustomization, and are not applied so either.

    Those stand below kustomizations, of which none lists them; or one names them, and as no resource.
    """
    intake, discovered, patches = sifted.walked.intake, sifted.walked.discovered, sifted.patches
    applied = {*chain(*unread.directories.values())}
    loose = {
        file: real for file, real in discovered.files if real in patches and real not in intake.seen
    }
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
            into.unseen.add(PATCH, file)
            into.diagnostics += [] if file in loose else [note_of_patch(file, patches[real])]


def _name_hidden(sifted: Sifted, unread: Unread, into: Documents) -> None:
    """Count in *into* the files with VMs that are hidden, or called as files with expectations are, or in Jsonnet.

    Argo CD and kubectl take them for manifests all the same; Jsonnet Argo CD alone, in a directory. What a
    kustomization lists, or is allowed by its own name, is read; so is what of it is *unread* yet. Hidden
    kustomizations are counted too.
    """
    intake, discovered, allowed = (
        sifted.walked.intake,
        sifted.walked.discovered,
        sifted.walked.allowed,
    )
    tests = [file for file, _ in discovered.expectations if inside(real_path(file), allowed)]
    read = _read_of_hidden(sifted, unread, into).union(intake.seen)
    for what, found in (
        ("hidden VM file", sifted.hidden.files),
        ("VM file with the name of a test", tests),
        ("VM file in Jsonnet", _jsonnet(sifted, unread)),
        ("VM file whose name ends in capitals", discovered.shouted),
        ("VM file of a chart that is applied as it is", _applied_templates(discovered, unread)),
    ):
        suspects = {real_path(file) for file in found if intake.texts.is_of_machines(file)}
        if suspects:
            listed = kustomization.listed(
                discovered.kustomizations, intake.limits, intake.kustomizations
            )
            for file in suspects.difference(listed, allowed, read):
                into.unseen.add(what, file)


def _jsonnet(sifted: Sifted, unread: Unread) -> list[str]:
    """The files in Jsonnet that Argo CD may evaluate: below a kustomization those of folders that an object applies."""
    discovered, hidden = sifted.walked.discovered, sifted.hidden
    below = _applied_as_they_are(discovered.owned_jsonnet, unread)
    return [*filter(os.path.isfile, chain(discovered.jsonnet, below, hidden.jsonnet))]


def _applied_templates(discovered: Discovery, unread: Unread) -> list[str]:
    """The templates of charts that objects apply as they are: helm may make nothing of what is a comment there."""
    return _applied_as_they_are(_templates(discovered.charts), unread) if unread.plain else []


def _applied_as_they_are(paths: Iterable[str], unread: Unread) -> list[str]:
    """Those of the files *paths* that stand in folders which objects apply, and nothing builds."""
    from render.manifests.sources.applied import AppliedFolders

    applied = AppliedFolders(unread.plain)
    found: list[str] = []
    for file in paths:  # each by its own name, whatever it is a link to
        folder, name = os.path.split(file)
        if applied.has(os.path.join(real_path(folder), name)):
            found.append(file)
    return found


def _read_of_hidden(sifted: Sifted, unread: Unread, into: Documents) -> set[str]:
    """The resolved hidden files that are read with what is *unread* yet; into *into* goes what is read by nobody."""
    intake, read = sifted.walked.intake, {*_read_with_charts(sifted, unread)}
    if not sifted.hidden.kustomizations:
        return read
    from render.manifests.sources import hidden

    used = {*map(real_path, (*unread.kustomizations, *(use.folder for use in unread.uses)))}
    others = sifted.walked.discovered.kustomizations
    read.update(hidden.name_kustomizations(intake, sifted.hidden, others, used, into))
    return read.union(*map(hidden.files_of, sifted.reaches.values()))


def _read_with_charts(sifted: Sifted, unread: Unread) -> Iterator[str]:
    """The resolved hidden files of which helm makes something in the charts that uses fill in: templates and values."""
    if sifted.walked.intake.reading.helm == "never":
        return
    filled = [(use.folder, use.release.values) for use in unread.uses if use.release is not None]
    charts = {real_path(folder) for folder, _ in filled}
    for file in map(real_path, sifted.hidden.files if charts else ()):
        for chart in filter(partial(files.is_below, file), charts):
            *folders, name = os.path.relpath(file, chart).split(os.sep)
            if "templates" in folders or name == discover.VALUES_FILE:
                yield file
    yield from map(real_path, chain.from_iterable(values for _, values in filled))


_OF_READING: tuple[Callable[[Sifted, Unread, Documents], None], ...] = (
    _name_patches,
    _name_absent,
    _name_untracked,
    _name_passed,
    _name_veiled,
    _name_unasked,
    _name_overrides,
    _name_misnamed_of_charts,
    _name_unlisted,
    _name_hidden,
)


def name_beside_templates(intake: SourceIntake, chart: str, into: Documents) -> None:
    """Say in *into* which VMs stand in the folder *chart* where helm makes nothing of them."""
    from render.manifests.charts import layout

    for file in layout.ChartFiles(chart).files:
        inner = os.path.relpath(file, chart).split(os.sep)
        is_beside = file.endswith(discover.YAML) and "templates" not in inner[:-1]
        if is_beside and intake.texts.is_of_machines(tidy(file)):
            into.unseen.add("VM file beside the templates of a chart", tidy(file))
            into.diagnostics.append(skipped(tidy(file), "helm makes nothing of it"))


def name_idle_templates(
    intake: SourceIntake, inputs: Sequence[Documents], loose: Documents
) -> None:
    """Say in the *inputs*, or beside them in *loose*, which templates with VMs have printed none for anybody.

    Their conditions want for other values, or for a cluster: what is installed there, what it serves, an upgrade.
    """
    for file, (first, is_printed) in intake.templates.items():
        if not is_printed and WITHOUT_MACHINES not in first.unseen.counts():
            into = first if any(first is each for each in inputs) else loose
            into.unseen.add("VM template whose condition does not hold", file)
            into.diagnostics.append(skipped(file, "helm prints no VM of it"))
