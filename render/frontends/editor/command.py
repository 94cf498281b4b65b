"""``virt-render lsp``: the process around the language server."""

import gc
import io
import logging
import os
import sys
from collections.abc import Mapping

from render.diagnostics import codes
from render.diagnostics.diagnostic import Location
from render.diagnostics.exits import Exit
from render.frontends.editor.frames import Answers, Frames
from render.frontends.request.commands import Call
from render.frontends.request.request import request
from render.model.hints import BinaryIO, cast
from render.system.streams import STDERR, STDOUT, emit, standard_input


def serve(call: Call, environ: Mapping[str, str]) -> Exit:
    """Speak with an editor on the standard streams until it says that it is done.

    Nobody else writes to standard output: what is printed there goes to standard error.
    """
    try:
        from render.frontends.editor.server import EditorServer
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        emit(_missing(error.name), STDERR)
        return Exit.USAGE
    call = call._replace(paths=(".",))
    faults = [
        diagnostic
        for diagnostic in request(call, environ).faults.diagnostics
        if not diagnostic.location.file
    ]
    if faults:
        emit(
            "".join(f"virt-render: error {fault.code}: {fault.message}\n" for fault in faults),
            STDERR,
        )
        return Exit.USAGE
    protocol = os.fdopen(os.dup(STDOUT), "wb")
    os.dup2(STDERR, STDOUT)
    sys.stdout = sys.stderr
    # The collector would walk every tree again and again: the server asks for it where nobody waits.
    gc.disable()
    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)  # it would print tracebacks
    server = EditorServer(call, environ)
    answers = Answers(protocol)
    frames = Frames(standard_input() or io.BytesIO(), answers)
    server.start_io(cast(BinaryIO, frames), cast(BinaryIO, answers))
    if frames.fault or answers.fault:
        code = codes.USAGE if frames.fault else codes.UNWRITABLE
        message = frames.fault or f"cannot write to standard output: {answers.fault}"
        emit(f"virt-render: error {code.number} {code.slug}: {message}\n", STDERR)
        return code.exit
    return Exit.OK if server.is_finished else Exit.FINDINGS


def _missing(name: str) -> str:
    message = f"the language server needs {name}, which is not installed"
    fault = codes.USAGE.at(
        Location(), message, help="pip install '.[editor]' in the checkout of virt-render"
    )
    return f"virt-render: error {fault.code} {codes.USAGE.slug}: {fault.message}\n  help: {fault.help}\n"
