"""What limits the pods of a namespace: quotas, LimitRanges, and the level of Pod Security that it enforces.

A quota or a LimitRange that the API server cannot read limits nothing; of one with a placeholder nobody knows.
"""

from collections.abc import Iterable
from typing import NamedTuple

from render.model import tree
from render.model.resource import Resource
from render.room import decoding
from render.room.decoding import Unreadable

ENFORCE = "pod-security.kubernetes.io/enforce"


class NamespaceRules(NamedTuple):
    """What limits the pods of one namespace: its quotas, its LimitRanges, and the level that it enforces.

    *unreadable*: what would limit them, were it as the API server reads it.
    """

    quotas: tuple[Resource, ...] = ()
    limit_ranges: tuple[Resource, ...] = ()
    namespace: Resource | None = None
    level: str = ""
    unreadable: tuple[tuple[Resource, Unreadable], ...] = ()


def rules(resources: Iterable[Resource], default: str) -> dict[str, NamespaceRules]:
    """What limits pods, by namespace; *default* is that of objects without one."""
    found: dict[str, NamespaceRules] = {}
    for one in resources:
        if one.group:
            continue
        name = one.namespace or default
        fault = decoding.unreadable(one.kind, one.body)
        if fault is not None:
            known = found.get(name, NamespaceRules())
            found[name] = known._replace(unreadable=(*known.unreadable, (one, fault)))
        elif one.kind == "ResourceQuota":
            known = found.get(name, NamespaceRules())
            found[name] = known._replace(quotas=(*known.quotas, one))
        elif one.kind == "LimitRange":
            known = found.get(name, NamespaceRules())
            found[name] = known._replace(limit_ranges=(*known.limit_ranges, one))
        elif one.kind == "Namespace":
            level = tree.get(one.body, "metadata", "labels", ENFORCE)
            if isinstance(level, str) and level != "privileged":
                known = found.get(one.name, NamespaceRules())
                found[one.name] = known._replace(namespace=one, level=level)
    return found
