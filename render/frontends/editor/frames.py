"""What comes from the editor, message by message: nothing but requests and notifications that are ones goes on.

The base protocol of the LSP: a header with the length, an empty line, and as many bytes of JSON-RPC 2.0.
"""

import json
import re

from render.model.hints import Any, BinaryIO, NoReturn
from render.model.regex import pattern

_LENGTH = pattern(rb"content-length *: *([0-9]{1,12})", re.IGNORECASE)
_LONGEST_LINE, _MOST_LINES = 4096, 32
"""Of a header."""
_LARGEST = 256 << 20
"""Bytes of a message: no editor holds such a text."""
NO_JSON, NO_REQUEST = -32700, -32600
#: Messages that take something back, and by what they name it.
_CANCELLING = {"$/cancelRequest": "id", "window/workDoneProgress/cancel": "token"}


class BrokenStreamError(Exception):
    """Nobody knows where the next message begins; the text says why."""


class Answers:
    """The stream to the editor, on which several write whole messages; *fault*: why nobody reads them any more."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.fault = ""

    def write(self, data: bytes) -> None:
        """Write *data*, a whole message, unless nobody reads it."""
        if self.fault:
            return
        try:
            self._stream.write(data)
            self._stream.flush()
        except OSError as error:
            self.fault = error.strerror or type(error).__name__

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        """Leave the stream to the end of the process, whoever still writes to it."""

    def refuse(self, id_: Any, number: int, why: str) -> None:
        """Answer the message *id_* with the error *number* of JSON-RPC."""
        answer = {"jsonrpc": "2.0", "id": id_, "error": {"code": number, "message": why}}
        body = json.dumps(answer).encode()
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


class Frames:
    """The messages of *stream* as a stream of its own, which a server reads by lines and lengths.

    A message that is none is answered by *answers* and left out; where nobody reads these, nothing more comes.
    *fault*: why the stream ended before its end.
    """

    def __init__(self, stream: BinaryIO, answers: Answers) -> None:
        self._stream = stream
        self._answers = answers
        self._refuse = answers.refuse
        self._lines: list[bytes] = []
        self._body = b""
        self.fault = ""

    def readline(self) -> bytes:
        """The next line of a header, empty at the end."""
        while not self._lines:
            try:
                body = self._next()
            except BrokenStreamError as error:
                self.fault = str(error)
                self._refuse(None, NO_JSON, self.fault)
                return b""
            if body is None or self._answers.fault:
                return b""
            if self._is_message(body):
                self._lines = [b"\r\n", b"Content-Length: %d\r\n" % len(body)]
                self._body = body
        return self._lines.pop()

    def read(self, count: int) -> bytes:
        """The message that follows the header, of *count* bytes."""
        body, self._body = self._body[:count], b""
        return body

    def _next(self) -> bytes | None:
        """The next message whatever it says, None at the end. Raises BrokenStreamError."""
        length, is_begun = -1, False
        for _ in range(_MOST_LINES):
            line = self._stream.readline(_LONGEST_LINE)
            if not line and not is_begun:
                return None
            if not line.endswith(b"\n"):
                _break(
                    "ends in the middle of a header"
                    if len(line) < _LONGEST_LINE
                    else "has a header without an end"
                )
            if line.strip():
                is_begun = True
            elif is_begun:
                break
            match = _LENGTH.fullmatch(line.strip())
            length = int(match[1]) if match else length
        if not 0 <= length <= _LARGEST:
            _break(
                "has a message without a Content-Length"
                if length < 0
                else "has a message that is too large"
            )
        body = self._stream.read(length)
        if len(body) < length:
            _break("ends in the middle of a message")
        return body

    def _is_message(self, body: bytes) -> bool:
        """Whether *body* is a message of JSON-RPC; else that is answered."""
        try:
            message = json.loads(body.decode(), parse_constant=_no_number)
        except (ValueError, RecursionError):
            self._refuse(None, NO_JSON, "the message is not JSON in UTF-8")
            return False
        fault = _fault(message)
        if fault:
            is_answered = isinstance(message, dict) and _is_id(message.get("id"))
            self._refuse(message.get("id") if is_answered else None, NO_REQUEST, fault)
        return not fault


def _fault(message: Any) -> str:
    """Why *message* is none of JSON-RPC 2.0, ``""`` for one."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return 'the message is no object with "jsonrpc": "2.0"'
    if "id" in message and not (
        _is_id(message["id"]) or (message["id"] is None and "error" in message)
    ):
        return "the id is neither a whole number nor a text"
    if "method" not in message:
        return (
            ""
            if "id" in message and ("result" in message or "error" in message)
            else "there is no method"
        )
    if not isinstance(message["method"], str):
        return "the method is no text"
    params = message.get("params") or {}
    if not isinstance(params, dict | list):
        return "the params are no object"
    named = _CANCELLING.get(message["method"])
    wanted = params.get(named) if named and isinstance(params, dict) else None
    # What is asked for by them is looked up, which a list or an object cannot be.
    return "what is cancelled has no such id" if isinstance(wanted, dict | list) else ""


def _is_id(value: Any) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _no_number(word: str) -> NoReturn:
    raise ValueError(word)


def _break(why: str) -> NoReturn:
    raise BrokenStreamError(f"what comes from the editor {why}")
