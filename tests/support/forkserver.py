"""Processes of virt-render that need not import it each: a server that has it imported, and forks.

What it starts is a process like any other, with its own folder, environment, streams and limits; only that Python and
our modules are loaded already, with what they make of our own tables when it is first needed. Tests of starting itself
start Python.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

from render.system.programs.box import FENCED
from tests.support import memory
from tests.support.cases import CASES, ROOT

_MOST = 1 << 20
"""Bytes of a request: its words and its environment."""
_STREAMS = 3
_HELD_BACK = "VIRT_RENDER_TESTS_HELD_BACK"
"""The variable that has a process obey the modes of files, whoever runs the tests."""
_DROP_FROM_BOUNDS = 24
_OVER_MODES = (1, 2)
"""What lets root pass over modes, for good: prctl(2) and capabilities(7)."""


@cache
def _address() -> str:
    """The socket of this process's server, which is started now and ends with this process."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    address = str(Path(folder.name) / "socket")
    command = [sys.executable, "-m", "tests.support.forkserver", address]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    atexit.register(server.kill)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return address


def start(
    words: Sequence[str], cwd: Path, environ: Mapping[str, str], streams: Sequence[int]
) -> socket.socket:
    """Start virt-render with *words*, *environ* and *streams* (input, output, errors) in the folder *cwd*.

    Its exit status comes through the socket; once that is closed it is killed.
    """
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect(_address())
    request = json.dumps([[*words], str(cwd), dict(environ)]).encode()
    assert len(request) < _MOST
    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MOST)
    socket.send_fds(client, [request], streams)
    return client


def run(
    words: Sequence[str],
    cwd: Path | None,
    environ: Mapping[str, str],
    stdin: str,
    timeout: float | None,
) -> subprocess.CompletedProcess[str]:
    """What became of virt-render with *words*, *environ* and *stdin* in the folder *cwd*.

    Raises subprocess.TimeoutExpired after *timeout* seconds, and has it killed.
    """
    with (
        tempfile.TemporaryFile() as inputs,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        inputs.write(stdin.encode())
        inputs.seek(0)
        streams = [item.fileno() for item in (inputs, out, err)]
        with start(words, cwd or Path.cwd(), environ, streams) as client:
            client.settimeout(timeout)
            try:
                status = int(client.recv(64))
            except TimeoutError:
                assert timeout is not None
                raise subprocess.TimeoutExpired([*words], timeout) from None
        texts = [os.pread(item.fileno(), os.fstat(item.fileno()).st_size, 0) for item in (out, err)]
    return subprocess.CompletedProcess([*words], status, *(text.decode() for text in texts))


def serve(address: str) -> NoReturn:
    """Fork a process for each request at *address*."""
    import render

    for module in pkgutil.walk_packages(render.__path__, "render."):
        if module.name != "render.__main__":
            importlib.import_module(module.name)
    _render()
    FENCED.close()  # none of what is forked may ask it for anything
    gc.collect()
    gc.freeze()
    memory.collapse()
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(address)
    server.listen()
    os.write(1, b"ready\n")
    #: By the descriptor that says so when it ends: a process, and who asked for it.
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        waiting = [client for _, client in running.values()]
        ready, _, _ = select.select([sys.stdin, server, *running, *waiting], [], [])
        for item in ready:
            if item is sys.stdin:
                sys.exit()  # who started it has ended
            elif item is server:
                client, _ = server.accept()
                child = _start(client, server)
                running[os.pidfd_open(child)] = child, client
            elif isinstance(item, int):
                child, client = running.pop(item)
                os.close(item)
                _, status = os.waitpid(child, 0)
                with contextlib.suppress(OSError):  # it waits no more
                    client.send(str(os.waitstatus_to_exitcode(status)).encode())
                client.close()
            else:
                for child, client in running.values():
                    if client is item:
                        os.kill(child, signal.SIGKILL)


def _render() -> None:
    """Render a case of each area: each process would make constructors, types and rows of checks anew, for longer than
    it renders.
    """
    from render.frontends import dispatch

    streams = [os.dup(number) for number in (1, 2)]
    with open(os.devnull, "wb") as nowhere:
        for number in (1, 2):
            os.dup2(nowhere.fileno(), number)
        folder = ""
        for area in sorted(CASES.iterdir()):
            folder = str(min(area.iterdir()) / "input")
            for command in ("build", "check"):
                dispatch.invoke([command, folder])
        for words in (["report"], ["diff", "--format", "html", folder]):
            dispatch.invoke([*words, folder])
        sys.stdout.flush()
        sys.stderr.flush()
    for number, stream in enumerate(streams, start=1):
        os.dup2(stream, number)
        os.close(stream)


def _start(client: socket.socket, server: socket.socket) -> int:
    """The process that *client* asks for."""
    request, streams, _, _ = socket.recv_fds(client, _MOST, _STREAMS)
    child = os.fork()
    if child == 0:
        server.close()
        client.close()
        words, cwd, environ = json.loads(request)
        _become(words, cwd, environ, streams)
    for stream in streams:
        os.close(stream)
    return child


def _become(
    words: Sequence[str], cwd: str, environ: Mapping[str, str], streams: Sequence[int]
) -> NoReturn:
    from render.frontends import dispatch

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    if os.environ.pop(_HELD_BACK, ""):
        _hold_back()
    sys.argv[1:] = words
    dispatch.main()
    os._exit(70)  # it does not come back


def _hold_back() -> None:
    """Give up what lets root pass over the modes of files, for this process and all that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    held = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, held) == 0
    for capability in _OVER_MODES:
        libc.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0)  # not allowed, nor needed, of others
        for index in range(3):
            held[index] &= ~(1 << capability)
    assert libc.capset(header, held) == 0


if __name__ == "__main__":
    serve(sys.argv[1])
