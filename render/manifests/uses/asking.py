"""The objects of a repository that say how a chart or a folder of it is filled in."""

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity
from render.manifests import kustomization, relevance
from render.manifests.blame import origins
from render.manifests.discover import HelmRelease
from render.manifests.kustomization import Reach
from render.manifests.unseen import Unseen
from render.manifests.uses import applicationset, argocd, flux
from render.manifests.uses.applicationset import GeneratedApplication
from render.manifests.uses.repository import Home
from render.manifests.uses.slips import folders, objects, told, unquoted
from render.manifests.uses.use import (
    EMPTIED,
    UNEVALUATED,
    AbsentError,
    FolderUse,
    UnevaluatedError,
    UnmatchedError,
    UnsaidError,
    mappings,
    named,
    title_of_made,
)
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.nearest import is_slip
from render.model.regex import pattern
from render.model.resource import text_at
from render.model.tree import get
from render.system import files
from render.yaml import positions
from render.yaml.budget import Limits
from render.yaml.reader import Document, read

_GROUPS = {
    argocd.GROUP: ("Application", "ApplicationSet"),
    flux.HELM_GROUP: ("HelmRelease",),
    flux.KUSTOMIZE_GROUP: ("Kustomization",),
    flux.SOURCE_GROUP: ("GitRepository",),
}


_Made = list[GeneratedApplication | UnmatchedError] | UnevaluatedError
"""The Applications of an ApplicationSet, or why there are none."""


class Build(NamedTuple):
    """The kustomization in the folder *top*, what it reaches, and what *prints* all that it is built to, if it is."""

    top: str
    reach: Reach
    prints: Callable[[], bytes | None]


class Places(NamedTuple):
    """Where to look: in the files *loose*, for ConfigMaps in all *files*, and in what *builds* reach."""

    loose: Sequence[str]
    files: Sequence[str]
    builds: Sequence[Build]


class Uses(NamedTuple):
    """All *uses*, by folder; of what is not evaluated, how many there are of each kind, and *notes*.

    *unfilled*: the notes of those whose folder and object are known, by both, and of sets of which no Application is
    known, by ``""`` and the set. *broken*: why files cannot be read in
    which such objects may stand. *unknown*: the sets that apply nothing, as far as anybody knows, and how so.
    *refused*: why the API server does not take objects, by their names.
    """

    uses: list[FolderUse]
    unseen: Unseen
    notes: list[Diagnostic]
    unfilled: Mapping[tuple[str, str], list[Diagnostic]] = MappingProxyType({})
    broken: Sequence[Diagnostic] = ()
    unknown: Mapping[str, str] = MappingProxyType({})
    refused: Mapping[str, list[Diagnostic]] = MappingProxyType({})


#: So many folders are looked at of those that a file names which cannot be parsed.
_MOST_PATHS = 32
#: What says which folder an object applies.
_PATH = pattern(rb"""(?<![\w.-])(?:path|chart)["']?[ \t]*+:[ \t]*+["']?([^\s"'#,}]++)""")

#: What may be the name of an object.
_NAME = pattern(rb"[\w.-]+")
#: What says more of a folder than where it is.
_FILLS = pattern(
    rb"""(?<![\w.-])(?:helm|kustomize|plugin|values\w*|patches\w*|components|postBuild|name(?:Pre|Suf)fix)["']?\s*+:"""
)


