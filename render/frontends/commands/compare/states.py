"""The two states that ``virt-render diff`` compares: revisions or folders, each as it asks to be read."""

import contextlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, permutations
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.diagnostics.exits import Exit
from render.frontends import locks
from render.frontends.answer import RefusedError, refused
from render.frontends.commands.committed import snapshots
from render.frontends.commands.compare.copies import edited
from render.frontends.commands.compare.namespaces import NamespacesBeside
from render.frontends.commits import checked_out, within
from render.frontends.inputs.copies import RenderedCopy, leave_out_rendered
from render.frontends.inputs.neighbours import include
from render.frontends.reporting import findings_of
from render.frontends.request import config, plugins
from render.frontends.request.commands import DASHES
from render.frontends.request.options import RELEASE
from render.frontends.request.request import Request
from render.frontends.session import (
    reading,
)
from render.manifests import discover, kustomization
from render.manifests.blame import missing
from render.manifests.charts import helm, layout
from render.manifests.discover import tidy
from render.manifests.documents import Documents
from render.manifests.relevance import Scope, is_of_machine, may_be_of_machine
from render.manifests.repository import roots
from render.manifests.repository.neighbours import Neighbours
from render.manifests.sources import loading, walk
from render.manifests.sources.gatherers import gatherers
from render.manifests.sources.outcomes import KnownOutcomes
from render.manifests.uses.destinations import in_namespace
from render.manifests.uses.use import AFFIXES, DemandedConfigMap, is_made_by
from render.model.globs import Globs
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import minor, release_named, tag
from render.model.resource import ResourceRef, from_body
from render.model.tree import Tree
from render.pipeline.input.releases import UNKNOWN, Target, target_of
from render.report.findings import merge
from render.report.impact.review import (
    ReviewedState,
)
from render.report.places import Sources
from render.report.waivers import Waiver
from render.settings import OPTIONS, Emit, Layer, Settings, Source, decide
from render.system import files, git
from render.system.checkout import WORK_TREE, CheckoutScope, absent, changed
from render.system.files import inside, real_path
from render.system.git import GitError
from render.system.streams import standard_input
from render.yaml.budget import Limits
from render.yaml.reader import Document, Read

#: Where a working tree branched off, the first that is there.
#: They are written out, since git takes a tag for a branch of its name.
_DEFAULTS = ("HEAD", "main", "master")
_RANGE = ".."
#: As git has it: what came since the two parted.
_BRANCH = "..."
_ENDS = 2
_USAGE = "virt-render diff [BASE[..HEAD]] [--] [PATH], or two folders; BASE HEAD is BASE..HEAD"
_WORKING = "the working tree"
_NO_REPOSITORY = "not a git repository"
_MEANT = "did you mean"
#: Settings by which nothing but the findings is another; the others say what is synced, or to which cluster.
_CHECKS = ("admission", "guest")
#: What stands in a folder beside the kustomization or chart in it.
_LOOSE = "loose files"
#: A text that is read as it is stored, though somebody who has the commit checked out reads another one.
_REWRITTEN = "file whose bytes git may change at its checkout"


class NamedState(NamedTuple):
    """One side: its name for people, its objects, how they are rendered, and where they stand.

    *fault*: why nothing can be said of the objects; what is not read, is not synced either. *around*: where *places*
    have what counts beside the objects. *positions*: where they have each object, if not all
    of them are here; None for one that stands in the other state alone.
    *taken*: the file or folder that kustomizations around the path take along, with these. *is_one_root*: it is a
    kustomization or a chart. *lock_fault*: why its lock counts for nothing, so that nothing is rendered.
    *unread*: the files that alone are at fault, with the codes that say why, and *files* those of the objects,
    named alike. *configured*: what the repository's own settings are, and *waivers* what settings waive.
    *has_lock*: its VMs are rendered before they are synced, as far as anybody knows. *is_emit_chosen*: somebody has
    said how. *unseen* counts what was not looked at. *bases*: the folders of other kustomizations that the one of
    this state takes along, called as inputs are. *apart*: why the kustomization cannot be built, though what it gathers
    is compared. *lent*: those of the objects that other inputs have, to which VMs of this one refer. *folder* is that
    of the input, called as inputs are, *user* the object that fills it in, if one does, *stands* where objects like it
    do, and *appliers* those that apply it as it is written; *revisions*: from where each object that applies a folder
    takes it; *users*: which ones apply loose files, by their names. *namespace*: where objects apply what names none.
    Of a chart, *chart* is its folder and *values* the files that fill it in, as its files are named. *references*: what
    the user cannot do without.
    *kept*: the settings that it has as the first state does, since by its own less would be checked. *adopted*: those
    that it has as the other state does, since it says nothing of them, with what they would be by themselves. *texts*:
    what the files that it reads say, where something is at fault, named as *files* are; of single files that alone are
    at fault, what these say. *copies*: VMs that were rendered from the objects, which are left out, by their files.
    *release_told*: in words, the release that a resource of the other state alone tells. *is_by_plugin*: all that apply
    it have our plugin of Argo CD render it, which decides how its VMs are synced; *is_server_side*: apply it so.
    *namespaces* are those of the whole side that no input has among its objects. *warnings*: those of the reading,
    where the *fault* does not have them.
    """

    name: str
    objects: list[Tree]
    settings: Settings
    places: Sources
    fault: RefusedError | None = None
    around: Mapping[ResourceRef, int] = MappingProxyType({})
    positions: Sequence[int | None] | None = None
    unread: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    configured: Mapping[str, Any] = MappingProxyType({})
    waivers: tuple[Waiver, ...] = ()
    files: Sequence[str] = ()
    has_lock: bool = False
    is_emit_chosen: bool = False
    unseen: Mapping[str, int] = MappingProxyType({})
    bases: frozenset[str] = frozenset()
    apart: tuple[Diagnostic, ...] = ()
    lent: frozenset[ResourceRef] = frozenset()
    folder: str = ""
    user: str = ""
    stands: tuple[str, ...] = ()
    appliers: frozenset[str] = frozenset()
    revisions: Mapping[str, str] = MappingProxyType({})
    users: Mapping[str, frozenset[str]] = MappingProxyType({})
    namespace: str = ""
    chart: str = ""
    values: tuple[str, ...] = ()
    references: Mapping[str, DemandedConfigMap] = MappingProxyType({})
    kept: frozenset[str] = frozenset()
    adopted: Mapping[str, Any] = MappingProxyType({})
    texts: Mapping[str, bytes] = MappingProxyType({})
    lock_fault: RefusedError | None = None
    is_one_root: bool = False
    taken: tuple[str, ...] = ()
    copies: Sequence[tuple[str, Tree]] = ()
    top: str = ""
    release_told: str = ""
    is_by_plugin: bool = False
    is_server_side: bool = False
    working_folder: str = ""
    path: str = ""
    namespaces: NamespacesBeside | None = None
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def is_read_but_for_files(self) -> bool:
        """Whether nothing but single files of it cannot be read."""
        return self.fault is None or bool(self.unread)

    @property
    def is_applied(self) -> bool:
        """Whether objects are known to fill it in, or to apply it as it is written, if only a file of it."""
        is_file_applied = not self.users.keys().isdisjoint(self.files)
        return bool(self.user or self.appliers) or is_file_applied

    def of(self, positions: Sequence[int]) -> "NamedState":
        """The state with those of its objects alone that have these *positions*."""
        known = self.positions
        return self._replace(
            objects=[self.objects[index] for index in positions],
            positions=positions if known is None else [known[index] for index in positions],
            files=[self.files[index] for index in positions] if self.files else (),
        )


#: A folder, and the object that fills it in, wherever that stands.
_UsedFolder = tuple[str, str]

