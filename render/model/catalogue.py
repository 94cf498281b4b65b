"""What the input holds, by identity: the objects that VMs refer to."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from types import MappingProxyType

from render.model.named_tuple import NamedTuple
from render.model.resource import Resource, former
from render.model.tree import Tree


class Definition(NamedTuple):
    """An instancetype or a preference in force: its v1beta1 spec, decoded, and where it comes from.

    *resource* is the object of the input (or the ControllerRevision) that holds it, None for one that the cluster has
    beside the input; *elsewhere* is where that was read, None for a bundled one. *whole*: the spec as the newest
    release decodes it, where the chosen one may know less of it; hashes are of that.
    """

    kind: str
    name: str
    spec: Tree
    resource: Resource | None
    whole: Tree | None = None
    elsewhere: Resource | None = None

    @property
    def content(self) -> Tree:
        """What is hashed."""
        return self.spec if self.whole is None else self.whole


class Unfit(str):
    """Of a ControllerRevision that holds no usable definition: KubeVirt's text."""

    __slots__ = ()


class Key(NamedTuple):
    """Kind, namespace (empty for cluster-scoped kinds) and name of a definition."""

    kind: str
    namespace: str
    name: str


class Elsewhere(NamedTuple):
    """What the cluster has beside the input, and nobody renders: definitions, and the objects that lead to them.

    *bundled*: the specs of the definitions of cluster scope, KubeVirt's own included, by kind and name. *unclear*: in
    which of those that nobody can read a definition may stand, in words, by the same.
    """

    resources: tuple[Resource, ...] = ()
    definitions: Mapping[Key, Definition] = MappingProxyType({})
    bundled: Mapping[tuple[str, str], Tree] = MappingProxyType({})
    unclear: Mapping[tuple[str, str], str] = MappingProxyType({})


_FEW = 3


class Catalogue:
    """An index of the input, and of what the cluster has *elsewhere*; *namespace* stands in for objects without one."""

    def __init__(
        self,
        resources: Iterable[Resource],
        definitions: Mapping[Key, Definition],
        revisions: Mapping[tuple[str, str], Definition | Unfit],
        elsewhere: Elsewhere,
        namespace: str,
    ) -> None:
        self.namespace = namespace
        self.elsewhere = elsewhere.definitions
        self.definitions = definitions
        self.revisions = revisions
        self.bundled = elsewhere.bundled
        self.unclear = elsewhere.unclear
        self._by_id: dict[tuple[str, str, str, str], Resource] = {}
        self._former: dict[tuple[str, str, str, str], list[Resource]] = {}
        for resource in (*resources, *elsewhere.resources):
            key = (
                resource.group,
                resource.kind,
                resource.namespace or namespace,
                resource.name,
            )
            self._by_id.setdefault(key, resource)
            former_keys = {
                (resource.group, kind, scope, name)
                for kind, space, name in former(resource)
                for scope in (space, resource.namespace or namespace)
            }
            for former_key in former_keys:
                self._former.setdefault(former_key, []).append(resource)

    def definition(self, key: Key) -> Definition | None:
        """The definition *key* of the input, else the one that the cluster has beside it."""
        definition = self.definitions.get(key)
        return self.elsewhere.get(key) if definition is None else definition

    def find(self, group: str, kind: str, namespace: str, name: str) -> Resource | None:
        """The input object with this identity, or the only one that had it before kustomize renamed it."""
        resource = self._by_id.get((group, kind, namespace, name))
        if resource is not None:
            return resource
        renamed = self._former.get((group, kind, namespace, name), [])
        return renamed[0] if len(renamed) == 1 else None

    @property
    def resources(self) -> Iterable[Resource]:
        """Every object of the input, and of what the cluster has beside it."""
        return self._by_id.values()

    def renamed(self, key: Key) -> Resource | None:
        """The definition of the input that was *key* before kustomize renamed it."""
        return self._renamed.get(key)

    @cached_property
    def _renamed(self) -> dict[Key, Resource]:
        return {
            Key(kind, key.namespace, name): resource
            for key, definition in self.definitions.items()
            if (resource := definition.resource) is not None
            for kind, name in (
                *((kind, name) for kind, _, name in former(resource)),
                (resource.kind, resource.previous),
            )
            if name and name != resource.name
        }

    def names(self, group: str, kind: str) -> list[tuple[str, str]]:
        """(namespace, name) of every input object of a kind, sorted."""
        return self._names_by_kind.get((group, kind), [])

    @cached_property
    def _names_by_kind(self) -> dict[tuple[str, str], list[tuple[str, str]]]:
        by_kind: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for group, kind, namespace, name in sorted(self._by_id):
            by_kind.setdefault((group, kind), []).append((namespace, name))
        return by_kind

    @cached_property
    def _keys_by_name(self) -> dict[str, list[Key]]:
        by_name: dict[str, list[Key]] = {}
        for key in sorted({*self.definitions, *self.elsewhere}):
            by_name.setdefault(key.name, []).append(key)
        return by_name

    @cached_property
    def _names_by_scope(self) -> dict[tuple[str, str], set[str]]:
        by_scope: dict[tuple[str, str], set[str]] = {}
        for kind, namespace, name in (*self.definitions, *self.elsewhere):
            by_scope.setdefault((kind, namespace), set()).add(name)
        for kind, name in self.bundled:
            by_scope.setdefault((kind, ""), set()).add(name)
        return by_scope

    def named(self, name: str, kinds: tuple[str, str]) -> list[Key]:
        """The first few definitions, of one of *kinds*, with this name."""
        keys = (key for key in self._keys_by_name.get(name, ()) if key.kind in kinds)
        return list(islice(keys, _FEW))

    def known(self, kind: str, namespace: str) -> set[str]:
        """The names of the definitions of a kind in a namespace, bundled ones included."""
        return self._names_by_scope.get((kind, namespace), set())
