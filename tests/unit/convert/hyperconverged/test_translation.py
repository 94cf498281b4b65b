"""From a HyperConverged to a KubeVirt resource: windows, versions, where values come from."""

import json
from typing import Any

import pytest

from render.convert.hyperconverged import Cluster, ClusterNode, Translation, kubevirt_of
from render.model import fieldpath, tree
from render.model.release import Version

C = "spec.configuration"
NEWEST: Version = (1, 9, 0)
V1_8: Version = (1, 8, 4)


def body(spec: Any, *, api: str = "v1beta1", **annotations: str) -> dict[str, Any]:
    metadata = {"name": "kubevirt-hyperconverged", "annotations": annotations}
    return {
        "apiVersion": f"hco.kubevirt.io/{api}",
        "kind": "HyperConverged",
        "metadata": metadata,
        "spec": spec,
    }


def value(found: Translation, path: str) -> Any:
    assert found.refusal is None
    return tree.get(found.kubevirt, *fieldpath.parse(path))


def origin(found: Translation, path: str) -> str | None:
    place = found.origin(fieldpath.parse(path))
    return None if place is None else fieldpath.text(place)


@pytest.mark.parametrize("release", [(1, 4, 1), (1, 6, 6), V1_8, NEWEST])
def test_a_value_leads_back_to_the_field_that_gave_it(release: Version) -> None:
    devices = {
        "pciHostDevices": [
            {"pciDeviceSelector": "a", "resourceName": "x", "disabled": True},
            {"pciDeviceSelector": "b", "resourceName": "y"},
        ]
    }
    spec = {
        "defaultCPUModel": "Haswell",
        "permittedHostDevices": devices,
        "featureGates": {"downwardMetrics": True},
        "obsoleteCPUs": {"cpuModels": ["Westmere"]},
    }
    found = kubevirt_of(body(spec), release)
    assert origin(found, f"{C}.cpuModel") == "spec.defaultCPUModel"
    assert value(found, f"{C}.permittedHostDevices.pciHostDevices") == [
        {"pciVendorSelector": "b", "resourceName": "y"}
    ]
    place = f"{C}.permittedHostDevices.pciHostDevices[0].resourceName"
    assert origin(found, place) == "spec.permittedHostDevices.pciHostDevices[1]"
    gates = value(found, f"{C}.developerConfiguration.featureGates")
    place = f"{C}.developerConfiguration.featureGates[{gates.index('DownwardMetrics')}]"
    assert origin(found, place) == "spec.featureGates.downwardMetrics"
    assert origin(found, f"{C}.obsoleteCPUModels.Westmere") == "spec.obsoleteCPUs.cpuModels[0]"
    assert origin(found, f"{C}.obsoleteCPUModels.n270") is None
    assert origin(found, f"{C}.evictionStrategy") is None


@pytest.mark.parametrize("release", [V1_8, NEWEST])
def test_the_same_from_v1(release: Version) -> None:
    spec = {
        "virtualization": {
            "evictionStrategy": "External",
            "virtualMachineOptions": {"defaultCPUModel": "Haswell"},
        },
        "featureGates": [{"name": "objectGraph"}, {"name": "downwardMetrics"}],
    }
    found = kubevirt_of(body(spec, api="v1"), release)
    place = "spec.virtualization.virtualMachineOptions.defaultCPUModel"
    assert origin(found, f"{C}.cpuModel") == place
    assert value(found, f"{C}.evictionStrategy") == "External"
    assert origin(found, f"{C}.evictionStrategy") == "spec.virtualization.evictionStrategy"
    gates = value(found, f"{C}.developerConfiguration.featureGates")
    place = f"{C}.developerConfiguration.featureGates[{gates.index('DownwardMetrics')}]"
    assert origin(found, place) == "spec.featureGates[1]"


def test_what_a_patch_sets_leads_to_the_patch() -> None:
    patch = [
        {"op": "test", "path": f"/{C.replace('.', '/')}/vmRolloutStrategy", "value": "LiveUpdate"},
        {"op": "add", "path": f"/{C.replace('.', '/')}/cpuModel", "value": "Haswell"},
    ]
    annotations = {"kubevirt.kubevirt.io/jsonpatch": json.dumps(patch)}
    found = kubevirt_of(body({}, **annotations), NEWEST)
    place = "metadata.annotations[kubevirt.kubevirt.io/jsonpatch]"
    assert value(found, f"{C}.cpuModel") == "Haswell"
    assert origin(found, f"{C}.cpuModel") == place
    assert origin(found, f"{C}.vmRolloutStrategy") is None


