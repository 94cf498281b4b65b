"""What Kubernetes 1.36 makes of launcher pods: quotas, LimitRanges and Pod Security, for every recorded case."""

from typing import Any

from render.model.apimachinery import quantity
from render.room import amounts, limits, pod, quota, security
from tests.support.goldens import cases

Json = dict[str, Any]
QUOTAS = cases("room/quota")
PODS = cases("room/psa")


def of_kind(case: Json, kind: str) -> list[Json]:
    return [one for one in case["objects"] if one["kind"] == kind]


def admitted(case: Json) -> Json:
    """The spec of the pod after the API server's defaults, LimitRanges and the overhead of its runtime."""
    spec = amounts.defaulted(case["pod"]["spec"])
    for limit_range in of_kind(case, "LimitRange"):
        spec = limits.filled(spec, limit_range)
    for runtime in of_kind(case, "RuntimeClass"):
        if spec.get("runtimeClassName") == runtime["metadata"]["name"]:
            spec = {**spec, "overhead": runtime["overhead"]["podFixed"]}
    return spec


def texts(found: amounts.Amounts) -> dict[str, str]:
    return {name: quantity.text_of(amount) for name, amount in found.items()}


def test_usage_and_scope() -> None:
    for case in QUOTAS:
        spec, want = admitted(case), case["want"]
        assert texts(quota.usage(spec)) == want["usage"], case["id"]
        found = {
            one["metadata"]["name"]: quota.matches(one, spec)
            for one in of_kind(case, "ResourceQuota")
        }
        assert found == want.get("matches", {}), case["id"]


def test_refusals_of_quotas() -> None:
    refused = 0
    for case in QUOTAS:
        said = quota.refusal(of_kind(case, "ResourceQuota"), admitted(case))
        assert said == case["want"].get("quota", "").partition("is forbidden: ")[2], case["id"]
        refused += bool(said)
    assert refused == 183


def parts(text: str) -> list[str]:
    """The constraints of a refusal, which Kubernetes lists in random order."""
    return sorted(text.strip("[]").split(", minimum "))


def test_limit_ranges_fill_and_refuse() -> None:
    refused = 0
    for case in QUOTAS:
        spec, want = admitted(case), case["want"]
        said = next(
            filter(None, (limits.refusal(spec, one) for one in of_kind(case, "LimitRange"))), ""
        )
        assert sorted(said.strip("[]").split(", ")) == sorted(
            want.get("limitRange", "").strip("[]").split(", ")
        ), case["id"]
        refused += bool(said)
        for group in ("containers", "initContainers"):
            for container, recorded in zip(spec.get(group, ()), want.get(group, ()), strict=False):
                for key in ("requests", "limits"):
                    filled = texts(amounts.of_container(container, key))
                    assert filled == recorded["resources"].get(key, {}), case["id"]
    assert refused == 92


def test_what_the_api_server_refuses_once_limit_ranges_have_filled_it_in() -> None:
    for case in QUOTAS:
        refused = {str(one) for one in pod.refusals({**case["pod"], "spec": admitted(case)})}
        assert refused == set(case["want"].get("invalid", ())), case["id"]


def test_what_the_api_server_refuses_of_vmis_that_kubevirt_admits() -> None:
    invalid = 0
    for case in cases("pod-vmi"):
        made = case["want"]["pod"]
        spec = amounts.defaulted(made["spec"])
        refused = {str(one) for one in pod.refusals({**made, "spec": spec})}
        assert refused == set(case["want"].get("invalid", ())), case["id"]
        invalid += bool(refused)
    assert invalid == 111


def test_pod_security() -> None:
    for case in PODS:
        for level in ("baseline", "restricted"):
            found = security.violations(case["pod"]["spec"], level)
            assert (", ".join(map(str, found)) or True) == case["want"]["psa"][level], case["id"]
        assert not security.violations(case["pod"]["spec"], "privileged")