def find(places: Places, home: Home, base: HelmRelease, limits: Limits) -> Uses:
    """What the objects in *places* fill in of the repository *home*; *base* has what is true of all charts.

    A kustomization with such an object is built, for its patches and generators may change what is asked: where that is
    something of this repository as it is written, or may become that by edits.
    """
    read_files = _AskingFiles(limits)
    apart = [[document for file in places.loose for document in read_files.asking(file)]]
    for build in places.builds:
        resources = dict.fromkeys(build.reach.resources)
        asking = [document for file in resources for document in read_files.asking(file)]
        apart.append(asking)
    every = [document for documents in apart for document in documents]
    broken = [*_broken(read_files, home, limits)]
    concerns, locate = partial(_may_concern, home=home), partial(_place, limits=limits)
    slipped = [*told.warnings(read_files.slipped.values(), concerns, locate)]
    if not any(_kind(document) != (flux.SOURCE_GROUP, "GitRepository") for document in every):
        return Uses([], Unseen(), slipped, broken=broken)
    names = {name for document in every for name in _config_maps_named(document)}
    reached = (file for build in places.builds for file in build.reach.resources)
    config_maps = [*read_files.config_maps(dict.fromkeys((*places.files, *reached)), names)]
    known = _Evaluation(home, base, limits)
    around = _referents(apart, config_maps)
    for number, build in enumerate(places.builds, 1):
        is_edited = build.reach.edits and bool(apart[number]) and home.holds_machines(places.files)
        if not is_edited and not known.asks(apart[number], around):
            continue
        if (output := build.prints()) is not None:
            documents = read(output, f"{build.top} (kustomize build)", limits).documents
            traced = origins.trace(build.top, documents, build.reach, limits)
            apart[number] = [document for document in traced if _is_asking(document)]
            config_maps += (document for document in traced if _is_config_map(document))
            around = _referents(apart, config_maps)
    uses = known.all(apart, around, [build.top for build in places.builds])
    askers = {id(each): each for each in every if _kind(each)[0] != flux.SOURCE_GROUP}.values()
    slipped += told.warnings(askers, concerns, locate)
    known_maps = partial(read_files.every_config_map, places.files)
    notes = [*uses.notes, *slipped, *_misnamed(uses.uses, around, known_maps, limits)]
    refused = told.refused(askers, uses.uses, locate) if slipped else {}
    return uses._replace(broken=broken, notes=notes, unknown=known.unknown(), refused=refused)


def _broken(read_files: "_AskingFiles", home: Home, limits: Limits) -> Iterator[Diagnostic]:
    """Why files cannot be parsed that may apply objects of KubeVirt's."""
    for file, diagnostics in read_files.broken.items():
        if _applies_machines(file, home, limits):
            yield from diagnostics


_MOST_LOST = 5
"""ConfigMaps of variables that are sought where they are not: each is compared with all that there are."""
_SUBSTITUTED_FROM = ("spec", "postBuild", "substituteFrom")


def _misnamed(
    uses: Iterable[FolderUse],
    around: flux.Referents,
    known: Callable[[], Iterable[Document]],
    limits: Limits,
) -> Iterator[Diagnostic]:
    """The ConfigMaps of which *uses* take variables, and that are not there but for a slip or a namespace.

    *known* are all that there are: they are asked for where one is not there.
    """
    named_ = (
        (use, path, text_at(reference, "name"))
        for use in uses
        if use.variables is not None
        for path, reference in mappings(use.document.body, *_SUBSTITUTED_FROM)
    )
    lost: dict[tuple[str, str], tuple[Document, FieldPath, str]] = {}
    for use, path, name in named_:
        demanded = use.references.get(f"{name} ")
        if demanded is not None and not demanded.is_known:
            lost.setdefault((use.title, name), (use.document, path, name))
    every = [*known()] if lost else []
    for document, path, name in islice(lost.values(), _MOST_LOST):
        namespace = _namespace(document)
        near = _near(name, namespace, every, around)
        if near is not None:
            place = _place(near, ("metadata", "name"), limits)
            yield codes.KUSTOMIZE_FAILED.at(
                _place(document, (*path, "name"), limits),
                f"{named(document)}: no ConfigMap {name} is in its namespace, {namespace}",
                Related(f"{named(near)} is here", place),
                help=f"did you mean {_name(near)}?"
                if _name(near) != name
                else f"set metadata.namespace: {namespace} there",
                severity=Severity.WARNING,
            )


def _near(
    name: str, namespace: str, every: Sequence[Document], around: flux.Referents
) -> Document | None:
    """That of *every* ConfigMap which was meant with *name* in *namespace*: of another, or called otherwise.

    None that another object names, and none where it is not certain that it is not there.
    """
    called = [each for each in every if _name(each) == name]
    if not namespace or any(_namespace(each) in {"", namespace} for each in called):
        return None
    slips = (
        each
        for each in every
        if is_slip(name, _name(each))
        and _namespace(each) in {"", namespace}
        and _name(each) not in around.config_maps
    )
    return next(iter(called), None) or next(slips, None)


def _may_concern(document: Document, home: Home) -> bool:
    """Whether *document* names a folder with objects of KubeVirt's, or one that nobody knows where there are some."""
    data = json.dumps(document.body).encode()
    named_ = [match[1] for match in _PATH.finditer(data)]
    if not named_ or any(b"{{" in name for name in named_):
        return home.has_charts_of_machines or home.has_kustomizations_of_machines
    return any(
        home.is_built_of_machines(folder) or home.is_chart_of_machines(folder)
        for folder in _folders_named(data, home)
    )


