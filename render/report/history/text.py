"""A history as text: a VM after the other, those with the same history as one, a line a revision and what that did.

VMs that changed stand before those that are as they were when they came.
"""

from collections.abc import Iterator, Sequence

from render.model.counting import counted
from render.report.history.told import ToldCommit, ToldHistory, ToldMachine, ToldRevision
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
        told = tuple(_events(machine, history.commits, style))
        names.setdefault(told, []).append(printable(name))
    for revisions, alike in names.items():
        title = alike[0] if len(alike) == 1 else counted(len(alike), "VM")
        yield f"{painted(title, BOLD, colour=colour)}\n"
        if len(alike) > 1:
            yield from (f"{line}\n" for line in wrapped(", ".join(alike), style))
        yield from revisions


def _events(machine: ToldMachine, commits: Sequence[str], style: ImpactStyle) -> Iterator[str]:
    """What came of *machine*, in the order of the *commits*, of which the newest is the first."""
    places = {commit: place for place, commit in enumerate(commits)}
    events: list[tuple[ToldCommit, Iterator[str]]] = [
        *((commit, _turn(commit, "no longer in the lock", style)) for commit in machine.removals),
        *((move.commit, _turn(move.commit, move.words, style)) for move in machine.moves),
        *((revision.commit, _revision(revision, style)) for revision in machine.revisions),
    ]
    for _, told in sorted(events, key=lambda event: -places[event[0].id]):
        yield from told


def _turn(commit: ToldCommit, words: str, style: ImpactStyle) -> Iterator[str]:
    """That something came of a VM which is no revision."""
    yield _commit("-", commit, style)
    yield f"      {printable(words)}\n"


def _commit(number: object, commit: ToldCommit, style: ImpactStyle) -> str:
    when = painted(printable(f"{commit.id[:10]}  {commit.date}"), DIM, colour=style.colour)
    return f"{number:>4}  {when}  {printable(commit.subject)}\n"


def _revision(revision: ToldRevision, style: ImpactStyle) -> Iterator[str]:
    yield _commit(revision.number, revision.commit, style)
    if revision.fault:
        yield f"      cannot be rendered: {printable(revision.fault)}\n"
    for impact in revision.impacts:
        yield from (f"      {line}\n" for line in lines(impact, style=style))
