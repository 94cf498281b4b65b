"""flavor.kubevirt.io/v1alpha1: flavors with profiles (v0.47 to v0.52) and with a spec (v0.53 to v0.55), preferences.

Upstream of that time: pkg/flavor/flavor.go, staging/src/kubevirt.io/api/flavor/v1alpha1/types.go. A flavor's ``cpu``
was first the CPU of a VMI, copied whole, and from v0.54 on a number of vCPUs (``guest``) with attributes.
"""

from render.convert.presets import FROM_THE_VM, Replacement, replacement
from render.model import kinds, tree
from render.model.resource import FLAVOR_GROUP
from render.model.tree import Tree

KINDS = frozenset({kinds.FLAVOR.namespaced, kinds.FLAVOR.cluster})
#: Keys of ``spec.flavor`` of a VM.
MATCHER = frozenset({"name", "kind", "profile", "revisionName"})
PROFILE = frozenset({"name", "default", "cpu"})
#: Kind of a flavor -> kind of the instancetype that replaces it.
SUCCESSORS = {
    kinds.FLAVOR.namespaced: kinds.INSTANCETYPE.namespaced,
    kinds.FLAVOR.cluster: kinds.INSTANCETYPE.cluster,
}


def lists_vcpus(cpu: Tree) -> bool:
    """Whether *cpu* of a flavor counts vCPUs, and is no CPU of a VMI."""
    return "guest" in cpu


def faults(spec: Tree) -> list[str]:
    """What the webhook of its time refused of a flavor with the *profiles* in *spec*."""
    profiles = spec.get("profiles")
    if profiles is None:
        return []
    chosen = sum(profile.get("default") is True for profile in profiles)
    if not profiles:
        return ["A flavor must have at least one profile."]
    if chosen > 1:
        return [f"Flavor contains more than one default profile. Found: {chosen}"]
    return []


def choose(spec: Tree, profile: str) -> Tree | str:
    """The part of a flavor's *spec* that a matcher with *profile* means, or why there is none."""
    profiles = spec.get("profiles")
    if profiles is None:
        return spec
    for candidate in profiles:
        if candidate.get("name") == profile or (not profile and candidate.get("default") is True):
            return {"cpu": candidate["cpu"]} if candidate.get("cpu") is not None else {}
    if profile:
        return f"flavor does not have a profile with name: {profile}"
    return "flavor does not specify a default profile"


def successor(spec: Tree) -> Replacement:
    """The instancetype that says what a flavor's *spec* (without profiles) says."""
    cpu = spec.get("cpu") or {}
    lossy = Replacement(None, None, ())
    instancetype: Tree = tree.copy(spec)
    if cpu and not lists_vcpus(cpu):
        lossy = replacement({"cpu": cpu})
        instancetype["cpu"] = dict((lossy.instancetype or {}).get("cpu") or {})
    for path, value in ((("cpu", "guest"), 1), (("memory", "guest"), FROM_THE_VM)):
        if tree.get(instancetype, *path) is None:
            tree.put(instancetype, path, value)
    return lossy._replace(instancetype=instancetype)


def preference(spec: Tree) -> Tree:
    """A preference of the group ``flavor.kubevirt.io``: what is false had no effect before v0.57."""
    converted = dict(spec)
    for group in ("devices", "firmware"):
        if group in spec:
            converted[group] = {k: v for k, v in spec[group].items() if v is not False}
    return converted


def gone(kind: str) -> str:
    """That an object of *kind* is not served any more."""
    return (
        f"{FLAVOR_GROUP}/v1alpha1 {kind} was renamed in KubeVirt v0.56, and no release converts it"
    )
