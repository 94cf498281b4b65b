"""Memory: requests and limits, huge pages, the guest's memory."""

from typing import Any

import pytest

from render.admission.vmi import start
from render.admission.vmi.domain.memory import CHECKS
from render.model.cluster_config import ClusterConfig
from tests.support.refusals import names, refusals

Json = dict[str, Any]
REQUEST, LIMIT = "spec.domain.resources.requests.memory", "spec.domain.resources.limits.memory"


def of(request: str = "", limit: str = "", memory: Json | None = None) -> Json:
    resources: Json = {}
    if request:
        resources["requests"] = {"memory": request}
    if limit:
        resources["limits"] = {"memory": limit}
    return {"domain": {"resources": resources, **({"memory": memory} if memory else {})}}


@pytest.mark.parametrize(
    ("request_", "limit", "expected"),
    [
        ("1Gi", "1Gi", []),
        ("1M", "", []),
        ("0", "", []),
        ("2Gi", "0", []),
        (
            "-1Gi",
            "",
            [
                (
                    "memory/request-negative",
                    REQUEST,
                    f"{REQUEST} '-1Gi': must be greater than or equal to 0.",
                )
            ],
        ),
        (
            "64",
            "",
            [
                (
                    "memory/request-small",
                    REQUEST,
                    f"{REQUEST} '64': must be greater than or equal to 1M.",
                )
            ],
        ),
        (
            "999999500m",  # its whole value is rounded up to a million
            "",
            [
                (
                    "memory/request-small",
                    REQUEST,
                    f"{REQUEST} '999999500m': must be greater than or equal to 1M.",
                )
            ],
        ),
        (
            "",
            "-1",
            [
                (
                    "memory/limit-negative",
                    LIMIT,
                    f"{LIMIT} '-1': must be greater than or equal to 0.",
                )
            ],
        ),
        (
            "2048Mi",
            "1Gi",
            [
                (
                    "memory/request-above-limit",
                    REQUEST,
                    f"{REQUEST} '2Gi' is greater than {LIMIT} '1Gi'",
                )
            ],
        ),
    ],
)
def test_requests_and_limits(
    request_: str, limit: str, expected: list[tuple[str, str, str]]
) -> None:
    assert refusals(CHECKS, of(request_, limit)) == expected


PAGES = "spec.domain.memory.hugepages.pageSize"


@pytest.mark.parametrize(
    ("request_", "memory", "expected"),
    [
        ("", {"guest": "1Gi", "hugepages": {"pageSize": "2Mi"}}, []),
        ("64Mi", {"hugepages": {"pageSize": "2Mi"}}, []),
        (
            "",
            {"guest": "1Gi", "hugepages": {}},
            [
                (
                    "memory/page-size",
                    PAGES,
                    (
                        f"{PAGES} '': quantities must match the regular expression "
                        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                    ),
                )
            ],
        ),
        (
            "",
            {"guest": "512Mi", "hugepages": {"pageSize": "1024Mi"}},
            [
                (
                    "memory/below-page-size",
                    REQUEST,
                    f"{REQUEST} '0' must be equal to or larger than page size {PAGES} '1024Mi'",
                )
            ],
        ),
        (
            "65Mi",
            {"guest": "64Mi", "hugepages": {"pageSize": "2Mi"}},
            [
                (
                    "memory/page-multiple",
                    REQUEST,
                    f"{REQUEST} '65Mi' is not a multiple of the page size {PAGES} '2Mi'",
                )
            ],
        ),
        (
            "64Mi",
            {"hugepages": {"pageSize": "0"}},
            [
                (
                    "memory/page-size",
                    PAGES,
                    f"the webhook of KubeVirt fails on {PAGES} '0': it divides by it",
                )
            ],
        ),
        (
            "",
            {"hugepages": {"pageSize": "2Mi"}},
            [
                (
                    "memory/hugepages-without-memory",
                    "spec.domain.memory.hugepages",
                    (
                        "the webhook of KubeVirt fails on spec.domain.memory.hugepages without "
                        f"spec.domain.memory.guest and {REQUEST}"
                    ),
                )
            ],
        ),
    ],
)
def test_hugepages(request_: str, memory: Json, expected: list[tuple[str, str, str]]) -> None:
    assert refusals(CHECKS, of(request_, memory=memory)) == expected


def test_a_limit_counts_where_nothing_else_is() -> None:
    memory = {"guest": "0", "hugepages": {"pageSize": "2Mi"}}
    assert names(CHECKS, of(limit="3Mi", memory=memory)) == ["memory/page-multiple"]


def test_releases_looked_at_requests_alone_and_named_pages_otherwise() -> None:
    spec = of(memory={"guest": "1Gi", "hugepages": {"pageSize": "2Mi"}})
    printed = "spec.domain.hugepages.size"
    message = f"{REQUEST} '0' must be equal to or larger than page size {printed} '2Mi'"
    assert refusals(CHECKS, spec, release="1.6.3") == [("memory/below-page-size", REQUEST, message)]
    assert refusals(CHECKS, spec, release="1.6.4") == []
    wrong = of("1Gi", memory={"hugepages": {"pageSize": "x"}})
    fields = {
        release: [refusal.field for refusal in refusals(CHECKS, wrong, release=release)]
        for release in ("1.7.4", "1.8.0")
    }
    assert fields == {"1.7.4": [printed], "1.8.0": [PAGES]}


def test_guest_above_limit_is_a_matter_of_the_rollout_strategy() -> None:
    spec, guest = of(limit="1Gi", memory={"guest": "2Gi"}), "spec.domain.memory.guest"
    message = f"{guest} '2Gi' must be equal to or less than the memory limit {LIMIT} '1Gi'"
    staged = ClusterConfig(rollout_strategy="Stage")
    assert refusals(CHECKS, spec, config=staged) == [("memory/guest-above-limit", guest, message)]
    assert refusals(CHECKS, spec) == []
    assert refusals(CHECKS, of(limit="0", memory={"guest": "2Gi"}), config=staged) == []


def test_a_vmi_needs_memory() -> None:
    message = (
        "no memory requested, at least one of 'spec.domain.memory.guest', "
        f"'{PAGES}' or '{REQUEST}' must be set"
    )
    assert refusals(start.CHECKS, {}) == [("memory/required", "", message)]
    assert refusals(start.CHECKS, of(memory={"maxGuest": "1Gi"})) == [
        ("memory/required", "", message)
    ]
    assert refusals(start.CHECKS, of("0")) == [("memory/required", "", message)]
    assert refusals(start.CHECKS, of("1Gi")) == []
    assert refusals(start.CHECKS, of(memory={"guest": "1Gi"})) == []
    assert refusals(start.CHECKS, of(memory={"hugepages": {}})) == []
    assert refusals(start.CHECKS, {}, kind="VirtualMachine") == []
    assert "hugepages.size'" in refusals(start.CHECKS, {}, release="1.7.4")[0].message
