"""What an edit costs the language server, which has a whole repository open."""

import asyncio
import os
import sys
from collections.abc import Sequence

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from scripts.bench import fleet
from scripts.bench.fleet import Tree

EDITS = 200
_STEP = 37
_SHARE = 0.95


def p95_of_edits(folder: str, vms: int) -> float:
    """CPU milliseconds of the server from an edit of one of *vms* VMs, all open, to the findings that come of it.

    *folder* is made anew, and has the VMs without a kustomization.
    """
    fleet.write(folder, Tree(vms))
    os.unlink(os.path.join(folder, "kustomization.yaml"))
    costs = sorted(asyncio.run(_edits(os.path.realpath(folder))))
    return costs[int(len(costs) * _SHARE)]


async def _edits(folder: str) -> Sequence[float]:
    client = LanguageClient("bench", "1")
    arrivals: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

    def published(params: types.PublishDiagnosticsParams) -> None:
        arrivals.put_nowait(params)

    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)
    await client.start_io(sys.executable, "-m", "render", "lsp", cwd=folder)
    await client.initialize_async(
        types.InitializeParams(types.ClientCapabilities(), root_uri=f"file://{folder}")
    )
    client.initialized(types.InitializedParams())
    files = [
        os.path.join(top, name) for top, _, names in os.walk(folder) for name in sorted(names)
        if name.startswith("vm-")
    ]  # fmt: skip
    texts: dict[str, str] = {}
    for file in files:
        texts[file] = _text(file)
        item = types.TextDocumentItem(f"file://{file}", "yaml", 1, texts[file])
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    await client.text_document_hover_async(  # answered once all are open
        types.HoverParams(types.TextDocumentIdentifier(f"file://{files[0]}"), types.Position(0, 0))
    )
    costs: list[float] = []
    process = client._server.pid if client._server else 0  # noqa: SLF001 - nobody else knows it
    for number in range(EDITS):
        file = files[number * _STEP % len(files)]
        for text in (texts[file].replace("spec:", "spec:\n  unknown: 1", 1), texts[file]):
            before = _cpu(process)
            client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    types.VersionedTextDocumentIdentifier(number, f"file://{file}"),
                    [types.TextDocumentContentChangeWholeDocument(text)],
                )
            )
            async with asyncio.timeout(60):
                while (await arrivals.get()).uri != f"file://{file}":
                    pass
            costs.append(_cpu(process) - before)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call] # as it comes
    return costs


def _text(file: str) -> str:
    with open(file, encoding="utf-8") as opened:
        return opened.read()


def _cpu(process: int) -> float:
    """Milliseconds that the threads of *process* have had of a processor."""
    spent = 0
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/schedstat", encoding="ascii") as file:
            spent += int(file.read().split()[0])
    return spent / 1e6
