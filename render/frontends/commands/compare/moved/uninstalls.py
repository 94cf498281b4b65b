"""What leaves the repository and takes all VMs of its cluster, or their disks, with it where a sync prunes.

With a CustomResourceDefinition the API server deletes all objects of its kind, with a Namespace the resource in it. The
operators of KubeVirt and CDI remove their own definitions when the resource is deleted that had them install these,
unless its `uninstallStrategy` forbids it (KubeVirt's pkg/virt-operator/webhooks, on deletion); that of a HyperConverged
does, unless it says otherwise.
"""

from collections.abc import Iterable, Iterator, Mapping

from render.diff.sync_annotations import is_kept
from render.frontends.commands.compare.namespaces import is_namespace
from render.frontends.commands.compare.states import Side
from render.model.hints import Any
from render.model.regex import pattern
from render.model.resource import (
    CDI,
    HYPERCONVERGED,
    KUBEVIRT,
    Resource,
    ResourceRef,
    from_body,
    text_at,
)
from render.model.tree import get
from render.yaml.budget import Limits
from render.yaml.reader import read

_DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
#: The kinds whose objects are VMs, or stand for their disks.
_DEFINED = pattern(
    r"virtualmachine(s|instances|pools)\.(pool\.)?kubevirt\.io|datavolumes\.cdi\.kubevirt\.io"
)
#: What an operator installs by, and whether it may be deleted while VMs are there if it does not say.
_INSTALLED_BY = {
    (KUBEVIRT, "KubeVirt"): True,
    (CDI, "CDI"): True,
    (HYPERCONVERGED, "HyperConverged"): False,
}
_MENTIONS = pattern(rb"kubevirt\.io|Namespace")
#: Where a HyperConverged says it in its version v1; all others and its older ones say it in their spec.
_STRATEGIES = (("spec", "uninstallStrategy"), ("spec", "deployment", "uninstallStrategy"))


def uninstalled(
    before: Side, after: Side, texts: Mapping[str, tuple[bytes, bytes]], limits: Limits
) -> tuple[ResourceRef, ...]:
    """What of it stood *before* and is not there *after*, by kind and name; nothing of what a sync keeps.

    *texts* is what differs of both sides, by file.
    """
    old, new = ({_named(each): each for each in _among(side)} for side in (before, after))
    for file, both in texts.items():
        for known, text in zip((old, new), both, strict=True):
            if _MENTIONS.search(text):
                bodies = (document.body for document in read(text, file, limits).documents)
                known.update((_named(each), each) for each in _installing(bodies))
    removing = {each.namespace for each in old.values() if each.namespace and _removes(each)}
    left = (old[name] for name in old if name not in new)
    return tuple(
        sorted(
            each.ref
            for each in left
            if not is_kept(each.body)
            and (each.name in removing if is_namespace(each.body) else _removes(each))
        )
    )


def _named(resource: Resource) -> tuple[str, str, str]:
    return resource.group, resource.kind, resource.name


def _among(side: Side) -> Iterator[Resource]:
    for state in side.values():
        yield from _installing(state.objects)


def _installing(bodies: Iterable[Any]) -> Iterator[Resource]:
    """Those of *bodies* with which KubeVirt, CDI or VMs go, or may go."""
    for body in bodies:
        if text_at(body, "kind") and text_at(body, "apiVersion"):
            resource = from_body(body, 0)
            if is_namespace(body) or is_installation(resource):
                yield resource


def is_installation(resource: Resource) -> bool:
    """Whether KubeVirt, CDI or VMs go with *resource*."""
    kind = resource.group, resource.kind
    return kind in _INSTALLED_BY or (
        kind == _DEFINITION and _DEFINED.fullmatch(resource.name) is not None
    )


def _removes(resource: Resource) -> bool:
    """Whether *resource* can be deleted while there are VMs."""
    strategy = next(filter(None, (get(resource.body, *path) for path in _STRATEGIES)), None)
    if strategy is None:
        return _INSTALLED_BY.get((resource.group, resource.kind), True)
    return bool(strategy != "BlockUninstallIfWorkloadsExist")
