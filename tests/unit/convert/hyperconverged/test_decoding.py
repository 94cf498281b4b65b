"""Reading a patched document into the struct that is there."""

from typing import Any

import pytest

from render.convert.hyperconverged.decoding import DecodingError, decoded
from render.model.release import NEWEST, version

CONFIGURATION = "kubevirt.KubeVirtConfiguration"


def test_what_the_document_no_longer_says_stays() -> None:
    old = {"cpuModel": "Haswell", "obsoleteCPUModels": {"486": True}}
    assert decoded(old, {}, CONFIGURATION, NEWEST) == old
    assert decoded(old, {"obsoleteCPUModels": {"n270": True}}, CONFIGURATION, NEWEST) == {
        "cpuModel": "Haswell",
        "obsoleteCPUModels": {"486": True, "n270": True},
    }


def test_null_clears_pointers_maps_and_lists_and_no_plain_value() -> None:
    old = {
        "cpuModel": "Haswell",
        "vmRolloutStrategy": "Stage",
        "emulatedMachines": ["q35*"],
        "obsoleteCPUModels": {"486": True},
    }
    assert decoded(old, dict.fromkeys(old), CONFIGURATION, NEWEST) == {"cpuModel": "Haswell"}


def test_list_entries_fill_the_old_ones() -> None:
    old = {"usb": [{"resourceName": "a", "externalResourceProvider": True}, {"resourceName": "b"}]}
    new = {"usb": [{"resourceName": "b"}]}
    assert decoded(old, new, "kubevirt.PermittedHostDevices", NEWEST) == {
        "usb": [{"resourceName": "b", "externalResourceProvider": True}]
    }


def test_what_go_drops_and_rewrites() -> None:
    new = {"cpuModel": "", "noSuchField": 1, "cpuRequest": "1000m", "emulatedMachines": []}
    assert decoded({"cpuModel": "Haswell"}, new, CONFIGURATION, NEWEST) == {"cpuRequest": "1"}
    strategy = {"batchEvictionInterval": "60s", "batchEvictionSize": 0}
    assert decoded({}, strategy, "kubevirt.KubeVirtWorkloadUpdateStrategy", NEWEST) == {
        "batchEvictionInterval": "1m0s",
        "batchEvictionSize": 0,
    }


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (
            {"cpuModel": 1},
            "number into Go struct field KubeVirtConfiguration.cpuModel of type string",
        ),
        (
            {"memBalloonStatsPeriod": -1},
            "number -1 into Go struct field KubeVirtConfiguration.memBalloonStatsPeriod of type uint32",
        ),
        (
            {"migrations": []},
            "cannot unmarshal array into Go struct field KubeVirtConfiguration.migrations",
        ),
        ({"obsoleteCPUModels": "a"}, "of type map[string]bool"),
        ({"emulatedMachines": {}}, "of type []string"),
        ({"vmRolloutStrategy": True}, "of type v1.VMRolloutStrategy"),
        ({"cpuRequest": "much"}, "quantities must match the regular expression"),
    ],
)
def test_what_does_not_fit(new: dict[str, Any], message: str) -> None:
    with pytest.raises(DecodingError) as error:
        decoded({}, new, CONFIGURATION, NEWEST)
    assert message in str(error.value)


def test_what_is_no_duration() -> None:
    with pytest.raises(DecodingError, match='time: invalid duration "soon"'):
        decoded(
            {}, {"batchEvictionInterval": "soon"}, "kubevirt.KubeVirtWorkloadUpdateStrategy", NEWEST
        )


def test_a_field_that_the_release_lacks_is_not_read() -> None:
    new = {"disabledFeatureGates": ["Template"]}
    name = "kubevirt.DeveloperConfiguration"
    assert decoded({}, new, name, version("1.9")) == new
    assert decoded({}, new, name, version("1.4")) == {}
