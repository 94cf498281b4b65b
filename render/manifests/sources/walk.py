"""Folders and files: what of them is read as it is, and what is left to be built or filled in."""

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import discover, kustomization, relevance
from render.manifests.discover import Discovery, Hidden, skipped, tidy
from render.manifests.documents import Documents
from render.manifests.kustomization import LOCK
from render.manifests.sources import passed_over
from render.manifests.sources.intake import SourceIntake
from render.manifests.sources.passed_over import Omitted, Sifted, Unread, Walked
from render.manifests.sources.reading import PROGRAMS
from render.model.hints import TYPE_CHECKING
from render.model.resource import Origin
from render.system import files
from render.system.files import real_path
from render.yaml.budget import Limits
from render.yaml.reader import Document

#: Where the unfilled inputs have why files cannot be read in which objects may stand that fill in others.
UNREAD_USERS = ("", "")
#: What is counted that only wants for what is elsewhere.
OF_ELSEWHERE = "kustomization with a remote base"
#: What is counted that only wants for programs which we do not let kustomize run, with these.
OF_HELM = "helmCharts kustomization", "helm"
OF_PLUGINS = "kustomization with plugins of others", "a plugin"

if TYPE_CHECKING:
    from render.manifests.uses.asking import Uses
    from render.manifests.uses.use import FolderUse


def through(intake: SourceIntake, path: str, allowed: Sequence[str], into: Documents) -> Unread:
    """Read *path* into *into* except for what kustomizations own and charts are filled with.

    Links may lead to anything in *allowed*.
    """
    unread, name_rest = begun(intake, path, allowed, into)
    name_rest()
    return unread


def begun(
    intake: SourceIntake, path: str, allowed: Sequence[str], into: Documents
) -> tuple[Unread, Callable[[], None]]:
    """The same, and what says in *into* what is not looked at: that takes a while, in which programs can run."""
    if path == "-":
        intake.stream(into)
    elif os.path.isdir(path):
        return _folder(intake, tidy(path), allowed, into)
    else:
        _named(intake, tidy(path), into)
    return Unread([], []), _nothing


def _nothing() -> None:
    """Say nothing."""


def patch_files(path: str, limits: Limits) -> list[str]:
    """The kustomizations at and below *path*, and the files that they use beside their resources; sorted."""
    folders = discover.walk(tidy(path), (real_path(path),), plain=False).kustomizations
    used = (os.path.relpath(real) for real in kustomization.survey(folders, limits).patches)
    return sorted({*filter(None, map(kustomization.find, folders)), *used})


def locks(path: str) -> list[str]:
    """The locks in and below the folder *path*, sorted."""
    discovered = discover.walk(path, (real_path(path),), plain=True)
    return [file for file, _ in discovered.files if os.path.basename(file) == LOCK]


def torn_locks(path: str, limits: Limits) -> list[str]:
    """The locks in and below the folder *path* that have git's conflict markers, sorted."""
    names = locks(path)
    texts = ((name, files.read(name, name, limits.file_bytes)) for name in names)
    return [
        name for name, data in texts if isinstance(data, bytes) and b"\n<<<<<<< " in b"\n" + data
    ]


