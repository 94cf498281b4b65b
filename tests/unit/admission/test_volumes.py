"""Volumes, cloud-init data and access credentials."""

import base64
from typing import Any

import pytest

from render.admission.vmi import credentials
from render.admission.vmi.storage import cloudinit, volumes
from render.model.cluster_config import ClusterConfig
from tests.support.refusals import Json, refusals

CONFIG = ClusterConfig(feature_gates=frozenset({"HostDisk", "DownwardMetrics"}))
NO_CLOUD, DRIVE = "cloudInitNoCloud", "cloudInitConfigDrive"


def messages(module: Any, spec: Json, **more: Any) -> list[tuple[str, str]]:
    return [
        (name.partition("/")[2], field) for name, field, _ in refusals(module.CHECKS, spec, **more)
    ]


def volume(**source: object) -> Json:
    return {"name": "a", **source}


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        (volume(emptyDisk={"capacity": "1Gi"}), []),
        (volume(), [("one-source", "")]),
        (volume(emptyDisk={}, secret={"secretName": "a"}), [("one-source", "")]),
        (volume(dataVolume={}), [("data-volume-name", ".name")]),
        (volume(configMap={}), [("source-name", ".configMap.name")]),
        (volume(secret={}), [("source-name", ".secret.secretName")]),
        (volume(serviceAccount={}), [("source-name", ".serviceAccount.serviceAccountName")]),
        (volume(hostDisk={"path": "/a", "type": "DiskOrCreate", "capacity": "1Gi"}), []),
        (volume(hostDisk={"path": "/a", "type": "Disk", "capacity": "0"}), []),
        (
            volume(hostDisk={"type": "Disk", "capacity": "1Gi"}),
            [("host-disk-path", ".hostDisk.path"), ("host-disk-capacity", ".hostDisk.capacity")],
        ),
        (volume(hostDisk={"path": "/a", "type": "disk"}), [("host-disk-type", ".hostDisk.type")]),
        (volume(containerDisk={"image": "a", "path": "/disk/a.img/"}), []),
        (volume(containerDisk={"image": "a", "path": "/"}), [("container-disk-path", ".containerDisk")]),
        (volume(containerDisk={"image": "a", "path": "a.img"}), [("container-disk-path", ".containerDisk")]),
        (volume(containerDisk={"image": "a", "path": "/a/../b"}), [("container-disk-path", ".containerDisk")]),
        (volume(containerDisk={"image": "a", "path": "//a"}), [("container-disk-path", ".containerDisk")]),
    ],
)  # fmt: skip
def test_a_volume(volume: Json, expected: list[tuple[str, str]]) -> None:
    assert messages(volumes, {"volumes": [volume]}, config=CONFIG) == [
        (name, f"spec.volumes[0]{field}") for name, field in expected
    ]


def test_several_volumes() -> None:
    empty: Json = {"emptyDisk": {"capacity": "1Gi"}}
    same = [{"name": name, **empty} for name in ("a", "b", "a", "a")]
    assert [message for *_, message in refusals(volumes.CHECKS, {"volumes": same})] == [
        "spec.volumes[2] and spec.volumes[0] must not have the same Name.",
        "spec.volumes[3] and spec.volumes[0] must not have the same Name.",
    ]
    single = [
        {"name": f"{source}{index}", source: {"serviceAccountName": "a"}}
        for source in ("serviceAccount", "downwardMetrics", "memoryDump")
        for index in range(2)
    ]
    found = refusals(volumes.CHECKS, {"volumes": single}, config=CONFIG)
    assert {field for _, field, _ in found} == {"spec.volumes"}
    assert [message for *_, message in found] == [
        f"spec.volumes must have max one {word} volume set"
        for word in ("serviceAccount", "downwardMetric", "memory dump")
    ]


def test_utility_volumes_are_plugged_in_later() -> None:
    spec: Json = {"utilityVolumes": []}
    assert messages(volumes, spec) == [("utility", "spec.utilityVolumes")]
    assert messages(volumes, spec, release="1.7") == []