#: The states of one side, by the folder of the kustomization, the chart or the root; ``""`` is what lies in none.
Side = dict[str, NamedState]


class _PlacedSide(NamedTuple):
    """Where one side stands: called *name*, at *path* seen from *folder*, and how *request* asks to read it.

    *exists*: whether anything stands there. *absent*: the texts that the repository lacks, seen from *folder*, and
    *changed* those that git writes otherwise than it stores them. *top*: the repository in which it is a revision.
    """

    name: str
    folder: str
    path: str
    request: Request
    exists: bool = True
    absent: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    top: str = ""


class _LoadedSide(NamedTuple):
    """What was read of one side: called *name*, at *path* seen from *folder*, as *request* asks.

    None of *inputs* is divided yet. *around* is what the repository has beside them, for what VMs refer to. *top* is
    the folder of all that there is, and *namespaces* what it has of those.
    """

    name: str
    folder: str
    path: str
    request: Request
    inputs: list[Documents]
    around: Sequence[Documents] = ()
    top: str = ""
    namespaces: NamespacesBeside | None = None

    def nothing(self, settings: Settings) -> NamedState:
        """A state of this side without any object, rendered as *settings* say."""
        state = NamedState(self.name, [], settings, Sources())
        return state._replace(
            configured=self.request.beside.configured,
            top=self.top, working_folder=self.folder, path=self.path,
        )  # fmt: skip

    def roots(self) -> set[str]:
        """The folders that are applied each by itself, as seen from the path."""
        layout, namespace = self.request.reading.layout, self.request.settings.namespace
        with contextlib.chdir(self.folder):
            folders = (
                folder
                for loaded in self.inputs
                if not loaded.is_one_root
                for folder in roots.of_files(loaded, layout.roots, namespace).values()
            )
            # What stood in a folder that is missing here is told apart from what is loose.
            absent = (
                folder
                for loaded in self.inputs
                for folder, user in loaded.unfilled
                if not (user or os.path.lexists(folder))
            )
            return {
                os.path.relpath(folder, self.path) for folder in chain(folders, absent) if folder
            }

    def objects(self) -> Iterator[tuple[str, Tree]]:
        """The objects of all inputs, each with its file, seen from the path."""
        for loaded in self.inputs:
            for document in loaded.documents:
                yield _file_called(document.origin.file, self.path), document.body

    def side(
        self, known: Collection[str], cluster: "ClusterOption", copies: Collection[RenderedCopy]
    ) -> Side:
        """The states of what was read in a *cluster*, of which the folders *known* are applied each by itself.

        *copies*: the rendered VMs that are compared, too.
        """
        with contextlib.chdir(self.folder):
            folders = [os.path.normpath(os.path.join(self.path, folder)) for folder in known]
            parts = [
                part
                for loaded in self.inputs
                for part in (
                    [loaded]
                    if loaded.is_one_root
                    else roots.parted(loaded, roots.within(loaded, folders))
                )
            ]
            leave_out_rendered(parts, self.request.settings.namespace, self.path, copies)
            neighbours = Neighbours([*parts, *self.around], self.request.reading.layout.shared)
            for part in parts:
                include(part, self.request, neighbours)
            return self._states(parts, cluster)

    def _states(self, parts: Iterable[Documents], cluster: "ClusterOption") -> Side:
        """The states of *parts*; loose files beside a kustomization are one for themselves, if there are any."""
        states: Side = {}
        for part in sorted(parts, key=lambda part: not part.is_one_root):
            name = _seen_from(self.path, part.folder, part.user)
            state = _state(self, part, cluster)
            built = states.get(name)
            if built is None:
                states[name] = state
            elif state.objects or state.fault:
                states[_seen_from(self.path, part.folder, _LOOSE)] = state
            else:
                unseen = Counter(built.unseen) + Counter(state.unseen)
                states[name] = built._replace(unseen=unseen)
        return states

    def files(self) -> set[str]:
        """The files of all objects, seen from the path."""
        return {
            _file_called(document.origin.file, self.path)
            for loaded in self.inputs
            for document in loaded.documents
        }

    def gatherers(self, loaded: Documents) -> frozenset[str]:
        """The folders of the kustomizations that make up *loaded* and but gather others, seen from the path.

        None where more than that is done: it is filled in, has a lock, or changes what it gathers.
        """
        limits = self.request.reading.limits
        with contextlib.chdir(self.folder):
            if loaded.user or os.path.lexists(os.path.join(loaded.folder, kustomization.LOCK)):
                return frozenset()
            path = real_path(self.path)
            found = gatherers(loaded.folder, limits)
            return frozenset(os.path.relpath(folder, path) for folder in found)

    @property
    def sets(self) -> frozenset[str]:
        """The sets of Applications that are not evaluated, and of which no Application is known."""
        unfilled = chain.from_iterable(loaded.unfilled for loaded in self.inputs)
        return frozenset(title for folder, title in unfilled if title and not folder)

    def unfilled(self, name: str, user: str, sets: Collection[str] = ()) -> RefusedError | None:
        """Why the chart or kustomization *name* is not rendered, None if it is not there: ``check`` passes it over.

        Who rendered the other state must not read that it went. Where a file cannot be read in which the *user* may
        stand, or the set is not evaluated that makes it, or one of *sets* that may do so now, nobody knows whether it
        does.
        """
        unread = [
            diagnostic
            for loaded in self.inputs
            for diagnostic in loaded.unfilled.get(walk.UNREAD_USERS, ())
        ]
        if user and unread:
            return refused(*unread)
        with contextlib.chdir(self.folder):
            is_built = kustomization.find(os.path.join(self.path, name)) is not None
        code = codes.KUSTOMIZE_FAILED if is_built else codes.HELM_FAILED
        faults = [
            diagnostic if diagnostic.is_error else code.at(diagnostic.location, diagnostic.message)
            for loaded in self.inputs
            for (folder, title), diagnostics in loaded.unfilled.items()
            if (
                name
                in {_seen_from(self.path, folder, user) for user in _by_place(title, diagnostics)}
                if folder
                else title and (title in sets or is_made_by(user, title))
            )
            for diagnostic in diagnostics
        ]
        return refused(*faults) if faults else None

    def wanting(self) -> dict[str, tuple[Diagnostic, ...]]:
        """Why charts and kustomizations that nobody fills in print nothing, by their names.

        What they depend on is not there; of a kustomization with a remote base only where it edits VMs.
        """
        return {
            _seen_from(self.path, folder, user): faults
            for loaded in self.inputs
            for (folder, user), diagnostics in loaded.unfilled.items()
            if not user and (faults := self._wanting(loaded, folder, diagnostics))
        }

    def _wanting(
        self, loaded: Documents, folder: str, diagnostics: Sequence[Diagnostic]
    ) -> tuple[Diagnostic, ...]:
        if any(map(helm.wants_dependency, diagnostics)):
            code = codes.HELM_FAILED
        elif folder in loaded.remotes and any(
            map(may_be_of_machine, self.unfilled_texts(_called(folder, self.path)).values())
        ):
            code = codes.REMOTE_BASE
        else:
            return ()
        return tuple(
            diagnostic if diagnostic.is_error else code.at(diagnostic.location, diagnostic.message)
            for diagnostic in diagnostics
        )

    def unfilled_texts(self, name: str) -> dict[str, bytes]:
        """What the files of the chart or kustomization *name* say, as for `NamedState`."""
        with contextlib.chdir(self.folder):
            folder = os.path.join(self.path, name)
            if kustomization.find(folder) is None:
                return _texts_of(layout.ChartFiles(folder).files, self)
            reach = kustomization.reach(folder, self.request.reading.limits, allow_remote=True)
            return _texts_of((*reach.kustomizations, *reach.resources, *reach.others), self)

    def absent(self, users: Collection[str]) -> RefusedError | None:
        """Why each of *users* applies nothing, and deletes nothing: a path that it names is not there."""
        faults = {
            user: diagnostics
            for loaded in self.inputs
            for (_, title), found in loaded.unfilled.items()
            for user, diagnostics in _by_place(title, found).items()
            if user in users and all(diagnostic.is_error for diagnostic in diagnostics)
        }
        return refused(*chain(*faults.values())) if faults and len(faults) == len(users) else None

    def refused(self) -> dict[str, tuple[Diagnostic, ...]]:
        """Why the API server does not take objects that fill in others, by their names."""
        return {
            user: tuple(faults) for loaded in self.inputs for user, faults in loaded.refused.items()
        }

    def failing(self, name: str) -> frozenset[str]:
        """The objects that would apply the folder *name*, and of which nobody knows what they do."""
        return frozenset(
            user
            for loaded in self.inputs
            for folder, user in loaded.unfilled
            if user and folder and _called(folder, self.path) == name
        )


