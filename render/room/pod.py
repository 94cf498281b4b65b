"""Pods that the API server itself refuses, whatever the namespace allows: the VM is admitted, and never starts.

Looked at is what comes from the VM or from the settings of the cluster, and has not been seen by KubeVirt's webhooks as
Kubernetes sees it; of affinity and topology spread these see nearly all. What is the same in every pod is right.

Upstream: pkg/apis/core/validation/validation.go (ValidatePodCreate),
k8s.io/apimachinery/pkg/api/validation/objectmeta.go.
"""

from collections.abc import Callable, Iterable, Sequence

from render.model import tree
from render.model.apimachinery.dns1123 import label_faults, subdomain_faults
from render.model.apimachinery.labels import MOST_ANNOTATIONS, key_faults, value_faults
from render.model.tree import Tree
from render.room import containers
from render.room.refusal import (
    MapKey,
    PodRefusal,
    Refusals,
    UnnamedKey,
    all_invalid,
    duplicate,
    invalid,
    required,
    unsupported,
)

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
#: What stands for the random end of a name.
_RANDOM = "abcde"
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_MIRROR = "kubernetes.io/config.mirror"
_INT32 = 2**31
_OPERATORS, _EFFECTS = ("Equal", "Exists"), ("NoSchedule", "PreferNoSchedule", "NoExecute")
#: Compared as numbers, where a gate of Kubernetes allows it: only the cluster knows.
_COMPARISONS = ("Lt", "Gt")
_POLICIES = ("Honor", "Ignore")


def refusals(pod: Tree) -> Refusals:
    """What the API server refuses of *pod*, which has its defaults already (`amounts.defaulted`)."""
    spec = pod["spec"]
    yield from _metadata(pod["metadata"], spec)
    volumes: dict[str, Tree] = {}
    yield from _volumes(spec.get("volumes") or (), volumes)
    yield from _claims(spec.get("resourceClaims") or ())
    names = {claim.get("name") or "" for claim in spec.get("resourceClaims") or ()}
    yield from containers.refusals(spec, volumes, names)
    yield from of_fields(spec)
    if spec.get("dnsPolicy") == "None" and spec.get("dnsConfig") is None:
        yield required(("spec", "dnsConfig"), "must provide `dnsConfig` when `dnsPolicy` is None")


def of_fields(spec: Tree) -> Refusals:
    """What is refused of the fields that a pod *spec* has from its VMI as they are."""
    for key, refused in _FIELDS.items():
        if spec.get(key):
            yield from refused(spec[key])


def _metadata(metadata: Tree, spec: Tree) -> Refusals:
    beginning = metadata.get("generateName") or ""
    if beginning:
        # A trailing dash is filled up later (upstream: maskTrailingDash).
        masked = f"{beginning[:-2]}a" if beginning.endswith("-") else beginning
        faults = subdomain_faults(masked)
        yield from all_invalid(("metadata", "generateName"), beginning, faults)
        # The name is cut where it would be too long.
        made = [fault for fault in faults if not fault.startswith("must be no more")]
        yield from all_invalid(("metadata", "name"), beginning + _RANDOM, made)
    yield from _labels(metadata.get("labels") or {}, ("metadata", "labels"))
    yield from _annotations(metadata.get("annotations") or {}, spec)


def _labels(labels: Tree, path: tuple[str, ...]) -> Refusals:
    for key, value in labels.items():
        place = (*path, UnnamedKey(key))
        yield from all_invalid(place, key, key_faults(key))
        yield from all_invalid(place, value, value_faults(value))


def _annotations(annotations: Tree, spec: Tree) -> Refusals:
    path = ("metadata", "annotations")
    if sum(len(key.encode()) + len(text.encode()) for key, text in annotations.items()) > (
        MOST_ANNOTATIONS
    ):
        yield PodRefusal(path, f"Too long: may not be more than {MOST_ANNOTATIONS} bytes")
    if _MIRROR in annotations:
        text = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid((*path, MapKey(_MIRROR)), annotations[_MIRROR], text)
    cost = annotations.get(_DELETION_COST)
    if cost is not None and not _is_int32(cost):
        yield invalid((*path, MapKey(_DELETION_COST)), cost, "must be a 32bit integer")
    groups = ("containers", "initContainers")
    names = {container["name"] for group in groups for container in spec.get(group) or ()}
    for key in annotations:
        name = key.removeprefix(_APPARMOR)
        if name != key and name not in names:
            yield invalid((*path, MapKey(key)), name, "container not found")


def _is_int32(text: str) -> bool:
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdecimal()
    if not is_number or (text != "0" and text.startswith("0")):
        return False
    return -_INT32 <= int(text[:12]) < _INT32 and len(text) <= len(str(-_INT32))


def _volumes(volumes: Sequence[Tree], valid: dict[str, Tree]) -> Refusals:
    """What is refused of *volumes*; the others are put into *valid*, by name."""
    for index, volume in enumerate(volumes):
        name = volume.get("name") or ""
        path = ("spec", "volumes", index)
        faults = [*_source(volume, path)]
        if not name:
            faults.append(required((*path, "name")))
        else:
            faults += all_invalid((*path, "name"), name, label_faults(name))
        if name in valid:
            faults.append(duplicate((*path, "name"), name))
        if not faults:
            valid[name] = volume
        yield from faults


