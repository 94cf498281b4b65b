"""Files, streams and what programs print, as documents: within the limits of one run, each text once."""

import os
from collections.abc import Callable, Hashable, Iterable, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import objects, relevance
from render.manifests.discover import leads_out, skipped, tidy
from render.manifests.documents import Documents
from render.manifests.kustomization import LOCK, KnownKustomizations, Reach, outside, reach
from render.manifests.sources.reading import Reading
from render.manifests.sources.texts import Texts
from render.model.counting import counted
from render.model.hints import TYPE_CHECKING, BinaryIO, cast
from render.model.tree import Tree
from render.system import files
from render.system.files import real_path
from render.yaml.budget import Limits
from render.yaml.reader import Document, Read, read

if TYPE_CHECKING:
    from render.manifests.blame.origins import Known as KnownSources
    from render.manifests.charts.layout import KnownCharts
    from render.system.programs.box import Boxes
    from render.system.programs.processes import Steps
    from render.yaml.budget import Budget

STDIN = "<stdin>"
ReadOutput = Callable[[], None]
"""Reads what a program has printed."""
ProgramOutput = bytes | list[Diagnostic]
"""What a program has printed, or why it has printed nothing."""


def read_nothing() -> None:
    """There is no output to read."""


def room(limits: Limits) -> int:
    """How many bytes a stream may have after what has been read: it counts as one file."""
    before = limits.budget.bytes if limits.budget else 0
    return max(0, min(limits.file_bytes, limits.total_bytes - before))