def _by_place(user: str, diagnostics: Sequence[Diagnostic]) -> dict[str, list[Diagnostic]]:
    """What is said of *user*, under that title, and under that of each place where such an object stands."""
    found = {user: [*diagnostics]}
    for diagnostic in diagnostics if user else ():
        found.setdefault(f"{user} in {diagnostic.location.file}", []).append(diagnostic)
    return found


def _seen_from(path: str, folder: str, user: str) -> str:
    """What the input in *folder*, as *user* fills it in if one does, is called where *path* is compared."""
    name = _called(folder, path)
    return f"{name} ({user})".lstrip() if user else name


def _called(folder: str, path: str) -> str:
    """*folder* as it is seen from *path*; ``""`` for that itself."""
    return os.path.relpath(folder, path).removeprefix(".")


def _file_called(file: str, path: str) -> str:
    """*file* as it is seen from *path*."""
    # As most are called: a repository has thousands, and each is asked for several times.
    is_seen_so = path == os.curdir and not (
        file.startswith((".", "/")) or "/." in file or "//" in file
    )
    return file if is_seen_so else os.path.relpath(file, path)


class _Revisions(NamedTuple):
    """What is compared: *before* and *after* are revisions, ``""`` the working tree; *path* is seen from here.

    *is_branch*: not *before* itself counts, but the commit at which *after* left it.
    """

    before: str
    after: str
    path: str
    is_branch: bool


class ClusterOption(NamedTuple):
    """What the command line says of the cluster of one side: its release, ``""`` for nothing, and its settings.

    *data*: what the *file* says that holds them.
    """

    release: str
    file: str
    document: Document | None
    data: bytes = b""

    def decide(self, settings: Settings) -> Settings:
        """*settings* with what was said."""
        if self.release:
            settings = settings._replace(kubevirt=self.release)
        return settings._replace(cluster_config=self.document.body) if self.document else settings

    def state(self, name: str) -> ReviewedState:
        """The state *name* in this cluster, for people."""
        return ReviewedState(name, self.release, self.file)


Clusters = tuple[ClusterOption, ClusterOption]


class _SideMemory(NamedTuple):
    """What either side was found to have: *texts* with what they hold, and builds."""

    texts: dict[tuple[bytes, Limits], Read]
    outcomes: KnownOutcomes


def clusters_of(request: Request) -> Clusters:
    """What the command line says of the clusters of both sides. Raises RefusedError."""
    releases, cluster_files = (_ends(request.own[name]) for name in ("kubevirt", "cluster_config"))
    clusters = []
    for release, file in zip(releases, cluster_files, strict=True):
        faults: tuple[Diagnostic, ...] = ()
        document, data = None, b""
        if release:
            faults = decide((Layer(Source.FLAG, {"--kubevirt": release}),), (RELEASE,)).diagnostics
        if file:
            configured = config.cluster_config(file, request.reading.limits)
            document = next(iter(configured.documents), None)
            faults += configured.diagnostics
            text = files.read(file, file, request.reading.limits.file_bytes)
            data = text if isinstance(text, bytes) else b""
        if faults:
            raise refused(*faults)
        clusters.append(ClusterOption(release, file, document, data))
    return clusters[0], clusters[1]


def _ends(text: str) -> tuple[str, str]:
    """Both ends of a range; of one value alone, that value."""
    ends = () if os.path.exists(text) else range(len(text))
    found = [(text[:n], text[n + len(_RANGE) :]) for n in ends if text.startswith(_RANGE, n)]
    # Paths that lead up have dots of their own.
    pairs = (pair for pair in found if all(map(os.path.exists, pair)))
    return next(pairs, found[0] if found else (text, text))


def sides_of(
    request: Request, clusters: Clusters, trees: contextlib.ExitStack
) -> tuple[Side, Side]:
    """Both sides, as the words of the command line name them; what is checked out for them belongs to *trees*."""
    read, torn = _read_both(_placed(request, clusters, trees))
    # What is a root on one side is one on the other too: else a second VM of a name would make the first another one.
    known = {folder for loaded_side in read for folder in loaded_side.roots()}
    copies = edited(*(loaded_side.objects() for loaded_side in read))
    pairs = zip(read, clusters, strict=True)
    loaded = _told_apart(*(each.side(known, cluster, copies) for each, cluster in pairs))
    for (loaded_side, side), others in permutations(zip(read, loaded, strict=True)):
        _name_unfilled(loaded_side, side, *others)
    for loaded_side, side, other in zip(read, loaded, reversed(loaded), strict=True):
        _take_to_their_users(side, other)
        _leave_out_moved_bases(loaded_side, side, other)
    _name_unapplied(read, *loaded)
    _name_changed_unfilled(read, loaded)
    _name_faults(torn, loaded)
    chosen = any(state.is_emit_chosen for side in loaded for state in side.values())
    locked = {
        name for side in loaded for name, state in side.items() if state.has_lock and not chosen
    }
    locked |= {name for sides in permutations(loaded) for name in _followed(locked, *sides)}
    before, after = (
        {
            name: _synced(state, is_locked=name in locked)._replace(
                settings=cluster.decide(_synced(state, is_locked=name in locked).settings)
            )
            for name, state in side.items()
        }
        for side, cluster in zip(loaded, clusters, strict=True)
    )
    kept = _kept(*(loaded_side.request.settings for loaded_side in read))
    after = {name: _checked_as(state, kept) for name, state in after.items()}
    with_lock = {name for side in loaded for name, state in side.items() if state.has_lock}
    adopted = _adopted(before, after, with_lock), _adopted(after, before, with_lock)
    first, second = ({name: _locked(state) for name, state in side.items()} for side in adopted)
    return first, second


def _told_apart(before: Side, after: Side) -> tuple[Side, Side]:
    """Both sides, with an input for each place of the objects that they have otherwise in one of these.

    Objects of one name in several places are meant for a cluster each. What they make alike of a folder is one input,
    and read once: where the other side has it otherwise in a place, or in fewer or more of them, it is several.
    """
    old, new = _alike_places(before), _alike_places(after)
    split = {key for key in old.keys() & new.keys() if _are_others(old[key], new[key])}
    return (
        (_split_by_place(before, split), _split_by_place(after, split))
        if split
        else (before, after)
    )


def _alike_places(side: Side) -> Mapping[_UsedFolder, list[tuple[str, ...]]]:
    """The places of objects that are alike, by what these fill in."""
    groups: dict[_UsedFolder, list[tuple[str, ...]]] = {}
    for state in side.values():
        if state.stands:
            groups.setdefault(_used_folder(state), []).append(state.stands)
    return groups


def _used_folder(state: NamedState) -> _UsedFolder:
    return state.folder, state.user.removesuffix(f" in {state.stands[0]}" if state.stands else "")


