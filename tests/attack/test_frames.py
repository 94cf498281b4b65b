"""What comes to the language server in the place of messages: it answers that, or ends with a sentence."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.process import argv, environ


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def message(**more: Any) -> bytes:
    return framed(json.dumps({"jsonrpc": "2.0", **more}).encode())


HOVER = "textDocument/hover"
NO_URI = "file://[::1/a.yaml"
NO_TEXT = {"uri": NO_URI, "languageId": "yaml", "version": 1, "text": "a: 1"}
START = {"line": 0, "character": 0}
POSITION = {"line": -1, "character": 10**14}
INITIALIZE = message(
    id=1, method="initialize", params={"processId": None, "rootUri": None, "capabilities": {}}
)
END = message(id=2, method="shutdown") + message(method="exit")
NO_JSON, NO_REQUEST, NO_METHOD, NO_PARAMS = -32700, -32600, -32601, -32602
#: A message that is none, and the error that answers it with its id; the server goes on.
ANSWERED = {
    "nothing": (b"Content-Length: 0\r\n\r\n", NO_JSON, None),
    "no JSON": (framed(b"{x"), NO_JSON, None),
    "no UTF-8": (framed(b"\xff\xfe"), NO_JSON, None),
    "UTF-16": (framed('{"jsonrpc":"2.0","id":5,"method":"x"}'.encode("utf-16")), NO_JSON, None),
    "deep": (framed(b"[" * 200_000), NO_JSON, None),
    "a long number": (framed(b"9" * 5000), NO_JSON, None),
    "no number": (framed(b'{"jsonrpc":"2.0","id":NaN,"method":"x"}'), NO_JSON, None),
    "a list": (framed(b"[1]"), NO_REQUEST, None),
    "null": (framed(b"null"), NO_REQUEST, None),
    "another version": (message(jsonrpc="1.0", id=5, method="x"), NO_REQUEST, 5),
    "an odd id": (message(id={}, method="shutdown"), NO_REQUEST, None),
    "no method": (message(id=5), NO_REQUEST, 5),
    "an odd method": (message(id=5, method=5), NO_REQUEST, 5),
    "odd parameters": (message(id=5, method=HOVER, params=5), NO_REQUEST, 5),
    "wrong parameters": (message(id=5, method=HOVER, params={"textDocument": 5}), NO_PARAMS, 5),
    "a wrong place": (
        message(id="5", method=HOVER, params={"textDocument": {"uri": "file:///x"}, "position": POSITION}),
        NO_PARAMS, "5",
    ),
    "a URI that is none": (
        message(id=5, method=HOVER, params={"textDocument": {"uri": NO_URI}, "position": START}),
        NO_PARAMS, 5,
    ),
    "a URI that is no text": (
        message(id=5, method=HOVER, params={"textDocument": {"uri": "file:///\ud800"}, "position": START}),
        NO_PARAMS, 5,
    ),
    "a list taken back": (message(method="$/cancelRequest", params={"id": [1]}), NO_REQUEST, None),
    "progress taken back": (
        message(method="window/workDoneProgress/cancel", params={"token": {}}), NO_REQUEST, None,
    ),
    "an unknown method": (message(id=5, method="nope"), NO_METHOD, 5),
}  # fmt: skip
#: What nobody can find an end of.
ENDING = {
    "no length": b"Foo: 1\r\n\r\n{}",
    "a negative length": b"Content-Length: -5\r\n\r\n{}",
    "no number": "Content-Length: ²\r\n\r\n{}".encode(),
    "a long length": b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}",
    "a large length": b"Content-Length: 9999999999\r\n\r\n{}",
    "a header without an end": b"a" * 100_000,
    "many headers": b"A: b\r\n" * 1000,
    "half a header": b"Content-Length: 10",
    "half a message": b"Content-Length: 1000\r\n\r\n{",
}


def served(folder: Path, data: bytes, **more: Any) -> "subprocess.CompletedProcess[bytes]":
    streams = {"stdout": subprocess.PIPE, "input": data, **more}
    return subprocess.run(
        argv("lsp"), cwd=folder, env=environ(), stderr=subprocess.PIPE, timeout=120, check=False, **streams
    )  # fmt: skip


def answers(data: bytes) -> list[dict[str, Any]]:
    found = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        size = int(head.partition(b"Content-Length: ")[2].split(b"\r\n")[0])
        found.append(json.loads(data[:size]))
        data = data[size:]
    return [answer for answer in found if answer.get("id") != 1]


def test_what_is_no_message_is_answered(tmp_path: Path) -> None:
    """All of them in one session, which still ends as it should."""
    data = b"".join(frame for frame, _, _ in ANSWERED.values())
    silent_open = {"textDocument": NO_TEXT}
    for silent in (
        message(method="textDocument/didOpen", params={}),
        message(method="textDocument/didOpen", params=silent_open),
        message(
            method="workspace/didChangeWatchedFiles",
            params={"changes": [{"uri": NO_URI, "type": 1}]},
        ),
        message(id=7, error=5),
        b"\r\n",
    ):
        data += silent
    done = served(tmp_path, INITIALIZE + data + END)
    found = [(answer.get("error", {}).get("code"), answer["id"]) for answer in answers(done.stdout)]
    # What is refused before the server sees it is answered at once.
    wanted = [*((number, id_) for _, number, id_ in ANSWERED.values()), (None, 2)]
    assert sorted(found, key=str) == sorted(wanted, key=str)
    assert (done.returncode, done.stderr) == (0, b"")


ROOT: dict[str, Any] = {"processId": None, "rootUri": NO_URI, "capabilities": {}}


@pytest.mark.parametrize("begin", [b"", message(id=1, method="initialize", params=ROOT)])
def test_what_comes_without_a_beginning_is_passed_over(tmp_path: Path, begin: bytes) -> None:
    """Also where the beginning is refused, for a root that is none."""
    data = begin + message(method="initialized", params={})
    data += message(
        method="textDocument/didOpen", params={"textDocument": NO_TEXT | {"uri": "file:///x"}}
    )
    done = served(tmp_path, data + END)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"VR901" not in done.stdout


@pytest.mark.parametrize("name", ENDING)
def test_what_has_no_end_ends_it_with_a_sentence(tmp_path: Path, name: str) -> None:
    done = served(tmp_path, INITIALIZE + ENDING[name])
    assert [answer["error"]["code"] for answer in answers(done.stdout)] == [NO_JSON]
    assert done.returncode == 2
    assert done.stderr.startswith(b"virt-render: error VR802 usage: what comes from the editor ")
    assert done.stderr.count(b"\n") == 1


def test_nobody_reads_or_writes(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = served(tmp_path, INITIALIZE + END, stdout=full)
    assert done.returncode == 3
    assert done.stderr == (
        b"virt-render: error VR121 unwritable: cannot write to standard output: No space left on device\n"
    )
    command = ["sh", "-c", 'exec "$@" <&-', "sh", *argv("lsp")]
    closed = subprocess.run(command, cwd=tmp_path, env=environ(), capture_output=True, check=False)
    assert (closed.returncode, closed.stdout, closed.stderr) == (1, b"", b"")
