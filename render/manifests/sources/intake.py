"""Files, streams and what programs print, as documents: within the limits of one run, each text once."""

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, BinaryIO

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import objects, relevance
from render.manifests.discover import leads_out, skipped, tidy
from render.manifests.documents import Documents
from render.manifests.kustomization import LOCK, Known, outside
from render.manifests.relevance import Texts
from render.manifests.sources.reading import Reading
from render.model.tree import Tree
from render.system import files
from render.yaml.budget import Budget, Limits
from render.yaml.reader import Document, Read, read

if TYPE_CHECKING:
    from render.system.box import Boxes

STDIN = "<stdin>"
ReadOutput = Callable[[], None]
"""Reads what a program has printed."""


def read_nothing() -> None:
    """There is no output to read."""


def room(limits: Limits, before: int = 0) -> int:
    """How many bytes a stream may have after *before* bytes of other input: it counts as one file."""
    return max(0, min(limits.file_bytes, limits.total_bytes - before))


def excess(shown: str, size: int, limits: Limits, before: int = 0) -> Diagnostic | None:
    """Which limit *size* bytes of *shown* break, after *before* bytes of other input."""
    if size > limits.file_bytes:
        return files.too_large(shown, limits.file_bytes)
    if before + size > limits.total_bytes:
        limit = limits.total_bytes
        message = (
            f"the input is larger than the limit of {limit} bytes in total: stopped at {shown}"
        )
        return codes.LIMIT_EXCEEDED.at(
            Location(file=shown),
            message,
            help="if all of it is meant to be read, raise --max-total-bytes",
        )
    return None


def piped(stdin: BinaryIO | None, most: int) -> bytes | Diagnostic:
    """What *stdin* holds, cut off after *most* bytes and one, by which `excess` knows; or why it cannot be read."""
    if stdin is None:
        return codes.UNREADABLE.at(Location(file=STDIN), "there is no standard input to read")
    try:
        return stdin.read(most + 1)
    except OSError as error:
        return files.unreadable(STDIN, error)