def _are_others(old: list[tuple[str, ...]], new: list[tuple[str, ...]]) -> bool:
    """Whether what is alike *new* is not what was *old*; all of it may have moved together."""
    if len(old) == len(new) == 1:
        return len(old[0]) != len(new[0])
    return True


def _split_by_place(side: Side, keys: Collection[_UsedFolder]) -> Side:
    found: Side = {}
    titles: dict[str, list[str]] = {}
    for name, state in side.items():
        if not state.stands or _used_folder(state) not in keys:
            found[name] = state
            continue
        for place in state.stands:
            title = f"{_used_folder(state)[1]} in {place}"
            called = f"{name.removesuffix(f'({state.user})')}({title})"
            found[called] = state._replace(user=title, stands=(place,))
            titles.setdefault(state.user, []).append(title)
    return {
        name: state._replace(
            revisions={
                title: revision
                for known, revision in state.revisions.items()
                for title in titles.get(known, [known])
            }
        )
        for name, state in found.items()
    }


def _adopted(side: Side, other: Side, with_lock: Collection[str]) -> Side:
    """*side* with what only the *other* says of how VMs are synced, and for which release.

    Who says it first says what was so before: nobody has synced anything otherwise because of that.
    """
    by_themselves = [state for state in other.values() if not state.is_by_plugin]
    telling = next(iter(by_themselves or other.values()), None)
    if telling is None:
        return side
    own, told = (
        {name: target_of(state.objects, state.settings) for name, state in each.items()}
        for each in (side, other)
    )
    return {
        name: _in_release(
            _adopting(
                state, telling, other.get(name, telling), "vm" if name in with_lock else "source"
            ),
            _release_told(name, own, told),
        )
        for name, state in side.items()
    }


def _release_told(
    name: str, own: Mapping[str, Target], other: Mapping[str, Target]
) -> Target | None:
    """The release that resources of the *other* state tell of the input *name*, of which its *own* tell nothing.

    Of an input that the other state lacks: what all of that tell, if nothing is told of any here.
    """
    if own[name].reason != UNKNOWN:
        return None
    is_any_told = any(target.reason != UNKNOWN for target in own.values())
    among = [other[name]] if name in other else [] if is_any_told else other.values()
    told = {target.release: target for target in among if target.reason and not target.is_assumed}
    return next(iter(told.values())) if len(told) == 1 else None


def _in_release(state: NamedState, told: Target | None) -> NamedState:
    """*state* in a cluster of the release that is *told* of the other one, if any is: nobody has upgraded it."""
    if told is None:
        return state
    release = tag(told.release)
    why = f"KubeVirt {minor(told.release)}, since {told.reason}"
    return state._replace(settings=state.settings._replace(kubevirt=release), release_told=why)


def _locked(state: NamedState) -> NamedState:
    """*state* as what nobody can render where its lock counts for nothing: ``build`` prints nothing then either."""
    if state.lock_fault is None:
        return state
    if state.settings.emit == "source":
        return state if state.fault else state._replace(texts={})
    others = state.fault.findings if state.fault else ()
    return state._replace(fault=RefusedError([*others, *state.lock_fault.findings]), unread={})


def _adopting(state: NamedState, other: NamedState, same: NamedState, alone: Emit) -> NamedState:
    """*state* with what it does not say and *other* does; *alone*: how it would be synced by itself.

    Where nobody is known to apply it, it is synced as the *same* input is by our plugin in the other state.
    """
    settings, adopted = state.settings, dict[str, Any]()
    is_open = not (state.is_emit_chosen or state.is_by_plugin)
    is_taken_over = same.is_by_plugin and not state.is_applied
    if is_open and (is_taken_over or (other.is_emit_chosen and not other.is_by_plugin)):
        settings = settings._replace(emit=(same if is_taken_over else other).settings.emit)
        adopted |= {"emit": alone} if alone != settings.emit else {}
    release = other.settings.kubevirt
    if release_named(release) and target_of(state.objects, settings).reason == UNKNOWN:
        adopted["kubevirt"] = settings.kubevirt
        settings = settings._replace(kubevirt=release)
    return state._replace(settings=settings, adopted=adopted)


def _kept(before: Settings, after: Settings) -> dict[str, Any]:
    """What *before* says of checks that *after* turns off: a change is judged by the checks that it comes to."""
    return {
        option.field: getattr(before, option.field)
        for option in OPTIONS
        if option.name in _CHECKS
        and getattr(after, option.field) in option.waives
        and getattr(before, option.field) not in option.waives
    }


def _checked_as(state: NamedState, kept: Mapping[str, Any]) -> NamedState:
    return state._replace(settings=state.settings._replace(**kept), kept=frozenset(kept))


class _Torn(NamedTuple):
    """A kustomization that the first side cannot build, of which what it gathers is compared.

    *folders*: it and those below that gather for it, seen from the path. *faults*: why it cannot be built, per side,
    and *bases* all that it takes along, called as inputs are.
    """

    folders: frozenset[str]
    faults: tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]
    bases: frozenset[str]


def _read_both(
    placed: tuple[_PlacedSide, _PlacedSide],
) -> tuple[list[_LoadedSide], dict[str, _Torn]]:
    """Both sides as they stand there, and of which kustomizations the parts are read by themselves."""
    excludes = [side.request.reading.layout.exclude.patterns for side in placed if side.exists]
    common = (
        tuple(pattern for pattern in excludes[0] if pattern in excludes[-1]) if excludes else ()
    )
    seen = _SideMemory({}, KnownOutcomes(os.curdir))
    read = [_read(side, common, seen) for side in placed]
    torn = _torn(*read)
    if torn:
        apart = frozenset(chain.from_iterable(gatherer.folders for gatherer in torn.values()))
        read = [_read(side, common, seen, apart=apart) for side in placed]
    for loaded_side, other_side in (read, read[::-1]):
        unopened = _unopened(loaded_side, other_side.files())
        _add_faults(loaded_side.path, loaded_side.inputs, unopened)
    return [_whole(each, side, seen) for each, side in zip(read, placed, strict=True)], torn


def _whole(loaded_side: _LoadedSide, side: _PlacedSide, seen: _SideMemory) -> _LoadedSide:
    """*loaded_side*, which stands at *side*, with what its repository has beside it."""
    around = _around(side, seen)
    limits = side.request.reading.limits
    return loaded_side._replace(
        around=around,
        top=side.top or os.path.join(side.folder, side.path),
        namespaces=NamespacesBeside(side.folder, loaded_side.inputs, around, limits),
    )


def _torn(before: _LoadedSide, after: _LoadedSide) -> dict[str, _Torn]:
    """The kustomizations of *before* that cannot be built and but gather others, in both sides, by their names.

    What ran before is as well known as if each of these had been applied. Where *after* alone cannot be built, nothing
    of it is synced.
    """
    found = {}
    later = {_seen_from(after.path, each.folder, each.user): each for each in after.inputs}
    for loaded in before.inputs:
        name = _seen_from(before.path, loaded.folder, loaded.user)
        now = later.get(name)
        if now is None or not loaded.unbuilt or any(each.namespace for each in (loaded, now)):
            continue
        gathering = before.gatherers(loaded), after.gatherers(now)
        if all(gathering):
            found[name] = _Torn(
                frozenset().union(*gathering),
                (_errors(loaded), _errors(now)),
                _bases(before, loaded) | _bases(after, now),
            )
    return found


def _errors(loaded: Documents) -> tuple[Diagnostic, ...]:
    return tuple(diagnostic for diagnostic in loaded.diagnostics if diagnostic.is_error)


def _warnings(loaded: Documents) -> tuple[Diagnostic, ...]:
    return tuple(each for each in loaded.diagnostics if each.severity is Severity.WARNING)


