"""A client of the language server, which speaks with the real process over its standard streams."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient

from tests.support import forkserver, process

ENOUGH = 40
"""Seconds: nothing here takes so long, unless it never comes."""


class Editor:
    """An editor that has *folder* open, and the *texts* of some of its files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("tests", "1")
        self.diagnostics: dict[str, list[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self.logged: list[str] = []
        self.published = 0
        self.texts: dict[str, str] = {}
        self._news = asyncio.Event()
        for name, function in (
            (types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, self._published),
            (types.WINDOW_SHOW_MESSAGE, self._keep_message),
            (types.WINDOW_LOG_MESSAGE, self._logged),
        ):
            self.client.feature(name)(partial(function))

    def _published(self, params: types.PublishDiagnosticsParams) -> None:
        path = Path(params.uri.removeprefix("file://"))
        self.diagnostics[str(path.relative_to(self.folder))] = list(params.diagnostics)
        self.published += 1
        self._news.set()

    def _keep_message(self, params: types.ShowMessageParams) -> None:
        self.messages.append(params.message)
        self._news.set()

    def _logged(self, params: types.LogMessageParams) -> None:
        self.logged.append(params.message)
        self._news.set()

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until something *holds* of what the server has said."""
        async with asyncio.timeout(ENOUGH):
            while not holds():
                self._news.clear()
                await self._news.wait()

    def codes(self, file: str) -> list[str]:
        """The codes of what is said of *file*."""
        return [str(diagnostic.code) for diagnostic in self.diagnostics.get(file, ())]

    def uri(self, file: str) -> str:
        return (self.folder / file).as_uri()

    def open(self, file: str, text: str | None = None) -> None:
        """Open *file*, which says *text* in the editor, or what the disk says."""
        path = self.folder / file
        self.texts[file] = path.read_bytes().decode() if text is None else text
        item = types.TextDocumentItem(self.uri(file), "yaml", 1, self.texts[file])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def type(self, file: str, text: str) -> None:
        """Let *file* say *text*, unsaved."""
        self.texts[file] = text
        version = types.VersionedTextDocumentIdentifier(2, self.uri(file))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(version, [change]))

    def save(self, file: str) -> None:
        (self.folder / file).write_bytes(self.texts[file].encode())
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self.document(file)))

    def close(self, file: str) -> None:
        del self.texts[file]
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.document(file)))

    def document(self, file: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(file))

    def at(self, file: str, word: str, beyond: int = 0) -> types.Position:
        """Where *word* first stands in *file*, and *beyond* so many characters."""
        before = self.texts[file][: self.texts[file].index(word) + beyond]
        return types.Position(
            before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
        )

    async def hover(self, file: str, word: str, beyond: int = 0) -> str:
        params = types.HoverParams(self.document(file), self.at(file, word, beyond))
        answer = await self.client.text_document_hover_async(params)
        return answer.contents.value if answer else ""  # type: ignore[union-attr]

    async def definition(self, file: str, word: str, beyond: int = 0) -> list[str]:
        params = types.DefinitionParams(self.document(file), self.at(file, word, beyond))
        return self._places(await self.client.text_document_definition_async(params))

    async def references(self, file: str, word: str, beyond: int = 0) -> list[str]:
        context = types.ReferenceContext(include_declaration=False)
        params = types.ReferenceParams(context, self.document(file), self.at(file, word, beyond))
        return self._places(await self.client.text_document_references_async(params))

    def _places(self, answer: Any) -> list[str]:
        return [
            f"{Path(item.uri.removeprefix('file://')).relative_to(self.folder)}:{item.range.start.line + 1}"
            for item in answer or ()
        ]

    async def complete(self, file: str, word: str, beyond: int = 0) -> dict[str, str]:
        params = types.CompletionParams(self.document(file), self.at(file, word, beyond))
        answer = await self.client.text_document_completion_async(params)
        return {item.label: item.detail or "" for item in answer.items} if answer else {}  # type: ignore[union-attr]

    async def actions(self, file: str, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
        context = types.CodeActionContext([diagnostic])
        params = types.CodeActionParams(self.document(file), diagnostic.range, context)
        return list(await self.client.text_document_code_action_async(params) or ())  # type: ignore[arg-type]

    def apply(self, action: types.CodeAction) -> None:
        """Type what *action* says, in files that are open."""
        assert action.edit
        for uri, edits in (action.edit.changes or {}).items():
            file = str(Path(uri.removeprefix("file://")).relative_to(self.folder))
            text = self.texts[file]
            for edit in sorted(
                edits,
                key=lambda item: (item.range.start.line, item.range.start.character),
                reverse=True,
            ):
                start, end = (offset(text, place) for place in (edit.range.start, edit.range.end))
                text = text[:start] + edit.new_text + text[end:]
            self.type(file, text)


def offset(text: str, place: types.Position) -> int:
    """Where *place* is in *text*, as a client counts: in UTF-16."""
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: place.line])
    units = lines[place.line].encode("utf-16-le")[: place.character * 2]
    return before + len(units.decode("utf-16-le"))


def _started(
    words: tuple[str, ...], folder: Path, environ: dict[str, str]
) -> tuple[socket.socket, socket.socket]:
    """A server: its input and output, which are a socket as those that VS Code starts have it; and its exit status."""
    connection, of_server = socket.socketpair()
    with of_server, open(os.devnull, "wb") as nowhere:
        streams = [of_server.fileno(), of_server.fileno(), nowhere.fileno()]
        return connection, forkserver.start(["lsp", *words], folder, environ, streams)


@asynccontextmanager
async def opened(
    folder: Path, *words: str, trusted: bool = True, environ: dict[str, str] | None = None
) -> AsyncIterator[Editor]:
    """An editor that has *folder* open, and ends as it should."""
    editor = Editor(folder)
    client = editor.client
    connection, server = _started(words, folder, process.environ(**(environ or {})))
    with server:
        reader, writer = await asyncio.open_connection(sock=connection)
        client.protocol.set_writer(writer)
        reading = asyncio.create_task(
            run_async(
                stop_event=client._stop_event,  # noqa: SLF001 - as its `start_io` has it, which starts a program
                reader=reader,
                protocol=client.protocol,
                logger=logging.getLogger(__name__),
                error_handler=client.report_server_error,
            )
        )
        params = types.InitializeParams(
            types.ClientCapabilities(),
            root_uri=folder.as_uri(),
            initialization_options={"trusted": trusted},
        )
        await client.initialize_async(params)
        client.initialized(types.InitializedParams())
        yield editor
        await client.shutdown_async(None)
        client.exit(None)
        assert int(await asyncio.to_thread(server.recv, 64)) == 0
        await reading
        writer.close()


def driven(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Do *work*, which speaks with a server."""

    async def in_time() -> None:
        async with asyncio.timeout(ENOUGH * 2):
            await work()

    asyncio.run(in_time())
