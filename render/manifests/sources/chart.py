"""Charts: filled in by helm, what it prints read as documents of their templates."""

import os
from collections.abc import Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity
from render.manifests import discover, relevance
from render.manifests.blame import missing
from render.manifests.boxed.program import ProgramBounds
from render.manifests.charts import helm, layout
from render.manifests.charts.layout import Chart, Dependency
from render.manifests.charts.templating import FilledChart
from render.manifests.discover import HelmRelease, skipped, tidy
from render.manifests.documents import Documents
from render.manifests.sources import programs
from render.manifests.sources.intake import ProgramOutput, ReadOutput, SourceIntake, read_nothing
from render.manifests.sources.passed_over import WITHOUT_MACHINES
from render.manifests.sources.reading import Reading
from render.manifests.uses.use import FolderUse
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.system import files
from render.system.files import real_path
from render.yaml import reader

if TYPE_CHECKING:
    from render.system.programs.processes import Steps


def is_filled(intake: SourceIntake, chart: str) -> bool:
    """Whether helm runs on *chart*, though nobody has named it."""
    return intake.reading.helm != "never" and intake.texts.in_chart(chart)


def filling(intake: SourceIntake, folder: str, into: Documents) -> "Steps[ReadOutput]":
    """Run helm on the chart in *folder*; the answer reads what it printed into *into*."""
    if intake.is_repeated(real_path(folder)):
        return read_nothing
    filled = yield from _filling(intake, _Installation(folder, intake.reading.chart), into)
    return lambda: _read_named(filled, into)


def using(intake: SourceIntake, use: FolderUse, into: Documents) -> "Steps[ReadOutput]":
    """Run helm on the chart of *use*; the answer reads what it printed into *into*.

    Where helm fails, that is an error if it would with any values, values that are asked for are no YAML, or all are
    known, and a warning if a cluster may know more.
    """
    if intake.reading.helm == "never" or use.release is None:
        return read_nothing
    installation = _Installation(use.folder, use.release, use.title)
    filled = yield from _filling(intake, installation, into)
    return lambda: _read_used(intake, use, filled, into)


def trying(intake: SourceIntake, folder: str, into: Documents) -> "Steps[ReadOutput]":
    """Render a discovered chart; skip it if rendering fails for missing values."""
    if not intake.texts.in_chart(folder) or intake.is_repeated(real_path(folder)):
        return read_nothing
    filled: ReadOutput = read_nothing
    if intake.reading.helm != "never":
        filled = yield from _filling(intake, _Installation(folder, intake.reading.chart), into)
    return lambda: _read_tried(intake, folder, filled, into)


_UNFILLED = "chart that cannot be filled in"
_ABSENT = (
    "correct the path, or have files that are missing ignored (ignoreMissingValueFiles of Argo CD)"
)


class _Installation(NamedTuple):
    """The chart in *folder*, installed as *release* by the object *user*, if one is known that does."""

    folder: str
    release: HelmRelease
    user: str = ""

    @property
    def printed(self) -> str:
        """What findings call the output of helm."""
        return f"{self.folder} (helm template{f', {self.user}' if self.user else ''})"


def _filling(
    intake: SourceIntake, installation: _Installation, into: Documents
) -> "Steps[ReadOutput]":
    folder, release = installation.folder, installation.release
    wanted = intake.known_charts.dependencies(folder)
    texts = tuple((values.text, values.origin.file) for values in release.texts)
    key = programs.HELM, folder, release._replace(texts=()), texts
    output = yield from intake.build_once(key, lambda: _filled(intake, installation, wanted))
    return lambda: _read_filled(intake, installation, wanted, output(), into)


