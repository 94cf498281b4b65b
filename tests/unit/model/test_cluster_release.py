"""Which release the resources of a cluster tell of."""

from typing import Any

import pytest

from render.model.cluster_release import ReleaseEvidence, openshift, release_of

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