class SourceIntake:
    """One run: how it reads, and what was read so far.

    *anything*: files that were named need not hold manifests. *boxes*: of the programs that run side by
    side. *total* counts bytes, *seen* has what was read, by its resolved name. *charts* are those that were found;
    *lockless* the users of a folder that has others too, so that its lock is nobody's.
    """

    __slots__ = (
        "anything", "boxes", "budget", "charts", "kustomizations", "limits", "lockless", "reading", "scope", "seen",
        "texts", "total",
    )  # fmt: skip

    def __init__(self, reading: Reading, *, anything: bool = False) -> None:
        self.reading = reading
        self.limits = reading.limits
        self.scope = reading.scope
        self.anything = anything
        self.boxes: Boxes | None = None
        self.charts: list[str] = []
        self.lockless: set[str] = set()
        self.texts = Texts(reading.limits)
        self.budget = Budget(reading.limits.alias_nodes)
        self.kustomizations: Known = {}
        self.seen: set[str] = set()
        self.total = reading.before

    @property
    def is_lenient(self) -> bool:
        """Whether what nobody has named may be left out with a note, where it cannot be read."""
        return self.scope is not None and self.scope.lenient

    def is_repeated(self, real: str) -> bool:
        """Whether *real* was read before; it counts as read from now on."""
        repeated = real in self.seen
        self.seen.add(real)
        return repeated

    def met(self, diagnostic: Diagnostic) -> Diagnostic:
        """*diagnostic* about what nobody has named: that it cannot be read is a note, where that is enough."""
        if not diagnostic.is_error or not self.is_lenient:
            return diagnostic
        return skipped(diagnostic.location.file, diagnostic.message)

    def fits(self, shown: str, data: bytes, into: Documents) -> bool:
        """Count *data* towards the total; the first one too much is reported, the rest is left unread."""
        before, self.total = self.total, self.total + len(data)
        fault = excess(shown, len(data), self.limits, before)
        if fault and before <= self.limits.total_bytes:
            into.diagnostics.append(fault)
        return fault is None

    def cut(self, output: bytes) -> bytes:
        """*output* as long as a program would have printed it that began only now."""
        return output[: room(self.limits, self.total) + 1]

    def file(self, file: str, into: Documents, *, named: bool) -> None:
        """Take the documents of *file*, if it may hold any that count."""
        data = self.reading.buffers.read(file, self.limits.file_bytes)
        if isinstance(data, Diagnostic):
            into.diagnostics.append(data)
        elif self.scope is None or relevance.may_hold(data) or os.path.basename(file) == LOCK:
            self.add(file, data, into, named=named)
        else:
            into.passed.append(file)
            into.diagnostics.append(skipped(file, "no word of KubeVirt's in it"))

    def add(self, file: str, data: bytes, into: Documents, *, named: bool) -> None:
        """Take the documents of *file*, which says *data*."""
        if self.fits(file, data, into):
            self._note(file, data, into)
            self._parse(data, file, into, named=named)

    def _note(self, file: str, data: bytes, into: Documents) -> None:
        """Let *into* remember that *file* was read, which says *data*."""
        if file in self.reading.buffers:
            into.data.add_buffer(file, self.limits.file_bytes, data)
        else:
            into.data.add_file(file, self.limits.file_bytes, data)

    def beside_machines(
        self,
        texts: Iterable[tuple[str, bytes]],
        counts: Callable[[Tree], bool],
        into: Documents,
    ) -> None:
        """Take the documents that count of files without a word of KubeVirt's, as long as there is room for them."""
        for file, data in texts:
            if excess(file, len(data), self.limits, self.total) is None:
                self.total += len(data)
                self._note(file, data, into)
                into.add(
                    document
                    for document in read(data, file, self.limits).documents
                    if counts(document.body)
                )

    def stream(self, into: Documents) -> None:
        """Take the documents of standard input."""
        if self.is_repeated("-"):
            return
        data = piped(self.reading.stdin, room(self.limits, self.total))
        if isinstance(data, Diagnostic):
            into.diagnostics.append(data)
        elif self.fits(STDIN, data, into):
            into.data.add_stream(STDIN, data)
            self._parse(data, STDIN, into, named=True)

    def lock_of(self, folder: str, into: Documents) -> None:
        """Read the lock in *folder*, where the one of what was made from that folder is."""
        lock = tidy(os.path.join(folder, LOCK))
        if os.path.isfile(lock) or lock in self.reading.buffers:
            if leads_out(lock):
                into.diagnostics.append(outside(lock))
            else:
                self.file(lock, into, named=True)

    def printed(self, shown: str, output: bytes, into: Documents) -> list[Document]:
        """Those documents of a program's *output* that count; *into* keeps it, and what is wrong with it."""
        into.data.add_stream(shown, output)
        contents = read(output, shown, self.limits, self.budget)
        documents, diagnostics = objects.sift(contents, output, shown, named=True)
        if self.scope is not None:
            diagnostics, _ = relevance.of_kubevirt(diagnostics, output)
        into.diagnostics.extend(diagnostics)
        return self._counting(documents)

    def _parse(self, data: bytes, shown: str, into: Documents, *, named: bool) -> None:
        contents = self._read(data, shown)
        documents, diagnostics = objects.sift(contents, data, shown, named=named)
        if self.scope is not None and self.scope.drop:
            into.add(self._counting(documents))
            tekton = sum(relevance.is_parameter_of_tekton(one.body) for one in documents)
            into.unseen.update(
                {"Tekton object with a VM in its parameters": tekton} if tekton else {}
            )
        else:
            into.documents.extend(documents)
        if self.scope is not None and os.path.basename(shown) != LOCK:
            diagnostics, templates = relevance.of_kubevirt(diagnostics, data)
            into.unseen.update({"Jinja or Go template": templates} if templates else {})
        into.diagnostics.extend(diagnostics)

    def _read(self, data: bytes, shown: str) -> Read:
        """What *data*, the text of the file *shown*, holds; what is known already is not parsed again."""
        known = self.reading.known
        if known is None:
            return read(data, shown, self.limits, self.budget)
        contents = known.get((data, self.limits))
        if contents is None:
            contents = read(data, shown, self.limits, self.budget)
            if not contents.diagnostics:
                known[data, self.limits] = contents
            return contents
        self.budget.read(len(data))
        documents = [
            document._replace(origin=document.origin._replace(file=shown))
            for document in contents.documents
        ]
        return Read(documents, [])

    def _counting(self, documents: list[Document]) -> list[Document]:
        """Of *documents* those that count."""
        if self.scope is None or not self.scope.drop:
            return documents
        return [
            document
            for document in documents
            if relevance.concerns(document.body) or relevance.is_shared(document.body)
        ]
