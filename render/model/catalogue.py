"""What the input holds, by identity: the objects that VMs refer to."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from render.model.resource import Resource, former
from render.model.tree import Tree


class Definition(NamedTuple):
    """An instancetype or a preference in force: its v1beta1 spec, decoded, and where it comes from.

    *resource* is the object of the input (or the ControllerRevision) that holds it, None for a bundled one.
    """

    kind: str
    name: str
    spec: Tree
    resource: Resource | None


class Unfit(NamedTuple):
    """A ControllerRevision that holds no usable definition; *message* is KubeVirt's text."""

    message: str


class Key(NamedTuple):
    """Kind, namespace (empty for cluster-scoped kinds) and name of a definition."""

    kind: str
    namespace: str
    name: str


_FEW = 3


class Catalogue:
    """An index of the input. *namespace* stands in for objects that name none."""

    def __init__(
        self,
        resources: Iterable[Resource],
        definitions: Mapping[Key, Definition],
        revisions: Mapping[tuple[str, str], Definition | Unfit],
        bundled: Mapping[tuple[str, str], Tree],
        namespace: str,
    ) -> None:
        self.namespace = namespace
        self.definitions = definitions
        self.revisions = revisions
        self.bundled = bundled
        self._by_id: dict[tuple[str, str, str, str], Resource] = {}
        self._former: dict[tuple[str, str, str, str], list[Resource]] = {}
        for resource in resources:
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

    def find(self, group: str, kind: str, namespace: str, name: str) -> Resource | None:
        """The input object with this identity, or the only one that had it before kustomize renamed it."""
        found = self._by_id.get((group, kind, namespace, name))
        if found is not None:
            return found
        renamed = self._former.get((group, kind, namespace, name), [])
        return renamed[0] if len(renamed) == 1 else None

    def names(self, group: str, kind: str) -> list[tuple[str, str]]:
        """(namespace, name) of every input object of a kind, sorted."""
        return sorted(key[2:] for key in self._by_id if key[:2] == (group, kind))

    @cached_property
    def _keys_by_name(self) -> dict[str, list[Key]]:
        by_name: dict[str, list[Key]] = {}
        for key in sorted(self.definitions):
            by_name.setdefault(key.name, []).append(key)
        return by_name

    @cached_property
    def _names_by_scope(self) -> dict[tuple[str, str], set[str]]:
        by_scope: dict[tuple[str, str], set[str]] = {}
        for kind, namespace, name in self.definitions:
            by_scope.setdefault((kind, namespace), set()).add(name)
        for kind, name in self.bundled:
            by_scope.setdefault((kind, ""), set()).add(name)
        return by_scope

    def named(self, name: str, kinds: tuple[str, str]) -> list[Key]:
        """The first few definitions of the input, of one of *kinds*, with this name."""
        found = (key for key in self._keys_by_name.get(name, ()) if key.kind in kinds)
        return list(islice(found, _FEW))

    def known(self, kind: str, namespace: str) -> set[str]:
        """The names of the definitions of a kind in a namespace, bundled ones included."""
        return self._names_by_scope.get((kind, namespace), set())
