"""The pod that a live migration runs into.

Upstream: pkg/virt-controller/watch/migration/migration.go (createTargetPod),
pkg/virt-controller/services/template.go (RenderMigrationManifest), pkg/container-disk/container-disk.go.
"""

from collections.abc import Callable, Mapping

from render.launcher import placement, security, template
from render.launcher.beside.hotplug import NODE
from render.launcher.launch import Launch
from render.launcher.volumes import KERNEL_BOOT
from render.model import tree
from render.model.release import Rows, rows, since
from render.model.tree import Tree

#: What stands for the migration, and for the node of a VMI that does not run.
_UID = "00000000-0000-4000-8000-0000000000cc"
_NAME = "mig"
_LABELS: Mapping[str, str] = {
    "cpu-vendor.node.kubevirt.io/Intel": "true",
    "host-model-cpu.node.kubevirt.io/Skylake-Server": "true",
    "host-model-required-features.node.kubevirt.io/vmx": "true",
}
_DIGEST = f"sha256:{'0' * 64}"

_VENDOR = "cpu-vendor.node.kubevirt.io/"
_HOST_MODEL = "host-model-cpu.node.kubevirt.io/"
_REQUIRED_FEATURES = "host-model-required-features.node.kubevirt.io/"
_MIGRATION_MODEL = "cpu-model-migration.node.kubevirt.io/"
_FEATURE = "cpu-feature.node.kubevirt.io/"


def target(running: Launch) -> Tree:
    """The pod that the *running* VMI migrates into, whose resources are those of the VMI as it is now.

    Raises `PodError` with KubeVirt's words where it makes none.
    """
    claim = f"persistent-state-for-{running.name}-TARGET"
    launch = running.again(_running_images(running), claim)
    pod = template.manifest(launch)
    metadata, spec = pod["metadata"], pod["spec"]
    metadata["labels"]["kubevirt.io/migrationJobUID"] = _UID
    metadata["annotations"]["kubevirt.io/migrationJobName"] = _NAME
    spec["affinity"] = placement.apart_from_source(spec.get("affinity"), launch.uid)
    labels = _labels_of_node(launch)
    for row in _SELECTORS(launch.release):
        row(launch, labels, spec["nodeSelector"])
    matches = tree.get(launch.cluster.configuration, "migrations", "matchSELinuxLevelOnMigration")
    if matches is not False:
        level = security.level_of_target(launch.status)
        if level:
            # QUIRK(migration.go): the type that the cluster has configured is lost.
            spec["securityContext"] = {
                **spec["securityContext"],
                "seLinuxOptions": {"level": level},
            }
    return pod


def _labels_of_node(launch: Launch) -> Mapping[str, str]:
    """The labels of the node that the VMI runs on."""
    name = launch.status.get("nodeName") or NODE
    for node in launch.cluster.objects.nodes:
        if tree.get(node, "metadata", "name") == name:
            return tree.get(node, "metadata", "labels") or {}
    return _LABELS


def _follow_host_model(launch: Launch, labels: Mapping[str, str], selector: Tree) -> None:
    if (launch.cpu or {}).get("model") != "host-model":
        return
    # QUIRK(migration.go): features that the pod asks for are taken for those of a migration before.
    if any(_FEATURE in key or _MIGRATION_MODEL in key for key in selector):
        return
    for key, value in labels.items():
        if key.startswith(_HOST_MODEL):
            selector[_MIGRATION_MODEL + key.removeprefix(_HOST_MODEL)] = value
        elif key.startswith(_REQUIRED_FEATURES):
            selector[_FEATURE + key.removeprefix(_REQUIRED_FEATURES)] = value


def _keep_vendor(_launch: Launch, labels: Mapping[str, str], selector: Tree) -> None:
    if not any(key.startswith(_VENDOR) for key in selector):
        vendor = next((key for key in labels if key.startswith(_VENDOR)), None)
        if vendor is not None:
            selector[vendor] = "true"


_Row = Callable[[Launch, Mapping[str, str], Tree], None]
_SELECTORS: Rows[_Row] = rows(_follow_host_model, since("1.6", _keep_vendor))


def _running_images(launch: Launch) -> Mapping[str, str]:
    """The images of container disks, with the digest that runs."""
    images = {
        volume.get("name") or "": volume["containerDisk"].get("image") or ""
        for volume in launch.volumes
        if volume.get("containerDisk") is not None
    }
    if launch.kernel_boot is not None:
        images[KERNEL_BOOT] = launch.kernel_boot.get("image") or ""
    return {name: _with_digest(image) for name, image in images.items()}


def _with_digest(image: str) -> str:
    if "@sha256:" in image:
        return image
    name, colon, tag = image.rpartition(":")
    base = name if colon and "/" not in tag else image
    return f"{base}@{_DIGEST}"
