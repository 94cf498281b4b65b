"""Paths to documents: folders, files, stdin, kustomizations and charts, with what may be reported about them."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import discover, kustomization
from render.manifests.discover import skipped, tidy
from render.manifests.documents import Documents
from render.manifests.kustomization import too_many_followed
from render.manifests.sources import passed_over, walk
from render.manifests.sources.intake import ReadOutput, SourceIntake
from render.manifests.sources.passed_over import Unread
from render.manifests.sources.reading import BUILDERS, Reading
from render.model.hints import TYPE_CHECKING, Literal
from render.system.files import real_path

if TYPE_CHECKING:
    from render.manifests.uses.use import FolderUse, PluginUse
    from render.system.programs.processes import Steps


def load(
    paths: Sequence[str],
    reading: Reading,
    *,
    roots: Literal["one", "all"] = "one",
    whole: bool = False,
    watch: list[Documents] | None = None,
) -> Documents:
    """Read *paths* into one set of documents: what ``build`` renders.

    A folder with a kustomization is built; of another folder the YAML and JSON files below it are read, and the one
    kustomization that may be there is built, or, where there is nothing else, the one chart; several are an error
    unless *roots* is ``all``. *whole*: see `Documents`.
    What is read is noted in *watch* before it is complete. Nothing is raised: whatever is wrong is a diagnostic.
    """
    intake = SourceIntake(reading)
    into = _watched(watch, Documents(folder=_folder_of(paths), whole=whole))
    paths = _within(paths, into)
    allowed = _allowed(paths)
    for path in paths:
        if _is_root(path, reading):
            _finish(_building(intake, tidy(path), into))
            continue
        if _is_chart(path, reading):
            _finish(_filling(intake, tidy(path), into))
            continue
        unread = walk.through(intake, path, allowed, into)
        tops = unread.kustomizations
        if len(tops) > 1 and roots == "one":
            into.diagnostics.append(_several(path, tops, "kustomizations that nothing refers to"))
            continue
        for top in tops:
            _finish(_building(intake, top, into))
        if not into.documents and not tops:
            _fill_only(intake, path, unread.charts, into, roots)
    into.diagnostics += _unread_beside(intake)
    return into


def load_all(
    paths: Sequence[str],
    reading: Reading,
    *,
    anything: bool = False,
    whole: bool = False,
    watch: list[Documents] | None = None,
) -> list[Documents]:
    """Read *paths* as ``check`` does: each kustomization that no other refers to by itself, loose files together.

    *anything*: files among *paths* need not hold manifests, as little as those that are found in a folder; *whole* and
    *watch*: as for `load`.
    """
    intake = SourceIntake(reading, anything=anything)
    loose = _watched(watch, Documents(folder=_folder_of(paths), whole=whole))
    paths = _within(paths, loose)
    allowed = _allowed(paths)
    if reading.scope and reading.scope.repository:
        allowed.append(reading.scope.repository)
    inputs: list[Documents] = []
    for path in paths:
        if _is_chart(path, reading):
            inputs.append(_watched(watch, Documents(folder=tidy(path), whole=whole)))
            _finish(_filling(intake, tidy(path), inputs[-1]))
            passed_over.name_beside_templates(intake, tidy(path), inputs[-1])
            passed_over.name_overrides(tidy(path), inputs[-1])
            continue
        unread, name_rest = walk.begun(intake, path, allowed, loose)
        if not reading.programs >= BUILDERS:
            name_rest()
            _leave(intake, unread, loose)
            continue
        empty = [_watched(watch, into) for into in _empty(unread, loose, whole=whole)]
        tries = _made(intake, unread, empty, name_rest)
        inputs += (tried for tried in tries if _is_input(intake, tried, path, loose))
        directories = _empty_directories(unread, whole=whole)
        inputs += (_watched(watch, _taken(intake, into, unread)) for into in directories)
        _name_destinations(unread, loose)
    _name_unmade(intake, inputs, loose)
    return [loose, *inputs] if not inputs or loose.documents or loose.diagnostics else inputs


def inputs_below(path: str, reading: Reading) -> Unread:
    """What `load_all` would have programs make of the folder *path*, and what else is applied there."""
    return walk.through(SourceIntake(reading), path, _allowed([path]), Documents(folder=tidy(path)))


def made(unread: Unread, reading: Reading) -> list[Documents]:
    """What programs make of what is *unread*: each of its kustomizations, charts and uses, in turn."""
    intake = SourceIntake(reading)
    return [*_made(intake, unread, _empty(unread, Documents(), whole=False), lambda: None)]


def _empty_directories(unread: Unread, *, whole: bool) -> list[Documents]:
    """The inputs that are to be made of the directories which are *unread*."""
    directories = [Documents(folder=folder, whole=whole) for folder in unread.directories]
    _name_appliers(directories, unread)
    return directories


def _taken(intake: SourceIntake, into: Documents, unread: Unread) -> Documents:
    """*into* with the files of its folder, which are applied as they are."""
    for file in unread.directories[into.folder]:
        intake.file(file, into, named=False)
    return into


def _unread_beside(intake: SourceIntake) -> Iterator[Diagnostic]:
    """That not every kustomization, or who fills in charts, could be read: then nobody knows what was passed over."""
    beside = intake.budget.beside
    if beside.is_exceeded:
        yield codes.LIMIT_EXCEEDED.at(
            Location(),
            f"the aliases of kustomizations and of what else is read beside the objects expand to more than"
            f" {beside.values:,} values",
            help="write them without aliases, or raise --max-alias-nodes",
        )
    if intake.kustomizations.is_exhausted:
        yield too_many_followed(Location())


def _empty(unread: Unread, loose: Documents, *, whole: bool) -> list[Documents]:
    """The inputs that are to be made of what is *unread*, beside the *loose* files."""
    built = [Documents(folder=folder, whole=whole) for folder in unread.kustomizations]
    _name_appliers(built, unread)
    filled = [Documents(folder=use.folder, whole=whole, user=use.title) for use in unread.uses]
    for into, use in zip(filled, unread.uses, strict=True):
        into.namespace, into.references = use.namespace, use.references
        into.is_server_side, into.stands = use.is_server_side, use.stands
    charts = (Documents(folder=folder, whole=whole) for folder in unread.charts)
    empty = [*built, *charts, *filled]
    for into in empty:
        if into.folder in loose.remotes:
            into.remotes[into.folder] = loose.remotes[into.folder]
    return empty


def _name_unmade(intake: SourceIntake, inputs: Sequence[Documents], loose: Documents) -> None:
    """Say in *inputs*, or in *loose* beside them, what was read for them and came to nothing, once all are made."""
    loose.diagnostics += _unread_beside(intake)
    passed_over.name_idle_templates(intake, inputs, loose)
    _name_left_out([loose, *inputs])


def _name_left_out(inputs: Sequence[Documents]) -> None:
    """Say in *inputs* which VMs kustomize read and made nothing of in any of them: nobody has looked at these."""
    if not any(into.left_out for into in inputs):
        return
    made = {document.origin for into in inputs for document in into.documents}
    for into in inputs:
        for origin in dict.fromkeys(into.left_out):
            if origin not in made:
                made.add(origin)
                into.unseen.add("VM that kustomizations leave out", origin.file, which=origin)
                into.diagnostics.append(
                    codes.FILE_SKIPPED.at(
                        Location(file=origin.file, line=origin.line),
                        f"the VM in {origin.file} skipped: {into.folder} lists it, and makes nothing of it",
                    )
                )


def _name_appliers(inputs: Iterable[Documents], unread: Unread) -> None:
    """Say in each of *inputs* who applies its folder as it is written, and in which namespace what names none."""
    if not unread.plain:
        return
    from render.manifests.uses.destinations import agreed_namespace

    by_folder: dict[str, list[FolderUse]] = {}
    for use in unread.plain:
        by_folder.setdefault(real_path(use.folder), []).append(use)
    for into in inputs:
        uses = by_folder.get(real_path(into.folder), [])
        into.appliers = frozenset(use.title for use in uses)
        into.namespace = agreed_namespace(uses)
        into.plugins = _plugins(uses)
        into.is_server_side = bool(uses) and all(use.is_server_side for use in uses)


def _plugins(uses: Sequence["FolderUse"]) -> dict[str, "PluginUse"]:
    """What those of *uses* tell our plugin that have it render, by their titles."""
    return {use.title: use.plugin for use in uses if use.plugin is not None}


def _name_destinations(unread: Unread, loose: Documents) -> None:
    """Say in *loose* where its files are applied, and who applies anything."""
    revisions = {use.title: use.revision for use in (*unread.uses, *unread.plain)}
    loose.revisions = {**loose.revisions, **revisions}
    if not unread.plain:
        return
    from render.manifests.uses.destinations import destinations, users

    names = {document.origin.file for document in loose.documents}
    loose.users = {**loose.users, **users(names, unread.plain)}
    loose.plugins = {**loose.plugins, **_plugins(unread.plain)}
    if any(use.namespace for use in unread.plain):
        loose.destinations = {**loose.destinations, **destinations(names, unread.plain)}


def _leave(intake: SourceIntake, unread: Unread, into: Documents) -> None:
    """Count what is *unread*, which nobody may build."""
    for what, folders in (
        ("kustomization", unread.kustomizations),
        ("Helm chart", walk.filled(intake, unread.charts)),
    ):
        for folder in folders:
            into.unseen.add(what, folder)
        into.diagnostics += (
            skipped(folder, "nobody may start a program here") for folder in folders
        )


def _is_input(intake: SourceIntake, tried: Documents, path: str, loose: Documents) -> bool:
    """Whether *tried*, which was found below *path*, is an input; where it is none, *loose* says why."""
    if not tried.is_built or (tried.user and not tried.unbuilt):
        if tried.documents or tried.unbuilt:
            return True
        loose.unseen.update(tried.unseen)
        loose.diagnostics += tried.diagnostics
        if tried.diagnostics:
            loose.unfilled[tried.folder, tried.user] = tried.diagnostics
        return False
    if tried.folder == tidy(path) and not tried.user:
        return True
    from render.manifests.sources import kustomization as built

    if built.is_of_elsewhere(intake, tried):
        loose.unseen.add(walk.OF_ELSEWHERE, tried.folder)
        note = skipped(tried.folder, tried.unbuilt[0].message)
        loose.diagnostics.append(note)
        built.read_without_remotes(intake, tried)
        if not tried.documents:
            loose.unfilled[tried.folder, ""] = tried.unbuilt
        return bool(tried.documents)
    for is_meant, (what, program) in (
        (built.is_for_helm, walk.OF_HELM),
        (built.is_for_plugin, walk.OF_PLUGINS),
    ):
        if is_meant(intake, tried):
            note = skipped(tried.folder, f"kustomize would have to run {program} for it")
            loose.unseen.add(what, tried.folder)
            loose.diagnostics.append(note)
            loose.unfilled[tried.folder, ""] = [note]
            return False
    return True


def _made(
    intake: SourceIntake,
    unread: Unread,
    empty: Sequence[Documents],
    meanwhile: Callable[[], None],
) -> Iterator[Documents]:
    """What kustomize and helm make of what is *unread*, read into *empty*, one for each, in turn.

    The programs run side by side; what they print is read in order, and after *meanwhile*, which is called once.
    """
    if not empty:
        meanwhile()
        return
    from render.system import processors
    from render.system.programs import processes
    from render.system.programs.box import Boxes

    jobs = min(intake.reading.jobs or processors.available(), len(empty))
    starts: list[Callable[[SourceIntake, str, Documents], Steps[ReadOutput]]] = [
        *(_building for _ in unread.kustomizations),
        *(_trying for _ in unread.charts),
        *(partial(_using, use) for use in unread.uses),
    ]
    works = [start(intake, into.folder, into) for start, into in zip(starts, empty, strict=True)]
    once = cache(meanwhile)
    with (
        Boxes(jobs, in_turn=len(empty) > jobs) as boxes,
        contextlib.closing(processes.finish_all(works, jobs, once)) as readings,
    ):
        intake.boxes = boxes
        for into, read_output in zip(empty, readings, strict=True):
            once()
            read_output()
            yield into
    intake.boxes = None


def _fill_only(
    intake: SourceIntake,
    path: str,
    charts: Sequence[str],
    into: Documents,
    roots: Literal["one", "all"],
) -> None:
    """Run helm on the *charts* below *path*, where nothing else is: one, unless *roots* is ``all``."""
    filled = walk.filled(intake, charts)
    if len(filled) > 1 and roots == "one":
        into.diagnostics.append(_several(path, filled, "Helm charts"))
        return
    for folder in filled:
        _finish(_filling(intake, folder, into))


def _building(intake: SourceIntake, top: str, into: Documents) -> "Steps[ReadOutput]":
    from render.manifests.sources import kustomization as built

    return built.building(intake, top, into)


def _filling(intake: SourceIntake, folder: str, into: Documents) -> "Steps[ReadOutput]":
    from render.manifests.sources import chart

    return chart.filling(intake, folder, into)


def _trying(intake: SourceIntake, folder: str, into: Documents) -> "Steps[ReadOutput]":
    from render.manifests.sources import chart

    return chart.trying(intake, folder, into)


def _using(
    use: "FolderUse", intake: SourceIntake, _folder: str, into: Documents
) -> "Steps[ReadOutput]":
    if use.release is not None:
        from render.manifests.sources import chart

        return chart.using(intake, use, into)
    from render.manifests.sources import kustomization as built

    return built.using(intake, use, into)


def _finish(steps: "Steps[ReadOutput]") -> None:
    """Run a program to its end, and read what it printed."""
    from render.system.programs import processes

    processes.finish(steps)()


def _within(paths: Sequence[str], into: Documents) -> list[str]:
    """Those of *paths* that no link leads out of its repository; what is wrong with the others goes into *into*."""
    led_out = [path for path in paths if path != "-" and discover.is_led_out(path)]
    into.diagnostics += map(kustomization.outside, led_out)
    return [path for path in paths if path not in led_out]


def _allowed(paths: Sequence[str]) -> list[str]:
    """What links may lead to: anything in *paths*."""
    return [real_path(path) for path in paths if path != "-"]


def _is_root(path: str, reading: Reading) -> bool:
    """Whether *path* is a folder for kustomize."""
    return reading.kustomize != "never" and path != "-" and kustomization.find(path) is not None


def _is_chart(path: str, reading: Reading) -> bool:
    """Whether *path* is a folder for helm."""
    is_enabled = reading.helm != "never" and path != "-"
    return is_enabled and not _is_root(path, reading) and discover.is_chart(path)


def _folder_of(paths: Sequence[str]) -> str:
    """The folder that *paths* are, if they are one."""
    return tidy(paths[0]) if len(paths) == 1 and os.path.isdir(paths[0]) else "."


def _watched(watch: list[Documents] | None, loaded: Documents) -> Documents:
    if watch is not None:
        watch.append(loaded)
    return loaded


def _several(path: str, tops: Sequence[str], what: str) -> Diagnostic:
    folder = tidy(path)
    return codes.SEVERAL_ROOTS.at(
        Location(file=folder),
        f"{folder} holds {len(tops)} {what}: {', '.join(tops)}",
        help="build one of them at a time; check takes them all",
    )