def _applies_machines(file: str, home: Home, limits: Limits) -> bool:
    """Whether a folder in which objects of KubeVirt's may stand is named in *file*, which cannot be parsed."""
    return any(
        home.is_built_of_machines(folder) or home.is_chart_of_machines(folder)
        for folder in _folders_named(_text(file, limits), home)
    )


def fills_in_machines(file: str, home: Home, limits: Limits) -> bool:
    """Whether *file*, which is not evaluated, may fill in or edit what holds VMs in *home*, or apply a part of that.

    A path that a template puts together may be any.
    """
    data = _text(file, limits)
    if not _FILLS.search(data):
        return any(map(home.is_part, _folders_named(data, home)))
    if any(b"{{" in match[1] for match in _PATH.finditer(data)):
        return home.has_charts_of_machines or home.has_kustomizations_of_machines
    return any(
        home.is_chart_of_machines(folder)
        or (kustomization.find(folder) is not None and home.is_built_of_machines(folder))
        for folder in _folders_named(data, home)
    )


def _text(file: str, limits: Limits) -> bytes:
    """What *file* says, without escapes; nothing where it cannot be read."""
    data = files.read(file, file, limits.file_bytes)
    return relevance.unescaped(data) if isinstance(data, bytes) else b""


def _folders_named(data: bytes, home: Home) -> Iterator[str]:
    """The folders below what is read of *home* that *data* names as those which an object applies."""
    matches = _PATH.finditer(data)
    paths = dict.fromkeys(match[1].decode("utf-8", "replace") for match in matches)
    for path in islice(paths, _MOST_PATHS):
        try:
            folder = home.folder(os.path.normpath(f"/{path}"))
        except UnevaluatedError:
            continue
        if home.is_read(folder):
            yield folder


