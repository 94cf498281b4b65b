"""Which function answers a call: what the table of commands says."""

from collections.abc import Mapping
from importlib import import_module

from render.diagnostics.exits import Exit
from render.frontends import reporting
from render.frontends.progress import Work
from render.frontends.request.commands import COMMANDS
from render.frontends.request.request import Call, request
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
            return reporting.refuse(asked.diagnostics, asked)
        outcome: Exit = reporting.in_time(lambda: function(asked, work), asked, work)
        if asked.timings:
            emit(work.timings(verbose=asked.verbose), STDERR)
        return outcome
