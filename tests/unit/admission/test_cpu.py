"""CPU: requests and limits, pinning, NUMA, features, sockets, realtime."""

from typing import Any

import pytest

from render.admission.vmi.domain.cpu import CHECKS
from render.model.cluster_config import ClusterConfig
from tests.support.refusals import names, refusals

Json = dict[str, Any]
REQUEST, LIMIT = "spec.domain.resources.requests.cpu", "spec.domain.resources.limits.cpu"
PINNED, CORES = "spec.domain.cpu.dedicatedCpuPlacement", "spec.domain.cpu.cores"
NUMA = "spec.domain.cpu.numa.guestMappingPassthrough"


def of(
    cpu: Json | None = None, requests: Json | None = None, limits: Json | None = None, **more: Any
) -> Json:
    domain: Json = {**({"cpu": cpu} if cpu is not None else {}), **more}
    domain["resources"] = {
        key: value for key, value in (("requests", requests), ("limits", limits)) if value
    }
    return {"domain": domain}


def pinned(requests: Json | None = None, limits: Json | None = None, **cpu: Any) -> Json:
    return of({"dedicatedCpuPlacement": True, **cpu}, requests, limits, memory={"guest": "1Gi"})


@pytest.mark.parametrize(
    ("request_", "limit", "expected"),
    [
        ("1", "1000m", []),
        ("2", "0", []),
        (
            "-1",
            "",
            [
                (
                    "cpu/request-negative",
                    REQUEST,
                    f"{REQUEST} '-1': must be greater than or equal to 0.",
                )
            ],
        ),
        (
            "",
            "-1m",
            [("cpu/limit-negative", LIMIT, f"{LIMIT} '-1m': must be greater than or equal to 0.")],
        ),
        (
            "1001m",
            "1",
            [
                (
                    "cpu/request-above-limit",
                    REQUEST,
                    f"{REQUEST} '1001m' is greater than {LIMIT} '1'",
                )
            ],
        ),
    ],
)
def test_requests_and_limits(
    request_: str, limit: str, expected: list[tuple[str, str, str]]
) -> None:
    spec = of(None, {"cpu": request_} if request_ else None, {"cpu": limit} if limit else None)
    assert refusals(CHECKS, spec) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (pinned(cores=4), []),
        (pinned({"cpu": "4"}, {"cpu": "4"}, cores=4), []),
        (pinned({"cpu": "4"}, {"cpu": "4"}, cores=2, sockets=2), []),
        (pinned({"cpu": "4"}), []),
        (
            pinned(),
            [
                (
                    "cpu/pinned-count",
                    PINNED,
                    f"either {REQUEST} or {LIMIT} or {CORES} must be provided when DedicatedCPUPlacement is true ",
                )
            ],
        ),
        (
            pinned({"cpu": "1500m"}, cores=2),
            [
                (
                    "cpu/pinned-requests-whole",
                    REQUEST,
                    "provided resources CPU requests must be an interger",
                )
            ],
        ),
        (
            pinned(None, {"cpu": "1500m"}, cores=2),
            [
                (
                    "cpu/pinned-limits-whole",
                    LIMIT,
                    "provided resources CPU limits must be an interger",
                )
            ],
        ),
        (
            pinned({"cpu": "2"}, {"cpu": "4"}, cores=4),
            [
                (
                    "cpu/pinned-request-is-limit",
                    PINNED,
                    f"{REQUEST} or {LIMIT} must be equal when DedicatedCPUPlacement is true ",
                )
            ],
        ),
        (
            pinned({"cpu": "2"}, cores=4),
            [
                (
                    "cpu/pinned-request-or-cores",
                    PINNED,
                    (
                        f"{REQUEST} or {LIMIT} must not be provided at the same time with {CORES} "
                        "when DedicatedCPUPlacement is true "
                    ),
                )
            ],
        ),
        (
            pinned({"memory": "1Gi"}, {"memory": "2Gi"}, cores=1),
            [
                (
                    "cpu/pinned-memory-differs",
                    "spec.domain.resources.requests.memory",
                    "spec.domain.resources.requests.memory must be equal to spec.domain.resources.limits.memory",
                )
            ],
        ),
        (
            pinned(cores=1, threads=3),
            [
                (
                    "cpu/pinned-threads",
                    PINNED,
                    (
                        "Not more than two threads must be provided at spec.domain.cpu.threads (got 3) "
                        "when DedicatedCPUPlacement is true"
                    ),
                )
            ],
        ),
    ],
)
def test_pinned(spec: Json, expected: list[tuple[str, str, str]]) -> None:
    assert refusals(CHECKS, spec) == expected