def _read_used(intake: SourceIntake, use: FolderUse, filled: ReadOutput, into: Documents) -> None:
    filled()
    if not into.unbuilt or any(map(helm.is_broken, into.unbuilt)):
        return
    place = Location(file=use.document.origin.file, line=use.document.origin.line, column=1)
    unread = list(_unreadable_values(intake, use, into, place))
    if unread:
        into.diagnostics, into.unbuilt = unread, [*unread]
        return
    is_known = use.is_complete and not any(map(helm.wants_dependency, into.unbuilt))
    chart = layout.chart_in(use.folder, intake.known_charts.dependencies(use.folder))
    into.diagnostics = [
        helm.with_known_values(fault, chart, use.release, intake.limits)._replace(
            location=place, position=None, related=_where(fault)
        )
        if is_known and use.release is not None
        else codes.FILE_SKIPPED.at(place, f"{use.title}: {fault.message}")
        for fault in into.unbuilt
    ]
    into.unbuilt = [fault for fault in into.diagnostics if fault.is_error]
    if into.unbuilt:
        return
    places = use.folder, use.document.origin.file
    into.unseen.add(_UNFILLED, *places, which=use.title)


def _where(fault: Diagnostic) -> tuple[Related, ...]:
    """The template that helm names in *fault*, if it does."""
    if fault.position is None:
        return fault.related
    return (*fault.related, Related("the template that fails", fault.position))


def _unreadable_values(
    intake: SourceIntake, use: FolderUse, into: Documents, place: Location
) -> Iterator[Diagnostic]:
    """Which values that *use* asks for at *place* are no YAML, at their file if they have one, or are not there."""
    release = use.release or HelmRelease()
    for file in release.values:
        data = files.read(file, file, intake.limits.file_bytes)
        if isinstance(data, Diagnostic):
            message = f"{use.title} asks for values that cannot be read: {data.message}"
            named = _named(intake, use, file, place)
            near = "" if os.path.lexists(file) else missing.near_path(file)
            cure = f"did you mean {near}?" if near else _ABSENT
            yield data._replace(location=named, message=message, help=cure)
            continue
        for fault in reader.read(data, tidy(file), intake.limits).diagnostics:
            if fault.code == codes.YAML_SYNTAX.number:
                into.data.add_file(tidy(file), intake.limits.file_bytes)
                yield fault._replace(
                    related=(*fault.related, Related(f"{use.title} asks for these values", place))
                )
    for values in release.texts:
        for fault in reader.read(values.text, values.origin.file, intake.limits).diagnostics:
            if fault.code == codes.YAML_SYNTAX.number:
                message = f"the values of {use.title} are no YAML: {fault.message}"
                yield fault._replace(location=place, message=message)


def _named(intake: SourceIntake, use: FolderUse, file: str, place: Location) -> Location:
    """Where the object of *use*, which stands at *place*, names the *file* of values."""
    origin, path = use.document.origin, use.places.get(file)
    data = files.read(origin.file, origin.file, intake.limits.file_bytes)
    if path is None or isinstance(data, Diagnostic):
        return place
    line, column = reader.locate(data, origin, path)
    return place._replace(line=line, column=column)


def _filled(
    intake: SourceIntake, installation: _Installation, wanted: Sequence[Dependency]
) -> "Steps[ProgramOutput]":
    """What helm makes of the chart of *installation*, with what it has *wanted* to depend on; or why nothing."""
    reading, folder, release = intake.reading, installation.folder, installation.release
    program = programs.binary(programs.HELM, reading.helm, folder)
    if isinstance(program, Diagnostic):
        return [program]
    chart = layout.chart_in(folder, wanted)
    faults = helm.faults(chart, release, intake.limits)
    if faults:
        return faults
    bounds = programs.bounds(intake)
    output = yield from _template(chart, program, release, bounds, reading)
    known = [dependency for dependency in wanted if dependency.folder]
    if isinstance(output, Diagnostic) and len(known) < len(wanted):
        # With a chart that stands in for another one helm says what would help nobody.
        chart = chart._replace(wanted=known)
        output = yield from _template(chart, program, release, bounds, reading)
    return [output] if isinstance(output, Diagnostic) else output


