"""A history as text: a VM after the other, those with the same history as one, a line a revision and what that did.

VMs that changed stand before those that are as they were when they came.
"""

from collections.abc import Iterator

from render.model.counting import counted
from render.report.history.told import ToldHistory, ToldMachine
from render.report.impact.formats import ImpactStyle
from render.report.impact.text import lines, wrapped
from render.report.terminal import BOLD, DIM, painted
from render.report.text import printable


def report(history: ToldHistory, *, colour: bool) -> Iterator[str]:
    """Its lines, in *colour* or not."""
    style = ImpactStyle(colour)
    names: dict[tuple[str, ...], list[str]] = {}
    for machine, lock in sorted(history.titled(), key=lambda titled: not titled[0].is_changed):
        name = f"{machine.name} ({lock})" if lock else machine.name
        names.setdefault(tuple(_revisions(machine, style)), []).append(printable(name))
    for revisions, alike in names.items():
        title = alike[0] if len(alike) == 1 else counted(len(alike), "VM")
        yield f"{painted(title, BOLD, colour=colour)}\n"
        if len(alike) > 1:
            yield from (f"{line}\n" for line in wrapped(", ".join(alike), style))
        yield from revisions


def _revisions(machine: ToldMachine, style: ImpactStyle) -> Iterator[str]:
    for revision in machine.revisions:
        id_, date, subject = revision.commit
        commit = painted(printable(f"{id_[:10]}  {date}"), DIM, colour=style.colour)
        yield f"{revision.number:>4}  {commit}  {printable(subject)}\n"
        if revision.fault:
            yield f"      cannot be rendered: {printable(revision.fault)}\n"
        for impact in revision.impacts:
            yield from (f"      {line}\n" for line in lines(impact, style=style))
