"""What is said of a VM beside the definition that is missing: what KubeVirt itself would go on to say."""

import pytest

from render import Settings, render
from tests.support.pools import Json

_REQUIRES: Json = {"requirements": {"memory": {"guest": "2Gi"}}}
_PREFERS: Json = {"cpu": {"preferredCPUFeatures": [{"name": "vmx"}]}}


def preference(spec: Json) -> Json:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "large"},
        "spec": spec,
    }


VM: Json = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "prod"},
    "spec": {
        "runStrategy": "Always",
        "instancetype": {"name": "gone", "kind": "VirtualMachineInstancetype"},
        "preference": {"name": "large"},
        "template": {"spec": {"domain": {"devices": {}}}},
    },
}


@pytest.mark.parametrize(
    ("release", "spec", "codes"),
    [
        ("1.4", _REQUIRES, ["VR201"]),
        ("1.5", _REQUIRES, ["VR201"]),
        # From here on the webhook goes on without the instancetype.
        ("1.6", _REQUIRES, ["VR201", "VR401"]),
        ("1.9", _REQUIRES, ["VR201", "VR401"]),
        ("1.5", _PREFERS, ["VR201"]),
        ("1.9", _PREFERS, ["VR201"]),
    ],
)
def test_what_follows_a_missing_instancetype(release: str, spec: Json, codes: list[str]) -> None:
    found = render([preference(spec), VM], Settings(kubevirt=release, admission="strict"))
    assert [diagnostic.code for diagnostic in found.diagnostics if diagnostic.is_error] == codes


def test_a_missing_instancetype_may_have_what_is_required() -> None:
    """Memory beside it would be a conflict, once the instancetype is found."""
    found = render([preference(_REQUIRES), VM]).diagnostics
    (unmet,) = (diagnostic for diagnostic in found if diagnostic.code == "VR401")
    assert unmet.help == "name an instancetype that is there first"
    assert unmet.fixes == ()


@pytest.mark.parametrize(
    ("name", "near"),
    [("u1.smal", "u1.small"), ("ul.small", "u1.small"), ("shop.small", ""), ("shop-small", "")],
)
def test_no_size_of_another_series_is_meant(name: str, near: str) -> None:
    """The instancetypes that KubeVirt deploys are called by a series and a size."""
    machine = {**VM, "spec": {**VM["spec"], "instancetype": {"name": name}}}
    del machine["spec"]["preference"]
    (missing,) = render([machine]).diagnostics
    assert (missing.code, missing.help.startswith(f"did you mean {near}?")) == ("VR201", bool(near))
    assert bool(missing.fixes) == bool(near)
