"""A history as text: a VM after the other, a line a revision and below it what that did."""

from collections.abc import Iterator

from render.report.history.told import ToldHistory
from render.report.impact.formats import ImpactStyle
from render.report.impact.text import lines
from render.report.terminal import BOLD, DIM, painted
from render.report.text import printable


def report(history: ToldHistory, *, colour: bool) -> Iterator[str]:
    """Its lines, in *colour* or not."""
    style = ImpactStyle(colour)
    for machine in history.machines:
        yield f"{painted(printable(machine.name), BOLD, colour=colour)}\n"
        for revision in machine.revisions:
            id_, date, subject = revision.commit
            commit = painted(printable(f"{id_[:10]}  {date}"), DIM, colour=colour)
            yield f"{revision.number:>4}  {commit}  {printable(subject)}\n"
            if revision.fault:
                yield f"      cannot be rendered: {printable(revision.fault)}\n"
            for impact in revision.impacts:
                yield from (f"      {line}\n" for line in lines(impact, style=style))
