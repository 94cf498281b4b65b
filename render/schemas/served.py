"""The kinds of KubeVirt's own API groups: what it serves, and what older releases served.

Upstream: staging/src/kubevirt.io/api/core/v1/register.go, staging/src/kubevirt.io/api/instancetype/register.go.
"""

from functools import cache

from render.diagnostics.codes import UNKNOWN_KIND
from render.diagnostics.diagnostic import Diagnostic, Severity, at
from render.diagnostics.fix import Fix, respelled, set_to
from render.model.api_version import group_meant, is_own, version_meant
from render.model.fieldpath import FieldPath
from render.model.nearest import is_near, nearest
from render.model.release import Version, served, serving, tag
from render.model.resource import (
    CDI,
    FLAVOR_GROUP,
    HOLDER_GROUPS,
    INSTANCETYPE_GROUP,
    KUBEVIRT,
    POOL,
    Resource,
    text_at,
)
from render.model.tree import Tree

_API_VERSION: FieldPath = ("apiVersion",)
_KIND: FieldPath = ("kind",)
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
    INSTANCETYPE_GROUP: {
        "v1beta1": _DEFINITIONS,
        "v1alpha2": _DEFINITIONS,
        "v1alpha1": _DEFINITIONS,
    },
    FLAVOR_GROUP: {"v1alpha1": _FLAVORS},
}
#: group -> kinds that are of no other one.
_OF_GROUPS: dict[str, tuple[str, ...]] = {
    KUBEVIRT: _CORE,
    INSTANCETYPE_GROUP: _DEFINITIONS,
    HOLDER_GROUPS[POOL]: (POOL,),
    f"clone.{KUBEVIRT}": ("VirtualMachineClone",),
    f"export.{KUBEVIRT}": ("VirtualMachineExport",),
}
#: Upstream: containerized-data-importer, staging/src/kubevirt.io/containerized-data-importer-api/pkg/apis/core.
_CDI_VERSIONS = ("v1beta1", "v1alpha1")
_OF_CDI = (
    "CDIConfig", "DataImportCron", "DataSource", "DataVolume", "ObjectTransfer", "StorageProfile",
    "VolumeCloneSource", "VolumeImportSource", "VolumeUploadSource",
)  # fmt: skip


@cache
def _kinds(group: str, release: Version) -> dict[str, tuple[str, ...]] | None:
    known = _KINDS.get(group)
    if known is None or group != INSTANCETYPE_GROUP:
        return known
    return {**dict.fromkeys(served(group, release), _DEFINITIONS), **known}


def _is_other_releases(resource: Resource, release: Version) -> bool:
    """Whether other releases serve the API version of *resource*, and *release* does not."""
    serves = serving(resource.group, resource.version)
    return bool(serves) and resource.version not in served(resource.group, release)


#: Kinds of the group of KubeVirt that its neighbours served: node-maintenance-operator, kubevirt-ssp-operator.
_OF_OTHERS = frozenset(
    {
        "NodeMaintenance", "KubevirtCommonTemplatesBundle", "KubevirtNodeLabellerBundle",
        "KubevirtTemplateValidator", "KubevirtMetricsAggregation",
    }
)  # fmt: skip


def check(resource: Resource, release: Version) -> Diagnostic | None:
    """A finding where no release up to KubeVirt *release* serves the kind of an object in one of its groups.

    None for what other projects serve in the same group. A group that is KubeVirt's but for a slip is a warning where
    the object may be somebody else's, and so is what CDI has not.
    """
    if resource.group == CDI:
        return _unknown_to_cdi(resource)
    if resource.group == KUBEVIRT and resource.kind in _OF_OTHERS:
        return None
    api_version = text_at(resource.body, "apiVersion")
    meant = version_meant(resource.body)
    if meant:
        cure, fixes = _written(meant)
        lack = f"KubeVirt has no API group {resource.group}"
        if not group_meant(resource.group):
            lack = f"no cluster has kind {resource.kind} in {api_version}"
        message = f"{lack}: nothing of this object is looked at"
        severity = None if is_own(resource.body) else Severity.WARNING
        return UNKNOWN_KIND.at(
            at(resource, _API_VERSION), message, help=cure, severity=severity, fixes=fixes
        )
    versions = _kinds(resource.group, release)
    if versions is not None and resource.kind in versions.get(resource.version, ()):
        return None
    found = _cure(resource, release)
    if found is None:
        return None
    path, help_text, fixes = found
    return UNKNOWN_KIND.at(
        at(resource, path),
        f"KubeVirt {tag(release)} serves no kind {resource.kind} in {api_version}",
        help=help_text,
        fixes=fixes,
    )


