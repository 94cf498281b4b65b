"""The language server: what the editor says, and what it is answered."""

import asyncio
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from lsprotocol import types
from pygls import exceptions, uris
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.workspace import PositionCodec, ServerTextPosition, ServerTextRange

import render
from render.diagnostics import defects
from render.frontends.editor import actions, completion, hover, navigation, notes
from render.frontends.editor.cursor import Cursor
from render.frontends.editor.notes import Note, Span, lines_of
from render.frontends.editor.workspace import Workspace
from render.frontends.request.commands import Call
from render.model.hints import Any, Protocol, TypeVar
from render.system import signals
from render.system.files import real_path

_SOURCE = "virt-render"
_PAUSE, _PAUSE_OF_FILES = 0.03, 0.2
"""Seconds without another key stroke, or another file that changes, before anybody is told anything."""
_COLLECTED = 100
"""Edits after which cycles are looked for."""
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
_Answer = TypeVar("_Answer")


class _AtPosition(Protocol):
    """Parameters that point at a place in a document."""

    @property
    def text_document(self) -> types.TextDocumentIdentifier:
        """The document."""

    @property
    def position(self) -> types.Position:
        """The place in it."""


def _has_sound_uris(params: Any) -> bool:
    """Whether each URI in *params* can be that of a file: pygls takes them apart before we are asked."""
    to_see = [params]
    while to_see:
        tree = to_see.pop()
        if isinstance(tree, list):
            to_see += tree
        elif isinstance(tree, dict):
            to_see += tree.values()
            for uri in (tree.get("uri"), tree.get("rootUri")):
                try:
                    path = uris.to_fs_path(uri) if isinstance(uri, str) else None
                    (path or "").encode(errors="surrogateescape")
                except ValueError:
                    return False
    return True


