"""What was read: documents, what positions are looked up in, and what may be reported about them."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.manifests import relevance
from render.manifests.contents import Contents
from render.manifests.kustomization import LOCK
from render.manifests.unseen import Unseen
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.model.resource import Origin, ResourceRef
from render.model.tree import Tree
from render.yaml.reader import Document, locate

if TYPE_CHECKING:
    from render.manifests.blame.patches import PatchedBuild, Position
    from render.manifests.blame.removals import Removal
    from render.manifests.charts.templating import FilledChart
    from render.manifests.uses.destinations import Destination
    from render.manifests.uses.substitution.substituted import SubstitutedBuild
    from render.manifests.uses.use import DemandedConfigMap, PluginUse

Blame = Callable[[int, FieldPath, tuple[int, int]], "Position | None"]
"""What tells where the field at a path of the object at an index was written, None where that is not known.

With a place, line and column, in the text of that field.
"""


class UnreadHolder(NamedTuple):
    """What cannot be read and may hold an object, in *words*, ``""`` for nothing; *places* are the errors in it.

    *cure* says what to do where these need not be mended.
    """

    words: str = ""
    places: tuple[Location, ...] = ()
    cure: str = ""


class Apart(NamedTuple):
    """The *folders* of loose files that are taken for roots of their own, since the object *ref* stands in each."""

    ref: ResourceRef
    folders: tuple[str, ...]


class Documents:
    """What was read.

    *documents* in the order of the paths, below each by file name; *data*: what positions are looked up in; *unbuilt*:
    of the *diagnostics*, why a kustomization was not built. *folder* is where all of it stands, and *is_built* whether
    kustomize did it, from the resolved folders *bases*. *blamed* know who else wrote fields: patches, of what was
    *patched*, and the charts that were *filled* in; *substituted* are the builds that Flux fills in. *borrowed*: of
    what stands beside the documents, whose it is, and its index there. *passed* are the files that were looked at and
    hold nothing that counts, *remotes* what kustomizations would fetch from elsewhere, by their folders, *referents*
    the positions of objects to which VMs refer, *namespaces* the files that may have a Namespace, and are passed over
    or listed by kustomizations that nobody builds, *locked* the machines of those inputs with a lock, by its file.
    *unseen* counts what may hold VMs, or decide them, and is not looked into. *whole*: files are not read again, see
    `Contents`. *unfilled*: why a chart, a use of one or a kustomization came to nothing, by folder and user; by ``""``
    and a set, why that makes no Application here. *unopened*: why a file or folder cannot be opened which nobody named,
    by its name: that is a note, since nobody says that a VM stands in it.
    *unread_holder*: what other input cannot be read and may hold the object of a name, *unclear*: which holds some
    definitions, by kind and name. *unreported*: the files of which
    nothing is reported, since nobody has asked for them: they were read for what others refer to. *apart*: why
    loose files are parted that nobody says are applied apart.
    *user*: the object that says how the folder is filled in, if one does. *copies*: VMs that were taken out again,
    since their stamp says that they are rendered from others which are read. *left_out*: where VMs stand in what
    kustomize read, of which it printed nothing. *namespace* is that of what names none, ``""`` where that is the one of
    the run; *destinations* say it of loose files. *appliers* are the objects that apply the folder as it is written;
    *revisions*, of loose files: from where each object that applies a folder takes it; *users*: who applies each.
    *plugins*: what they tell our plugin, by their titles, for those that have it render. *is_server_side*: whoever
    applies the folder does so server-side. *references* are those of the *user*, and *stands* where objects like it do.
    *refused*: why the API server does not take objects that fill in others, by their names.
    """

    __slots__ = (
        "apart",
        "appliers",
        "bases",
        "blamed",
        "borrowed",
        "copies",
        "data",
        "destinations",
        "diagnostics",
        "documents",
        "filled",
        "folder",
        "is_built",
        "is_server_side",
        "left_out",
        "locked",
        "namespace",
        "namespaces",
        "passed",
        "patched",
        "plugins",
        "references",
        "referents",
        "refused",
        "remotes",
        "revisions",
        "stands",
        "substituted",
        "unbuilt",
        "unclear",
        "unfilled",
        "unopened",
        "unread_holder",
        "unreported",
        "unseen",
        "user",
        "users",
    )  # fmt: skip

    def __init__(self, *, folder: str = ".", whole: bool = False, user: str = "") -> None:
        self.folder = folder
        self.user = user
        self.namespace = ""
        self.namespaces: list[str] = []
        self.apart: Apart | None = None
        self.appliers: frozenset[str] = frozenset()
        self.revisions: Mapping[str, str] = MappingProxyType({})
        self.stands: tuple[str, ...] = ()
        self.users: Mapping[str, frozenset[str]] = MappingProxyType({})
        self.plugins: Mapping[str, PluginUse] = MappingProxyType({})
        self.destinations: Mapping[str, Destination] = MappingProxyType({})
        self.is_built = False
        self.is_server_side = False
        self.documents: list[Document] = []
        self.diagnostics: list[Diagnostic] = []
        self.unbuilt: list[Diagnostic] = []
        self.bases: frozenset[str] = frozenset()
        self.blamed: list[Blame] = []
        self.patched: list[PatchedBuild] = []
        self.filled: list[FilledChart] = []
        self.substituted: list[SubstitutedBuild] = []
        self.borrowed: dict[int, tuple[Documents, int]] = {}
        self.copies: list[Document] = []
        self.left_out: list[Origin] = []
        self.passed: list[str] = []
        self.references: Mapping[str, DemandedConfigMap] = MappingProxyType({})
        self.referents: dict[tuple[str, ...], int] = {}
        self.remotes: dict[str, list[str]] = {}
        self.locked: Mapping[str, frozenset[str]] = MappingProxyType({})
        self.refused: dict[str, list[Diagnostic]] = {}
        self.unfilled: dict[tuple[str, str], list[Diagnostic]] = {}
        self.unopened: dict[str, Diagnostic] = {}
        self.unread_holder: Callable[[str], UnreadHolder] = lambda _: UnreadHolder()
        self.unreported: frozenset[str] = frozenset()
        self.unclear: tuple[tuple[tuple[str, str], str], ...] = ()
        self.unseen = Unseen()
        self.data = Contents(whole=whole)

    def add(self, documents: Iterable[Document]) -> None:
        """Keep *documents*. Of objects to which VMs refer, or that limit them, the first of a name stands for all.

        They may belong to different clusters: then nobody knows what the one holds that is meant.
        """
        for document in documents:
            is_shared = relevance.is_shared(document.body)
            identity = relevance.identity(document.body) if is_shared else None
            first = self.referents.get(identity) if identity else None
            if first is not None:
                known = self.documents[first]
                self.documents[first] = known._replace(body=relevance.named(known.body), text=None)
                continue
            if identity:
                self.referents[identity] = len(self.documents)
            self.documents.append(document)

    def remove(self, document: Document) -> None:
        """Keep *document* no longer; nothing is beside the documents yet."""
        self.keep(lambda candidate: candidate is not document)

    def keep(self, is_kept: Callable[[Document], bool]) -> None:
        """Keep those documents that *is_kept* says; those that are borrowed come after them."""
        kept = [index for index, document in enumerate(self.documents) if is_kept(document)]
        places = {index: place for place, index in enumerate(kept)}
        gone = len(self.documents) - len(kept)
        self.documents[:] = [self.documents[index] for index in kept]
        self.borrowed = {index - gone: lender for index, lender in self.borrowed.items()}
        self.referents = {
            key: places[index] for key, index in self.referents.items() if index in places
        }

    def blame(
        self, index: int, path: FieldPath, within: tuple[int, int] = (0, 0)
    ) -> "Position | None":
        """Who else wrote the field at *path*, or *within* its text, of the object at *index*; None if nobody did."""
        if index in self.borrowed:
            other, other_index = self.borrowed[index]
            position = other.blame(other_index, path, within)
            if position is not None:
                other.data.lend(position[0], self.data)
            return position
        for blame in (*(build.position for build in self.patched), *self.blamed):
            position = blame(index, path, within)
            if position is not None:
                return position
        removal = self.removal(index, path) if self.patched else None
        return removal and removal.position

    def removal(self, index: int, path: FieldPath, of: Tree | None = None) -> "Removal | None":
        """Which patch took away what the object at *index* had where it, or another state *of* it, has or lacks *path*.

        None where it has that still, or is not known to have had it.
        """
        document = self.documents[index] if index < len(self.documents) else None
        if document is None or not document.before:
            return None
        from render.manifests.blame import patches, removals

        way = patches.formerly(document.before, of or document.body, path)
        if not way or patches.formerly(document.body, document.before, way) is not None:
            return None
        every = (patch for build in self.patched for patch in build.patches(index))
        return removals.removal(every, document.before, way)

    def explained(self, diagnostic: Diagnostic) -> Diagnostic:
        """*diagnostic*, at the patch that dropped what it misses, if one did, or that names a field which is none."""
        if diagnostic.code == codes.UNKNOWN_FIELD.number and self.patched:
            return self._named(diagnostic)
        if not self.patched or not diagnostic.check:
            return diagnostic
        index = (diagnostic.position or diagnostic.location).index
        document = (
            self.documents[index] if index is not None and index < len(self.documents) else None
        )
        if index is None or document is None or document.before is None:
            return diagnostic
        from render.manifests.blame import dropped

        def find(path: FieldPath, item: str) -> "tuple[Removal, Position] | None":
            return self._dropped(index, document, path, item)

        return dropped.explained(diagnostic, document.before, find)

    def _dropped(
        self, index: int, document: Document, path: FieldPath, item: str
    ) -> "tuple[Removal, Position] | None":
        """Which patch dropped what *document*, at *index*, had at *path*, or *item* from the list there; and where."""
        from render.manifests.blame import removals

        if item:  # another patch has added it
            every = (patch for build in self.patched for patch in build.patches(index))
            return removals.overwritten(every, document.body, path, item)
        removal = self.removal(index, path, document.before)
        origin = document.origin
        return removal and (
            removal,
            (origin.file, *locate(self.data[origin.file], origin, path)),
        )

    def _named(self, diagnostic: Diagnostic) -> Diagnostic:
        """*diagnostic*, at who names its field, where nobody writes that as a key."""
        place = diagnostic.position or diagnostic.location
        index = place.index
        names = (build.name(index, place.path) for build in self.patched if index is not None)
        named = next(filter(None, names), None)
        if named is None:
            return diagnostic
        return diagnostic._replace(
            position=place._replace(index=None, file=named[0], line=named[1], column=named[2])
        )

    def is_blamed(self, index: int) -> bool:
        """Whether anything may be known of who else wrote fields of the object at *index*."""
        return bool(self.blamed or self.patched) or index in self.borrowed

    def values(self, index: int, path: FieldPath) -> "list[Position]":
        """Where the value stands with which that field was filled in; without lines: the files where it may."""
        if index in self.borrowed:
            other, other_index = self.borrowed[index]
            return other.values(other_index, path)
        sources: tuple[FilledChart | SubstitutedBuild, ...] = (*self.filled, *self.substituted)
        return [position for source in sources for position in source.values(index, path)]

    def unset(self, index: int, path: FieldPath) -> str:
        """What is to be said of the variable of Flux in that field, if that is empty since nobody sets it."""
        return next(filter(None, (build.unset(index, path) for build in self.substituted)), "")

    @property
    def name(self) -> str:
        """What it is called among other inputs: its folder, and who uses that so."""
        return f"{self.folder} ({self.user})" if self.user else self.folder

    @property
    def title(self) -> str:
        """What it is called in a sentence of its own, where a dot would be read as its end."""
        return "the current folder" if self.name == os.curdir else self.name

    @property
    def is_one_root(self) -> bool:
        """Whether kustomize or helm made all of it, so that it is one root whatever files it comes from."""
        return self.is_built or bool(self.filled or self.user)

    @property
    def unread_files(self) -> dict[str, tuple[str, ...]]:
        """The loose files that cannot be read, with the codes that say why, where nothing else is at fault.

        What a kustomization, a chart or a lock says is not known then.
        """
        errors = [diagnostic for diagnostic in self.diagnostics if diagnostic.is_error]
        files = {error.location.file for error in errors}
        if self.is_one_root or self.unbuilt or "" in files:
            return {}
        if any(os.path.basename(file) == LOCK for file in files):
            return {}
        return {
            file: tuple(
                dict.fromkeys(error.code for error in errors if error.location.file == file)
            )
            for file in sorted(files)
        }

    def unread(self, files: Collection[str]) -> UnreadHolder:
        """What of this cannot be read and may hold an object: *files* if they alone cannot be, else all of it."""
        errors = [diagnostic for diagnostic in self.diagnostics if diagnostic.is_error]
        alone = {file: codes for file, codes in self.unread_files.items() if file in files}
        numbers = dict.fromkeys(error.code for error in errors)
        names = [f"{file} ({', '.join(each)})" for file, each in alone.items()]
        words = ", ".join(names) or f"{self.name} ({', '.join(numbers)})"
        places: dict[str, Location] = {}
        for error in errors:
            if error.location.file in alone and error.location.line:
                places.setdefault(error.location.file, error.location)
        return UnreadHolder(f"{words}, which cannot be read", tuple(places.values()))

    @property
    def files(self) -> list[str]:
        """Every file that had a part in it, those that kustomize reads included, sorted."""
        return self.data.files()