def _folder(
    intake: SourceIntake, folder: str, allowed: Sequence[str], into: Documents
) -> tuple[Unread, Callable[[], None]]:
    plain = intake.reading.kustomize == "never"
    omitted = Omitted(intake, real_path(folder), intake.scope) if intake.scope else None
    discovered = discover.walk(
        folder, allowed, plain=plain, omitted=omitted, buffers=intake.reading.buffers
    )
    _add_charts_below(intake, discovered)
    intake.charts = discovered.charts
    walked = Walked(intake, folder, allowed, discovered, omitted)
    passed_over.name_of_walk(walked, into)
    built, apart = _kept_apart(intake, discovered)
    tops, named = kustomization.survey(built, intake.limits, intake.kustomizations)
    wanted = _loose(intake, discovered, named)
    if intake.scope is None:
        into.diagnostics += passed_over.notes_of_patches(walked, named)
        for file in wanted:
            intake.file(file, into, named=False)
        return Unread([] if plain else tops, discovered.charts), _nothing
    asking = _search(intake, wanted, into)
    reaches = _reaches(intake, () if plain else tops, into)
    reached = _reached(intake, folder, reaches, into, discovered)
    for top in reaches.keys() - reached:
        into.namespaces += intake.texts.namespaces(reaches[top].resources)
    hidden = _hidden(discovered, omitted, allowed)
    sifted = Sifted(walked, wanted, asking, built, reaches, reached, named, hidden)
    unread = _used(sifted, Unread(reached, discovered.charts), into)
    unread = _with_gathered(intake, apart, unread)
    return unread, partial(passed_over.name_of_reading, sifted, unread, into)


def _hidden(discovered: Discovery, omitted: Omitted | None, allowed: Collection[str]) -> Hidden:
    """What is hidden of what was *discovered*, without what is *omitted*; links lead to what is *allowed*."""
    if not discovered.hidden:
        return Hidden()
    from render.manifests.sources import hidden

    why_omitted = omitted.path if omitted else lambda _: ""
    return hidden.look(discovered.hidden, why_omitted, allowed)


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


def _loose(intake: SourceIntake, discovered: Discovery, named: Mapping[str, str]) -> list[str]:
    """The files that are read by themselves: neither *named* by a kustomization, nor read with a chart, nor before."""
    loose: list[str] = []
    locks_of_charts = {discover.join(chart, LOCK) for chart in filled(intake, discovered.charts)}
    for file, real in discovered.files:
        if file in locks_of_charts:
            continue  # read with the chart, whose lock it is
        if real not in named and not intake.is_repeated(real):
            loose.append(file)
    return loose


def _reaches(
    intake: SourceIntake, tops: Iterable[str], into: Documents
) -> dict[str, kustomization.Reach]:
    """What the kustomizations *tops* read; which of it is remote and stays unread is said in *into*."""
    reaches = {top: intake.reach(top) for top in tops}
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


def _add_charts_below(intake: SourceIntake, discovered: Discovery) -> None:
    """Take the charts below kustomizations that none of these has to do with for charts like all others."""
    if discovered.owned_charts:
        from render.manifests.sources import charts_below

        known = intake.limits, intake.kustomizations
        found = charts_below.apart(discovered.owned_charts, discovered.kustomizations, *known)
        discovered.charts[:] = discover.outermost((*discovered.charts, *found))


def _used(sifted: Sifted, unread: Unread, into: Documents) -> Unread:
    """*unread* with what objects among the *sifted* say of it: what these fill in is not read as it is."""
    intake = sifted.walked.intake
    reached = (file for reach in sifted.reaches.values() for file in reach.resources)
    if not intake.reading.programs >= PROGRAMS:
        return unread
    if not sifted.asking and not any(map(intake.texts.asks, reached)):
        return unread
    from render.manifests.sources import kustomization as built
    from render.manifests.uses import asking as evaluation

    found = evaluation.find(
        evaluation.Places(
            sifted.asking,
            sifted.files,
            [
                evaluation.Build(top, reach, partial(built.built_to, intake, top))
                for top, reach in sifted.reaches.items()
            ],
        ),
        sifted.home,
        intake.reading.chart._replace(values=(), file_parameters=(), name=""),
        intake.limits,
    )
    _tell(found, into)
    parts = [use for use in found.uses if use.is_plain and sifted.home.is_part(use.folder)]
    _read_applied_patches(sifted, found.uses, into)
    return _divided(sifted, unread, found.uses, parts, into)


