"""What VMs stand in or name, and what installs KubeVirt: applied otherwise, in another folder, or deleted.

That is Namespaces, claims, networks, service accounts and priority classes.

What becomes of the VMs for that is followed where it is certain (`departures`); all else is counted, so that nobody
takes a VM for one to which nothing happens.
"""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from render.diff.sync_annotations import is_kept
from render.frontends.commands.compare.moved.orders import ORDERS_OF_METADATA, said_of
from render.frontends.commands.compare.moved.uninstalls import is_installation
from render.frontends.commands.compare.namespaces import NAMESPACE, is_namespace
from render.frontends.commands.compare.states import Side
from render.manifests.relevance import SKIP_MARKER
from render.model import tree
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.model.resource import MACHINES, TEMPLATE, Resource, ResourceRef, from_body
from render.model.tree import Tree
from render.resolve.references import ACCOUNT, CLAIMS, NETWORK, PRIORITY, named_in
from render.yaml.budget import Limits
from render.yaml.reader import read

#: What a pod cannot start without, whoever may have made it.
_OF_PODS = NETWORK.kinds | ACCOUNT.kinds | PRIORITY.kinds
_NAMED = CLAIMS | _OF_PODS
_KINDS = frozenset({NAMESPACE, *(kind for _, kind in _NAMED)})
_MENTIONS = pattern("|".join((*sorted(_KINDS), "kubevirt")).encode())
_STARTED_WITH = frozenset(kind for _, kind in _OF_PODS)
_Texts = Mapping[str, tuple[bytes, bytes]]


class _Placed(NamedTuple):
    """An object that VMs stand in or start from, the folder of its file, and whether Argo CD passes that over."""

    body: Tree
    folder: str
    is_passed_over: bool


def changed_dependencies(
    after: Side, texts: _Texts, told: Collection[ResourceRef], limits: Limits
) -> Counter[str]:
    """How many of those in *texts*, what differs of both states by file, are others *after*, by what is.

    None of which it is *told* that it leaves, and none but those that VMs stand in or name *after*.
    """
    old, new = (_standing(texts, index, limits) for index in (0, 1))
    if not old:
        return Counter()
    used = set(_used(after))
    return Counter(
        words
        for ref, was in old.items()
        if ref not in told and (ref.kind not in _KINDS or (ref.kind, ref.name) in used)
        for words in _changes(ref.kind, was, new.get(ref))
    )


def _changes(kind: str, was: _Placed, now: _Placed | None) -> Iterator[str]:
    if now is None:
        reason = "VMs name" if kind in _STARTED_WITH else "something may make"
        yield f"deleted {kind} that {'an annotation keeps' if is_kept(was.body) else reason}"
        return
    if now.is_passed_over and not was.is_passed_over:
        yield f"{kind} in a file that Argo CD passes over now"
    if now.folder != was.folder:
        yield f"{kind} in another folder"
    if kind == NETWORK.word and was.body.get("spec") != now.body.get("spec"):
        yield f"{kind} with another spec"
    old, new = said_of(was.body), said_of(now.body)
    yield from (
        f"{kind} with other {key}" for key in ORDERS_OF_METADATA if old.get(key) != new.get(key)
    )


def _standing(texts: _Texts, index: int, limits: Limits) -> dict[ResourceRef, _Placed]:
    """Those that stand in *texts*, of which *index* tells the state."""
    found = {}
    for file, both in texts.items():
        text = both[index]
        if _MENTIONS.search(text):
            folder = os.path.dirname(file)
            for document in read(text, file, limits).documents:
                if _is_dependency(from_body(document.body, 0)):
                    is_passed_over = SKIP_MARKER in text
                    placed = _Placed(document.body, folder, is_passed_over)
                    found[from_body(document.body, 0).ref] = placed
    return found


def _is_dependency(resource: Resource) -> bool:
    kind = resource.group, resource.kind
    return is_namespace(resource.body) or kind in _NAMED or is_installation(resource)


def _used(side: Side) -> Iterator[tuple[str, str]]:
    """What VMs of *side* stand in, and what they name, by kind and name; a claim under both kinds that make it."""
    for state in side.values():
        for body in state.objects:
            machine = from_body(body, 0)
            if machine.kind not in MACHINES:
                continue
            yield NAMESPACE, machine.namespace or state.settings.namespace
            spec = tree.get(body, *TEMPLATE, "spec")
            for _, name, field in named_in(spec) if isinstance(spec, dict) else ():
                if field.target.kinds <= _NAMED:
                    # a network may be named with its namespace
                    yield from ((kind, name.rpartition("/")[2]) for _, kind in field.target.kinds)
