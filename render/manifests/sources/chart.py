"""Charts: filled in by helm, what it prints read as documents of their templates."""

import os
from typing import TYPE_CHECKING

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import discover
from render.manifests.charts import helm
from render.manifests.charts.templating import FilledChart
from render.manifests.discover import skipped, tidy
from render.manifests.documents import Documents
from render.manifests.sources.intake import ReadOutput, SourceIntake, read_nothing, room

if TYPE_CHECKING:
    from render.system.processes import Steps


def is_filled(intake: SourceIntake, chart: str) -> bool:
    """Whether helm runs on *chart*, though nobody has named it."""
    return intake.reading.helm != "never" and _holds_kubevirt(intake, chart)


def filling(intake: SourceIntake, folder: str, into: Documents) -> "Steps[ReadOutput]":
    """Run helm on the chart in *folder*; the answer reads what it printed into *into*."""
    if intake.is_repeated(os.path.realpath(folder)):
        return read_nothing
    output = yield from _filled(intake, folder)
    return lambda: _read_filled(intake, folder, output, into)


def trying(intake: SourceIntake, folder: str, into: Documents) -> "Steps[ReadOutput]":
    """Render a discovered chart; skip it if rendering fails for missing values."""
    if not _holds_kubevirt(intake, folder):
        return read_nothing
    filled: ReadOutput = read_nothing
    if intake.reading.helm != "never":
        filled = yield from filling(intake, folder, into)
    return lambda: _read_tried(intake, folder, filled, into)


def _holds_kubevirt(intake: SourceIntake, chart: str) -> bool:
    """Whether the templates of *chart* may hold an object of KubeVirt's."""
    return intake.texts.anywhere(os.path.join(chart, "templates"))


def _printed_by_helm(folder: str) -> str:
    """What findings call the output of helm for the chart in *folder*."""
    return f"{folder} (helm template)"


def _filled(intake: SourceIntake, folder: str) -> "Steps[bytes | list[Diagnostic]]":
    """What helm makes of the chart in *folder*, or why nothing."""
    reading = intake.reading
    program = helm.binary(reading.helm, folder)
    if isinstance(program, Diagnostic):
        return [program]
    release = reading.chart
    faults = helm.faults(folder, release, intake.limits)
    if faults:
        return faults
    output = yield from helm.template(
        folder,
        program,
        release,
        intake.limits,
        most=room(intake.limits, intake.total),
        is_box_required=reading.is_box_required,
        beside=intake.beside,
    )
    return [output] if isinstance(output, Diagnostic) else output


def _read_filled(
    intake: SourceIntake, folder: str, output: bytes | list[Diagnostic], into: Documents
) -> None:
    if isinstance(output, list):
        for file in helm.chart_files(folder):
            into.data.add_file(tidy(file), intake.limits.file_bytes)
        into.diagnostics.extend(output)
        into.unbuilt.extend(output)
        return
    output = intake.cut(output)
    shown = _printed_by_helm(folder)
    if not intake.fits(shown, output, into):
        return
    printed = intake.printed(shown, output, into)
    values = (discover.join(folder, "values.yaml"), *intake.reading.chart.values)
    filled = FilledChart(into.documents, shown, output, values, intake.limits)
    into.blamed.append(filled.position)
    into.filled.append(filled)
    into.documents.extend(helm.trace(folder, output, printed))
    for file in (discover.join(folder, discover.CHART_FILE), *values):
        if os.path.isfile(file):
            into.data.add_file(file, intake.limits.file_bytes)
    intake.lock_of(folder, into)


def _read_tried(intake: SourceIntake, folder: str, filled: ReadOutput, into: Documents) -> None:
    if intake.reading.helm != "never":
        filled()
        if into.unbuilt and not any(map(helm.is_broken, into.unbuilt)):
            into.diagnostics = [skipped(folder, fault.message) for fault in into.unbuilt]
            into.unbuilt = []
        # An object that helm leaves without its name, say, may only want for a value too.
        printed = _printed_by_helm(folder)
        into.diagnostics = [fault for fault in into.diagnostics if fault.location.file != printed]
    if not into.documents and not into.unbuilt:
        into.unseen["Helm chart"] += 1