class _Evaluation:
    """How all objects that ask are evaluated."""

    __slots__ = ("_base", "_effort", "_home", "_limits", "_made")

    def __init__(self, home: Home, base: HelmRelease, limits: Limits) -> None:
        self._home = home
        self._effort = applicationset.Effort()
        #: The Applications of each set, or why there are none; with the set, of which nobody else is told by its id.
        self._made: dict[int, tuple[Document, _Made]] = {}
        self._base = base
        self._limits = limits

    def asks(self, documents: Sequence[Document], around: flux.Referents) -> bool:
        """Whether one of *documents* fills in anything of this repository, as it is written."""
        uses = (use for document in documents for use in self._evaluated(document, around))
        return any(
            not isinstance(use, FolderUse) or not use.is_plain or self._home.is_part(use.folder)
            for use in uses
        )

    def all(
        self,
        every: Sequence[Sequence[Document]],
        around: flux.Referents,
        tops: Sequence[str],
    ) -> Uses:
        """What is made of each document of *every* list: of loose files, then of what is built in each of *tops*."""
        uses: dict[tuple[str, str], dict[str, FolderUse]] = {}
        unevaluated: Counter[tuple[str, ...]] = Counter()
        notes = []
        unfilled: dict[tuple[str, str], list[Diagnostic]] = {}
        doubtful: list[tuple[AbsentError | UnmatchedError, Diagnostic]] = []
        for top, documents in zip(("", *tops), every, strict=True):
            for document in documents:
                for use in self._evaluated(document, around):
                    if isinstance(use, FolderUse):
                        known = uses.setdefault((use.folder, use.title), {})
                        known.setdefault(top or document.origin.file, use)
                    elif isinstance(use, UnmatchedError):
                        doubtful.append((use, _unmatched(document, use, self._limits)))
                    elif isinstance(use, AbsentError):
                        notes.append(_note(document, use))
                        fault = _fault(document, use, self._limits)
                        if use.is_certain:
                            doubtful.append((use, fault))
                        for title in ("", use.use[1]):
                            unfilled.setdefault((use.use[0], title), []).append(fault)
                    else:
                        unevaluated[
                            use.reason, document.origin.file, *filter(None, use.use[:1])
                        ] += 1
                        notes += (*_wrong(document, use, self._limits), _note(document, use))
                        if use.use[1]:
                            unfilled[use.use] = notes[-1:]
        likely = self._likely(uses) if any(use.assumed for use, _ in doubtful) else frozenset()
        notes += _told(doubtful, likely)
        different = [use for key in sorted(uses) for use in _apart(uses[key])]
        # What is wrong with a ConfigMap that many name stands there once.
        notes += dict.fromkeys(fault for use in different for fault in self._no_texts(use, around))
        return Uses(different, _counted(unevaluated), [*notes, *self._namesakes()], unfilled)

    def unknown(self) -> dict[str, str]:
        """The sets that are not evaluated, and those that make no Application, by which of both they are."""
        return {
            named(document): EMPTIED if isinstance(made, list) else UNEVALUATED
            for document, made in self._made.values()
            if isinstance(made, UnevaluatedError)
            or (all(isinstance(each, UnmatchedError) for each in made) and _deletes(document))
        }

    def _namesakes(self) -> Iterator[Diagnostic]:
        """The names that several Applications of one set have: of these Argo CD makes one."""
        path = ("spec", "template", "metadata", "name")
        for document, made in self._made.values():
            bodies = () if isinstance(made, UnevaluatedError) else made
            names = Counter(
                text_at(each.body.get("metadata"), "name")
                for each in bodies
                if not isinstance(each, UnmatchedError)
            )
            twice = [name for name, number in names.items() if number > 1]
            if twice and _may_concern(document, self._home):
                more = f" (and {len(twice) - 1:,} more)" if len(twice) > 1 else ""
                yield codes.DUPLICATE_OBJECT.at(
                    _place(document, path, self._limits),
                    f"{named(document)} makes {names[twice[0]]} Applications called {twice[0]}{more}",
                    help="have the name say all that tells them apart",
                    severity=Severity.WARNING,
                )

    def _no_texts(self, use: FolderUse, around: flux.Referents) -> Iterator[Diagnostic]:
        """What is wrong with the values that *use* substitutes, since they are no texts."""
        no_texts = flux.no_texts(use.document, around) if use.variables is not None else ()
        return (_refused(each, self._limits) for each in no_texts)

    def _likely(self, uses: Mapping[tuple[str, str], Mapping[str, FolderUse]]) -> frozenset[str]:
        """What *uses* assume of which the paths speak: VMs are where they say."""
        return frozenset(
            assumption
            for (folder, _), each in uses.items()
            if self._home.is_chart_of_machines(folder) or self._home.is_built_of_machines(folder)
            for use in each.values()
            for assumption in use.assumptions
        )

    def _evaluated(
        self, document: Document, around: flux.Referents
    ) -> Iterator[FolderUse | UnevaluatedError]:
        group, kind = _kind(document)
        if group != argocd.GROUP:
            if kind != "GitRepository":
                yield from flux.uses(document, self._home, self._base, around)
            return
        if kind == "Application":
            yield from argocd.uses(document, self._home, self._base)
            return
        made = self._applications(document)
        if isinstance(made, UnevaluatedError):
            if uses := self._of_every_cluster(document):
                yield from uses
                return
            is_edit = applicationset.edits_kustomizations(document.body)
            if self._home.has_charts_of_machines or (
                (is_edit or isinstance(made, UnsaidError))
                and self._home.has_kustomizations_of_machines
            ):
                made.use = ("", named(document))
                yield made
            return
        for application in made:
            if isinstance(application, UnmatchedError):
                yield application
            else:
                yield from self._made_use(document, application)

    def _made_use(
        self, document: Document, application: GeneratedApplication
    ) -> Iterator[FolderUse | UnevaluatedError]:
        """What the *application* that the set *document* makes fills in."""
        title = title_of_made(text_at(application.body.get("metadata"), "name"), named(document))
        yield from argocd.uses(document, self._home, self._base, application, title)

    def _of_every_cluster(self, document: Document) -> list[FolderUse]:
        """What the set *document*, which asks a cluster, applies as it is written, whatever clusters there are."""
        application = applicationset.of_every_cluster(document.body)
        uses = [] if application is None else [*self._made_use(document, application)]
        plain = [use for use in uses if isinstance(use, FolderUse) and use.is_plain]
        return plain if len(plain) == len(uses) else []

    def _applications(self, document: Document) -> _Made:
        """What the set *document* makes; of one that makes more than it may, nothing is filled in."""
        if id(document) in self._made:
            return self._made[id(document)][1]
        made: _Made
        try:
            made = [*applicationset.applications(document.body, self._home, self._effort)]
        except UnevaluatedError as error:
            made = error
        self._made[id(document)] = document, made
        return made