def test_cpus_are_counted_in_64_bits() -> None:
    # A thousand times this wraps, and so do its thousandths: a negative request, but a whole one.
    assert names(CHECKS, pinned({"cpu": "9223372036854775807"})) == ["cpu/request-negative"]


def test_vcpus_are_multiplied_in_32_bits() -> None:
    assert names(CHECKS, pinned(cores=2**16, sockets=2**16)) == ["cpu/pinned-count"]


def test_pinned_vms_need_memory() -> None:
    place = "spec.domain.resources.limits.memory"
    start = f"spec.domain.resources.requests.memory, {place}"
    message = (
        f"{start}, spec.domain.memory.hugepages or spec.domain.memory.guest should be provided"
    )
    cpu = {"dedicatedCpuPlacement": True, "cores": 1}
    for memory in ({}, {"guest": "0"}):
        assert refusals(CHECKS, of(cpu, memory=memory)) == [("cpu/pinned-memory", place, message)]
    sufficient: tuple[Json, ...] = ({"guest": "1Gi"}, {"hugepages": {}})
    for enough in sufficient:
        assert refusals(CHECKS, of(cpu, memory=enough)) == []
    assert refusals(CHECKS, of(cpu, limits={"memory": "1Gi"})) == []
    old = refusals(CHECKS, of(cpu, memory={"guest": "1Gi"}), release="1.6.3")
    text = f"spec.domain.resources.requests.memory or {place} should be provided"
    assert old == [("cpu/pinned-memory", place, text)]


def test_threads_on_arm64() -> None:
    spec = pinned(cores=1, threads=2)
    message = "threads must not be greater than 1 at spec.domain.cpu.threads (got 2) when spec.architecture is arm64"
    expected = [("cpu/threads-on-arm64", "spec.architecture", message)]
    assert refusals(CHECKS, {**spec, "architecture": "arm64"}) == expected
    assert refusals(CHECKS, spec, config=ClusterConfig(default_architecture="arm64")) == expected
    assert refusals(CHECKS, {**spec, "architecture": "amd64"}) == []


@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        ({"numa": {}}, []),
        (
            {"numa": {"guestMappingPassthrough": {}}},
            [
                (
                    "cpu/numa-pinned",
                    NUMA,
                    f"{PINNED} must be set to true when NUMA topology strategy is set in {NUMA}",
                ),
                (
                    "cpu/numa-hugepages",
                    NUMA,
                    "spec.domain.memory.hugepages must be requested when NUMA topology strategy is set in "
                    + NUMA,
                ),
            ],
        ),
        (
            {"isolateEmulatorThread": True},
            [
                (
                    "cpu/isolated-emulator-pinned",
                    "spec.domain.cpu.isolateEmulatorThread",
                    "IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement",
                )
            ],
        ),
        (
            {"features": [{"name": "a"}, {"name": "b", "policy": "Require"}]},
            [
                (
                    "cpu/feature-policy",
                    "spec.domain.cpu.features[1].policy",
                    "CPU feature b uses policy Require that is not supported.",
                )
            ],
        ),
        ({"sockets": 8}, []),
        ({"sockets": 4, "maxSockets": 4}, []),
        (
            {"sockets": 5, "maxSockets": 4},
            [
                (
                    "cpu/max-sockets",
                    "spec.domain.cpu.sockets",
                    "Number of sockets in CPU topology is greater than the maximum sockets allowed",
                )
            ],
        ),
        (
            {"realtime": {}},
            [
                (
                    "cpu/realtime-pinned",
                    PINNED,
                    f"{PINNED} must be set to true when spec.domain.cpu.realtime is used",
                ),
                (
                    "cpu/realtime-numa",
                    NUMA,
                    f"{NUMA} must be defined when spec.domain.cpu.realtime is used",
                ),
            ],
        ),
    ],
)
def test_shape(cpu: Json, expected: list[tuple[str, str, str]]) -> None:
    assert refusals(CHECKS, of(cpu)) == expected


@pytest.mark.parametrize(
    ("amount", "whole"), [("2", True), ("2001m", False), (str(2**63 // 1000 + 1), True)]
)
def test_thousandths_of_a_pinned_cpu_overflow_as_in_go(amount: str, *, whole: bool) -> None:
    """The product with 1000, and the thousandths that it is compared with, are both cut to 64 bits."""
    found = names(CHECKS, pinned({"cpu": amount}, cores=2))
    assert ("cpu/pinned-requests-whole" not in found) is whole