def _unknown_to_cdi(resource: Resource) -> Diagnostic | None:
    """A warning where the kind of an object of CDI's group is one of CDI's but for a slip, or of another version."""
    kind, version = resource.kind, resource.version
    if kind in _OF_CDI and version not in _CDI_VERSIONS:
        path, cure, fixes = (_API_VERSION, *_written(f"{CDI}/{_CDI_VERSIONS[0]}"))
        message = f"CDI serves no kind {kind} in {CDI}/{version}"
    else:
        folded = kind.casefold()
        near = [name for name in _OF_CDI if is_near(folded, name.casefold())]
        if kind in _OF_CDI or len(near) != 1:
            return None
        path, cure, fixes = _KIND, f"did you mean {near[0]}?", respelled(_KIND, kind, near)
        message = f"CDI has no kind {kind}: nothing of this object is looked at"
    return UNKNOWN_KIND.at(
        at(resource, path),
        message,
        help=cure,
        severity=Severity.WARNING,
        fixes=fixes,
    )


def _cure(resource: Resource, release: Version) -> tuple[FieldPath, str, tuple[Fix, ...]] | None:
    """The field that is wrong of an object that *release* does not serve, and what to write; None for another's."""
    group, versions = resource.group, _kinds(resource.group, release)
    if versions is None and _is_other_releases(resource, release):
        return _API_VERSION, *_written(f"{group}/{served(group, release)[0]}")
    if versions is None:
        if resource.version not in _KINDS or group:
            return None
        group = resource.version
        return _API_VERSION, *_written(f"{group}/{next(iter(_KINDS[group]))}")
    newest, known = next(iter(versions.items()))
    if resource.version not in versions:
        return _API_VERSION, *_written(f"{group}/{newest}")
    elsewhere = next((name for name, kinds in versions.items() if resource.kind in kinds), "")
    if elsewhere:
        return _KIND, *_written(f"{group}/{elsewhere}")
    right = _of_other_group(resource.kind, release)
    if right:
        return _API_VERSION, *_written(right)
    here = nearest(resource.kind, versions[resource.version])
    near = here or nearest(resource.kind, known)
    help_text = f"did you mean {near}?" if near else f"{group}/{newest} has {', '.join(known)}"
    return _KIND, help_text, respelled(_KIND, resource.kind, [here])


def _of_other_group(kind: str, release: Version) -> str:
    """The API version in which *release* or CDI serves *kind*, which one group alone has; ``""`` if there is none."""
    if kind in _OF_CDI:
        return f"{CDI}/{_CDI_VERSIONS[0]}"
    group = next((name for name, kinds in _OF_GROUPS.items() if kind in kinds), "")
    return next((f"{group}/{name}" for name in served(group, release)), "")


def _written(api_version: str) -> tuple[str, tuple[Fix, ...]]:
    """What to write in the place of an API version, and the fix that does."""
    cure = f"write apiVersion: {api_version}"
    return cure, (Fix(cure, (set_to(_API_VERSION, api_version),)),)


def current(resource: Resource, release: Version) -> Tree:
    """The object to print for *resource*: definitions of versions that *release* does not serve as those of today.

    Their JSON is the same, and the API server of older releases rewrote the version too.
    """
    versions = served(INSTANCETYPE_GROUP, release)
    if resource.group != INSTANCETYPE_GROUP or resource.version in versions:
        return resource.body
    return {**resource.body, "apiVersion": f"{INSTANCETYPE_GROUP}/{versions[0]}"}
