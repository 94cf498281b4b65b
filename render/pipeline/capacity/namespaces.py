"""What limits the pods of a namespace: quotas, LimitRanges, and the level of Pod Security that it enforces.

A quota or a LimitRange that the API server cannot read limits nothing; of one with a placeholder nobody knows.
"""

from collections.abc import Iterable
from typing import NamedTuple

from render.model import tree
from render.model.resource import Resource
from render.pipeline.capacity.watch import ENFORCE
from render.room import decoding, security
from render.room.decoding import Unreadable

_VERSION = f"{ENFORCE}-version"


class NamespaceRules(NamedTuple):
    """What limits the pods of one namespace: its quotas, its LimitRanges, and the level that it enforces.

    *level* of the *version* of Kubernetes, as labels of the *namespace* say; *unreadable*: what would limit them, were
    it as the API server reads it.
    """

    quotas: tuple[Resource, ...] = ()
    limit_ranges: tuple[Resource, ...] = ()
    namespace: Resource | None = None
    level: str = ""
    version: str = security.LATEST
    unreadable: tuple[tuple[Resource, Unreadable], ...] = ()


def rules(resources: Iterable[Resource], default: str) -> dict[str, NamespaceRules]:
    """What limits pods, by namespace; *default* is that of objects without one."""
    found: dict[str, NamespaceRules] = {}
    for one in resources:
        name = one.name if one.kind == "Namespace" else one.namespace or default
        known = found.get(name, NamespaceRules())
        fault = _fault(one)
        if fault is not None:
            found[name] = known._replace(unreadable=(*known.unreadable, (one, fault)))
        elif one.kind == "ResourceQuota":
            found[name] = known._replace(quotas=(*known.quotas, one))
        elif one.kind == "LimitRange":
            found[name] = known._replace(limit_ranges=(*known.limit_ranges, one))
        elif one.kind == "Namespace":
            level = _label(one, ENFORCE)
            if level not in {"", "privileged"}:
                version = _label(one, _VERSION) or security.LATEST
                found[name] = known._replace(namespace=one, level=level, version=version)
    return found


def _label(namespace: Resource, name: str) -> str:
    value = tree.get(namespace.body, "metadata", "labels", name)
    return value if isinstance(value, str) else ""


def _fault(one: Resource) -> Unreadable | None:
    """What of an object the API server refuses, in whose place it then has none."""
    if one.kind != "Namespace":
        return decoding.unreadable(one.kind, one.body)
    for name, why in (
        (ENFORCE, security.level_fault(_label(one, ENFORCE))),
        (_VERSION, security.version_fault(_label(one, _VERSION))),
    ):
        if why:
            return Unreadable(("metadata", "labels", name), _label(one, name), why)
    return None
