"""Which function answers a call: what the table of commands says."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from render.diagnostics.diagnostic import Diagnostic
from render.diagnostics.exits import Exit
from render.frontends.progress import Work
from render.frontends.request.commands import COMMANDS
from render.frontends.request.request import Call, Request, request
from render.system import signals
from render.system.streams import STDERR, emit


def execute(call: Call, environ: Mapping[str, str]) -> Exit:
    """Do what *call* says, with the process's own streams."""
    command = COMMANDS[call.command]
    module, _, name = command.function.partition(":")
    function = getattr(import_module(f"render.frontends.{module}"), name)
    if command.hosted:
        answer: Exit = function(call, environ)
        return answer
    with Work() as work:
        asked = request(call, environ)
        if asked.diagnostics:
            return _refuse(asked.diagnostics, asked)
        outcome: Exit = _in_time(lambda: function(asked, work), asked, work)
        if asked.timings:
            emit(work.timings(verbose=asked.verbose), STDERR)
        return outcome


def _in_time(command: Callable[[], Exit], asked: Request, work: Work) -> Exit:
    """What *command* answers, or that the deadline of *asked* has passed, and in the midst of which *work*."""
    try:
        with signals.deadline(asked.deadline):
            return command()
    except signals.OverdueError:
        from render.diagnostics import codes
        from render.diagnostics.diagnostic import Location

        said = f"the deadline of {asked.deadline} s has passed while {work.doing}"
        return _refuse([codes.DEADLINE.at(Location(), said, help="raise --deadline")], asked)


def _refuse(diagnostics: Sequence[Diagnostic], asked: Request) -> Exit:
    from render.frontends import reporting  # only where there is something to report

    return reporting.refuse(diagnostics, asked)