class _ClientProtocol(LanguageServerProtocol):
    """The protocol, in which parameters that are none, and methods that nobody knows, are answered as such."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """The message *data*, None for one that was refused."""
        try:
            if not _has_sound_uris(data.get("params")):
                raise exceptions.JsonRpcInvalidParams
            message = super().structure_message(data)
            if isinstance(message, types.ExecuteCommandRequest):  # of which we have none
                raise exceptions.JsonRpcInvalidParams
        except exceptions.JsonRpcException:
            method = data.get("method")
            if method is not None and "id" in data:
                is_known = self.get_message_type(method) is not None
                fault = (
                    exceptions.JsonRpcInvalidParams()
                    if is_known
                    else exceptions.JsonRpcMethodNotFound.of(method)
                )
                self._send_response(data["id"], error=fault.to_response_error())
            return None
        return message

    def handle_message(self, message: Any) -> None:
        """Hand *message* on, unless it was refused, or tells of something before its editor has said who it is."""
        if message is None:
            return
        is_begun = hasattr(self, "client_capabilities")  # which `initialize` puts there
        method = getattr(message, "method", None)
        if is_begun or hasattr(message, "id") or method == types.EXIT:
            super().handle_message(message)


class EditorServer(LanguageServer):
    """What is known of the folders that an editor has open."""

    def __init__(self, call: Call, environ: Mapping[str, str]) -> None:
        super().__init__(
            _SOURCE,
            render.__version__,
            # Whole texts: no two programs count the lines of odd ones alike.
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            max_workers=1,
            protocol_cls=_ClientProtocol,
        )
        self.is_finished = False
        self.folders: list[Workspace] = []
        self._call, self._environ = call, environ
        self._published: dict[str, Mapping[str, Sequence[Note]]] = {}
        self._uris: dict[str, str] = {}
        self._edited: dict[str, None] = {}
        self._to_read: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._edits = 0
        _add_features(self)

    def open_folders(self, params: types.InitializeParams) -> None:
        """Note which folders are open, and whether programs may be started for them."""
        options = params.initialization_options
        trusted = isinstance(options, dict) and options.get("trusted") is True
        folder_uris = [workspace_folder.uri for workspace_folder in params.workspace_folders or ()]
        if not folder_uris and params.root_uri:
            folder_uris = [params.root_uri]
        for uri in folder_uris:
            folder = uris.to_fs_path(uri)
            if folder and os.path.isdir(folder):
                workspace = Workspace(folder, self._call, self._environ, trusted=trusted)
                self.folders.append(workspace)

    def workspace_of(self, uri: str) -> tuple[Workspace, str] | None:
        """The folder that holds the file *uri*, and how the file is called from there; None outside of all."""
        path = uris.to_fs_path(uri) if uri.startswith("file:") else None
        if path and "\0" in path:
            return None  # no file is called so, and the system says it by an exception
        held = [
            (workspace, file)
            for workspace in self.folders
            if path and (file := workspace.path_of(path)) is not None
        ]
        return max(held, key=lambda pair: len(pair[0].folder), default=None)

    def open(self, uri: str, text: str) -> None:
        """From now on *text* counts for the file *uri*."""
        place = self.workspace_of(uri)
        if place is None:
            return
        workspace, file = place
        real = real_path(os.path.join(workspace.folder, file))
        before = workspace.text(file)
        self._uris[real] = uri
        workspace.buffers[real] = text
        if before != text or workspace.folder in self._to_read:
            self.later(uri)

    def close(self, uri: str) -> None:
        """What the disk says counts for the file *uri* again."""
        place = self.workspace_of(uri)
        if place is None:
            return
        workspace, file = place
        real = real_path(os.path.join(workspace.folder, file))
        self._uris.pop(real, None)
        before = workspace.buffers.pop(real, None)
        if before is not None and before != workspace.text(file):
            self.later(uri)

    def later(self, uri: str) -> None:
        """Judge the edit of *uri* as soon as nobody types."""
        self._edited[uri] = None
        self._wait(_PAUSE)

    def read_later(self, uris_of_files: Sequence[str]) -> None:
        """Read and build the folders of these files anew, as soon as no more of them change."""
        places = [place for uri in uris_of_files if (place := self.workspace_of(uri))]
        self._to_read.update(workspace.folder for workspace, _ in places)
        if self._to_read:
            self._wait(_PAUSE_OF_FILES)

    def _wait(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self.settle)

    def settle(self) -> None:
        """Judge what was edited, and tell the editor what has changed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        to_read, self._to_read = self._to_read, set()
        edited, self._edited = self._edited, {}
        for workspace in self.folders:
            files = [
                place[1]
                for uri in edited
                if (place := self.workspace_of(uri)) and place[0] is workspace
            ]
            if workspace.folder in to_read:
                self._take(workspace, workspace.read)
                self.tell(workspace)
                _collect()
            elif files:
                for file in files:
                    self._take(workspace, partial(workspace.edit, file))
                self.tell(workspace)
                self._edits += 1
                if self._edits % _COLLECTED == 0:
                    gc.collect()

    def _take(self, workspace: Workspace, step: Callable[[], None]) -> None:
        """Take a *step* of reading; where that fails, all of *workspace* is read again at the next one."""

        def done() -> bool:
            step()
            return True

        if not self.attempt(workspace, done, otherwise=False):
            self._to_read.add(workspace.folder)

    def attempt(
        self, workspace: Workspace, function: Callable[[], _Answer], otherwise: _Answer
    ) -> _Answer:
        """What *function* answers inside of *workspace*; *otherwise* where it fails, which is logged."""
        try:
            with workspace.entered():
                return function()
        except signals.OverdueError:
            self._log(f"no answer within the deadline of {workspace.request.called.deadline} s")
        except OSError as error:
            self._log(f"cannot read {workspace.folder}: {error.strerror}")
        except Exception as error:
            if signals.behind(error) is not None:
                raise
            signals.trace(error)
            self._log(f"error VR901 internal-error: {defects.message(error)}")
        return otherwise

    def report_server_error(self, error: Exception, _source: Any) -> None:
        """Say that a question could not be answered, unless that is the editor's mistake, which was answered."""
        is_ours = not isinstance(error, exceptions.JsonRpcException)
        if is_ours or isinstance(error, exceptions.JsonRpcInternalError):
            self._log(f"error VR901 internal-error: {type(error).__name__}; {defects.HELP}")

    def _log(self, message: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))

    def tell(self, workspace: Workspace) -> None:
        """Publish the findings of *workspace* in the files of which something else is said than before."""
        published = self._published.get(workspace.folder, {})
        found: Mapping[str, Sequence[Note]] = self.attempt(
            workspace, lambda: notes.by_file(workspace), dict(published)
        )
        for file, several in notes.changed(published, found).items():
            lines = lines_of(workspace.text(file) or "")
            diagnostics = [self._diagnostic(workspace, lines, note) for note in several]
            uri = self.uri(workspace, file)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))
        self._published[workspace.folder] = found

    def notes_at(self, workspace: Workspace, file: str) -> Sequence[Note]:
        """What was said of *file*."""
        return self._published.get(workspace.folder, {}).get(file, ())

    def uri(self, workspace: Workspace, file: str) -> str:
        """How the editor calls *file*."""
        real = real_path(os.path.join(workspace.folder, file))
        return self._uris.get(real) or uris.from_fs_path(real) or ""

    def _diagnostic(
        self, workspace: Workspace, lines: Sequence[str], note: Note
    ) -> types.Diagnostic:
        related = [
            types.DiagnosticRelatedInformation(
                self.location(workspace, other.file, other.span), other.message
            )
            for other in note.elsewhere
        ]
        return types.Diagnostic(
            self.range(lines, note.span),
            note.message,
            _SEVERITIES[note.severity],
            note.code,
            source=f"{_SOURCE} {note.title}",
            related_information=related or None,
        )

    def location(self, workspace: Workspace, file: str, span: Span) -> types.Location:
        """*span* of *file* for the editor."""
        lines = lines_of(workspace.text(file) or "")
        return types.Location(self.uri(workspace, file), self.range(lines, span))

    def range(self, lines: Sequence[str], span: Span) -> types.Range:
        """*span* in the editor's units."""
        line = min(span.line, max(len(lines) - 1, 0))
        places = (ServerTextPosition(line, span.start), ServerTextPosition(line, span.end))
        return self._codec.range_to_client_units(lines, ServerTextRange(*places))

    def lines_range(self, workspace: Workspace, file: str, edit: actions.LinesEdit) -> types.Range:
        """The lines of *file* for which *edit* has others; the last may end without a line break."""
        lines = lines_of(workspace.text(file) or "")
        last = len(lines) - 1
        start, end = (
            types.Position(line, 0)
            if line <= last
            else self._codec.position_to_client_units(
                lines, ServerTextPosition(last, len(lines[last]))
            )
            for line in (edit.start, edit.end)
        )
        return types.Range(start, end)

    @property
    def _codec(self) -> PositionCodec:
        return self.workspace.position_codec

    def cursor(self, params: _AtPosition) -> tuple[Workspace, Cursor] | None:
        """Where *params* point, once all that was typed is known; None where nobody knows of the file."""
        self.settle()
        place = self.workspace_of(params.text_document.uri)
        text = place[0].text(place[1]) if place else None
        if place is None or text is None:
            return None
        lines = lines_of(text)
        if params.position.line >= len(lines):
            return None
        at = self._codec.position_from_client_units(lines, params.position)
        return place[0], Cursor(place[1], text, at.line, at.character)