def _told(
    doubtful: Iterable[tuple[AbsentError | UnmatchedError, Diagnostic]], likely: Collection[str]
) -> Iterator[Diagnostic]:
    """The faults of *doubtful* whose assumptions are *likely*; of patterns, where nothing is, those with a slip."""
    for use, fault in doubtful:
        near = folders.near(use.folder)
        is_alone = not likely and isinstance(use, UnmatchedError)
        is_slip_here = is_alone and folders.is_slip_of(near, use.folder)
        if is_slip_here or all(each in likely for each in use.assumed):
            cure = f"did you mean {near}?" if near else fault.help
            yield fault._replace(severity=Severity.WARNING, help=cure)


def _deletes(document: Document) -> bool:
    """Whether what Applications of a set applied is deleted where it makes them no more."""
    policy = get(document.body, "spec", "syncPolicy")
    is_kept = text_at(policy, "applicationsSync") in ("create-only", "create-update")
    return not is_kept and get(policy, "preserveResourcesOnDeletion") is not True


def _counted(unevaluated: Mapping[tuple[str, ...], int]) -> Unseen:
    """What is *unevaluated*, by what it is called and where it stands."""
    unseen = Unseen()
    for (what, *places), number in unevaluated.items():
        unseen.add(what, *places, number=number)
    return unseen


def _apart(uses: Mapping[str, FolderUse]) -> list[FolderUse]:
    """Of *uses* of one name, by where their objects stand, those that differ: each cluster may have one of that name.

    Their titles say where, then.
    """
    alike: dict[object, list[str]] = {}
    for place in sorted(uses):
        alike.setdefault(_made_of(uses[place]), []).append(place)
    if len(alike) == 1:
        return [next(iter(uses.values()))._replace(stands=tuple(sorted(uses)))]
    each = ((uses[places[0]], places) for places in alike.values())
    return [use._replace(title=f"{use.title} in {at[0]}", stands=tuple(at)) for use, at in each]


def _made_of(use: FolderUse) -> object:
    """What decides what *use* makes of its folder, wherever that is written."""
    release = use.release and (
        use.release._replace(texts=()),
        tuple((text.text, text.path) for text in use.release.texts),
    )
    variables = use.variables and (sorted(use.variables.values.items()), use.variables.is_complete)
    applied = use.is_deep, use.patterns, use.namespace, use.plugin and use.plugin.told
    return repr((release, variables, use.is_complete, use.edit, applied))


class _AskingFiles:
    """Files, each parsed once."""

    __slots__ = ("_limits", "_parsed", "broken", "slipped")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.broken: dict[str, list[Diagnostic]] = {}
        #: What would ask if its kind was not misspelt.
        self.slipped: dict[int, Document] = {}
        self._parsed: dict[str, list[Document]] = {}

    def asking(self, file: str) -> Iterator[Document]:
        """The objects of *file* that fill in others, or are referred to by such."""
        for document in self._documents(file, relevance.may_ask):
            if _is_asking(document):
                yield document
            elif objects.kind_slip(document):
                self.slipped[id(document)] = document

    def config_maps(self, names: Iterable[str], wanted: set[str]) -> Iterator[Document]:
        """The ConfigMaps in the files *names* that are called as one of *wanted*."""
        words = frozenset(name.encode() for name in wanted)
        for file in names if wanted else ():
            for document in self._documents(file, lambda data: _mentions(data, words)):
                if _is_config_map(document) and _name(document) in wanted:
                    yield document

    def every_config_map(self, names: Iterable[str]) -> Iterator[Document]:
        """The ConfigMaps in the files *names*."""
        for file in names:
            for document in self._documents(file, lambda data: b"ConfigMap" in data):
                if _is_config_map(document):
                    yield document

    def _documents(self, file: str, counts: Callable[[bytes], bool]) -> list[Document]:
        if file in self._parsed:
            return self._parsed[file]
        data = files.read(file, file, self._limits.file_bytes)
        if isinstance(data, Diagnostic) or not counts(data):
            return []
        contents = read(data, file, self._limits)
        self._parsed[file] = contents.documents
        lines = data.split(b"\n") if contents.diagnostics else []
        wrong = [each for each in contents.diagnostics if each.code == codes.YAML_SYNTAX.number]
        errors = [
            diagnostic
            for diagnostic, is_own in unquoted.of_sets(wrong, data, self._limits)
            # Sets have parameters of their own in other lines.
            if is_own or not relevance.is_template(lines[: diagnostic.location.line][-1:], 1)
        ]
        if errors and relevance.may_ask(data):
            self.broken[file] = errors
        return self._parsed[file]


