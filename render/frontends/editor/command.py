"""``virt-render lsp``: the process around the language server."""

import gc
import os
import sys
from collections.abc import Mapping

from render.diagnostics import codes
from render.diagnostics.diagnostic import Location
from render.diagnostics.exits import Exit
from render.frontends.request.commands import Call
from render.frontends.request.request import request
from render.system.streams import STDERR, STDOUT, emit


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
    server = EditorServer(call, environ)
    server.start_io(sys.stdin.buffer, protocol)
    return Exit.OK if server.is_finished else Exit.FINDINGS


def _missing(name: str) -> str:
    message = f"the language server needs {name}, which is not installed"
    fault = codes.USAGE.at(
        Location(), message, help="pip install '.[editor]' in the checkout of virt-render"
    )
    return f"virt-render: error {fault.code} {codes.USAGE.slug}: {fault.message}\n  help: {fault.help}\n"
