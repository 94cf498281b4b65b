"""What settings of a repository, annotations and a baseline keep back: told whatever the format is."""

import contextlib
from collections.abc import Iterable

from render.diagnostics.suppression import silences
from render.frontends.request.request import Request
from render.manifests.documents import Documents
from render.model.hints import TYPE_CHECKING
from render.model.resource import annotations_of
from render.report import waivers
from render.report.formats import FORMATS
from render.system.streams import STDERR, emit
from render.yaml.reader import Document

if TYPE_CHECKING:
    from render.report.summary import Tally


def tell(request: Request, inputs: Iterable[Documents], tally: "Tally | None" = None) -> None:
    """Say in a line on standard error what is kept back of *request*: nothing where all is looked at, and said.

    By settings, by annotations of objects in *inputs*, and by a baseline; *tally* knows the figures, if it is there. A
    report there that is a document says it itself.
    """
    if request.reporting.stream == STDERR and FORMATS[request.reporting.format].is_document:
        return
    silent = tally.ignoring if tally else sum(ignoring(loaded.documents) for loaded in inputs)
    waived = (*request.beside.waivers, *(tally.waivers if tally else ()))
    line = waivers.line(waived, tally.accepted if tally else 0, silent)
    if line:
        from render.report.text import printable

        with contextlib.suppress(OSError):  # a log that cannot be written makes nothing else wrong
            emit(f"{printable(line)}\n", STDERR)


def ignoring(documents: Iterable[Document]) -> int:
    """How many objects of *documents* have annotations by which findings are ignored."""
    return sum(
        any(silences(key, reason) for key, reason in annotations_of(document.body).items())
        for document in documents
    )
