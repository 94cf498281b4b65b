"""What other folders of a repository hold for the VMs of one: the cluster has it, whoever applies it."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from render.diagnostics import codes, secrets
from render.diagnostics.diagnostic import Diagnostic, Location, Related
from render.manifests import discover, kustomization, objects, relevance
from render.manifests.documents import Documents, UnreadHolder
from render.manifests.nearness import Nearness, nearest
from render.manifests.repository.left_out import LeftOut
from render.model.globs import Globs
from render.model.hints import Any
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.nearest import is_slip
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
from render.system.files import inside, real_path
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
_SOURCE = "DataSource"
_APPS = "apps"  # the group of what runs KubeVirt's operator
#: Objects of a whole cluster that every pod may be of.
_CLASSES = frozenset({"PriorityClass", "RuntimeClass"})
_NAMING = frozenset({"name", "claimName", "flavor", "kubevirt.io/flavour"})
#: How a text gives a name to something, in YAML or JSON.
_NAMED = re.compile(rb"""\bname["']?[ \t]*:[ \t]*["']?([a-z0-9][-.a-z0-9]*)""")
_Identity = tuple[str, ResourceRef]


class Shared(NamedTuple):
    """An object that VMs of other folders may mean, what it was read with, and its index there."""

    document: Document
    identity: _Identity
    loaded: Documents
    index: int  # type: ignore[assignment] # nobody searches it as a tuple


class _ByIdentity:
    """Objects by identity: which is the nearest of each."""

    __slots__ = ("_count", "by_identity")

    def __init__(self) -> None:
        self._count = 0
        self.by_identity: dict[_Identity, Nearness[Shared]] = {}

    def add(self, shared: Shared, identity: _Identity) -> None:
        """Take in *shared* as one of those that are *identity*."""
        self._count += 1
        same = self.by_identity.setdefault(identity, Nearness())
        same.add(shared, shared.loaded.folder, self._count, _content(shared.document.body))


class _Called(NamedTuple):
    """The *objects* of one name, and the *names* in them."""

    objects: _ByIdentity
    names: set[str]


class Neighbours:
    """The objects of several inputs that VMs of the others may mean; of those in *allowed*, if that has a pattern."""

    __slots__ = (
        "_allowed",
        "_by_name",
        "_left_out",
        "_limiting",
        "_remotes",
        "_settings",
        "_sources",
        "_texts",
        "_unclear",
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
        self._unclear: tuple[tuple[tuple[str, str], str], ...] | None = None
        self._left_out = LeftOut()
        self._by_name: dict[str, _Called] = {}
        self._sources: dict[str, None] = {}
        self._settings = _ByIdentity()
        #: What limits pods does so in one cluster: which folders are one, only the settings can say.
        self._limiting = _ByIdentity()
        for loaded in inputs if len(inputs) > 1 else ():
            for index, document in enumerate(loaded.documents):
                resource = from_body(document.body, 0)
                if not resource.name or not self._is_allowed(document):
                    continue
                shared = Shared(document, (resource.group, resource.ref), loaded, index)
                if tells_release(resource):
                    self._settings.add(shared, (resource.group, ResourceRef(resource.kind, "", "")))
                elif allowed.patterns and relevance.limits(document.body):
                    self._limiting.add(shared, shared.identity)
                elif resource.group in _GROUPS or (resource.group, resource.kind) in _CLAIMS:
                    called = self._by_name.setdefault(resource.name, _Called(_ByIdentity(), set()))
                    called.objects.add(shared, shared.identity)
                    called.names.update(_named_by(resource))
                    if resource.kind == _SOURCE:
                        self._sources[resource.name] = None

    def _texts_in(self, unread: Documents, limits: Limits) -> Mapping[str, bytes]:
        """What the files of *unread* say that cannot be read, by their names."""
        if unread.name not in self._texts:
            self._texts[unread.name] = dict(_texts_of(unread, limits))
        return self._texts[unread.name]

    def unclear(self, limits: Limits) -> tuple[tuple[tuple[str, str], str], ...]:
        """Kind and name of the definitions of cluster scope that may stand in what cannot be read, and in what.

        A text counts as one of a kind that it names, with each of the names that it gives to anything.
        """
        if self._unclear is None:
            self._unclear = (*self._found_unclear(limits).items(),)
        return self._unclear

    def _found_unclear(self, limits: Limits) -> dict[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for unread in self._unread:
            for file, text in self._texts_in(unread, limits).items():
                kinds = [each.cluster for each in KIND_CLASSES if each.cluster.encode() in text]
                names = {name.decode() for name in _NAMED.findall(text)} if kinds else ()
                words = unread.unread([file]).words if names else ""
                for kind in kinds:
                    found.update(((kind, name), words) for name in names)
        return found

    def unread(self, loaded: Documents, name: str, limits: Limits) -> UnreadHolder:
        """What else than *loaded* cannot be read, or is not in the work tree, and mentions *name*."""
        for unread in self._unread:
            if unread is loaded:
                continue
            texts = self._texts_in(unread, limits)
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

    def of(
        self, loaded: Documents, namespace: str, beside: Iterable[str] = ()
    ) -> tuple[list[Shared], list[Diagnostic]]:
        """What the VMs of *loaded* may mean elsewhere, the nearest of each; and where that is not clear to a VM.

        What stands in the files and folders *beside* is nearer than all else. What names no namespace counts in
        *namespace*: of two objects that are one there, the own one is meant. Settings of the cluster count without a VM
        too: they say of which release the definitions are.
        """
        if not (self._by_name or self._settings.by_identity or self._limiting.by_identity):
            return [], []
        own = [from_body(document.body, 0) for document in loaded.documents]
        present = {_in_namespace((resource.group, resource.ref), namespace) for resource in own}
        groups: dict[_Identity, list[Nearness[Shared]]] = {}
        for called in self._meant(own):
            for identity, same in called.objects.by_identity.items():
                placed = _in_namespace(identity, namespace)
                if placed not in present:  # hundreds of overlays have one base
                    groups.setdefault(placed, []).append(same)
        known = {resource.group == _APPS for resource in own if tells_release(resource)}
        for identity, same in self._settings.by_identity.items():
            if (identity[0] == _APPS) not in known:
                groups[identity] = [same]
        found: list[Shared] = []
        diagnostics: list[Diagnostic] = []
        reals = [*map(real_path, beside)]
        for several in groups.values():
            named = _within(reals, several)
            first, other = (named, None) if named else nearest(loaded.folder, several)
            found.append(first)
            diagnostics += [] if other is None else [_ambiguous(first, other, loaded)]
        for same in self._limits_of(own, present, namespace):
            first, other = nearest(loaded.folder, [same])
            found += [] if other else [first]
        found += self._nearly_meant(own, loaded.folder, {shared.identity for shared in found})
        for shared in found:
            shared.loaded.data.lend(shared.document.origin.file, loaded.data)
        return found, diagnostics if any(map(_may_hold_vm, own)) else []

    def _limits_of(
        self, own: Iterable[Resource], present: Container[_Identity], namespace: str
    ) -> Iterator[Nearness[Shared]]:
        """What elsewhere limits the pods of VMs in *own*: in their namespaces, or all of a class."""
        limiting = self._limiting.by_identity
        namespaces = (
            {resource.namespace for resource in own if _may_hold_vm(resource)} if limiting else ()
        )
        for identity, same in limiting.items() if namespaces else ():
            ref = identity[1]
            where = ref.name if ref.kind == "Namespace" else ref.namespace
            is_present = _in_namespace(identity, namespace) in present
            if not is_present and (where in namespaces or ref.kind in _CLASSES):
                yield same

    def _nearly_meant(
        self, own: Iterable[Resource], folder: str, known: Container[_Identity]
    ) -> Iterator[Shared]:
        """The DataSources, the nearest to *folder* of each, that VMs in *own* name but for a slip, without *known*."""
        named = {name for resource in own if self._sources for name in _sources_of(resource)}
        missed = named.difference(self._by_name)
        for source in self._sources if missed else ():
            if any(is_slip(name, source) for name in missed):
                for identity, same in self._by_name[source].objects.by_identity.items():
                    if identity[1].kind == _SOURCE and identity not in known:
                        yield nearest(folder, [same])[0]

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


def _within(reals: Sequence[str], several: Iterable[Nearness[Shared]]) -> Shared | None:
    """Of *several* the first that stands in one of the files and folders *reals*, in their order; None without one."""
    shared = [each for same in several for each in same.objects()] if reals else []
    return next(
        (
            each
            for real in reals
            for each in shared
            if inside(real_path(each.document.origin.file), [real])
        ),
        None,
    )


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
        if not isinstance(data, bytes) or discover.leads_out(file):
            continue
        if objects.may_define(file, data, limits):
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


def _sources_of(resource: Resource) -> Iterator[str]:
    """The names of the DataSources that templates of a VM are made of."""
    templates = resource.spec.get("dataVolumeTemplates") if resource.group == KUBEVIRT else None
    for template in templates if isinstance(templates, list) else ():
        reference = get(template, "spec", "sourceRef")
        if text_at(reference, "kind") == _SOURCE:
            yield text_at(reference, "name")


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


def _ambiguous(first: Shared, other: Shared, loaded: Documents) -> Diagnostic:
    origin, other_origin = first.document.origin, other.document.origin
    return codes.AMBIGUOUS_DEFINITION.at(
        Location(first.identity[1], file=origin.file, line=origin.line),
        f"{first.identity[1]} is meant from {loaded.folder}, and stands as near with another content",
        Related("the other one", Location(file=other_origin.file, line=other_origin.line)),
        help="say in .virt-render.yaml at the root of the repository where it is meant (shared:), or leave the"
        " other out (exclude:)",
    )


def _content(body: Tree) -> object:
    """What of *body* counts: of an operator that is the release."""
    if text_at(body, "kind") == "Deployment":
        from render.model.cluster_release import release_of

        evidence = release_of(body)
        return evidence and evidence.release
    return {key: value for key, value in body.items() if key not in ("metadata", "status")}
