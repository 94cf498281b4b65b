"""What other folders of a repository hold for the VMs of one: the cluster has it, whoever applies it."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial

from render.diagnostics import codes, secrets
from render.diagnostics.diagnostic import Diagnostic, Location, Related
from render.manifests import discover, kustomization, relevance
from render.manifests.documents import Documents, UnreadHolder
from render.manifests.repository.left_out import LeftOut
from render.manifests.repository.roots import Distance, distance
from render.model.globs import Globs
from render.model.hints import Any
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.resource import (
    CDI,
    FLAVOR_GROUP,
    INSTANCETYPE_GROUP,
    KUBEVIRT,
    SETTINGS_HOLDERS,
    SNAPSHOT,
    Resource,
    ResourceRef,
    from_body,
    tells_release,
    text_at,
)
from render.model.tree import Tree, get
from render.system import files
from render.system.files import real_path
from render.yaml.budget import Limits
from render.yaml.reader import Document

_CLAIMS = frozenset({("", "PersistentVolumeClaim"), (SNAPSHOT, "VolumeSnapshot")})
_GROUPS = frozenset({INSTANCETYPE_GROUP, FLAVOR_GROUP, CDI})
_HOLDERS = frozenset(
    {
        f"pool.{KUBEVIRT}", f"template.{KUBEVIRT}", "template.openshift.io", "harvesterhci.io",
        "infrastructure.cluster.x-k8s.io",
    }
)  # fmt: skip
_APPS = "apps"  # the group of what runs KubeVirt's operator
#: Objects of a whole cluster that every pod may be of.
_CLASSES = frozenset({"PriorityClass", "RuntimeClass"})
_NAMING = frozenset({"name", "claimName", "flavor", "kubevirt.io/flavour"})
_Identity = tuple[str, ResourceRef]


class Shared(NamedTuple):
    """An object that VMs of other folders may mean, what it was read with, and its index there."""

    document: Document
    identity: _Identity
    loaded: Documents
    index: int  # type: ignore[assignment] # nobody searches it as a tuple


class _Called(NamedTuple):
    """The *objects* of one name, which *identities* they have, and the *names* in them."""

    objects: list[Shared]
    identities: set[_Identity]
    names: set[str]

    def add(self, shared: Shared, names: Iterable[str]) -> None:
        """Take in *shared*, which is called so too, and the *names* in it."""
        self.objects.append(shared)
        self.identities.add(shared.identity)
        self.names.update(names)


class Neighbours:
    """The objects of several inputs that VMs of the others may mean; of those in *allowed*, if that has a pattern."""

    __slots__ = (
        "_allowed",
        "_by_name",
        "_left_out",
        "_limiting",
        "_remotes",
        "_settings",
        "_texts",
        "_unread",
    )

    def __init__(self, inputs: Sequence[Documents], allowed: Globs) -> None:
        self._allowed = allowed
        self._remotes = {
            folder: [entry for entry in entries if _may_define(entry)]
            for loaded in inputs
            for folder, entries in loaded.remotes.items()
        }
        self._unread = [
            loaded for loaded in inputs if any(found.is_error for found in loaded.diagnostics)
        ]
        self._texts: dict[str, dict[str, bytes]] = {}
        self._left_out = LeftOut()
        self._by_name: dict[str, _Called] = {}
        self._settings: list[Shared] = []
        #: What limits pods does so in one cluster: which folders are one, only the settings can say.
        self._limiting: list[Shared] = []
        for loaded in inputs if len(inputs) > 1 else ():
            for index, document in enumerate(loaded.documents):
                resource = from_body(document.body, 0)
                if not resource.name or not self._is_allowed(document):
                    continue
                shared = Shared(document, (resource.group, resource.ref), loaded, index)
                if tells_release(resource):
                    self._settings.append(shared)
                elif allowed.patterns and relevance.limits(document.body):
                    self._limiting.append(shared)
                elif resource.group in _GROUPS or (resource.group, resource.kind) in _CLAIMS:
                    called = self._by_name.setdefault(resource.name, _Called([], set(), set()))
                    called.add(shared, _named_by(resource))

    def unread(self, loaded: Documents, name: str, limits: Limits) -> UnreadHolder:
        """What else than *loaded* cannot be read, or is not in the work tree, and mentions *name*."""
        for unread in self._unread:
            if unread is loaded:
                continue
            if unread.name not in self._texts:
                self._texts[unread.name] = dict(_texts_of(unread, limits))
            texts = self._texts[unread.name]
            if any(holding := [file for file, text in texts.items() if name.encode() in text]):
                return unread.unread(holding)
        remotes = (
            UnreadHolder(
                f"{secrets.without_credentials(entry)}, which {folder} takes from elsewhere"
            )
            for folder, entries in self._remotes.items()
            for entry in entries
            if folder != loaded.folder
        )
        return next(remotes, None) or self._left_out.holder(loaded.folder, name, limits)

    def _is_allowed(self, document: Document) -> bool:
        return not self._allowed.patterns or bool(
            self._allowed.match(real_path(document.origin.file))
        )

    def of(self, loaded: Documents, namespace: str) -> tuple[list[Shared], list[Diagnostic]]:
        """What the VMs of *loaded* may mean elsewhere, the nearest of each; and where that is not clear to a VM.

        What names no namespace counts in *namespace*: of two objects that are one there, the own one is meant. Settings
        of the cluster count without a VM too: they say of which release the definitions are.
        """
        if not self._by_name and not self._settings and not self._limiting:
            return [], []
        own = [from_body(document.body, 0) for document in loaded.documents]
        present = {_in_namespace((resource.group, resource.ref), namespace) for resource in own}
        groups: dict[_Identity, list[Shared]] = {}
        for called in self._meant(own):
            absent = {_in_namespace(each, namespace) for each in called.identities} - present
            for shared in called.objects if absent else ():  # hundreds of overlays have one base
                identity = _in_namespace(shared.identity, namespace)
                if shared.loaded is not loaded and identity in absent:
                    groups.setdefault(identity, []).append(shared)
        known = {resource.group == _APPS for resource in own if tells_release(resource)}
        for shared in self._settings:
            group, kind = shared.identity[0], shared.identity[1].kind
            if (group == _APPS) not in known:
                groups.setdefault((group, ResourceRef(kind, "", "")), []).append(shared)
        nearest: list[Shared] = []
        diagnostics: list[Diagnostic] = []
        away = cache(partial(distance, loaded.folder))
        for same in groups.values():
            same.sort(key=lambda shared: away(shared.loaded.folder))
            first = same[0]
            nearest.append(first)
            first.loaded.data.lend(first.document.origin.file, loaded.data)
            diagnostics += _ambiguous(first, same[1:], loaded, away)
        for same in self._limits_of(own, loaded):
            same.sort(key=lambda shared: away(shared.loaded.folder))
            is_present = _in_namespace(same[0].identity, namespace) in present
            if not is_present and not any(_ambiguous(same[0], same[1:], loaded, away)):
                nearest.append(same[0])
                same[0].loaded.data.lend(same[0].document.origin.file, loaded.data)
        return nearest, diagnostics if any(map(_may_hold_vm, own)) else []

    def _limits_of(self, own: Iterable[Resource], loaded: Documents) -> Iterator[list[Shared]]:
        """What elsewhere limits the pods of VMs in *own*, by identity: in their namespaces, or all of a class."""
        namespaces = (
            {resource.namespace for resource in own if _may_hold_vm(resource)}
            if self._limiting
            else ()
        )
        groups: dict[_Identity, list[Shared]] = {}
        for shared in self._limiting if namespaces else ():
            ref = shared.identity[1]
            where = ref.name if ref.kind == "Namespace" else ref.namespace
            if shared.loaded is not loaded and (where in namespaces or ref.kind in _CLASSES):
                groups.setdefault(shared.identity, []).append(shared)
        yield from groups.values()

    def _meant(self, own: Iterable[Resource]) -> Iterator[_Called]:
        """The objects of all inputs that something in *own* names, and those that these name."""
        pending = [name for resource in own for name in _named_by(resource)]
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            if (called := self._by_name.get(name)) is not None:
                yield called
                pending += called.names


def _in_namespace(identity: _Identity, namespace: str) -> _Identity:
    """*identity*, in *namespace* if it names none."""
    group, ref = identity
    return (
        identity if ref.namespace or not namespace else (group, ref._replace(namespace=namespace))
    )


def _may_define(remote: str) -> bool:
    """Whether a VM may mean an object of the *remote* base: what installs an operator has none but those we know."""
    name = re.split(r"[?#]", remote)[0].rstrip("/").rpartition("/")[2].lower()
    return not ("operator" in name or "crd" in name or re.search(r"[-_.]cr\.ya?ml$", name))


def _texts_of(unread: Documents, limits: Limits) -> Iterator[tuple[str, bytes]]:
    """What those files say that could not be read as objects, and those of a kustomization that is not built."""
    names: Iterable[str] = unread.unread_files
    if not names and unread.unbuilt:
        names = kustomization.reach(unread.folder, limits, allow_remote=True).resources
    for file in names:
        data = files.read(file, file, limits.file_bytes)
        if isinstance(data, bytes) and not discover.leads_out(file):
            yield file, data


def _may_hold_vm(resource: Resource) -> bool:
    return resource.group in _HOLDERS or (
        resource.group == KUBEVIRT and (resource.group, resource.kind) not in SETTINGS_HOLDERS
    )


def _named_by(resource: Resource) -> set[str]:
    """The names of what *resource* refers to: what a disk is made of does so by the labels for inference too."""
    names: set[str] = set()
    if resource.group == KUBEVIRT:
        names.update(_names(resource.spec), _names(get(resource.body, "metadata", "annotations")))
    elif resource.group in _HOLDERS:
        names.update(_names(resource.spec), _names(resource.body.get("objects")))
    if resource.group == CDI:
        names.update(_names(resource.spec))
    if resource.group == CDI or (resource.group, resource.kind) in _CLAIMS:
        labels = (
            get(resource.body, "metadata", "labels", kind.name_label) for kind in KIND_CLASSES
        )
        names.update(label for label in labels if isinstance(label, str))
    return names


def _names(value: Any) -> Iterator[str]:
    """The texts below *value* by which something is named."""
    pending = [("", value)]
    while pending:
        key, value = pending.pop()
        if isinstance(value, str):
            if key in _NAMING:
                yield value
        elif isinstance(value, dict):
            pending += value.items()
        elif isinstance(value, list):
            pending += ((key, item) for item in value)


def _ambiguous(
    first: Shared, others: Sequence[Shared], loaded: Documents, away: Callable[[str], Distance]
) -> Iterator[Diagnostic]:
    steps = away(first.loaded.folder).steps
    for other in others:
        as_near = away(other.loaded.folder).steps == steps
        if as_near and _content(other.document.body) != _content(first.document.body):
            origin, other_origin = first.document.origin, other.document.origin
            yield codes.AMBIGUOUS_DEFINITION.at(
                Location(first.identity[1], file=origin.file, line=origin.line),
                f"{first.identity[1]} is meant from {loaded.folder}, and stands as near with another content",
                Related("the other one", Location(file=other_origin.file, line=other_origin.line)),
                help="say in .virt-render.yaml at the root of the repository where it is meant (shared:), or leave the"
                " other out (exclude:)",
            )
            return


def _content(body: Tree) -> object:
    """What of *body* counts: of an operator that is the release."""
    if text_at(body, "kind") == "Deployment":
        from render.model.cluster_release import release_of

        evidence = release_of(body)
        return evidence and evidence.release
    return {key: value for key, value in body.items() if key not in ("metadata", "status")}
