"""What Kubernetes 1.36 makes of launcher pods: quotas, LimitRanges and Pod Security, for every recorded case."""

import ast
from pathlib import Path
from typing import Any

from render.model.apimachinery import quantity
from render.room import amounts, limits, pod, quota, security
from tests.support.calls import calls_of_ours
from tests.support.goldens import cases

Json = dict[str, Any]


def quotas() -> list[Json]:
    return cases("room/quota")


def pods() -> list[Json]:
    return cases("room/psa")


def of_kind(case: Json, kind: str) -> list[Json]:
    return [body for body in case["objects"] if body["kind"] == kind]


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
    for case in quotas():
        spec, want = admitted(case), case["want"]
        assert texts(quota.usage(spec)) == want["usage"], case["id"]
        found = {
            body["metadata"]["name"]: quota.matches(body, spec)
            for body in of_kind(case, "ResourceQuota")
        }
        assert found == want.get("matches", {}), case["id"]


def test_refusals_of_quotas() -> None:
    refused = 0
    for case in quotas():
        refusal = quota.refusal(of_kind(case, "ResourceQuota"), admitted(case))
        assert refusal == case["want"].get("quota", "").partition("is forbidden: ")[2], case["id"]
        refused += bool(refusal)
    assert refused == 183


def parts(text: str) -> list[str]:
    """The constraints of a refusal, which Kubernetes lists in random order."""
    return sorted(text.strip("[]").split(", minimum "))


def test_limit_ranges_fill_and_refuse() -> None:
    refused = 0
    for case in quotas():
        spec, want = admitted(case), case["want"]
        text = next(
            filter(None, (limits.refusal(spec, item) for item in of_kind(case, "LimitRange"))), ""
        )
        assert sorted(text.strip("[]").split(", ")) == sorted(
            want.get("limitRange", "").strip("[]").split(", ")
        ), case["id"]
        refused += bool(text)
        for group in ("containers", "initContainers"):
            for container, recorded in zip(spec.get(group, ()), want.get(group, ()), strict=False):
                for key in ("requests", "limits"):
                    filled = texts(amounts.of_container(container, key))
                    assert filled == recorded["resources"].get(key, {}), case["id"]
    assert refused == 92


def test_what_the_api_server_refuses_once_limit_ranges_have_filled_it_in() -> None:
    for case in quotas():
        refused = {
            str(refusal) for refusal in pod.refusals({**case["pod"], "spec": admitted(case)})
        }
        assert refused == set(case["want"].get("invalid", ())), case["id"]


def test_what_the_api_server_refuses_of_vmis_that_kubevirt_admits() -> None:
    invalid = 0
    for case in cases("pod-vmi"):
        made = case["want"]["pod"]
        spec = amounts.defaulted(made["spec"])
        refused = {str(refusal) for refusal in pod.refusals({**made, "spec": spec})}
        assert refused == set(case["want"].get("invalid", ())), case["id"]
        invalid += bool(refused)
    assert invalid == 111


def test_pod_security() -> None:
    for case in pods():
        for level in ("baseline", "restricted"):
            found = security.violations(case["pod"]["spec"], level)
            assert (", ".join(map(str, found)) or True) == case["want"]["psa"][level], case["id"]
        assert not security.violations(case["pod"]["spec"], "privileged")


ROOM = Path(pod.__file__).parent
#: Rules that no recorded pod shows, and who tries them instead: what is refused of objects, and figures.
ELSEWHERE = {
    "amounts": {"number_of", "text_of", "times", "readable", "_readable", "_is_bytes"},
    "decoding": None, "figures": None, "nodes": None,  # tests/unit/pipeline/test_figures.py
    "containers": {"_port_name_faults", "below"},  # tests/unit/pipeline/test_refused_pods.py
    "limits": {"filled_by_all"},
    "pod": {"_is_int32", "_named", "of_fields"},  # made when the module is loaded, the second
    "quota": {"scoped"},
    "refusal": None,
    "security": {"__str__", "level_fault", "version_fault"},  # tests/unit/pipeline/test_fleets_by_hand.py
}  # fmt: skip


def rules() -> set[tuple[str, str]]:
    """The functions of the package, by module and name, but for those that are tried elsewhere."""
    return {
        (path.stem, node.name)
        for path in ROOM.glob("*.py")
        if (others := ELSEWHERE.get(path.stem, set())) is not None
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name not in others
    }


def ask_of_all() -> None:
    for case in quotas():
        spec = admitted(case)
        [*pod.refusals({**case["pod"], "spec": spec})]
        quota.refusal(of_kind(case, "ResourceQuota"), spec)
        [limits.refusal(spec, item) for item in of_kind(case, "LimitRange")]
    for case in pods()[::7]:
        for level in security.LEVELS:
            security.violations(case["pod"]["spec"], level)
    for case in cases("pod-vmi")[::3]:
        [*pod.refusals(case["want"]["pod"])]


def test_every_rule_has_a_recorded_case() -> None:
    called = {
        (Path(module).stem, name.rpartition(".")[2])
        for module, _, name in (each.partition(":") for each in calls_of_ours(ask_of_all))
        if module.startswith("room/")
    }
    assert rules() - called == set()
