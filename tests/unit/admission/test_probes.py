"""Probes, the start strategy, inputs, I/O threads, eviction."""

from typing import Any

import pytest

from render.admission.vmi import eviction, probes, startstrategy
from render.admission.vmi.domain import inputs, iothreads
from render.model.cluster_config import ClusterConfig
from tests.support.refusals import Json, names, refusals

POD: list[Json] = [{"name": "default", "pod": {}}]
PROBE = "spec.livenessProbe"


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ({"guestAgentPing": {}}, []),
        ({"exec": {"command": ["true"]}, "periodSeconds": 5}, []),
        (
            {"httpGet": {"port": 80}, "tcpSocket": {"port": 80}},
            [("probes/one-kind", PROBE, f"{PROBE} must have exactly one probe type set")],
        ),
        (
            {"periodSeconds": 5},
            [
                (
                    "probes/kind",
                    PROBE,
                    f"either {PROBE}.tcpSocket, {PROBE}.exec or {PROBE}.httpGet must be set if a {PROBE} is specified",
                )
            ],
        ),
    ],
)
def test_probes(probe: Json, expected: list[tuple[str, str, str]]) -> None:
    assert refusals(probes.CHECKS, {"livenessProbe": probe, "networks": POD}) == expected


def test_probes_over_the_network_need_the_pod_network() -> None:
    fields = {
        "readinessProbe": {"httpGet": {"port": 80}},
        "livenessProbe": {"tcpSocket": {"port": 80}},
    }
    text = "is only allowed if the Pod Network is attached"
    expected = [
        ("probes/pod-network", place, f"{place} {text}")
        for place in ("spec.readinessProbe.httpGet", "spec.livenessProbe.tcpSocket")
    ]
    multus = [{"name": "default", "multus": {"networkName": "a", "default": True}}]
    assert refusals(probes.CHECKS, {**fields, "networks": multus}) == expected
    assert refusals(probes.CHECKS, fields) == expected
    assert refusals(probes.CHECKS, {**fields, "networks": POD}) == []


def test_a_pod_network_counted_with_its_interface_before_1_5() -> None:
    fields: Json = {"livenessProbe": {"tcpSocket": {"port": 80}}, "networks": POD}
    assert names(probes.CHECKS, fields, release="1.4.1") == ["probes/pod-network"]
    fields["domain"] = {"devices": {"interfaces": [{"name": "default", "masquerade": {}}]}}
    assert names(probes.CHECKS, fields, release="1.4.1") == []


def test_start_strategy() -> None:
    at = "spec.startStrategy"
    assert refusals(startstrategy.CHECKS, {"startStrategy": "Paused"}) == []
    unknown = [("start/strategy", at, f"{at} is set with an unrecognized option: Running")]
    assert (
        refusals(startstrategy.CHECKS, {"startStrategy": "Running", "livenessProbe": {}}) == unknown
    )
    message = (
        f"either {at} or {PROBE} should be provided.Pausing VMI with LivenessProbe is not supported"
    )
    paused = [("start/paused-liveness-probe", at, message)]
    assert (
        refusals(startstrategy.CHECKS, {"startStrategy": "Paused", "livenessProbe": {}}) == paused
    )


def test_inputs() -> None:
    good = [{"name": "a", "type": "tablet"}, {"name": "b", "type": "tablet", "bus": "usb"}]
    bad = [*good, {"name": "c", "type": "mouse", "bus": "ps2"}, {"name": "d", "type": ""}]
    at = "spec.domain.devices.inputs"
    assert refusals(inputs.CHECKS, {"domain": {"devices": {"inputs": good}}}) == []
    assert refusals(inputs.CHECKS, {"domain": {"devices": {"inputs": bad}}}) == [
        ("inputs/bus", f"{at}[2].bus", "Input device can have only virtio or usb bus."),
        ("inputs/type", f"{at}[2].type", "Input device can have only tablet type."),
        ("inputs/type", f"{at}[3].type", "Input device can have only tablet type."),
    ]


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ({"ioThreadsPolicy": "auto"}, []),
        (
            {
                "ioThreadsPolicy": "supplementalPool",
                "ioThreads": {"supplementalPoolThreadCount": 1},
            },
            [],
        ),
        (
            {"ioThreadsPolicy": "none"},
            [("iothreads/policy", "spec.domain.ioThreadsPolicy", "Invalid IOThreadsPolicy (none)")],
        ),
        (
            {
                "ioThreadsPolicy": "supplementalPool",
                "ioThreads": {"supplementalPoolThreadCount": 0},
            },
            [
                (
                    "iothreads/count",
                    "spec.domain.ioThreads.count",
                    "the number of iothreads needs to be set and positive for the dedicated policy",
                )
            ],
        ),
    ],
)
def test_io_threads(domain: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    assert refusals(iothreads.CHECKS, {"domain": domain}) == expected


def test_there_was_no_pool_of_threads_before_1_5() -> None:
    domain = {"ioThreadsPolicy": "supplementalPool"}
    assert names(iothreads.CHECKS, {"domain": domain}, release="1.4.1") == ["iothreads/policy"]


def test_eviction() -> None:
    at = "spec.evictionStrategy"
    for strategy in ("LiveMigrate", "LiveMigrateIfPossible", "None", "External"):
        assert refusals(eviction.CHECKS, {"evictionStrategy": strategy}) == []
    unknown = [("eviction/strategy", at, f"{at} is set with an unrecognized option: Never")]
    assert refusals(eviction.CHECKS, {"evictionStrategy": "Never"}) == unknown
    config = ClusterConfig(eviction_strategy="Never")
    assert refusals(eviction.CHECKS, {}, config=config) == unknown
    assert refusals(eviction.CHECKS, {"evictionStrategy": "None"}, config=config) == []
