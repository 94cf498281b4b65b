"""Matchers follow what kustomize renamed.

kustomize knows no names inside VMs: its namePrefix renames an instancetype and leaves the matcher behind. Inside a
build every object carries notes of its former names, by which we put that right.
"""

from collections.abc import Callable, Collection, Sequence

from render.model import tree
from render.model.draft import Draft
from render.model.hints import Any
from render.model.kinds import FLAVOR, KIND_CLASSES, KindClass
from render.model.resource import (
    FLAVOR_GROUP,
    INSTANCETYPE_GROUP,
    KUBEVIRT,
    Resource,
    affixes,
    former,
)
from render.model.tree import Tree

#: Where the matchers stand, by group and kind.
_SPECS: dict[tuple[str, str], tuple[str, ...]] = {
    (KUBEVIRT, "VirtualMachine"): ("spec",),
    (f"pool.{KUBEVIRT}", "VirtualMachinePool"): ("spec", "virtualMachineTemplate", "spec"),
}
_Id = tuple[str, str, str]


def follow(
    resources: Sequence[Resource],
    namespace: str,
    bundled: Callable[[], Collection[tuple[str, str]]] = tuple,
) -> Sequence[Resource]:
    """*resources*, the matchers of its VMs rewritten where they name what is now called otherwise.

    Only a matcher that fits no current object changes, and only where one renamed object fits: among several, the one
    with the VM's own prefixes and suffixes. *namespace* stands in for objects that name none; *bundled* answers kind
    and name of what the cluster has by itself.
    """
    renamed: dict[_Id, list[Resource]] = {}
    current: set[_Id] = set()
    for resource in resources:
        if resource.group in (INSTANCETYPE_GROUP, FLAVOR_GROUP):
            scope = _scope(resource, namespace)
            current.add((resource.kind, scope, resource.name))
            for kind, name in {(kind, name) for kind, _, name in former(resource)}:
                renamed.setdefault((kind, scope, name), []).append(resource)
    if not renamed:
        return resources
    current.update((kind, "", name) for kind, name in bundled())
    return [
        _followed(resource, namespace, current, renamed)
        if (resource.group, resource.kind) in _SPECS
        else resource
        for resource in resources
    ]


def cure(kind: str, word: str) -> str:
    """How kustomize is told to rename what VMs name below *word* along with an object of this *kind*."""
    field = f"{{kind: VirtualMachine, path: spec/{word}/name}}"
    return (
        "have kustomize rename what VMs refer to as well: list a file under configurations: that holds"
        f" nameReference: [{{kind: {kind}, fieldSpecs: [{field}]}}], or see 'virt-render kustomize init'"
    )


def _scope(resource: Resource, namespace: str) -> str:
    return "" if "Cluster" in resource.kind else resource.namespace or namespace


def _followed(
    vm: Resource, namespace: str, current: set[_Id], renamed: dict[_Id, list[Resource]]
) -> Resource:
    changed: Tree = {}
    spec_path = _SPECS.get((vm.group, vm.kind), ("spec",))
    for kind_class in (*KIND_CLASSES, FLAVOR):
        matcher: Any = tree.get(vm.body, *spec_path, kind_class.word)
        key = _key(kind_class, matcher, vm.namespace or namespace)
        if key is None or key in current:
            continue
        candidates = renamed.get(key, [])
        if len(candidates) > 1:
            candidates = [
                candidate for candidate in candidates if affixes(candidate) == affixes(vm)
            ]
        if len(candidates) == 1:
            changed[kind_class.word] = _renamed(matcher, key[0], candidates[0])
    if not changed:
        return vm
    draft = Draft(vm.body)
    for word, matcher in changed.items():
        draft.put((*spec_path, word), matcher)
    return vm._replace(body=draft.tree)


def _key(kind_class: KindClass, matcher: Any, namespace: str) -> _Id | None:
    """What *matcher* names; None where it is malformed or a revision decides."""
    kind, name = tree.get(matcher, "kind") or "", tree.get(matcher, "name")
    if not isinstance(kind, str) or not isinstance(name, str) or matcher.get("revisionName"):
        return None
    kind = kind_class.kind_of(kind)
    return (kind, namespace if kind == kind_class.namespaced else "", name) if kind else None


def _renamed(matcher: Tree, kind: str, target: Resource) -> Tree:
    changed = {**matcher, "name": target.name}
    return changed if kind == target.kind else {**changed, "kind": target.kind}
