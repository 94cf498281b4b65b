"""What admission asks of a KubeVirt custom resource."""

import pytest

from render.model.cluster_config import ClusterConfig, from_kubevirt
from render.model.release import NEWEST, version

CONFIGURATION = {
    "developerConfiguration": {"featureGates": ["VSOCK"], "disabledFeatureGates": ["RebootPolicy"]},
    "architectureConfiguration": {
        "amd64": {"emulatedMachines": ["q35*"]},
        "s390x": {"emulatedMachines": ["s390*"]},
    },
    "network": {"permitBridgeInterfaceOnPodNetwork": False, "permitSlirpInterface": True},
    "permittedHostDevices": {
        "pciHostDevices": [{"pciVendorSelector": "10DE:1", "resourceName": "x.org/g"}]
    },
    "persistentReservationConfiguration": {"enabled": False},
}


def test_what_is_read() -> None:
    config = from_kubevirt({"spec": {"configuration": CONFIGURATION}}, NEWEST)
    assert config.feature_gates == {"VSOCK"}
    assert config.disabled_gates == {"RebootPolicy"}
    assert config.pci_host_devices == (("x.org/g", "10DE:1"),)
    assert config.persistent_reservation is False
    assert (config.bridge_on_pod_network, config.slirp_permitted) == (False, True)
    assert not config.is_assumed
    assert from_kubevirt({}, NEWEST) == ClusterConfig(is_assumed=False)
    assert ClusterConfig().is_assumed


@pytest.mark.parametrize(
    ("release", "listed", "strategy"),
    [("1.4", [], "Stage"), ("1.4", ["VMLiveUpdateFeatures"], "LiveUpdate"), ("1.5", [], "LiveUpdate")],
)  # fmt: skip
def test_live_update_once_needed_a_gate(release: str, listed: list[str], strategy: str) -> None:
    developer = {"featureGates": listed}
    configuration = {"vmRolloutStrategy": "LiveUpdate", "developerConfiguration": developer}
    body = {"spec": {"configuration": configuration}}
    assert from_kubevirt(body, version(release)).rollout_strategy == strategy


@pytest.mark.parametrize(
    ("release", "listed", "allowed"),
    [("1.8", [], False), ("1.8", ["PersistentReservation"], True),
     ("1.9", [], False), ("1.9", ["PersistentReservation"], True)],
)  # fmt: skip
def test_reservations_count_as_listed_where_the_gate_is_a_matter_of_course(
    release: str, listed: list[str], *, allowed: bool
) -> None:
    config = ClusterConfig(feature_gates=frozenset(listed))
    assert config.allows_reservations(version(release)) is allowed
    assert config.has_gate("PersistentReservation", version("1.9"))


@pytest.mark.parametrize(
    ("architecture", "release", "machines"),
    [
        ("amd64", "1.9", ("q35*",)),
        ("riscv64", "1.9", ("q35*",)),
        ("arm64", "1.9", ("virt*",)),
        ("s390x", "1.7", ("s390*",)),
        ("s390x", "1.6", ("s390-ccw-virtio*",)),
        ("ppc64le", "1.6", ("pseries*",)),
        ("ppc64le", "1.7", ("q35*",)),
    ],
)
def test_machine_types(architecture: str, release: str, machines: tuple[str, ...]) -> None:
    config = from_kubevirt({"spec": {"configuration": CONFIGURATION}}, NEWEST)
    assert config.emulated_machines_for(architecture, version(release)) == machines


def test_machine_types_of_all_architectures() -> None:
    body = {"spec": {"configuration": {**CONFIGURATION, "emulatedMachines": ["x"]}}}
    for architecture in ("amd64", "arm64", "s390x"):
        for release in ("1.4", "1.9"):
            config = from_kubevirt(body, NEWEST)
            assert config.emulated_machines_for(architecture, version(release)) == ("x",)


def test_machine_types_without_settings() -> None:
    assert ClusterConfig().emulated_machines_for("amd64", version("1.9")) == ("q35*", "pc-q35*")
