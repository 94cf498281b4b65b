"""What limits the pods of a namespace: quotas, LimitRanges, and the level of Pod Security that it enforces.

A quota or a LimitRange that the API server cannot read limits nothing; of one with a placeholder nobody knows.
"""

import json
from collections.abc import Iterable, Mapping

from render.model import tree
from render.model.named_tuple import NamedTuple
from render.model.resource import Resource
from render.model.tree import Tree
from render.pipeline.capacity.reasons import ENFORCE
from render.room import decoding, quota, security
from render.room.decoding import Unreadable
from render.room.quota import QuotaRule

_VERSION = f"{ENFORCE}-version"
#: The label that says the name of a namespace once more.
_OWN_NAME = "kubernetes.io/metadata.name"


class NamespaceRules(NamedTuple):
    """What limits the pods of one namespace: its quotas, its LimitRanges, and the level that it enforces.

    *demands*: what each quota asks of a pod. *level* of the *version* of Kubernetes, as labels of the *namespace*
    say; *unreadable*: what would limit them, were it as the API server reads it.
    """

    quotas: tuple[Resource, ...] = ()
    limit_ranges: tuple[Resource, ...] = ()
    namespace: Resource | None = None
    level: str = ""
    version: str = security.LATEST
    unreadable: tuple[tuple[Resource, Unreadable], ...] = ()
    demands: tuple[QuotaRule, ...] = ()


def rules(resources: Iterable[Resource], default: str) -> dict[str, NamespaceRules]:
    """What limits pods, by namespace; *default* is that of objects without one."""
    found: dict[str, NamespaceRules] = {}
    for resource in resources:
        name = resource.name if resource.kind == "Namespace" else resource.namespace or default
        known = found.get(name, NamespaceRules())
        fault = _fault(resource)
        if fault is not None:
            found[name] = known._replace(unreadable=(*known.unreadable, (resource, fault)))
        elif resource.kind == "ResourceQuota":
            found[name] = known._replace(
                quotas=(*known.quotas, resource),
                demands=(*known.demands, quota.rule(resource.body)),
            )
        elif resource.kind == "LimitRange":
            found[name] = known._replace(limit_ranges=(*known.limit_ranges, resource))
        elif resource.kind == "Namespace":
            level = _label(resource, ENFORCE)
            if level not in {"", "privileged"}:
                version = _label(resource, _VERSION) or security.LATEST
                found[name] = known._replace(namespace=resource, level=level, version=version)
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
        for resource in resources:
            if resource.kind == "Namespace" and not resource.group:
                self._labels[resource.name] = tree.get(resource.body, "metadata", "labels") or {}
            elif resource.kind == "NetworkAttachmentDefinition":
                self._of_networks.add(resource.namespace or default)
        self.knows_networks = bool(self._of_networks)
        self._keys: dict[str, str] = {}

    def key(self, namespace: str) -> str:
        """The same for all that are as *namespace* is."""
        if namespace not in self._keys:
            rules = self._rules.get(namespace, NamespaceRules())
            labels = self._labels.get(namespace)
            content = (
                namespace if namespace in self._of_networks else "",
                [limiting.body.get("spec") for limiting in rules.quotas],
                [limit_range.body.get("spec") for limit_range in rules.limit_ranges],
                # KubeVirt reads these too, to limit what has no limit.
                [resource.body.get("spec") for resource, _ in rules.unreadable],
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


def _fault(resource: Resource) -> Unreadable | None:
    """What of an object the API server refuses, in whose place it then has none."""
    if resource.kind != "Namespace":
        return decoding.unreadable(resource.kind, resource.body)
    for name, why in (
        (ENFORCE, security.level_fault(_label(resource, ENFORCE))),
        (_VERSION, security.version_fault(_label(resource, _VERSION))),
    ):
        if why:
            return Unreadable(("metadata", "labels", name), _label(resource, name), why)
    return None