def _bases(side: _LoadedSide, loaded: Documents) -> frozenset[str]:
    """The folders of the other kustomizations that the one of *loaded* takes along, called as inputs are."""
    with contextlib.chdir(side.folder):
        own, path = real_path(loaded.folder), real_path(side.path)
        return frozenset(_called(folder, path) for folder in loaded.bases if folder != own)


def _name_faults(torn: Mapping[str, _Torn], sides: Sequence[Side]) -> None:
    """Say in *sides* why what is *torn* cannot be built, unless one of its parts says so."""
    for name, gatherer in torn.items():
        for side, faults in zip(sides, gatherer.faults, strict=True):
            known = side.get(name)
            other = next(iter(side.values()), None)
            if other is None or any(side[base].fault for base in gatherer.bases & side.keys()):
                continue
            empty = NamedState(other.name, [], other.settings, Sources())
            side[name] = (known or empty)._replace(apart=faults)


def _unopened(side: _LoadedSide, known: Collection[str]) -> Iterator[Diagnostic]:
    """Why *side* cannot open what it has of the files *known*, in which the other side has objects.

    Nobody has deleted these; of what else cannot be opened nobody knows that it is of any concern.
    """
    unopened = {
        os.path.relpath(path, side.path): fault
        for loaded in side.inputs
        for path, fault in loaded.unopened.items()
    }
    for file in sorted(known) if unopened else ():
        fault = next((unopened[at] for at in unopened if f"{file}/".startswith(f"{at}/")), None)
        if fault is not None:
            name = os.path.normpath(os.path.join(side.path, file))
            place = fault.location._replace(file=name)
            yield fault._replace(location=place)


def _name_unfilled(
    loaded_side: _LoadedSide, side: Side, loaded_other: _LoadedSide, other: Side
) -> None:
    """Say in *side*, of what *other* alone has, why it came to nothing there."""
    sets = {
        title
        for title in loaded_side.sets - loaded_other.sets
        if not any(is_made_by(state.user, title) for state in other.values())
    }
    lasting = {"", *(state.user for state in side.values())}
    for name, state in other.items():
        known = side.get(name)
        users = state.appliers | {state.user} - {""}
        absent = None if known and (known.is_applied or known.fault) else loaded_side.absent(users)
        if absent is not None:  # what they applied is still there, and nobody deletes that
            empty = loaded_side.nothing(state.settings)
            side[name] = empty._replace(fault=absent, appliers=users)
            continue
        if known is not None and not known.fault:
            side[name] = _without_absent(loaded_side, known, state)
        if known is not None:  # of what stands loose beside the kustomization there may be nothing
            is_lost = state.objects and not (state.user or known.objects or known.fault)
            if not is_lost or loaded_other.unfilled(name, "") is not None:
                continue
        fault = loaded_side.unfilled(name, state.user, () if state.user in lasting else sets)
        if fault is not None:
            empty = known or loaded_side.nothing(state.settings)
            side[name] = empty._replace(fault=fault, appliers=loaded_side.failing(name))


def _without_absent(loaded_side: _LoadedSide, state: NamedState, other: NamedState) -> NamedState:
    """*state* without the loose files that objects apply in the *other*, and that now name a path that is not there."""
    faults = {
        file: fault
        for file, users in other.users.items()
        if file in state.files and file not in state.users and (fault := loaded_side.absent(users))
    }
    if not faults:
        return state
    found = chain.from_iterable(fault.findings for fault in faults.values())
    left = state.of([index for index, file in enumerate(state.files) if file not in faults])
    unread = dict.fromkeys(faults, (codes.UNREADABLE.number,))
    return left._replace(fault=RefusedError(merge([*found])), unread=unread)


def _name_unapplied(read: Sequence[_LoadedSide], before: Side, after: Side) -> None:
    """Say in *after* of what Flux applies nothing: it lacks a ConfigMap, or the API server refuses what applied it."""
    _name_deleted(before, after)
    _name_refused(read, before, after)


def _name_refused(read: Sequence[_LoadedSide], before: Side, after: Side) -> None:
    """Say in *after* of which inputs nothing comes, since the API server refuses what applied them *before*.

    Nothing is pruned then, and what that would make in its place is not made. What was as wrong before is no news.
    """
    faults = read[1].refused()
    for user in read[0].refused() if faults else ():
        faults.pop(user, None)
    users = {
        name: (state.appliers | {state.user}) - {""}
        for side in (after, before)
        for name, state in side.items()
    }
    failing = {name for name in users if users[name] and users[name] <= faults.keys()}
    for name in failing - before.keys():
        del after[name]
    for name in failing & before.keys():
        fault = refused(*chain.from_iterable(faults[user] for user in sorted(users[name])))
        empty = read[1].nothing(before[name].settings)
        after[name] = empty._replace(fault=fault, appliers=users[name])


def _name_changed_unfilled(read: Sequence[_LoadedSide], sides: Sequence[Side]) -> None:
    """Say in both *sides* of which charts and kustomizations for VMs nobody knows what their change does.

    In neither is there what they depend on. One that is the same in both is passed over, as ``check`` does.
    """
    before, after = (loaded_side.wanting() for loaded_side in read)
    for name in sorted(before.keys() & after.keys()):
        texts = [loaded_side.unfilled_texts(name) for loaded_side in read]
        if texts[0] == texts[-1] or any(name in side for side in sides):
            continue
        for loaded_side, side, of_side in zip(read, sides, texts, strict=True):
            settings = loaded_side.request.settings
            side[name] = NamedState(
                loaded_side.name, [], settings, Sources(), apart=after[name], texts=of_side
            )


def _name_deleted(before: Side, after: Side) -> None:
    """Say in *after* that Flux applies nothing of what refers to a ConfigMap that *before* has, and *after* has not.

    What neither state has may be in the cluster, and what cannot be read may have it.
    """
    unread = {name: state for name, state in after.items() if _faults_of_reading(state)}
    for name in (before.keys() & after.keys()) - unread.keys():
        known = before[name].references
        faults = [
            reference.fault
            for key, reference in after[name].references.items()
            if not reference.is_known and key in known and known[key].is_known
            if not any(
                _may_have(reference.name, state, before.get(other))
                for other, state in unread.items()
            )
        ]
        if faults:
            after[name] = after[name]._replace(fault=refused(*faults))


def _faults_of_reading(state: NamedState) -> set[str]:
    """The codes of what is wrong with *state*, but for charts: of these nobody knows a ConfigMap."""
    findings = state.fault.findings if state.fault else ()
    return {each.diagnostic.code for each in findings} - {codes.HELM_FAILED.number}


def _may_have(config_map: str, state: NamedState, before: NamedState | None) -> bool:
    """Whether a ConfigMap of that name may be in *state*, which cannot be read: in its texts, or since it was *before*.

    Where names get something before or behind them, none is like that in a text.
    """
    if codes.REMOTE_BASE.number in _faults_of_reading(state) or not state.texts:
        return True
    words = [word.encode() for word in (config_map, *AFFIXES)]
    if any(word in text for text in state.texts.values() for word in words):
        return True
    known = (from_body(body, 0).ref for body in (before.objects if before else ()))
    return any((ref.kind, ref.name) == ("ConfigMap", config_map) for ref in known)


def _take_to_their_users(side: Side, other: Side) -> None:
    """Of the kustomizations that *side* alone has as inputs, take those for bases which are that in *other*.

    Where what uses one cannot be read, nobody knows whether the base stands for itself: in *side*, then it may be a
    base there too, and nothing is said of it; in *other*, then what comes of its VMs is unknown as well.
    """
    for name in sorted(side.keys() - other.keys()):
        users = [user for user in other if name in other[user].bases]
        if any(user in side and side[user].fault for user in users):
            del side[name]
            continue
        unread = next((other[user] for user in users if other[user].fault), None)
        if unread is not None:
            other[name] = unread._replace(objects=[], files=(), unread={}, bases=frozenset())


