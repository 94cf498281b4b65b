"""A history as text: a VM after the other, a line a revision and below it what that did."""

from collections.abc import Iterator

from render.report.history.told import ToldHistory
from render.report.impact.text import lines
from render.report.text import printable


def report(history: ToldHistory) -> Iterator[str]:
    """Its lines."""
    for machine in history.machines:
        yield f"{printable(machine.name)}\n"
        for one in machine.revisions:
            id_, date, subject = one.commit
            yield f"{printable(f'{one.number:>4}  {id_[:10]}  {date}  {subject}')}\n"
            if one.fault:
                yield f"      cannot be rendered: {printable(one.fault)}\n"
            for impact in one.impacts:
                yield from (f"      {printable(line)}\n" for line in lines(impact))
