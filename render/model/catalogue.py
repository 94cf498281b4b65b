"""What the input holds, by identity: the objects that VMs refer to."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from render.model.resource import Resource
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
        for resource in resources:
            key = (
                resource.group,
                resource.kind,
                resource.namespace or namespace,
                resource.name,
            )
            self._by_id.setdefault(key, resource)

    def find(self, group: str, kind: str, namespace: str, name: str) -> Resource | None:
        """The input object with this identity."""
        return self._by_id.get((group, kind, namespace, name))

    def names(self, group: str, kind: str) -> list[tuple[str, str]]:
        """(namespace, name) of every input object of a kind, sorted."""
        return sorted(key[2:] for key in self._by_id if key[:2] == (group, kind))
