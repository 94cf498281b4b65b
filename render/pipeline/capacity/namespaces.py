"""What limits the pods of a namespace: quotas, LimitRanges, and the level of Pod Security that it enforces.

A quota or a LimitRange that the API server cannot read limits nothing; of one with a placeholder nobody knows.
"""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from render.model import tree
from render.model.resource import Resource
from render.model.tree import Tree
from render.pipeline.capacity.watch import ENFORCE
from render.room import decoding, security
from render.room.decoding import Unreadable

_VERSION = f"{ENFORCE}-version"
#: The label that says the name of a namespace once more.
_OWN_NAME = "kubernetes.io/metadata.name"


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


class AlikeNamespaces:
    """Which namespaces make and judge pods alike: those with the same *rules*, and the same labels for KubeVirt.

    *knows_networks*: a NetworkAttachmentDefinition among *resources* may say that a network is a device.
    """

    def __init__(
        self, resources: Iterable[Resource], rules: Mapping[str, NamespaceRules], default: str
    ) -> None:
        self._rules = rules
        self._labels: dict[str, Tree] = {}
        self._of_networks: set[str] = set()
        for one in resources:
            if one.kind == "Namespace" and not one.group:
                self._labels[one.name] = tree.get(one.body, "metadata", "labels") or {}
            elif one.kind == "NetworkAttachmentDefinition":
                self._of_networks.add(one.namespace or default)
        self.knows_networks = bool(self._of_networks)
        self._keys: dict[str, str] = {}

    def key(self, namespace: str) -> str:
        """The same for all that are as *namespace* is."""
        if namespace not in self._keys:
            rules = self._rules.get(namespace, NamespaceRules())
            labels = self._labels.get(namespace)
            content = (
                namespace if namespace in self._of_networks else "",
                [one.body.get("spec") for one in rules.quotas],
                [one.body.get("spec") for one in rules.limit_ranges],
                # KubeVirt reads these too, to limit what has no limit.
                [one.body.get("spec") for one, _ in rules.unreadable],
                (rules.level, rules.version),
                # KubeVirt chooses by labels whose CPUs it limits, where the namespace is there.
                labels and {key: value for key, value in labels.items() if key != _OWN_NAME},
                labels is None,
            )
            self._keys[namespace] = json.dumps(content, default=str)
        return self._keys[namespace]


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
