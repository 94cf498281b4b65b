"""The kinds of KubeVirt's own API groups: what it serves, and what older releases served.

Upstream: staging/src/kubevirt.io/api/core/v1/register.go, staging/src/kubevirt.io/api/instancetype/register.go.
"""

from render.diagnostics.codes import UNKNOWN_KIND
from render.diagnostics.diagnostic import Diagnostic, at
from render.model.nearest import nearest
from render.model.resource import FLAVOR, INSTANCETYPE, KUBEVIRT, Resource, text_at

_CORE = (
    "KubeVirt",
    "VirtualMachine",
    "VirtualMachineInstance",
    "VirtualMachineInstanceMigration",
    "VirtualMachineInstancePreset",
    "VirtualMachineInstanceReplicaSet",
)
_DEFINITIONS = (
    "VirtualMachineClusterInstancetype",
    "VirtualMachineClusterPreference",
    "VirtualMachineInstancetype",
    "VirtualMachinePreference",
)
_FLAVORS = (
    "VirtualMachineClusterFlavor",
    "VirtualMachineClusterPreference",
    "VirtualMachineFlavor",
    "VirtualMachinePreference",
)
#: group -> version -> kinds; the older versions are converted.
_KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    KUBEVIRT: {
        "v1": _CORE,
        "v1alpha3": _CORE,
        "v1alpha1": ("VM", "VirtualMachine", "VirtualMachinePreset"),
    },
    INSTANCETYPE: {
        "v1beta1": _DEFINITIONS,
        "v1alpha2": _DEFINITIONS,
        "v1alpha1": _DEFINITIONS,
    },
    FLAVOR: {"v1alpha1": _FLAVORS},
}


def check(resource: Resource, release: str) -> Diagnostic | None:
    """A finding where KubeVirt *release* does not serve the kind of an object in one of its groups."""
    versions = _KINDS.get(resource.group)
    if versions is not None and resource.kind in versions.get(resource.version, ()):
        return None
    api_version = text_at(resource.body, "apiVersion")
    if versions is None:
        if resource.version not in _KINDS or resource.group:
            return None
        group, versions = resource.version, _KINDS[resource.version]
        help_text = f"write apiVersion: {group}/{next(iter(versions))}"
        place = at(resource, ("apiVersion",))
    elif resource.version not in versions:
        help_text = f"write apiVersion: {resource.group}/{next(iter(versions))}"
        place = at(resource, ("apiVersion",))
    else:
        known = versions[resource.version]
        near = nearest(resource.kind, known)
        help_text = f"did you mean {near}?" if near else f"there are {', '.join(known)}"
        place = at(resource, ("kind",))
    return UNKNOWN_KIND.at(
        place,
        f"KubeVirt {release} serves no kind {resource.kind} in {api_version}",
        help=help_text,
    )