def _leave_out_moved_bases(loaded_side: _LoadedSide, side: Side, other: Side) -> None:
    """Take out of *side* the bases of *other* that stand elsewhere there, where their users still name the old folder.

    Nobody has applied them by themselves, and of the VMs of their users it is said that they cannot be rendered.
    """
    lost = {
        base: state
        for user, state in other.items()
        if user in side and side[user].fault
        for base in state.bases
        if not os.path.lexists(os.path.join(loaded_side.folder, loaded_side.path, base))
    }
    for name in sorted(side.keys() - other.keys()) if lost else ():
        own = _machines_below(side[name], name)
        if own and any(_are_made_of(_machines_below(lost[base], base), own) for base in lost):
            del side[name]


def _machines_below(state: NamedState, folder: str) -> dict[str, set[str]]:
    """The names of the objects of *state* that come from files below *folder*, by these, as seen from there."""
    found: dict[str, set[str]] = {}
    for body, file in zip(state.objects, state.files, strict=True):
        if files.is_below(file, folder):
            found.setdefault(os.path.relpath(file, folder), set()).add(from_body(body, 0).name)
    return found


def _are_made_of(
    built: Mapping[str, Collection[str]], bases: Mapping[str, Collection[str]]
) -> bool:
    """Whether each of the objects *bases* is in the same file among those *built*, if with more in its name."""
    return all(
        any(name in known for known in built.get(file, ()))
        for file, names in bases.items()
        for name in names
    )


def _followed(locked: Collection[str], side: Side, other: Side) -> set[str]:
    """The inputs that have VMs in *other* alone, one of them of an input of *locked* that has VMs in *side* alone.

    Its folder was renamed, with or without its lock.
    """
    if not locked:
        return set()
    here, beyond = ({name: _machines(each[name]) for name in each} for each in (side, other))
    left = {ref for name in here if name in locked and not beyond.get(name) for ref in here[name]}
    return {name for name in beyond if not here.get(name) and left & beyond[name]}


def _machines(state: NamedState) -> set[ResourceRef]:
    """What the VMs of *state*, and what makes some, are called in a cluster."""
    return {
        ref._replace(namespace=ref.namespace or state.namespace)
        for ref in (from_body(body, 0).ref for body in state.objects if is_of_machine(body))
    }


def _synced(state: NamedState, *, is_locked: bool) -> NamedState:
    """*state* as it is synced: a lock, in either state, means that VMs are rendered."""
    if not is_locked or (state.is_by_plugin and state.settings.emit == "source"):
        return state._replace(has_lock=False)
    if state.is_by_plugin:
        return state._replace(has_lock=True)
    return state._replace(settings=state.settings._replace(emit="vm"), has_lock=True)


def _placed(
    request: Request, clusters: Clusters, trees: contextlib.ExitStack
) -> tuple[_PlacedSide, _PlacedSide]:
    """Where both sides stand, as the words of the command line name them. Raises RefusedError or GitError."""
    words = _sorted(request.paths)
    if words.are_folders:
        first, last = (_here(request, path, path) for path in words.paths)
        return first, last
    revisions = _revisions(words)
    if clusters[0] != clusters[1] and not revisions.before:
        here = _here(request, revisions.path, revisions.path)
        return here, here
    top = _top(revisions)
    base, head = _commits(top, revisions)
    _demand(revisions.path, top, (base, head))
    if not head and git.skipped(top):  # as a sparse checkout has it
        head = WORK_TREE
    first = _at(request, top, base, revisions.path, trees, beside=head)
    last = _at(request, top, head, revisions.path, trees, first.folder, beside=base)
    return _as_meant(first, top, revisions.before), _as_meant(last, top, revisions.after)


def _as_meant(side: _PlacedSide, top: str, word: str) -> _PlacedSide:
    """*side*, which *word* names, with what git takes that for where a branch is called so, too."""
    tag_meant = git.tag_of_a_branch(top, word) if word else ""
    if not tag_meant:
        return side
    return side._replace(name=f"{side.name} ({tag_meant} is the tag, not the branch)")


def _commits(top: str, revisions: _Revisions) -> tuple[str, str]:
    """The ids of the commits that *revisions* mean, ``""`` for the working tree. Raises GitError."""
    before, after = revisions.before, revisions.after
    if revisions.is_branch:
        head = _commit_id(top, after or "HEAD")
        if not before:
            return git.merge_base(top, _branched_off(top), head), head if after else ""
        _commit_id(top, before)
        return git.merge_base(top, before, after or "HEAD"), head if after else ""
    base = _id(top, before) if before else _branched_off(top)
    return base, _id(top, after) if after else ""


def _demand(path: str, top: str, commits: tuple[str, str]) -> None:
    """Raise RefusedError unless *path* is there, now or at one of the *commits*."""
    inside = within(path, top)
    if inside == os.curdir or os.path.exists(path):
        return
    if any(git.has(top, commit, inside) for commit in commits if commit):
        return
    near = missing.near_among(inside, partial(_names_in, top, commits))
    cure = f"{_MEANT} {_seen_from_here(top, near)}?" if near else _USAGE
    place = Location(file=path)
    raise refused(codes.UNREADABLE.at(place, f"neither state has {path}", help=cure))


def _names_in(top: str, commits: tuple[str, str], folder: str) -> list[str]:
    """What stands in the *folder*, seen from *top*, at any of the *commits*, ``""`` for the working tree."""
    found: list[str] = []
    for commit in commits:
        if commit:
            found += git.names_in(top, commit, folder)
        else:
            with contextlib.suppress(OSError):  # it is not there, or closed
                found += os.listdir(os.path.join(top, folder))
    return found


def _seen_from_here(top: str, inside: str) -> str:
    return discover.printable(os.path.relpath(os.path.join(top, inside), real_path(os.curdir)))


def _top(revisions: _Revisions) -> str:
    """The top of the work tree; of a repository without one, that is the repository. Raises GitError, RefusedError."""
    folder = revisions.path if os.path.isdir(revisions.path) else "."
    if revisions.before and _is_elsewhere(revisions.path):
        before, path = revisions.before, revisions.path
        message = f"{path} is not in the repository of the current folder, of which {before} is"
        cure = f"git worktree add DIR {before} makes a folder of that: virt-render diff DIR {path}"
        raise refused(codes.USAGE.at(Location(), message, help=cure))
    try:
        is_bare = git.is_bare(folder)
    except GitError as error:
        if revisions.before and _NO_REPOSITORY in str(error):
            fault = codes.USAGE.at(
                Location(),
                f"{revisions.before} is neither a folder nor a revision: {folder} is in no repository of git",
                help=_USAGE,
            )
            raise refused(fault) from error
        if _NO_REPOSITORY in str(error):
            cure = "name two folders, or a path in a repository"
            raise GitError(f"{folder} is in no repository", cure) from error
        raise
    if is_bare:
        if revisions.after:
            return real_path(folder)
        raise GitError("the repository is bare and has no working tree: name two revisions")
    return real_path(git.root(folder))


def _is_elsewhere(path: str) -> bool:
    """Whether *path* stands out of the repository around the current folder, which does not stand in that of *path*."""
    here, target = real_path(os.curdir), real_path(path)
    own = files.repository(here)
    other = files.repository(target if os.path.isdir(target) else os.path.dirname(target))
    is_apart = bool(own) and not inside(target, [own])
    return is_apart and not (other and inside(here, [other]))


