"""``render.load``: the objects that the commands would read, for a program that calls the library."""

import os
from collections.abc import Iterable

from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic
from render.frontends import locks
from render.frontends.progress import Work
from render.frontends.reporting import findings_of, merge
from render.frontends.request.commands import COMMANDS, Call
from render.frontends.request.request import (
    CallRequest,
    ReadingRequest,
    ReportingRequest,
    Request,
    SettingsRequest,
)
from render.frontends.session import no_objects, single
from render.model.hints import Any
from render.report.findings import Finding
from render.settings import Settings
from render.yaml.budget import Limits


class ReadError(Exception):
    """Nothing sound can be read at a path; the text has a line an error.

    *findings*: all that was found, the errors among them; their locations have file, line and column.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        found = tuple(findings)
        self.findings = tuple(map(_located, found))
        errors = (finding for finding in found if finding.diagnostic.is_error)
        text = "\n".join(f"{error.place}: {error.title}: {error.text}" for error in errors)
        super().__init__(text.encode("utf-8", "backslashreplace").decode())  # whoever prints it


def load(
    path: str | os.PathLike[str],
    settings: Settings = Settings(),  # noqa: B008 - frozen
) -> list[dict[str, Any]]:
    """The objects of a file, a folder, a kustomization or a chart, as ``virt-render build`` reads them.

    A lock beside them is one of the objects. Of *settings* count the namespace and the release for which a chart is
    filled in, and whether there may be no object at all. No environment and no settings file is read.

    Raises ReadError where any of it cannot be read.
    """
    request = _request_of(os.fsdecode(path), settings)
    loaded = single(request, Work()).loaded
    locks.choose(loaded, request)
    diagnostics = list(loaded.diagnostics)
    if not loaded.documents and not settings.allow_empty and not status(diagnostics):
        diagnostics.append(no_objects(request, loaded))
    if any(diagnostic.is_error for diagnostic in diagnostics):
        raise ReadError(merge(findings_of(loaded, diagnostics, request)))
    return [document.body for document in loaded.documents]


def _request_of(path: str, settings: Settings) -> Request:
    """What ``build`` would be asked, of *path* with *settings*, by somebody who says nothing else."""
    build = Call("build", (path,), {})
    return Request(
        CallRequest(build, {}),
        ReadingRequest(Limits()),
        settings,
        SettingsRequest(),
        ReportingRequest(COMMANDS[build.command].report, "json"),
        {},
    )


def _located(finding: Finding) -> Diagnostic:
    """The diagnostic of *finding*, with its place in a file."""
    place = finding.place
    location = finding.diagnostic.location._replace(
        file=place.file, line=place.line, column=place.column
    )
    return finding.diagnostic._replace(location=location)