def _tell(found: "Uses", into: Documents) -> None:
    """Say in *into* what of the uses that were *found* is not evaluated, and what cannot be read."""
    into.unseen.update(found.unseen)
    into.diagnostics += found.notes
    into.unfilled |= found.unfilled
    into.refused |= found.refused
    into.revisions = {**into.revisions, **found.unknown}
    if found.broken:
        into.diagnostics += found.broken
        into.unfilled[UNREAD_USERS] = [*found.broken]
        for file in {error.location.file for error in found.broken}:
            into.unseen.add("Application or object of Flux that cannot be read", file)


def _divided(
    sifted: Sifted,
    unread: Unread,
    uses: Sequence["FolderUse"],
    parts: Sequence["FolderUse"],
    into: Documents,
) -> Unread:
    """*unread* with *uses*, of which *parts* are otherwise read with others alone."""
    intake = sifted.walked.intake
    is_built = intake.reading.kustomize != "never"
    uses = [use for use in uses if is_built or use.is_plain or use.release is not None]
    into.diagnostics += (_note_of(use) for use in uses if not use.is_plain)
    users = {real_path(use.folder) for use in uses if not use.is_plain}
    plain = {real_path(use.folder) for use in uses if use.is_plain}
    has_values = bool(intake.reading.chart.values or intake.reading.chart.file_parameters)
    charts = [chart for chart in unread.charts if has_values or real_path(chart) not in users]
    otherwise = users | _drawn_in(intake, sifted.hidden, users | plain)
    tops = [
        top
        for top in unread.kustomizations
        if (real := real_path(top)) not in otherwise or real in plain
    ]
    as_parts = {real_path(use.folder): use for use in reversed(parts)}.values()
    into.diagnostics += map(_note_of, as_parts)
    if is_built:
        tops += (use.folder for use in as_parts if kustomization.find(use.folder) is not None)
    directories = _applied(sifted, as_parts) if as_parts else {}
    filling = [use for use in uses if not use.is_plain]
    return Unread(tops, charts, filling, directories, [use for use in uses if use.is_plain])


def _drawn_in(intake: SourceIntake, found: Hidden, used: Collection[str]) -> frozenset[str]:
    """The resolved folders that are built with the *used* ones of the hidden kustomizations that were *found*."""
    if not found.kustomizations:
        return frozenset()
    from render.manifests.sources import hidden

    return hidden.drawn_in(intake, found, used)


def _applied(sifted: Sifted, uses: Collection["FolderUse"]) -> dict[str, Sequence[str]]:
    """The files below kustomizations that are applied as they are with the folders of *uses*, by folder.

    What a kustomization names as a patch is one, unless it is a whole VM: anybody could take one out of sight so.
    """
    from render.manifests.sources.applied import AppliedFolders

    applied, texts = AppliedFolders(uses), sifted.walked.intake.texts
    found: dict[str, list[str]] = {
        real_path(use.folder): [] for use in uses if kustomization.find(use.folder) is None
    }
    resolved = ((file, real_path(file)) for file in sifted.hidden.files)
    for file, real in (*sifted.walked.discovered.owned, *resolved):
        if not file.endswith(discover.YAML):
            continue
        folders = [*applied.around(real)]
        if folders and (real not in sifted.patches or texts.is_whole_machine(file)):
            for folder in folders:
                found[folder].append(file)
    names = {real_path(use.folder): use.folder for use in uses}
    return {names[folder]: each for folder, each in found.items()}