def _template(
    chart: Chart, program: str, release: HelmRelease, bounds: ProgramBounds, reading: Reading
) -> "Steps[bytes | Diagnostic]":
    steps = helm.template(chart, program, release, bounds)
    if reading.outcomes is None:
        return steps
    inputs = program, chart, release
    return reading.outcomes.templating(inputs, bounds, steps)


def _read_filled(
    intake: SourceIntake,
    installation: _Installation,
    wanted: Sequence[Dependency],
    output: ProgramOutput,
    into: Documents,
) -> None:
    folder, release = installation.folder, installation.release
    if isinstance(output, list):
        for file in layout.ChartFiles(folder).files:
            into.data.add_file(tidy(file), intake.limits.file_bytes)
        into.diagnostics.extend(output)
        into.unbuilt.extend(output)
        return
    output = intake.cut(output)
    display_name = installation.printed
    if not intake.fits(display_name, output, into):
        return
    known = len(into.diagnostics)
    printed = intake.printed(display_name, output, into)
    into.diagnostics[known:] = helm.unparted(folder, output, into.diagnostics[known:], wanted)
    usual = discover.join(folder, discover.VALUES_FILE)
    has_usual = release.has_defaults and os.path.isfile(usual)
    values = (*((usual,) if has_usual else ()), *release.values)
    for file, is_printed in helm.of_machines(folder, output, wanted, intake.limits).items():
        first, was_printed = intake.templates.get(tidy(file), (into, False))
        intake.templates[tidy(file)] = first, was_printed or is_printed
    filled = FilledChart(
        into.documents, display_name, output, (values, release.texts), intake.limits
    )
    into.blamed.append(filled.position)
    into.filled.append(filled)
    into.documents.extend(helm.trace(folder, output, printed, wanted))
    stated = dict.fromkeys(values_text.origin.file for values_text in release.texts)
    for file in (discover.join(folder, discover.CHART_FILE), *values, *stated):
        if os.path.isfile(file):
            into.data.add_file(file, intake.limits.file_bytes)
    intake.lock_of(folder, into)


def _read_named(filled: ReadOutput, into: Documents) -> None:
    filled()
    if into.unbuilt or into.diagnostics:
        return
    if not any(relevance.concerns(document.body) for document in into.documents):
        into.unseen.add(WITHOUT_MACHINES, into.folder)


def _read_tried(intake: SourceIntake, folder: str, filled: ReadOutput, into: Documents) -> None:
    if intake.reading.helm != "never":
        filled()
        if into.unbuilt and not any(map(helm.is_broken, into.unbuilt)):
            closed = [fault for fault in into.unbuilt if files.is_denied(fault)]
            if intake.demands_closed and closed:
                return
            into.diagnostics = [
                fault._replace(severity=Severity.WARNING)
                if helm.is_unreadable(fault)
                else skipped(folder, fault.message)
                for fault in into.unbuilt
            ]
            into.unbuilt = []
        _pass_over_printed(intake, folder, into)
    is_told = any(fault.is_error for fault in into.diagnostics)
    if not (into.documents or into.unbuilt or is_told or _UNFILLED in into.unseen.counts()):
        is_rendered = intake.reading.helm != "never" and not into.diagnostics
        into.unseen.add(WITHOUT_MACHINES if is_rendered else "Helm chart", folder)


def _pass_over_printed(intake: SourceIntake, folder: str, into: Documents) -> None:
    """Make notes in *into* of what is no object of what helm printed of the chart in *folder*, which nobody has named.

    One that helm leaves without its name, say, may only want for a value too. What is more than we read, or no YAML for
    us where it is for helm, is so with values as well.
    """
    printed = _Installation(folder, intake.reading.chart).printed
    wanting = [
        fault
        for fault in into.diagnostics
        if fault.location.file == printed and fault.code == codes.NOT_AN_OBJECT.number
    ]
    if wanting:
        into.unseen.add(_UNFILLED, folder)
    into.diagnostics = [fault for fault in into.diagnostics if fault not in wanting]
    into.diagnostics += (
        skipped(folder, f"what helm prints by its own values cannot be read: {fault.message}")
        for fault in wanting
    )
