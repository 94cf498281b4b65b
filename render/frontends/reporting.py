"""What is said about a rendering, in the format and at the places that were asked for."""

import os
from collections.abc import Iterable, Sequence

from render.diagnostics.diagnostic import Diagnostic
from render.frontends import config
from render.frontends.options import Request
from render.frontends.streams import STDERR, STDOUT, emit
from render.manifests.discover import inside
from render.manifests.files import unwritable, write_atomic
from render.manifests.sources import Loaded
from render.report import formats
from render.report.findings import Finding, find, merge, worth_saying
from render.report.places import Place, Sources

__all__ = ("find", "findings_of", "merge", "publish", "tell")

_FOR_PEOPLE = frozenset({"text", "github", "sarif", "junit"})


def findings_of(loaded: Loaded, diagnostics: Iterable[Diagnostic], asked: Request) -> list[Finding]:
    """*diagnostics* with their places in *loaded*; without those that `tell` would leave out, if nobody wants them."""
    if asked.format in _FOR_PEOPLE and not asked.verbose and not asked.reports:
        diagnostics = worth_saying(diagnostics)
    found = find(diagnostics, Sources([d.origin for d in loaded.documents], loaded.data))
    named = (asked.lock, asked.settings.catalog)
    foreign = [os.path.realpath(path) for path in named if path and not config.is_ours(path)]
    return [_without_lines(one, foreign) for one in found] if foreign else found


def _without_lines(found: Finding, foreign: Sequence[str]) -> Finding:
    """*found* with no text of the *foreign* files: who let settings name them need not be allowed to read them."""

    def hidden(place: Place) -> Place:
        foreigner = place.source and inside(os.path.realpath(place.file), foreign)
        return place._replace(source="") if foreigner else place

    return found._replace(place=hidden(found.place), related=tuple(map(hidden, found.related)))


def publish(findings: Sequence[Finding], asked: Request, *, to: int = STDERR) -> list[Diagnostic]:
    """Report *findings* where it was asked for: on *to*, and in files; what could not be written comes back."""
    tell(findings, asked, to=to)
    faults: list[Diagnostic] = []
    for name, file in asked.reports:
        said = formats.report(name, _told(findings, name, asked))
        if file == "-":  # where nothing else goes there
            emit(said, STDOUT)
            continue
        try:
            write_atomic(file, said)
        except OSError as error:
            faults.append(unwritable(error, file))
    if faults:
        tell(find(faults, Sources()), asked)
    return faults


def _told(findings: Sequence[Finding], name: str, asked: Request) -> Sequence[Finding]:
    """What the format *name* shows of *findings*: people are told of every skipped file with ``-v`` only.

    SARIF and JUnit end before people too; JSON holds everything.
    """
    if name not in _FOR_PEOPLE or asked.verbose:
        return findings
    said = set(worth_saying(found.diagnostic for found in findings))
    return [found for found in findings if found.diagnostic in said]


def tell(findings: Sequence[Finding], asked: Request, *, to: int = STDERR) -> None:
    """Report *findings* in the format that was asked for; in colours on a terminal that wants them."""
    findings = _told(findings, asked.format, asked)
    colour = asked.format == "text" and os.isatty(to) and not os.environ.get("NO_COLOR")
    emit(formats.report(asked.format, findings, colour=colour), to)