def _read_applied_patches(sifted: Sifted, uses: Sequence["FolderUse"], into: Documents) -> None:
    """Read into *into* the loose files with VMs that *uses* apply, though a kustomization calls them patches.

    Anybody may write a patch for what is not there.
    """
    intake = sifted.walked.intake
    patches = [
        (file, real)
        for file, real in sifted.walked.discovered.files
        if real in sifted.patches and intake.texts.is_of_machines(file)
    ]
    if not patches:
        return
    from render.manifests.sources.applied import AppliedFolders

    applied = AppliedFolders(use for use in uses if use.is_plain)
    for file, real in patches:
        if applied.has(real) and not intake.is_repeated(real):
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
        refused = None if intake.reading.allow_remote else reach.refused
        into.unfilled[top, ""] = [refused() if refused else note]
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
    if reach.refused and not allows_remote:
        return "kustomization with edited plugins", "nobody knows what its plugins load"
    for is_meant, (what, program) in ((reach.inflates, OF_HELM), (reach.extended, OF_PLUGINS)):
        if is_meant:
            return what, f"kustomize would have to run {program} for it"
    return "", ""


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
    from render.manifests.sources.listed import intended

    return (
        intake.texts.reached(reach)
        or (_is_shared(intake, top) and intake.texts.any_limiting(reach.resources))
        or intended.may_hold(intake, reach)
        or (bool(missing) and _held_machines(intake, top, reach))
        or (bool(missing) and intended.is_unlisted_beside(intake, reach, missing, walked))
        or intended.is_beside_missing(intake, top, missing)
        or intended.is_misplaced(intake, top, reach, missing)
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
    return intake.scope is not None and bool(intake.scope.shared.match(real_path(path)))


def _search(intake: SourceIntake, wanted: Sequence[str], into: Documents) -> list[str]:
    """Read those of the files *wanted* that may hold an object of KubeVirt's, or what one of these asks for.

    The answer are those that may say how something else is filled in.
    """
    asking: list[str] = []
    referents: list[tuple[str, bytes]] = []
    refers = False
    limiting: list[tuple[str, bytes]] = []
    for file, data in _opened(intake, wanted, into):
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
            if relevance.may_be_namespace(data):
                into.namespaces.append(file)
    intake.beside_machines(referents if refers else (), relevance.is_referent, into)
    if not into.documents:
        limiting = [(file, data) for file, data in limiting if _is_shared(intake, file)]
    intake.beside_machines(limiting, relevance.limits, into)
    return asking


def _opened(
    intake: SourceIntake, wanted: Iterable[str], into: Documents
) -> Iterator[tuple[str, bytes]]:
    """Those of the files *wanted* that can be read, and that Argo CD does not pass over, with what they say."""
    for file in wanted:
        data = intake.reading.buffers.read(file, intake.limits.file_bytes)
        if not isinstance(data, Diagnostic):
            if not intake.passes_over(file, data, into):
                yield file, data
            continue
        into.diagnostics.append(intake.met(data))
        if not into.diagnostics[-1].is_error:
            into.unopened[file] = data
            into.unseen.add("path that cannot be read", file)


def _is_of_chart(file: str, data: bytes) -> bool:
    """Whether *file* has the values of a chart, which helm reads by rules of its own, and *data* in it is no VM."""
    folder, name = os.path.split(file)
    is_values = name == discover.VALUES_FILE and discover.is_chart(folder)
    return is_values and not relevance.may_be_of_machine(data)


def _named(intake: SourceIntake, file: str, into: Documents) -> None:
    real = real_path(file)
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
            into.unseen.add(passed_over.PATCH, file)
        into.diagnostics.append(passed_over.note_of_patch(file, owner))
    elif not os.path.lexists(file) and file not in intake.reading.buffers:
        into.diagnostics.append(not_there(file))
    elif not intake.is_repeated(real):
        intake.file(file, into, named=not intake.anything)
    else:
        _demand(file, real, into)


def not_there(file: str) -> Diagnostic:
    """That nothing is called *file*, and what is probably meant with it."""
    from render.manifests.blame import missing

    near = missing.near_path(file)
    fault = files.unreadable(file, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
    cure = "name a file or folder that is there, or leave it out"
    return fault._replace(help=f"did you mean {discover.printable(near)}?" if near else cure)


def _demand(file: str, real: str, into: Documents) -> None:
    """Make it an error in *into* that *file*, resolved *real*, cannot be opened: it was met before, and is named."""
    met = [name for name in into.unopened if real_path(name) == real]
    for name in met:
        fault = into.unopened.pop(name)
        into.diagnostics.append(fault._replace(location=Location(file=file)))
        into.unseen.remove("path that cannot be read", name)