def _mentions(data: bytes, words: frozenset[bytes]) -> bool:
    """Whether *data* may hold a ConfigMap that is called as one of *words*: what is no name of an object may be any."""
    if b"ConfigMap" not in data:
        return False
    return not words.isdisjoint(_NAME.findall(data)) or any(
        _NAME.fullmatch(word) is None for word in words
    )


def _kind(document: Document) -> tuple[str, str]:
    body = document.body
    return text_at(body, "apiVersion").rpartition("/")[0], text_at(body, "kind")


def _name(document: Document) -> str:
    return text_at(document.body.get("metadata"), "name")


def _namespace(document: Document) -> str:
    return text_at(document.body.get("metadata"), "namespace")


def _is_asking(document: Document) -> bool:
    group, kind = _kind(document)
    return kind in _GROUPS.get(group, ()) and bool(_name(document))


def _is_config_map(document: Document) -> bool:
    return _kind(document) == ("", "ConfigMap") and bool(_name(document))


def _config_maps_named(document: Document) -> Iterator[str]:
    spec = document.body.get("spec")
    for references in (get(spec, "valuesFrom"), get(spec, "postBuild", "substituteFrom")):
        for reference in references if isinstance(references, list) else ():
            if text_at(reference, "kind") == "ConfigMap":
                yield text_at(reference, "name")


def _referents(
    every: Sequence[Sequence[Document]], config_maps: Sequence[Document]
) -> flux.Referents:
    sources = (
        document
        for documents in every
        for document in documents
        if _kind(document) == (flux.SOURCE_GROUP, "GitRepository")
    )
    return flux.Referents(flux.by_name(sources), flux.by_name(config_maps))


def _wrong(document: Document, error: UnevaluatedError, limits: Limits) -> Iterator[Diagnostic]:
    """What is wrong with *document*, or with the file for which *error* was raised, if that is why."""
    if error.fault:
        yield error.fault._replace(severity=Severity.WARNING)
    if isinstance(error, UnsaidError):
        yield _unsaid(document, error, limits)


def _note(document: Document, error: UnevaluatedError) -> Diagnostic:
    place = Location(file=document.origin.file, line=document.origin.line, column=1)
    message = f"{named(document)} is not evaluated: {error}"
    return codes.FILE_SKIPPED.at(place, message)


def _fault(document: Document, error: AbsentError, limits: Limits) -> Diagnostic:
    """What is wrong where *document* names what is not there."""
    place = _place(document, error.place, limits)
    help_ = f"correct the path, or delete what names it too: {error.use[1]}"
    return codes.UNREADABLE.at(place, f"{error.use[1]}: {error}", help=help_)


def _refused(no_text: flux.NoText, limits: Limits) -> Diagnostic:
    """That the API server refuses an object for a value that is no text."""
    document, path, written = no_text
    field = f"{named(document)}: {fieldpath.text(path)}"
    return codes.WRONG_TYPE.at(
        _place(document, path, limits),
        f"{field} is {written}, where only a text may stand: the object is refused",
        help=f'write "{written}", in quotes',
        severity=Severity.WARNING,
    )


def _unmatched(document: Document, error: UnmatchedError, limits: Limits) -> Diagnostic:
    """That a pattern of the set *document* matches nothing."""
    message = f"{named(document)}: {error}: no Application is made of it"
    place = _place(document, error.place, limits)
    return codes.PATTERN_UNMATCHED.at(place, message, help="correct the pattern, or take it out")


def _unsaid(document: Document, error: UnsaidError, limits: Limits) -> Diagnostic:
    """That the set *document* asks for what no generator says, where it does so first."""
    spec = document.body.get("spec")
    every = objects.texts_below(spec, ("spec",))
    path = next((path for path, text in every if error.expression in text), ("spec", "template"))
    return codes.UNKNOWN_FIELD.at(
        _place(document, path, limits),
        f"{named(document)}: {fieldpath.text(path)}: {error}",
        help=error.help or "have each generator say it, or take it out",
        severity=Severity.WARNING,
    )


def _place(document: Document, path: FieldPath, limits: Limits) -> Location:
    """Where *document* has what stands at *path*."""
    file, line, column = document.origin.file, document.origin.line, 1
    data = files.read(file, file, limits.file_bytes)
    if isinstance(data, bytes):
        line, column = positions.locate(data, document.origin, path)
    return Location(file=file, line=line, column=column)