class _Words(NamedTuple):
    """The words of the command line: what is to name *revisions*, and what *paths*."""

    revisions: list[str]
    paths: list[str]

    @property
    def are_folders(self) -> bool:
        """Whether two folders are to be compared as they are."""
        return (
            not self.revisions and len(self.paths) == _ENDS and all(map(os.path.isdir, self.paths))
        )


def _sorted(words: Sequence[str]) -> _Words:
    """What is what of *words*; paths stand behind ``--``. Raises RefusedError where only that would say it."""
    if DASHES in words:
        end = words.index(DASHES)
        return _Words([*words[:end]], [*words[end + 1 :]])
    paths = [word for word in words if os.path.exists(word)]
    for word in paths:
        if git.is_object(".", word) and not git.is_bare("."):
            message = f"{word} is the name of a revision, and of a file or folder"
            cure = f"virt-render diff {word} -- is the revision, virt-render diff -- {word} what lies there"
            raise refused(codes.USAGE.at(Location(), message, help=cure))
    named = [word for word in words if word not in paths]
    lost = [word for word in named if _is_path(word)]
    ranges = [word for word in named if _RANGE in word.split("/")[0] and word not in lost]
    if len(named) == _ENDS and (len(lost) == 1 or len(ranges) == 1):
        # A path that only one of the states may have.
        lost = lost or [word for word in named if word not in ranges]
        return _Words([word for word in named if word not in lost], [*paths, *lost])
    if lost:
        near = [path for path in map(missing.near_path, lost) if path]
        cure = f"{_MEANT} {discover.printable(near[0])}?" if len(lost) == len(near) == 1 else _USAGE
        raise refused(codes.USAGE.at(Location(), f"there is no {' and no '.join(lost)}", help=cure))
    files_ = [path for path in paths if not os.path.isdir(path)]
    if len(paths) == _ENDS and not named and files_:
        message = f"{files_[0]} is no folder, and two folders can be compared"
        raise refused(codes.USAGE.at(Location(), message, help=_USAGE))
    return _Words(named, paths)


def _is_path(word: str) -> bool:
    """Whether *word* can be nothing but a path: no revision begins or ends like that."""
    return word.startswith(("/", "./", "../")) or word.endswith("/") or word in {".", ".."}


def _revisions(words: _Words) -> _Revisions:
    """What *words* ask for: two revisions or one range of them, and at most one path. Raises RefusedError."""
    named, paths = words
    if len(named) == _ENDS and not any(_RANGE in word for word in named):  # as git takes them too
        named = [_RANGE.join(named)]
    word = named[0] if named else ""
    is_branch = _BRANCH in word
    before, _, after = word.partition(_BRANCH if is_branch else _RANGE)
    if len(named) > 1 or len(paths) > 1 or _RANGE in before or _RANGE in after:
        message = f"cannot tell what to compare of {' '.join((*named, *paths))}"
        raise refused(codes.USAGE.at(Location(), message, help=_USAGE))
    return _Revisions(before, after, paths[0] if paths else ".", is_branch)


def _branched_off(top: str) -> str:
    """The commit at which the working tree left the default branch. Raises GitError."""
    remote = git.remote_of(top)
    names = [f"refs/remotes/{remote}/{name}" for name in _DEFAULTS if remote]
    names += [f"refs/heads/{name}" for name in _DEFAULTS[1:]]
    for name in names:
        if git.is_object(top, f"{name}^{{commit}}"):
            return git.merge_base(top, name)
    git.require_commit(top)
    fetch = git.fetch_of_default(top)
    cure = "virt-render diff HEAD compares what is not committed"
    if fetch:
        cure += f"; to compare this branch with the default one: {fetch}"
    raise GitError("no default branch is known here", cure)


def _at(  # noqa: PLR0913, PLR0917 - what is read, and what was read before
    request: Request,
    top: str,
    revision: str,
    path: str,
    trees: contextlib.ExitStack,
    other: str = "",
    beside: str = "",
) -> _PlacedSide:
    """Where *path* stands at the commit *revision*, or in the working tree; *other* is what is checked out already.

    *beside* is the commit that it is compared with.
    """
    if not revision:
        return _here(request, path, _WORKING)._replace(top=top)
    name = _WORKING if revision == WORK_TREE else revision[:10]
    inside = within(path, top)
    looked_at = [inside, *(within(file, top) for file in request.reading.chart.values)]
    scope = CheckoutScope(other, looked_at, beside)
    tree = trees.enter_context(checked_out(top, revision, request.reading.limits, scope))
    if not os.path.exists(os.path.join(tree, inside)):
        return _PlacedSide(name, tree, inside, request, exists=False)
    with contextlib.chdir(tree):
        here = _here(request, inside, name)
        return here._replace(absent=(*absent(tree),), changed=(*changed(tree),), top=tree)


def _id(top: str, revision: str) -> str:
    """The commit that *revision* names; what git calls the empty tree stands for the state before the first one."""
    return revision if revision == git.EMPTY_TREE else _commit_id(top, revision)


def _commit_id(top: str, revision: str) -> str:
    """The id of the commit that *revision* names. Raises GitError, with the fetch that may be missing."""
    try:
        return git.commit_id(top, revision)
    except GitError as error:
        if str(error) == f"unknown revision {revision}":
            near = "" if _MEANT in error.cure else missing.near_path(revision)
            cure = f"{_MEANT} {discover.printable(near)}?" if near else error.cure
            raise GitError(f"{error}, and no file or folder is called so", cure) from error
        raise


def _here(request: Request, path: str, name: str) -> _PlacedSide:
    """*path*, seen from the working directory, with the configuration that stands there."""
    return _PlacedSide(name, os.getcwd(), path, snapshots.request_at(request, path))


def _read(
    side: _PlacedSide,
    common: tuple[str, ...],
    seen: _SideMemory,
    *,
    apart: Collection[str] = (),
) -> _LoadedSide:
    """What stands at *side*: of a folder what KubeVirt reads, but for what the patterns *common* to both sides exclude.

    What one side alone excludes is neither gone nor new. What the other side was found to have is *seen*, and gets what
    is found here. *apart*: the folders of kustomizations, seen from the path, that are not built
    themselves.
    """
    name, folder, path, request, exists, lacking, rewritten, top = side
    if not exists:
        return _LoadedSide(name, folder, path, request, [Documents()])
    with contextlib.chdir(folder):
        outcomes = seen.outcomes.at(_base(side))
        how = reading(request, standard_input())._replace(known=seen.texts, outcomes=outcomes)
        if os.path.isdir(path):
            layout = request.reading.layout
            exclude = layout.exclude._replace(patterns=common)
            scope = Scope(
                exclude,
                shared=layout.shared,
                has_submodules=False,
                apart=frozenset(real_path(os.path.join(path, each)) for each in apart),
                repository=real_path(top) if top else "",
            )
            inputs = loading.load_all((path,), how._replace(scope=scope), whole=True)
            _add_faults(path, inputs, map(_lacking, _below(path, lacking, exclude)))
            for file in _below(path, rewritten, exclude):
                _loose(path, inputs).unseen.add(_REWRITTEN, file)
            return _LoadedSide(name, folder, path, request, inputs)
        loaded = loading.load((path,), how, whole=True)
        for file in _below(path, rewritten):
            loaded.unseen.add(_REWRITTEN, file)
        return _LoadedSide(name, folder, loaded.folder, request, [loaded])


def _base(side: _PlacedSide) -> str:
    """From where the files of *side* are called as those of the other one: the repository, or what is compared."""
    path = side.path if os.path.isdir(side.path) else os.path.dirname(side.path) or os.curdir
    return side.top or path