def encoded(size: int) -> str:
    return base64.b64encode(b"x" * size).decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"userData": "#cloud-config"}, []),
        ({"userData": "x" * 2048, "networkData": "x" * 2048}, []),
        ({"userData": "x" * 2049}, [("size", "")]),
        ({"userData": "é" * 1025}, [("size", "")]),
        ({"userDataBase64": encoded(2048)}, []),
        ({"userDataBase64": encoded(2049)}, [("size", "")]),
        ({"networkDataBase64": encoded(2049)}, [("size", "")]),
        ({"userDataBase64": "eA\r\n==\n"}, []),
        ({"userDataBase64": "eA"}, [("base64", ".userDataBase64")]),
        ({"userDataBase64": "e-_="}, [("base64", ".userDataBase64")]),
        ({"userDataBase64": "eA==eA=="}, [("base64", ".userDataBase64")]),
        ({"networkDataBase64": "?"}, [("base64", ".networkDataBase64")]),
        ({"userDataBase64": encoded(3000) + "?"}, [("base64", ".userDataBase64"), ("size", "")]),
        ({"userData": "x", "userDataBase64": encoded(3000)}, [("one-source", "")]),
        ({"userData": "x", "secretRef": {"name": "a"}}, [("one-source", "")]),
        ({"networkData": "x", "networkDataSecretRef": {"name": "a"}}, [("one-source", "")]),
        ({"userData": "x", "networkDataSecretRef": {"name": "a"}}, []),
        ({"secretRef": {"name": ""}}, [("no-source", "")]),
        ({}, [("no-source", "")]),
    ],
)
@pytest.mark.parametrize("kind", [NO_CLOUD, DRIVE])
def test_cloud_init(kind: str, source: Json, expected: list[tuple[str, str]]) -> None:
    spec = {"volumes": [{"name": "ci", kind: source}]}
    assert messages(cloudinit, spec) == [
        (name, f"spec.volumes[0].{kind}{field}") for name, field in expected
    ]


def test_of_two_kinds_of_cloud_init_the_first_counts() -> None:
    spec = {"volumes": [{"name": "ci", NO_CLOUD: {"userData": "x"}, DRIVE: {}}]}
    assert messages(cloudinit, spec) == []


def test_no_message_holds_the_data() -> None:
    secret = "hunter2" * 400
    for source in ({"userData": secret}, {"userDataBase64": f"{secret}?"}):
        found = refusals(cloudinit.CHECKS, {"volumes": [{"name": "ci", NO_CLOUD: source}]})
        assert found
        assert "hunter2" not in str(found)


def test_the_words_of_cloud_init() -> None:
    source = {"userDataBase64": "?", "networkData": "x" * 2049}
    place = f"spec.volumes[0].{NO_CLOUD}"
    found = refusals(cloudinit.CHECKS, {"volumes": [{"name": "ci", NO_CLOUD: source}]})
    assert [message for *_, message in found] == [
        f"{place}.userDataBase64.{NO_CLOUD}.userDataBase64 is not a valid base64 value.",
        f"{place} networkdata exceeds 2048 byte limit. Should use NetworkDataSecretRef for larger data.",
    ]


SECRET = {"source": {"secret": {"secretName": "a"}}}
SSH, PASSWORD = "sshPublicKey", "userPassword"


def by(**ways: object) -> Json:
    return {"propagationMethod": ways, **SECRET}


@pytest.mark.parametrize(
    ("credential", "expected"),
    [
        ({SSH: by(noCloud={})}, []),
        ({SSH: by(qemuGuestAgent={"users": ["a"]})}, []),
        ({PASSWORD: by(qemuGuestAgent={})}, []),
        ({SSH: by(configDrive={})}, [("volume", f".{SSH}.propagationMethod")]),
        (
            {SSH: by(qemuGuestAgent={"users": []})},
            [("users", f".{SSH}.propagationMethod.qemuGuestAgent.users")],
        ),
        (
            {SSH: {"source": {}, "propagationMethod": {}}},
            [("source", f".{SSH}.source"), ("method", f".{SSH}.propagationMethod")],
        ),
        (
            {SSH: by(noCloud={}, qemuGuestAgent={"users": ["a"]})},
            [("method", f".{SSH}.propagationMethod")],
        ),
        ({PASSWORD: by(noCloud={})}, [("method", f".{PASSWORD}.propagationMethod")]),
        ({}, [("one-kind", "")]),
        ({SSH: by(noCloud={}), PASSWORD: by(qemuGuestAgent={})}, [("one-kind", "")]),
    ],
)
def test_credentials(credential: Json, expected: list[tuple[str, str]]) -> None:
    spec = {"accessCredentials": [credential], "volumes": [{"name": "ci", NO_CLOUD: {}}]}
    assert messages(credentials, spec) == [
        (name, f"spec.accessCredentials[0]{field}") for name, field in expected
    ]
