"""Reasons to look at pods: objects that limit them, and what KubeVirt or the API server may refuse of one by itself.

Told from the objects and the VMI alone: nothing that makes or judges a pod is imported.
"""

from collections.abc import Iterable, Mapping

from render.model import tree
from render.model.apimachinery.dns1123 import label_faults, subdomain_faults
from render.model.hints import Any
from render.model.resource import Resource
from render.model.tree import Tree

#: Kinds of objects that say what a cluster has room for.
LIMITING = frozenset({"LimitRange", "Namespace", "Node", "ResourceQuota"})
#: The label by which a namespace enforces a level of Pod Security.
ENFORCE = "pod-security.kubernetes.io/enforce"

#: Annotations of a VMI that the API server reads in its pod, or that bring containers.
_ANNOTATIONS = (
    "hooks.kubevirt.io/", "sidecar.istio.io/inject", "container.apparmor.security.beta.kubernetes.io/",
    "controller.kubernetes.io/pod-deletion-cost", "kubernetes.io/config.mirror",
)  # fmt: skip
#: The label that says how much virt-launcher logs.
VERBOSITY = "logVerbosity"
_LARGE_ANNOTATIONS = 128 * 1024
#: Fields of a VMI spec that reach the pod in another form, and are rare.
_SPEC = frozenset({"livenessProbe", "readinessProbe", "accessCredentials", "resourceClaims"})
#: Fields of a VMI spec that stand in the pod as they are.
_COPIED = frozenset((
    "nodeSelector", "affinity", "topologySpreadConstraints", "serviceAccountName", "subdomain", "tolerations",
    "priorityClassName",
))  # fmt: skip
_LAST_PORT, _LONGEST_PORT = 65535, 15
_PLAIN_AMOUNTS = frozenset({"cpu", "memory"})
_VOLUMES = frozenset({"hostDisk", "downwardAPI", "containerPath"})
#: What names of pod volumes and of containers have beside the name of a volume.
_BESIDE_NAME = len("volume") + len("-init")


def is_limiting(resource: Resource) -> bool:
    """Whether *resource* says what there is room for: most namespaces do not."""
    if resource.kind not in LIMITING or resource.group:
        return False
    return resource.kind != "Namespace" or ENFORCE in (
        tree.get(resource.body, "metadata", "labels") or ()
    )


def is_doubtful(name: str, vmi: Tree) -> bool:
    """Whether somebody may refuse the pod of the *vmi* that a machine *name* starts: hardly one in a hundred.

    What is not looked at has been seen by KubeVirt's webhooks, or is the same in all pods.
    """
    spec = vmi.get("spec") or {}
    return (
        is_odd_name(name)
        or VERBOSITY in (tree.get(vmi, "metadata", "labels") or ())
        or not _SPEC.isdisjoint(spec)
        or _is_odd_copy(spec)
        or _is_odd_domain(spec.get("domain") or {})
        or any(map(_is_odd_volume, spec.get("volumes") or ()))
        or _is_annotated(tree.get(vmi, "metadata", "annotations") or {})
    )


def is_odd_name(name: str) -> bool:
    """Whether a pod cannot be called after a machine *name*, or the machine's host cannot."""
    if not name or not label_faults(name):  # with what is put around it too
        return False
    hostname = name.partition(".")[0][:63]
    return bool(label_faults(hostname) or subdomain_faults(f"virt-launcher-{name}-a"))


def _is_odd_copy(spec: Tree) -> bool:
    fields = {key: spec[key] for key in _COPIED.intersection(spec) if spec[key]}
    if not fields:
        return False
    from render.room import pod

    return any(True for _ in pod.of_fields(fields))


def _is_odd_domain(domain: Tree) -> bool:
    devices: Mapping[str, Any] = domain.get("devices") or {}
    resources, cpu = domain.get("resources") or {}, domain.get("cpu") or {}
    return (
        _are_odd_amounts(resources.get("requests") or {}, resources.get("limits") or {})
        or "features" in cpu
        or _is_odd_label(cpu.get("model"))
        or _is_odd_label(tree.get(domain, "machine", "type"))
        or "hugepages" in (domain.get("memory") or ())
        or "gpus" in devices
        or "hostDevices" in devices
        or _are_odd_interfaces(devices.get("interfaces") or ())
    )


def _are_odd_amounts(requests: Mapping[str, Any], limits: Mapping[str, Any]) -> bool:
    """Whether a request may be more than a limit, or one of the names is not that of CPU or memory."""
    if not limits:
        return not _PLAIN_AMOUNTS.issuperset(requests)
    if not _PLAIN_AMOUNTS.issuperset((*requests, *limits)):
        return True
    # Without a request of memory the limit is requested, unless it is nothing.
    memory = limits.get("memory")
    is_nothing = memory is not None and str(memory).startswith("0")
    return "cpu" in limits or is_nothing or requests.get("memory", memory) != memory


def _are_odd_interfaces(interfaces: Iterable[Tree]) -> bool:
    """Whether one takes a plugin, which the cluster may not have, or has odd ports."""
    names: set[str] = set()
    for interface in interfaces:
        if interface.get("binding") is not None:
            return True
        for port in interface.get("ports") or ():
            name = port.get("name") or ""
            if name and (name in names or not _is_plain_port(name)):
                return True
            names.add(name)
            if not 0 < (port.get("port") or 0) <= _LAST_PORT:
                return True
    return False


def _is_plain_port(name: str) -> bool:
    return len(name) <= _LONGEST_PORT and name.isascii() and name.isalpha() and name.islower()


def _is_odd_label(name: str | None) -> bool:
    return bool(name) and not str(name).replace("-", "").replace("_", "").replace(".", "").isalnum()


def _is_odd_volume(volume: Tree) -> bool:
    name = volume.get("name") or ""
    if len(name) + _BESIDE_NAME > 63 or not _VOLUMES.isdisjoint(volume):  # noqa: PLR2004 - a label
        return True
    answers = volume.get("sysprep")
    return (
        answers is not None and answers.get("configMap") is None and answers.get("secret") is None
    )


def _is_annotated(annotations: Mapping[str, str]) -> bool:
    return bool(annotations) and (
        any(key.startswith(_ANNOTATIONS) for key in annotations)
        or sum(map(len, annotations.values())) > _LARGE_ANNOTATIONS
    )
