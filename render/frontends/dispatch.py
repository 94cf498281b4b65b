"""The door: which front end an invocation is for, and the only place that catches everything."""

import contextlib
import gc
import os
import sys
from collections.abc import Sequence

from render.diagnostics.exits import Exit, failure, is_exhausted
from render.model.hints import NoReturn
from render.system import signals

_GONE = "error VR110 unreadable: cannot read the current folder: it was removed"
_EXHAUSTED = "error VR110 unreadable: the system lets virt-render open no more files"
_EXHAUSTED_HELP = "raise the limit of open files (ulimit -n)"
_UNWRITABLE = "error VR121 unwritable: cannot write to standard output"


def main() -> None:
    """Entry point of the ``virt-render`` command and of ``python -m render``."""
    _run_process(sys.argv[1:])


def krm() -> None:
    """Entry point of ``virt-render-krm``: kustomize before 5.7 gives a function no arguments."""
    _run_process(["krm", *sys.argv[1:]])


def _run_process(argv: Sequence[str]) -> NoReturn:
    """Run *argv* as all that this process does."""
    gc.disable()  # a rendering makes no cycles worth collecting, and the collector walks every tree again and again
    status = invoke(argv, armed=True)
    signals.disarm()
    if box := sys.modules.get("render.system.programs.box"):
        box.FENCED.close()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # closed: nobody is there to read
            if stream:
                stream.flush()
    os._exit(status)  # taking the interpreter apart would cost a tenth of a small rendering


def invoke(argv: Sequence[str], *, armed: bool = False) -> Exit:
    """Run the command line *argv* (without the program's name); whatever happens is an exit status.

    *armed*: being asked to end is one too, from now on; else what the caller made of signals holds.
    """
    try:
        if armed:
            signals.arm()
        return _caught(argv)
    except BaseException as error:
        stopped = signals.behind(error)
        if stopped is None:
            raise
        status, line = signals.outcome(stopped)
        _say(line)
        return status


def _caught(argv: Sequence[str]) -> Exit:
    try:
        return _run(argv)
    except Exception as error:
        if signals.behind(error) is not None:
            raise
        return _failed(error)


def _failed(error: Exception) -> Exit:
    """Say what *error* means, if there is anybody to read it."""
    status = failure(error)
    if status is Exit.BROKEN_PIPE:  # who reads our output has seen enough
        _abandon_output()
        return status
    signals.trace(error)
    if status is Exit.INTERNAL or not isinstance(error, OSError):
        _say(_apology(error))
    elif is_exhausted(error):
        _say(f"virt-render: {_EXHAUSTED}: {error.strerror}\n  help: {_EXHAUSTED_HELP}\n")
    elif isinstance(error, FileNotFoundError):
        _say(f"virt-render: {_GONE}\n")
    else:
        _abandon_output()
        _say(f"virt-render: {_UNWRITABLE}: {error.strerror}\n")
    return status


def _abandon_output() -> None:
    """Let what is still buffered for standard output go nowhere, or Python fails once more when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)


def _say(text: str) -> None:
    """Write *text* to standard error; where that fails too, the exit status has to do."""
    with contextlib.suppress(OSError):
        os.write(2, text.encode("utf-8", "backslashreplace"))


def _run(argv: Sequence[str]) -> Exit:
    from render.frontends.request import arguments

    if fault := _replaced():
        _say(fault)
        return Exit.USAGE
    if argv and os.path.basename(argv[0]).startswith("kust-plugin-config-"):
        argv = [
            "krm",
            *argv,
        ]  # a legacy plugin of kustomize: it is started under the name of its kind
    call = arguments.parse(argv)
    if call is None:
        from render.frontends import cli

        return cli.invoke(argv)
    from render.frontends.execute import execute

    return execute(call, os.environ)


def _replaced() -> str:
    """What to say where another project's package of this name was installed over ours; nothing where none was."""
    import render

    if getattr(render, "__project__", "") == "virt-render":
        return ""
    return (
        f"virt-render: error VR802 usage: {render.__file__} belongs to another project, whose package is"
        " called render too\n  help: install virt-render into an environment of its own (pipx does)\n"
    )


def _apology(error: Exception) -> str:
    from render.diagnostics import defects

    return f"virt-render: error VR901 internal-error: {defects.message(error)}\n  help: {defects.HELP}\n"
