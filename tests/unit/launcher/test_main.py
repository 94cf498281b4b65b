"""What virt-controller of KubeVirt's main branch does otherwise with pods than the newest release."""

from typing import Any

from render import Settings, pod
from render.model.release import MAIN
from render.pipeline.pods import cluster_of, decoded
from tests.support.pods import MAKERS

Json = dict[str, Any]
VMI: Json = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachineInstance",
    "metadata": {"name": "web", "namespace": "prod", "uid": "u-1"},
    "spec": {
        "architecture": "amd64",
        "domain": {
            "cpu": {"cores": 1, "sockets": 1, "threads": 1},
            "memory": {"guest": "1Gi", "hugepages": {"pageSize": "2Mi"}},
            "devices": {
                "disks": [{"name": "root", "disk": {"bus": "virtio"}}],
                "filesystems": [{"name": "shared", "virtiofs": {}}],
            },
        },
        "volumes": [
            {"name": "root", "containerDisk": {"image": "registry.example.com/fedora:43"}},
            {"name": "shared", "configMap": {"name": "shared"}},
        ],
    },
}
KUBEVIRT: Json = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "KubeVirt",
    "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
    "spec": {"configuration": {"imagePullPolicy": "Always"}},
}
CLAIM: Json = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "late", "namespace": "prod"},
}


def made(release: str, vmi: Json = VMI, **configuration: Any) -> Json:
    """The spec of the pod, with its containers by name."""
    cluster = {
        **KUBEVIRT,
        "spec": {"configuration": {**KUBEVIRT["spec"]["configuration"], **configuration}},
    }
    spec: Json = pod(vmi, [cluster], settings=Settings(kubevirt=release))["spec"]
    containers = [*spec["containers"], *spec.get("initContainers", ())]
    return {**spec, "containers": {container["name"]: container for container in containers}}


def words(container: Json) -> list[str]:
    return [*container["command"], *container.get("args", ())]


def test_command_and_arguments_are_apart() -> None:
    newest, main = made("1.9")["containers"], made(MAIN)["containers"]
    hooks = "--libvirt-hook-server-and-client"
    assert hooks in words(newest["compute"])
    assert main["compute"]["command"] == ["/usr/bin/virt-launcher-monitor"]
    assert words(main["compute"]) == [word for word in words(newest["compute"]) if word != hooks]


def test_the_binary_of_container_disks_is_copied_alike() -> None:
    gates = {"developerConfiguration": {"disabledFeatureGates": ["ImageVolume"]}}
    newest = made("1.9", **gates)["containers"]["container-disk-binary"]
    main = made(MAIN, **gates)["containers"]["container-disk-binary"]
    assert "args" not in newest
    assert main["command"] == ["/usr/bin/cp"]
    assert words(main) == words(newest)


def test_images_are_pulled_for_filesystems_as_for_the_launcher() -> None:
    policies = {
        release: made(release)["containers"]["virtiofs-shared"]["imagePullPolicy"]
        for release in ("1.9", MAIN)
    }
    assert policies == {"1.9": "IfNotPresent", MAIN: "Always"}


def test_the_folder_of_huge_pages_is_in_huge_pages() -> None:
    folders = {
        release: next(
            volume["emptyDir"]
            for volume in made(release)["volumes"]
            if volume["name"] == "hugetblfs-dir"
        )
        for release in ("1.9", MAIN)
    }
    assert folders == {"1.9": {}, MAIN: {"medium": "HugePages"}}


def test_an_annotation_leaves_the_digests_of_images_unknown() -> None:
    annotated = {"kubevirt.io/image-volume-skip-digest-resolution": "true"}
    skipping = {**VMI, "metadata": {**VMI["metadata"], "annotations": annotated}}
    assert made("1.9", skipping)["containers"].keys() == made("1.9")["containers"].keys()
    assert made(MAIN)["containers"].keys() - made(MAIN, skipping)["containers"].keys() == {
        "volumeroot"
    }


def test_pods_of_hotplugged_volumes_name_their_vmi() -> None:
    plugged = {"name": "late", "persistentVolumeClaim": {"claimName": "late", "hotpluggable": True}}
    vmi = {**VMI, "spec": {**VMI["spec"], "volumes": [*VMI["spec"]["volumes"], plugged]}}
    vmi["status"] = {"selinuxContext": "none"}
    owner = {"kubevirt.io/owner-vmi-name": "web", "kubevirt.io/owner-vmi-uid": "u-1"}
    temporary = {"kubevirt.io/ephemeral-provisioning": "true"}
    for release, expected in (("1.9", {}), (MAIN, owner)):
        cluster = cluster_of([KUBEVIRT, CLAIM], Settings(kubevirt=release))
        decoded_vmi = decoded(vmi, cluster)
        found = {
            kind: (MAKERS[kind](decoded_vmi, cluster) or {})["metadata"].get("annotations", {})
            for kind in ("attachment", "trigger")
        }
        assert found == {"attachment": expected, "trigger": {**expected, **temporary}}
