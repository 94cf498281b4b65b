"""Which release the resources of a cluster tell of."""

from typing import Any

import pytest

from render.model.cluster_release import ReleaseEvidence, openshift, operator_of, release_of
from render.model.fieldpath import FieldPath

KUBEVIRT = {"apiVersion": "kubevirt.io/v1", "kind": "KubeVirt"}
HYPERCONVERGED = {"apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged"}


def operator(version: str) -> dict[str, Any]:
    versions = [{"name": "kubevirt", "version": "9.9.9"}, {"name": "operator", "version": version}]
    return {**HYPERCONVERGED, "status": {"versions": versions}}


def test_a_kubevirt_resource_says_what_runs_before_what_is_asked_for() -> None:
    requested = {**KUBEVIRT, "spec": {"imageTag": "v1.8.4"}}
    running = {**requested, "status": {"observedKubeVirtVersion": "v1.7.2"}}
    assert release_of(requested) == ReleaseEvidence("1.8.4", ("spec", "imageTag"))
    assert release_of(running) == ReleaseEvidence("1.7.2", ("status", "observedKubeVirtVersion"))


@pytest.mark.parametrize("tag", ["latest", "sha256:12", "devel", "", 1.8, None, "v1"])
def test_a_tag_that_is_no_release_says_nothing(tag: object) -> None:
    assert release_of({**KUBEVIRT, "spec": {"imageTag": tag}}) is None


def test_what_follows_the_version_of_a_build_is_left_out() -> None:
    found = release_of({**KUBEVIRT, "spec": {"imageTag": "v1.6.0-rc.1"}})
    assert found is not None
    assert found.release == "1.6.0"


@pytest.mark.parametrize(
    ("version", "release"),
    [("1.14.1", "1.4"), ("1.18.2", "1.8"), ("1.19.0", "1.9"), ("4.18.3", "1.4"), ("4.22.0", "1.8")],
)
def test_the_operator_brings_a_release(version: str, release: str) -> None:
    path = ("status", "versions", 1, "version")
    assert release_of(operator(version)) == ReleaseEvidence(release, path)


@pytest.mark.parametrize("version", ["1.9.0", "4.13.1", "5.0.0", "new"])
def test_an_operator_of_another_time_says_nothing(version: str) -> None:
    assert release_of(operator(version)) is None


def test_v1_alone_says_that_it_is_1_8_or_newer() -> None:
    body = {**HYPERCONVERGED, "apiVersion": "hco.kubevirt.io/v1"}
    assert release_of(body) == ReleaseEvidence("1.8", ("apiVersion",), at_least=True)
    assert release_of(HYPERCONVERGED) is None


def deployment(image: str, **variables: str) -> dict[str, Any]:
    env = [{"name": name, "value": value} for name, value in variables.items()]
    container = {"name": "virt-operator", "image": image, "env": env}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "virt-operator", "namespace": "kubevirt"},
        "spec": {"template": {"spec": {"containers": [{"name": "other"}, container]}}},
    }


IMAGE = "quay.io/kubevirt/virt-operator"


@pytest.mark.parametrize(
    ("image", "variables", "release", "path"),
    [
        (f"{IMAGE}:v1.6.2", {}, "1.6.2", ("image",)),
        ("registry:5000/a/build-virt-operator:v1.7.0", {}, "1.7.0", ("image",)),
        (f"{IMAGE}:v1.6.2", {"VIRT_OPERATOR_IMAGE": f"{IMAGE}:v1.7.1"}, "1.7.1", ("env", 0, "value")),
        (f"{IMAGE}:v1.6.2", {"OPERATOR_IMAGE": f"{IMAGE}:v1.5.0"}, "1.5.0", ("env", 0, "value")),
        (f"{IMAGE}:v1.6.2", {"KUBEVIRT_VERSION": "v1.4.0"}, "1.6.2", ("image",)),
        (f"{IMAGE}@sha256:12", {"A": "b", "KUBEVIRT_VERSION": "v1.6.2"}, "1.6.2", ("env", 1, "value")),
        ("registry/other:v1.8.0", {"KUBEVIRT_VERSION": "v1.6.2"}, "1.6.2", ("env", 0, "value")),
    ],
)  # fmt: skip
def test_the_operator_of_kubevirt_installs_its_own_release(
    image: str, variables: dict[str, str], release: str, path: FieldPath
) -> None:
    place = ("spec", "template", "spec", "containers", 1, *path)
    assert release_of(deployment(image, **variables)) == ReleaseEvidence(release, place)


@pytest.mark.parametrize("image", [IMAGE, f"{IMAGE}:latest", f"{IMAGE}@sha256:12", "", "x:v1.6.2"])
def test_an_operator_without_a_release_says_nothing(image: str) -> None:
    assert release_of(deployment(image)) is None
    odd = deployment(image)
    odd["spec"]["template"]["spec"]["containers"] = [
        None,
        {"name": "virt-operator", "env": {"a": 1}},
    ]
    assert release_of(odd) is None
    assert release_of({**odd, "spec": 5}) is None


def test_a_download_of_kubevirt_is_its_operator() -> None:
    base = "https://github.com/kubevirt/kubevirt/releases/download/v1.6.2"
    operator = operator_of(f"{base}/kubevirt-operator.yaml")
    assert operator is not None
    assert release_of(operator) == ReleaseEvidence(
        "1.6.2", ("spec", "template", "spec", "containers", 0, "image")
    )
    for url in (
        f"{base}/kubevirt-cr.yaml",
        f"{base}/x/kubevirt-operator.yaml",
        "kubevirt-operator.yaml",
    ):
        assert operator_of(url) is None


def test_other_resources_say_nothing() -> None:
    assert (
        release_of({"apiVersion": "v1", "kind": "KubeVirt", "spec": {"imageTag": "v1.8.4"}}) is None
    )
    assert release_of({"status": []}) is None


def test_the_release_of_a_product() -> None:
    assert openshift("openshift-4.20") == "1.6"
    assert openshift("openshift-4.18.5") == "1.4"
    assert openshift("openshift-4.13") is None
    assert openshift("1.6") is None