#: What a volume of each kind has to name.
_NAMED = (
    ("secret", "secretName"),
    ("configMap", "name"),
    ("persistentVolumeClaim", "claimName"),
    ("hostPath", "path"),
)


def _source(volume: Tree, path: tuple[str | int, ...]) -> Refusals:
    for kind, field in _NAMED:
        source = volume.get(kind)
        if source is not None and not source.get(field):
            yield required((*path, kind, field))
    folder = tree.get(volume, "hostPath", "path") or ""
    if ".." in folder.split("/"):
        yield invalid((*path, "hostPath", "path"), folder, "must not contain '..'")
    for item in tree.get(volume, "downwardAPI", "items") or ():
        # Upstream leaves the index out here.
        place = (*path, "downwardAPI")
        if not item.get("path"):
            yield required((*place, "path"))
        yield from containers.below(item.get("path") or "", (*place, "path"))
        if item.get("fieldRef") is None and item.get("resourceFieldRef") is None:
            yield required(place, "one of fieldRef and resourceFieldRef is required")


def _claims(claims: Sequence[Tree]) -> Refusals:
    names: set[str] = set()
    for index, claim in enumerate(claims):
        path = ("spec", "resourceClaims", index)
        name = claim.get("name") or ""
        if not name:
            yield required((*path, "name"))
        elif name in names:
            yield duplicate((*path, "name"), name)
        else:
            yield from all_invalid((*path, "name"), name, label_faults(name))
        names.add(name)
        for key in ("resourceClaimName", "resourceClaimTemplateName"):
            if claim.get(key) is not None:
                faults = subdomain_faults(claim[key])
                yield from all_invalid((*path, key), claim[key], faults)


def _node_selector(selector: Tree) -> Refusals:
    return _labels(selector, ("spec", "nodeSelector"))


def _affinity(affinity: Tree) -> Refusals:
    place = ("spec", "affinity", "nodeAffinity")
    required_terms = tree.get(affinity, "nodeAffinity", _REQUIRED, "nodeSelectorTerms") or ()
    for index, term in enumerate(required_terms):
        for position, wanted in enumerate(term.get("matchExpressions") or ()):
            path = (*place, _REQUIRED, "nodeSelectorTerms", index, "matchExpressions", position)
            key = wanted.get("key") or ""
            yield from all_invalid((*path, "key"), key, key_faults(key))
            for number, value in enumerate(wanted.get("values") or ()):
                yield from all_invalid((*path, "values", number), value, value_faults(value))


def _spread(constraints: Iterable[Tree]) -> Refusals:
    for index, constraint in enumerate(constraints):
        path = ("spec", "topologySpreadConstraints", index)
        least, action = constraint.get("minDomains"), constraint.get("whenUnsatisfiable")
        if least is not None and least <= 0:
            yield invalid((*path, "minDomains"), least, "must be greater than 0")
        if least is not None and action != "DoNotSchedule":
            text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
            yield invalid((*path, "minDomains"), least, text)
        for key in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(key)
            if policy is not None and policy not in _POLICIES:
                yield unsupported((*path, key), policy, _POLICIES)


def _tolerations(tolerations: Iterable[Tree]) -> Refusals:
    for index, toleration in enumerate(tolerations):
        yield from _toleration(toleration, ("spec", "tolerations", index))


def _toleration(toleration: Tree, path: tuple[str | int, ...]) -> Refusals:
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    value, effect = toleration.get("value") or "", toleration.get("effect") or ""
    if key:
        yield from all_invalid((*path, "key"), key, key_faults(key))
    elif operator != "Exists":
        text = (
            "operator must be Exists when `key` is empty, which means"
            ' "match all values and all keys"'
        )
        yield invalid((*path, "operator"), operator, text)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid((*path, "effect"), effect, text)
    if operator in {"", "Equal"}:
        faults = value_faults(value)
        if faults:
            yield invalid((*path, "operator"), value, ";".join(faults))
    elif operator == "Exists":
        if value:
            text = "value must be empty when `operator` is 'Exists'"
            yield invalid((*path, "operator"), value, text)
    elif operator not in _COMPARISONS:
        yield unsupported((*path, "operator"), operator, _OPERATORS)
    if effect and effect not in _EFFECTS:
        yield unsupported((*path, "effect"), effect, _EFFECTS)


def _named(field: str, faults: Callable[[str], tuple[str, ...]]) -> Callable[[str], Refusals]:
    def refused(name: str) -> Refusals:
        return all_invalid(("spec", field), name, faults(name))

    return refused


#: The fields of a pod's spec that are looked at by themselves.
_FIELDS: dict[str, Callable[..., Refusals]] = {
    "nodeSelector": _node_selector,
    "affinity": _affinity,
    "topologySpreadConstraints": _spread,
    "serviceAccountName": _named("serviceAccountName", subdomain_faults),
    "hostname": _named("hostname", label_faults),
    "subdomain": _named("subdomain", label_faults),
    "tolerations": _tolerations,
    "priorityClassName": _named("priorityClassName", subdomain_faults),
    "runtimeClassName": _named("runtimeClassName", subdomain_faults),
}