def test_what_is_assumed_about_the_cluster_is_said() -> None:
    found = kubevirt_of(body({}), NEWEST)
    assert [fieldpath.text(each.path) for each in found.assumptions] == [
        f"{C}.evictionStrategy",
        f"{C}.architectureConfiguration.defaultArchitecture",
        f"{C}.architectureConfiguration.amd64.machineType",
    ]
    inputs = kubevirt_of(body({"evictionStrategy": "None"}), (1, 7, 4))
    assert [fieldpath.text(each.path) for each in inputs.assumptions] == [
        f"{C}.architectureConfiguration.amd64.machineType"
    ]


def test_the_facts_of_a_cluster_count() -> None:
    cluster = Cluster(
        nodes=(ClusterNode("arm64", control_plane=True),),
        machine_types=(("arm64", "virt-rhel9.6.0"),),
        emulation=True,
    )
    found = kubevirt_of(body({}), NEWEST, cluster)
    assert value(found, f"{C}.evictionStrategy") == "None"
    assert value(found, f"{C}.architectureConfiguration") == {
        "defaultArchitecture": "arm64",
        "arm64": {
            "emulatedMachines": ["virt*"],
            "machineType": "virt-rhel9.6.0",
            "ovmfPath": "/usr/share/AAVMF",
        },
    }
    assert value(found, f"{C}.developerConfiguration.useEmulation") is True
    assert "HypervStrictCheck" not in value(found, f"{C}.developerConfiguration.featureGates")


def test_a_dump_tells_of_its_cluster() -> None:
    dump = {**body({}), "status": {"infrastructureHighlyAvailable": False}}
    assert value(kubevirt_of(dump, NEWEST), f"{C}.evictionStrategy") == "None"


def test_what_only_v1_has_survives_a_dump_as_v1beta1() -> None:
    only = json.dumps(
        {
            "deployNetworkResourcesInjector": False,
            "featureGates": [{"name": "template", "state": "Disabled"}, {"name": "objectGraph"}],
        }
    )
    annotations = {"hco.kubevirt.io/v1-only-fields": only}
    found = kubevirt_of(body({}, **annotations), NEWEST)
    gates = value(found, f"{C}.developerConfiguration.featureGates")
    assert not {"Template", "ExternalNetResourceInjection", "ObjectGraph"} & set(gates)
    broken = kubevirt_of(body({}, **{"hco.kubevirt.io/v1-only-fields": "["}), NEWEST)
    assert broken.refusal is not None
    assert broken.refusal.causes[0].check == "hyperconverged/v1-only"


@pytest.mark.parametrize(
    ("api", "release", "spec", "help_text"),
    [
        ("v1", NEWEST, {"evictionStrategy": "None"}, "in v1 it is spec.virtualization.evictionStrategy"),
        ("v1", NEWEST, {"resourceRequirements": {}}, "spec.resourceRequirements belongs to hco.kubevirt.io/v1beta1"),
        ("v1beta1", NEWEST, {"virtualization": {}}, "spec.virtualization belongs to hco.kubevirt.io/v1"),
        ("v1beta1", (1, 5, 3), {"liveUpdateConfiguration": {}}, "KubeVirt 1.6 (OpenShift Virtualization 4.20)"),
        ("v1beta1", NEWEST, {"BareMetalPlatform": True}, "the API server drops it"),
    ],
)  # fmt: skip
def test_an_unknown_field_is_named_with_what_to_do(
    api: str, release: Version, spec: dict[str, Any], help_text: str
) -> None:
    found = kubevirt_of(body(spec, api=api), release)
    assert [fieldpath.text(each.path) for each in found.pruned] == [f"spec.{next(iter(spec))}"]
    assert help_text in found.pruned[0].help


def refused(found: Translation) -> list[tuple[str, str]]:
    assert found.refusal is not None
    return [(fieldpath.text(cause.path), cause.message) for cause in found.refusal.causes]


