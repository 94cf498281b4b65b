"""Where in the repository a definition stands that the paths of a call do not reach, and how the call would find it."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from render.diagnostics import codes
from render.diagnostics.codes import is_missed
from render.diagnostics.diagnostic import Diagnostic, Related
from render.frontends.parts import FleetPart
from render.frontends.request.request import ReadingRequest
from render.manifests import kustomization
from render.manifests.relevance import Scope
from render.manifests.sources import loading
from render.manifests.sources.reading import GIT, Reading
from render.model import tree
from render.model.hints import TYPE_CHECKING
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.nearest import nearest
from render.model.regex import pattern
from render.model.resource import INSTANCETYPE_GROUP, Resource, from_body
from render.resolve.find import near_name
from render.system import files
from render.system.files import real_path

if TYPE_CHECKING:
    from render.manifests.repository.left_out import LeftOut

#: How the help begins of what has no near name in its own input.
_UNKNOWN = "add the "
#: How that of another begins, which names what was probably meant.
_SUGGESTED = pattern(r"did you mean (\S+)\? else name the file")
_Wanted = tuple[str, str, str]
"""The kind of a definition, its name, and its namespace if it has one."""


class _Repository(NamedTuple):
    """The file of each definition of a repository, and what it says and why, of each file that cannot be read."""

    defined: Mapping[_Wanted, str]
    broken: Mapping[str, tuple[bytes, Diagnostic]]


_NOTHING = _Repository(MappingProxyType({}), MappingProxyType({}))


class DefinitionPlaces:
    """The files of repositories that define something, read once something is missed.

    *beside* are the parts of the run, one of which may have a definition by another name.
    """

    __slots__ = ("_known", "_left_out", "beside")

    def __init__(self) -> None:
        self.beside: Sequence[FleetPart] = ()
        self._known: dict[str, _Repository] = {}
        self._left_out: LeftOut | None = None

    def name_in(self, part: FleetPart) -> None:
        """Have the help of what is found in *part* name the file where that stands which a VM misses."""
        part.diagnostics = self.named(part.diagnostics, part)

    def named(self, diagnostics: Sequence[Diagnostic], part: FleetPart) -> list[Diagnostic]:
        """*diagnostics* of *part*, with the file in their help where that stands which a VM misses.

        A pin is not held against a bundled definition where the repository has its own: that is in the cluster.
        """
        if not any(_is_missed(found) or _is_of_bundled(found) for found in diagnostics):
            return list(diagnostics)
        resources = part.resources
        known = self._of_repository(part)
        return [
            self._left_out_of(_placed(found, part, resources, known, self.beside), part, resources)
            if _is_missed(found)
            else found
            for found in diagnostics
            if not (_is_of_bundled(found) and _is_defined(found, known.defined))
        ]

    def file_of(self, name: str, kinds: Collection[str], part: FleetPart) -> str:
        """The file with a definition *name* of one of *kinds* in the repository around *part*; ``""`` for none."""
        known = self._of_repository(part).defined.items()
        return next(
            (file for (kind, other, _), file in known if other == name and kind in kinds), ""
        )

    def _left_out_of(
        self, found: Diagnostic, part: FleetPart, resources: Sequence[Resource]
    ) -> Diagnostic:
        """*found* with the file in its help that a sparse checkout leaves out, where nothing else is known of it."""
        _, name, _ = next(_missed(found, resources), ("", "", ""))
        if not name or not found.help.startswith(_UNKNOWN):
            return found
        from render.manifests.repository.left_out import LeftOut

        folder = next(map(os.path.dirname, part.loaded.data), part.loaded.folder)
        self._left_out = self._left_out or LeftOut()
        holder = self._left_out.holder(folder, name, part.request.reading.limits)
        if not holder.words:
            return found
        cure = f"it may stand in {holder.words}: {holder.cure}"
        return found._replace(help=cure)

    def _of_repository(self, part: FleetPart) -> _Repository:
        """The files of the definitions in the repository around *part*, nothing where there is none."""
        files_read = () if part.loaded.is_one_root else part.loaded.data
        folder = next(map(os.path.dirname, files_read), part.loaded.folder)
        top = files.repository(real_path(folder))
        if not top:
            return _NOTHING
        if top not in self._known:
            self._known[top] = _repository(top, part.request.reading)
        return self._known[top]


def _is_missed(found: Diagnostic) -> bool:
    """Whether *found* is an error at the name of a definition that is missed."""
    return is_missed(found) and found.is_error and found.location.path[-1:] == ("name",)


def _is_of_bundled(found: Diagnostic) -> bool:
    """Whether *found* says that a pin holds something else than a definition that stands in no file."""
    place = found.location
    return found.code == codes.OBJECT_CHANGED.number and place.index is None and not place.file


def _is_defined(found: Diagnostic, known: Mapping[_Wanted, str]) -> bool:
    subject = found.location.resource
    return subject is not None and (subject.kind, subject.name, subject.namespace) in known


def _placed(
    found: Diagnostic,
    part: FleetPart,
    resources: Sequence[Resource],
    known: _Repository,
    beside: Sequence[FleetPart],
) -> Diagnostic:
    """*found* in one of *resources*, with the file in its help, if it is among those *known* and was not read.

    Where it is not, with the file that cannot be read and has its name, or with the name that was probably meant.
    """
    for number, (kind, name, namespace) in enumerate(_missed(found, resources)):
        file = known.defined.get((kind, name, namespace))
        if file is None:
            continue
        if file in part.loaded.data:
            return found  # what was read and does not count has another reason
        lister = kustomization.not_listing(file, part.request.reading.limits)
        cure = f": add that to the input, or look it up there: --catalog {file}"
        cure = f", which {lister} does not list: list it there" if lister else cure
        cure = _renamed((kind, name, namespace), file, beside) or cure
        cure = f"{kind} {name} stands in {file}{cure}"
        if number:
            cure = f"if it is meant, set {found.location.path[-2]}.kind: {kind}; {cure}"
        return found._replace(help=cure, fixes=())
    _, name, _ = next(_missed(found, resources), ("", "", ""))
    for file, (text, fault) in known.broken.items() if name else ():
        if name.encode() in text and file not in part.loaded.data:
            cure = f"it may stand in {file} ({fault.code}), which cannot be read: first mend that"
            related = Related("this cannot be read", fault.location)
            return found._replace(help=cure, related=(*found.related, related), fixes=())
    return _with_near_name(found, part, resources, known.defined)


def _renamed(wanted: _Wanted, file: str, beside: Sequence[FleetPart]) -> str:
    """What the part *beside* that builds *file* calls the definition *wanted* of it; ``""`` where none renames it."""
    kind, name, _ = wanted
    for part in beside:
        for document in part.loaded.documents:
            before, now = (
                (tree.get(body, "kind"), tree.get(body, "metadata", "name"))
                for body in (document.before or {}, document.body)
            )
            if document.origin.file == file and before == (kind, name) != now:
                return (
                    f", but {part.loaded.title} renames it to {now[1]}: name that, or list "
                    f"{file} where nothing renames it"
                )
    return ""


def _with_near_name(
    found: Diagnostic,
    part: FleetPart,
    resources: Sequence[Resource],
    known: Mapping[_Wanted, str],
) -> Diagnostic:
    """*found* with a name of those *known* that is near, where its own input has none to suggest.

    One of the repository is meant before one that is bundled and no nearer.

    What has that very name, and no namespace, gets the one of the VM from the kustomization that lists it.
    """
    kind, name, namespace = next(_missed(found, resources), ("", "", ""))
    suggested = _SUGGESTED.match(found.help)
    if not suggested and not found.help.startswith(f"{_UNKNOWN}{kind} to "):
        return found
    if suggested and any((each.kind, each.name) == (kind, suggested[1]) for each in resources):
        return found
    places = {
        other: file
        for (other_kind, other, scope), file in known.items()
        if other_kind == kind and scope in ("", namespace)
    }
    near = near_name(name, places)
    if not near or (suggested and nearest(name, (near, suggested[1])) != near):
        return found
    if near == name:
        return found._replace(help=_listing(f"{kind} {name}", places[name], namespace, part))
    cure = (
        f"did you mean {near}, which stands in {places[near]}? else name the file or folder where"
    )
    return found._replace(help=f"{cure} the cluster's own is: --catalog PATH", fixes=())


def _listing(definition: str, file: str, namespace: str, part: FleetPart) -> str:
    """What has the *definition*, which stands in *file* without a namespace, come to *namespace* with *part*."""
    folder, name = os.path.split(file)
    beside = (os.path.join(folder, each) for each in kustomization.FILES)
    lister = next((path for path in beside if path in part.loaded.data), "")
    if lister:
        return f"list {name} in {lister}: {definition} stands there"
    return (
        f"{definition} stands in {file} without a namespace: give it {namespace} there, or list it in a kustomization "
        "that does"
    )


def _missed(found: Diagnostic, resources: Sequence[Resource]) -> Iterator[_Wanted]:
    """The definition that the VM of *found* asks for, and the one of the other kind that it may mean."""
    index, path = found.location.index, found.location.path
    if index is None or index >= len(resources) or path[-1:] != ("name",):
        return
    vm = resources[index]
    matcher = tree.get(vm.body, *path[:-1])
    kind_class = next((each for each in KIND_CLASSES if each.word == path[-2]), None)
    if not isinstance(matcher, dict) or kind_class is None:
        return
    wanted = kind_class.kind_of(str(matcher.get("kind") or ""))
    for kind in dict.fromkeys((wanted, kind_class.namespaced, kind_class.cluster)):
        namespace = vm.namespace if kind == kind_class.namespaced else ""
        yield kind, str(matcher.get("name")), namespace


def _repository(top: str, how: ReadingRequest) -> _Repository:
    """What stands in files of the repository *top*; of several definitions that are alike the first.

    These are the files that `check` reads there, as they are written: nothing is built for an answer in passing.
    """
    scope = Scope(how.layout.exclude, lenient=True, shared=how.layout.shared)
    reading = Reading(
        how.limits.of_run(),
        kustomize="never",
        scope=scope,
        buffers=how.buffers,
        programs=frozenset({GIT}),
    )
    defined: dict[_Wanted, str] = {}
    broken: dict[str, tuple[bytes, Diagnostic]] = {}
    for loaded in loading.load_all((os.path.relpath(top),), reading):
        for document in loaded.documents:
            resource = from_body(document.body, 0)
            if resource.group == INSTANCETYPE_GROUP:
                wanted = (resource.kind, resource.name, resource.namespace)
                defined.setdefault(wanted, document.origin.file)
        for fault in loaded.diagnostics:
            file = fault.location.file
            data = loaded.data.get(file, b"") if fault.is_error else b""
            if INSTANCETYPE_GROUP.encode() in data:
                broken.setdefault(file, (data, fault))
    return _Repository(defined, broken)