def _around(side: _PlacedSide, seen: _SideMemory) -> list[Documents]:
    """What stands beside the path of *side* in its repository: VMs below the path may refer to it."""
    with contextlib.chdir(side.folder):
        top, path = real_path(side.top), real_path(side.path)
        if not side.exists or not side.top or top == path:
            return []
        layout = side.request.reading.layout
        scope = Scope(layout.exclude, shared=layout.shared, has_submodules=False)
        outcomes = seen.outcomes.at(top)
        how = reading(side.request, standard_input())._replace(scope=scope, outcomes=outcomes)
        around = loading.load_all((os.path.relpath(top),), how, whole=True)
        for loaded in around:
            inside = [] if loaded.is_one_root else [*loaded.documents]
            for document in inside:
                if files.is_below(real_path(document.origin.file), path):
                    loaded.remove(document)
        return [each for each in around if not files.is_below(real_path(each.folder), path)]


def _below(path: str, files: Sequence[str], exclude: Globs | None = None) -> list[str]:
    """Those of *files* that are *path* or stand below it, and that nobody *excludes*."""
    reals = {file: real_path(file) for file in map(tidy, files)}
    top = real_path(path)
    return [
        file
        for file, real in reals.items()
        if inside(real, [top]) and not (exclude and exclude.match(real))
    ]


def _lacking(file: str) -> Diagnostic:
    """That nobody knows what *file* says, which the repository is lacking."""
    return codes.UNREADABLE.at(Location(file=file), f"{file} is missing in the repository")


def _add_faults(path: str, inputs: list[Documents], faults: Iterable[Diagnostic]) -> None:
    """Say in *inputs*, read below *path*, why files are missing among what stands loose there."""
    if listed := [*faults]:
        _loose(path, inputs).diagnostics += listed


def _loose(path: str, inputs: list[Documents]) -> Documents:
    """What stands loose in *path* among *inputs*, which get one for it."""
    for part in inputs:
        if part.folder == tidy(path) and not part.is_one_root:
            return part
    loose = Documents(folder=tidy(path), whole=True)
    inputs.insert(0, loose)
    return loose


def _state(side: _LoadedSide, loaded: Documents, cluster: ClusterOption) -> NamedState:
    request, _ = plugins.planned(loaded, side.request)
    locks.choose(loaded, request)
    fault = _refused_error(loaded, loaded.diagnostics, request)
    has_lock = request.settings.pins != "ignore" and locks.counts_for(loaded)
    lock_fault = _refused_error(loaded, [*locks.faults(loaded)], request) if has_lock else None
    by_plugin = plugins.emit_of(loaded, request)
    chosen = plugins.chosen_emit(request)
    around = (cluster.document,) if cluster.document else request.beside.cluster
    if cluster.document:
        loaded.data.add_stream(cluster.document.origin.file, cluster.data)
    else:
        for document in around:
            loaded.data.add_file(document.origin.file, request.reading.limits.file_bytes)
    origins = [document.origin for document in (*loaded.documents, *around)]
    state = NamedState(
        side.name,
        _bodies(loaded),
        request.settings._replace(emit=by_plugin or chosen or "source", unclear=loaded.unclear),
        Sources(origins, loaded.data, folder=os.getcwd(), loaded=loaded),
        fault,
        {
            from_body(document.body, 0).ref: position
            for position, document in enumerate(around, len(loaded.documents))
        },
        unread={
            os.path.relpath(file, side.path): codes_ for file, codes_ in loaded.unread_files.items()
        },
        configured=request.beside.configured,
        waivers=request.beside.waivers,
        unseen=loaded.unseen.counts(),
        files=[_file_called(document.origin.file, side.path) for document in loaded.documents],
        has_lock=has_lock,
        is_emit_chosen=chosen is not None,
        is_by_plugin=by_plugin is not None,
        texts=_texts_at_fault(side, loaded) if fault or lock_fault else {},
        lock_fault=lock_fault,
        copies=[(os.path.relpath(c.origin.file, side.path), c.body) for c in loaded.copies],
    )
    return _among_others(state, side, loaded)


def _refused_error(
    loaded: Documents, diagnostics: Sequence[Diagnostic], request: Request
) -> RefusedError | None:
    """Why nothing can be said of *loaded*, where *diagnostics* say that nothing can."""
    if status(diagnostics) is Exit.OK:
        return None
    return RefusedError(merge(findings_of(loaded, diagnostics, request)))


def _texts_at_fault(side: _LoadedSide, loaded: Documents) -> dict[str, bytes]:
    """What the files say that *loaded*, of *side*, reads, as far as anybody can tell which these are.

    Where its own kustomization cannot be parsed, they may be all that stand in its folder, but for what others read.
    """
    names = {*(loaded.unread_files or loaded.files)}
    own = kustomization.find(loaded.folder) if loaded.is_built else None
    if own and any(each.is_error and each.location.file == own for each in loaded.diagnostics):
        found = discover.walk(loaded.folder, [real_path(loaded.folder)], plain=True).files
        others = {
            real_path(document.origin.file)
            for other in side.inputs
            if other is not loaded
            for document in other.documents
        }
        names.update(file for file, _ in found if real_path(file) not in others)
    return _texts_of(names, side)


def _texts_of(names: Iterable[str], side: _LoadedSide) -> dict[str, bytes]:
    """What the files *names* of *side* say, as they are seen from its path."""
    limit = side.request.reading.limits.file_bytes
    texts = {name: files.read(name, name, limit) for name in names}
    return {
        os.path.relpath(name, side.path): text if isinstance(text, bytes) else b""
        for name, text in texts.items()
    }


def _bodies(loaded: Documents) -> list[Tree]:
    """What *loaded* holds, in the namespace in which it is applied; a lock knows VMs by what they are called here."""
    if locks.counts_for(loaded):
        return [document.body for document in loaded.documents]
    return [
        document.body
        if index in loaded.borrowed
        else in_namespace(document.body, _namespace_of(document, loaded))
        for index, document in enumerate(loaded.documents)
    ]


def _namespace_of(document: Document, loaded: Documents) -> str:
    """That in which *document* is applied if it names none: of *loaded*, else of its own file."""
    known = loaded.destinations.get(document.origin.file)
    return loaded.namespace or (known.namespace if known else "")


def _among_others(state: NamedState, side: _LoadedSide, loaded: Documents) -> NamedState:
    """*state* with what is said of the input *loaded* beside the others of its *side*."""
    return state._replace(
        bases=_bases(side, loaded),
        folder=_called(loaded.folder, side.path),
        user=loaded.user,
        stands=loaded.stands,
        is_server_side=loaded.is_server_side,
        appliers=loaded.appliers,
        revisions=loaded.revisions,
        users={os.path.relpath(file, side.path): titles for file, titles in loaded.users.items()},
        namespace="" if locks.counts_for(loaded) else loaded.namespace,
        chart=loaded.folder if loaded.filled else "",
        values=tuple(chain.from_iterable(filled.files for filled in loaded.filled)),
        lent=frozenset(from_body(loaded.documents[index].body, 0).ref for index in loaded.borrowed),
        references=loaded.references,
        is_one_root=loaded.is_one_root,
        taken=_taken(side, loaded),
        top=side.top,
        working_folder=side.folder,
        path=side.path,
        namespaces=side.namespaces,
        warnings=() if state.fault else _warnings(loaded),
    )


def _taken(side: _LoadedSide, loaded: Documents) -> tuple[str, ...]:
    """What kustomizations around the path of *side* take along of *loaded*, its folder or a file, and these."""
    if not side.around or not loaded.documents:
        return ()
    what = loaded.folder if loaded.is_one_root else loaded.documents[0].origin.file
    real = real_path(what)
    takers = sorted(
        each.folder
        for each in side.around
        if each.is_built and (real in each.bases or real in map(real_path, each.files))
    )
    return (what, *takers) if takers else ()