def excess(display_name: str, size: int, limits: Limits, before: int = 0) -> Diagnostic | None:
    """Which limit *size* bytes of *display_name* break, after *before* bytes of other input."""
    if size > limits.file_bytes:
        return files.too_large(display_name, limits.file_bytes)
    if before + size > limits.total_bytes:
        limit = limits.total_bytes
        message = f"the input is larger than the limit of {limit} bytes in total: stopped at {display_name}"
        return codes.LIMIT_EXCEEDED.at(
            Location(file=display_name),
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
    side. *seen* has what was read, by its resolved name, and *built* what programs printed, by what they were asked.
    *charts* are those that were found, and *templates* those with VMs that were filled in: where first, and whether
    helm has ever printed any.
    """

    __slots__ = (
        "_absent_submodules", "_known_charts", "_reaches", "anything", "boxes", "budget", "built", "charts",
        "kustomizations", "limits", "reading", "scope", "seen", "sources", "templates",
        "texts",
    )  # fmt: skip

    def __init__(self, reading: Reading, *, anything: bool = False) -> None:
        self.reading = reading
        self.limits = reading.limits if reading.limits.budget else reading.limits.of_run()
        self.scope = reading.scope
        self.anything = anything
        self.boxes: Boxes | None = None
        self.charts: list[str] = []
        self._known_charts: KnownCharts | None = None
        self.templates: dict[str, tuple[Documents, bool]] = {}
        self.texts = Texts(self.limits)
        self.budget = cast("Budget", self.limits.budget)
        self.budget.begin_input()
        self.budget.bytes = reading.before
        self.kustomizations = KnownKustomizations()
        self.sources: KnownSources = {}
        self.seen: set[str] = set()
        self.built: dict[Hashable, ProgramOutput] = {}
        self._absent_submodules: dict[str, Sequence[str]] = {}
        self._reaches: dict[tuple[str, str], Reach] = {}

    @property
    def is_lenient(self) -> bool:
        """Whether what nobody has named may be left out with a note, where it cannot be read."""
        return self.scope is not None and self.scope.lenient

    @property
    def demands_closed(self) -> bool:
        """Whether what is there and may not be read is an error, though nobody has named it."""
        return self.scope is not None and self.scope.demands_closed

    def is_repeated(self, real: str) -> bool:
        """Whether *real* was read before; it counts as read from now on."""
        repeated = real in self.seen
        self.seen.add(real)
        return repeated

    def reach(self, folder: str, bounds: str = "") -> Reach:
        """What the kustomization in *folder* reads inside of *bounds*, whether it may use the network or not.

        It is followed once: nobody may change the answer.
        """
        key = folder, bounds
        if key not in self._reaches:
            known = self.kustomizations
            self._reaches[key] = reach(
                folder, self.limits, allow_remote=True, bounds=bounds, known=known
            )
        return self._reaches[key]

    @property
    def known_charts(self) -> "KnownCharts":
        """What the charts that were found say of themselves and want of each other."""
        if self._known_charts is None or self._known_charts.charts is not self.charts:
            from render.manifests.charts.layout import KnownCharts

            self._known_charts = KnownCharts(self.charts, self.limits)
        return self._known_charts

    def absent_submodules(self, folder: str) -> Sequence[str]:
        """The submodules below the resolved *folder* that nobody has checked out, asked once. Raises GitError."""
        if folder not in self._absent_submodules:
            from render.system import git

            self._absent_submodules[folder] = git.absent_submodules(folder)
        return self._absent_submodules[folder]

    def build_once(
        self, key: Hashable, build: "Callable[[], Steps[ProgramOutput]]"
    ) -> "Steps[Callable[[], ProgramOutput]]":
        """Take the steps of *build*, unless others with the same *key* were begun before.

        The answer is asked when the output is read: that is done in turn, and so what others have begun is there then.
        """
        if key not in self.built:
            self.built[key] = []
            self.built[key] = yield from build()
        return lambda: self.built[key]

    def met(self, diagnostic: Diagnostic) -> Diagnostic:
        """*diagnostic* about what nobody has named: that it cannot be read is a note, where that is enough."""
        if not (diagnostic.is_error and self.is_lenient):
            return diagnostic
        # A link may lead to what is none of the repository.
        is_own = not os.path.islink(diagnostic.location.file)
        if self.demands_closed and is_own and files.is_denied(diagnostic):
            return diagnostic
        return skipped(diagnostic.location.file, diagnostic.message)

    def fits(self, display_name: str, data: bytes, into: Documents) -> bool:
        """Count *data* towards the total; the first one too much is reported, the rest is left unread."""
        before = self.budget.bytes
        self.budget.bytes += len(data)
        fault = excess(display_name, len(data), self.limits, before)
        if fault and before <= self.limits.total_bytes:
            into.diagnostics.append(fault)
        return fault is None

    def cut(self, output: bytes) -> bytes:
        """*output* as long as a program would have printed it that began only now."""
        return output[: room(self.limits) + 1]

    def file(self, file: str, into: Documents, *, named: bool) -> None:
        """Take the documents of *file*, if it may hold any that count."""
        data = self.reading.buffers.read(file, self.limits.file_bytes)
        if isinstance(data, Diagnostic):
            into.diagnostics.append(data)
        elif not named and self.passes_over(file, data, into):
            return
        elif self.scope is None or relevance.may_hold(data) or os.path.basename(file) == LOCK:
            self.add(file, data, into, named=named)
        else:
            into.passed.append(file)
            why = relevance.veil(data)
            if why:
                into.unseen.add(why, file)
            into.diagnostics.append(skipped(file, why or "no word of KubeVirt's in it"))

    def passes_over(self, file: str, data: bytes, into: Documents) -> bool:
        """Whether Argo CD takes *file*, which says *data*, for no manifest, though it might count; so *into* says."""
        if self.scope is None or relevance.SKIP_MARKER not in data:
            return False
        is_passed = relevance.may_hold(data) or relevance.may_ask(data)
        if is_passed:
            what = f"file that Argo CD passes over ({os.fsdecode(relevance.SKIP_MARKER)})"
            into.passed.append(file)
            into.unseen.add(what, file)
            into.diagnostics.append(skipped(file, what))
        return is_passed

    def add(self, file: str, data: bytes, into: Documents, *, named: bool) -> None:
        """Take the documents of *file*, which says *data*."""
        if self.fits(file, data, into):
            self._note(file, data, into)
            self._parse(data, file, into, named=named)

    def _note(self, file: str, data: bytes, into: Documents) -> None:
        """Let *into* remember that *file* was read, which says *data*; a lock is kept, for who writes it anew."""
        if file in self.reading.buffers or os.path.basename(file) == LOCK:
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
            if excess(file, len(data), self.limits, self.budget.bytes) is None:
                self.budget.bytes += len(data)
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
        data = piped(self.reading.stdin, room(self.limits))
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
                self.seen.discard(real_path(lock))  # others may fill in the same folder
                self.file(lock, into, named=True)

    def printed(self, display_name: str, output: bytes, into: Documents) -> list[Document]:
        """Those documents of a program's *output* that count; *into* keeps it, and what is wrong with it."""
        into.data.add_stream(display_name, output)
        contents = read(output, display_name, self.limits, self.budget.aliases)
        documents, diagnostics = objects.sift(contents, output, display_name, named=True)
        if self.scope is not None:
            diagnostics, *_ = relevance.of_kubevirt(diagnostics, output)
        self._tell(diagnostics, display_name, into)
        if self.scope is not None and self.scope.drop:
            self._name_carriers(documents, display_name, into)
        return self._counting(documents)

    @staticmethod
    def _name_carriers(documents: Iterable[Document], display_name: str, into: Documents) -> None:
        """Count in *into* the objects of others in *display_name* in which VMs stand, among its *documents*."""
        tekton = carriers = 0
        for document in documents:
            if relevance.concerns(document.body):
                continue
            if relevance.is_parameter_of_tekton(document.body):
                tekton += 1
            elif relevance.carries_machine(document.body):
                carriers += 1
        into.unseen.add("Tekton object with a VM in its parameters", display_name, number=tekton)
        into.unseen.add("object of others with a VM in it", display_name, number=carriers)

    def _parse(self, data: bytes, display_name: str, into: Documents, *, named: bool) -> None:
        contents = self._read(data, display_name)
        documents, diagnostics = objects.sift(contents, data, display_name, named=named)
        if self.scope is not None and self.scope.drop:
            into.add(self._counting(documents))
            self._name_carriers(documents, display_name, into)
        else:
            into.documents.extend(documents)
        is_nothing = display_name == STDIN and not documents  # whoever pipes it meant objects
        if self.scope is not None and os.path.basename(display_name) != LOCK and not is_nothing:
            bodies = (document.body for document in documents)
            is_applied = bool(diagnostics) and any(map(relevance.concerns, bodies))
            diagnostics, templates, others = relevance.of_kubevirt(
                diagnostics, data, is_applied=is_applied
            )
            into.unseen.add("Jinja or Go template", display_name, number=templates)
            into.unseen.add("file without a manifest", display_name, number=others)
        self._tell(diagnostics, display_name, into)

    def _tell(self, diagnostics: Sequence[Diagnostic], display_name: str, into: Documents) -> None:
        """Keep *diagnostics* about *display_name* as long as the run has room for errors, and count the others."""
        room_for = self.budget.has_room_for_error
        kept = [diagnostic for diagnostic in diagnostics if not diagnostic.is_error or room_for()]
        into.diagnostics.extend(kept)
        if len(kept) < len(diagnostics):
            message = f"and {counted(len(diagnostics) - len(kept), 'more error')} in {display_name}"
            place = Location(file=display_name)
            into.diagnostics.append(
                codes.LIMIT_EXCEEDED.at(place, message, help="mend those that are shown first")
            )

    def _read(self, data: bytes, display_name: str) -> Read:
        """What *data*, the text of the file *display_name*, holds; what is known already is not parsed again."""
        known = self.reading.known
        if known is None:
            return read(data, display_name, self.limits, self.budget.aliases)
        limits = self.limits.plain
        contents = known.get((data, limits))
        if contents is None:
            contents = read(data, display_name, self.limits, self.budget.aliases)
            if not contents.diagnostics:
                known[data, limits] = contents
            return contents
        self.budget.aliases.read(len(data))
        documents = [
            document._replace(origin=document.origin._replace(file=display_name))
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