def _collect() -> None:
    """Look for cycles in all that there is, and then leave out what stays."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _add_features(server: EditorServer) -> None:
    for name, function, options in _FEATURES:
        server.feature(name, options)(function)


def _initialize(server: EditorServer, params: types.InitializeParams) -> None:
    server.open_folders(params)


def _initialized(server: EditorServer, _params: types.InitializedParams) -> None:
    _watch(server)
    for workspace in server.folders:
        server.attempt(workspace, workspace.read, None)
        server.tell(workspace)
        unbuilt = server.attempt(workspace, workspace.unbuilt, "")
        if unbuilt:
            message = f"{unbuilt} not looked at: nothing is built in a folder that is not trusted"
            server.window_show_message(
                types.ShowMessageParams(types.MessageType.Info, f"{_SOURCE}: {message}")
            )
    _collect()


def _watch(server: EditorServer) -> None:
    """Ask to be told of files that others write, where the editor can do that."""
    capabilities = server.client_capabilities.workspace
    watched = capabilities.did_change_watched_files if capabilities else None
    if watched is None or not watched.dynamic_registration:
        return
    watchers = [types.FileSystemWatcher("**/*.{yaml,yml,json,tpl}")]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    registration = types.Registration(f"{_SOURCE}-files", method, options)
    server.client_register_capability(types.RegistrationParams([registration]))


def _shutdown(server: EditorServer, _params: None) -> None:
    server.is_finished = True


def _did_open(server: EditorServer, params: types.DidOpenTextDocumentParams) -> None:
    server.open(params.text_document.uri, params.text_document.text)


def _did_change(server: EditorServer, params: types.DidChangeTextDocumentParams) -> None:
    if params.content_changes:
        server.open(params.text_document.uri, params.content_changes[-1].text)


def _did_close(server: EditorServer, params: types.DidCloseTextDocumentParams) -> None:
    server.close(params.text_document.uri)


def _did_save(server: EditorServer, params: types.DidSaveTextDocumentParams) -> None:
    server.read_later([params.text_document.uri])


def _files_changed(server: EditorServer, params: types.DidChangeWatchedFilesParams) -> None:
    server.read_later([change.uri for change in params.changes])


def _hover(server: EditorServer, params: types.HoverParams) -> types.Hover | None:
    place = server.cursor(params)
    if place is None:
        return None
    workspace, cursor = place
    file_notes = server.notes_at(workspace, cursor.file)
    text = server.attempt(workspace, partial(hover.text, workspace, cursor, file_notes), "")
    if not text:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


def _definition(
    server: EditorServer, params: types.DefinitionParams
) -> Sequence[types.Location] | None:
    return _locations(server, params, navigation.definitions)


def _references(
    server: EditorServer, params: types.ReferenceParams
) -> Sequence[types.Location] | None:
    find = partial(navigation.references, declared=params.context.include_declaration)
    return _locations(server, params, find)


def _locations(
    server: EditorServer, params: "_AtPosition", find: Callable[..., Any]
) -> Sequence[types.Location] | None:
    place = server.cursor(params)
    if place is None:
        return None
    workspace, cursor = place
    nothing: Sequence[tuple[str, Span]] = ()
    found = server.attempt(workspace, partial(find, workspace, cursor), nothing)
    return [server.location(workspace, file, span) for file, span in found] or None


def _completion(
    server: EditorServer, params: types.CompletionParams
) -> types.CompletionList | None:
    place = server.cursor(params)
    if place is None:
        return None
    workspace, cursor = place
    nothing: Sequence[completion.Proposal] = ()
    found = server.attempt(workspace, partial(completion.proposals, workspace, cursor), nothing)
    kinds = {"field": types.CompletionItemKind.Field, "name": types.CompletionItemKind.Reference}
    items = [
        types.CompletionItem(
            proposal.label,
            kind=kinds.get(proposal.kind, types.CompletionItemKind.EnumMember),
            detail=proposal.detail or None,
            documentation=proposal.documentation or None,
            sort_text=f"{number:05}",
        )
        for number, proposal in enumerate(found)
    ]
    return types.CompletionList(is_incomplete=False, items=items)


def _code_action(
    server: EditorServer, params: types.CodeActionParams
) -> Sequence[types.CodeAction] | None:
    server.settle()
    place = server.workspace_of(params.text_document.uri)
    if place is None:
        return None
    workspace, file = place
    lines = range(params.range.start.line, params.range.end.line + 1)
    nothing: Sequence[actions.QuickFix] = ()
    found = server.attempt(workspace, partial(actions.at, workspace, file, lines), nothing)
    return [
        types.CodeAction(
            quick_fix.title,
            types.CodeActionKind.QuickFix,
            diagnostics=[
                each
                for each in params.context.diagnostics
                if each.code == quick_fix.code and each.range.start.line in lines
            ],
            is_preferred=quick_fix.is_preferred or None,
            edit=types.WorkspaceEdit(
                changes={
                    server.uri(workspace, edited): [
                        types.TextEdit(server.lines_range(workspace, edited, each), each.text)
                        for each in edits
                    ]
                    for edited, edits in quick_fix.edits.items()
                }
            ),
        )
        for quick_fix in found
    ] or None


_FEATURES: tuple[tuple[str, Callable[..., Any], Any], ...] = (
    (types.INITIALIZE, _initialize, None),
    (types.INITIALIZED, _initialized, None),
    (types.SHUTDOWN, _shutdown, None),
    (types.TEXT_DOCUMENT_DID_OPEN, _did_open, None),
    (types.TEXT_DOCUMENT_DID_CHANGE, _did_change, None),
    (types.TEXT_DOCUMENT_DID_CLOSE, _did_close, None),
    (types.TEXT_DOCUMENT_DID_SAVE, _did_save, None),
    (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _files_changed, None),
    (types.TEXT_DOCUMENT_HOVER, _hover, None),
    (types.TEXT_DOCUMENT_DEFINITION, _definition, None),
    (types.TEXT_DOCUMENT_REFERENCES, _references, None),
    (
        types.TEXT_DOCUMENT_COMPLETION,
        _completion,
        types.CompletionOptions(trigger_characters=[" ", "-", "."]),
    ),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        _code_action,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    ),
)