def test_what_the_schema_cannot_say_is_still_led_to_its_field() -> None:
    found = kubevirt_of(body({"workloadUpdateStrategy": {"batchEvictionInterval": "soon"}}), NEWEST)
    assert found.refusal is not None
    assert found.refusal.messages == ("failed to parse the HyperConverged",)
    assert [path for path, _ in refused(found)] == [
        "spec.workloadUpdateStrategy.batchEvictionInterval"
    ]


def test_a_warning_hides_what_comes_after_it_up_to_1_18() -> None:
    annotations = {"kubevirt.kubevirt.io/jsonpatch": "no json"}
    spec = {"featureGates": {"nonRoot": True}}
    older, newer = (kubevirt_of(body(spec, **annotations), each) for each in (V1_8, NEWEST))
    assert older.refusal is not None
    assert newer.refusal is not None
    assert (older.refusal.stage, newer.refusal.stage) == ("operator", "validating webhook")
    assert older.warnings == newer.warnings


def test_whole_numbers_may_be_written_with_a_point() -> None:
    spec = {"higherWorkloadDensity": {"memoryOvercommitPercentage": 150.0}}
    found = kubevirt_of(body(spec), NEWEST)
    assert value(found, f"{C}.developerConfiguration.memoryOvercommit") == 150


def test_a_patch_on_something_else_must_be_one_too() -> None:
    name = "ssp.kubevirt.io/jsonpatch"
    found = kubevirt_of(body({}, **{name: "[{}]"}), NEWEST)
    assert refused(found) == [
        (
            f"metadata.annotations[{name}]",
            f"invalid jsonPatch in the {name} annotation: invalid operation {{}}: unsupported operation",
        )
    ]


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ({"operator": "In"}, "for 'in', 'notin' operators, values set can't be empty"),
        ({"operator": "Exists", "values": ["a"]}, "values set must be empty for exists"),
        ({"operator": "Gt", "values": ["1", "2"]}, "exactly one value is required"),
        ({"operator": "Lt", "values": ["a"]}, "the value must be an integer"),
        ({"operator": "in", "values": ["a"]}, 'Unsupported value: "in"'),
    ],
)
def test_required_affinity(requested: dict[str, Any], message: str) -> None:
    term = {"matchExpressions": [{"key": "a", **requested}]}
    held = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    spec = {"infra": {"nodePlacement": {"affinity": {"nodeAffinity": held}}}}
    ((_, text),) = refused(kubevirt_of(body(spec), NEWEST))
    assert text.startswith("invalid infra node placement affinity: nodeSelectorTerms[0].matchExp")
    assert message in text
    assert kubevirt_of(body(spec), (1, 5, 3)).refusal is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"type": "Custom"}, "missing required field spec.tlsSecurityProfile.custom when type is Custom"),
        ({"custom": {}}, "invalid value for spec.tlsSecurityProfile.custom.minTLSVersion"),
        ({"custom": {"minTLSVersion": "VersionTLS12"}}, "http2: TLSConfig.CipherSuites is missing"),
        ({"custom": {"minTLSVersion": "VersionTLS13", "ciphers": ["A"]}}, "custom ciphers cannot be selected"),
    ],
)  # fmt: skip
def test_tls_profiles(spec: dict[str, Any], message: str) -> None:
    found = kubevirt_of(body({"tlsSecurityProfile": {"type": "Custom"} | spec}), NEWEST)
    ((path, text),) = refused(found)
    assert path == "spec.tlsSecurityProfile.custom"
    assert text.startswith(message)


def test_image_templates_are_looked_at_before_anything_is_written() -> None:
    template = {"metadata": {"name": "a", "annotations": {}}}
    found = kubevirt_of(body({"dataImportCronTemplates": [template]}), NEWEST)
    assert refused(found) == [
        (
            "spec.dataImportCronTemplates[0]",
            "dataImportCronTemplate spec is empty for an enabled DataImportCronTemplate",
        )
    ]


@pytest.mark.parametrize(
    "spec",
    [
        {"featureGates": [None]},
        {"featureGates": [{}]},
        {"virtualization": {"mediatedDevicesConfiguration": {"nodeMediatedDeviceTypes": [None]}}},
    ],
)
def test_lists_with_holes_are_refused(spec: dict[str, Any]) -> None:
    assert kubevirt_of(body(spec, api="v1"), NEWEST).refusal is not None
