"""Typed normalisation, rule by rule."""

import copy
from typing import Any

import pytest

from render.diagnostics.cause import Cause
from render.diagnostics.codes import of_check
from render.diagnostics.diagnostic import Severity
from render.model import fieldpath
from render.model.release import NEWEST
from render.model.resource import from_body
from render.schemas import decode, decode_resource, encode
from render.yaml.reader import read

VM = "kubevirt.VirtualMachine"
VMI_SPEC = "kubevirt.VirtualMachineInstanceSpec"
DOMAIN = "kubevirt.DomainSpec"
SPEC = "kubevirt.VirtualMachineSpec"
INSTANCETYPE = "instancetype.VirtualMachineInstancetypeSpec"


def findings(tree: dict[str, Any], type_name: str) -> list[tuple[str, str, str]]:
    """Number of the code, field and message."""
    _, causes = decode(tree, type_name, NEWEST)
    return [(of_check(p.check).number, fieldpath.text(p.path), p.message) for p in causes]


def only(tree: dict[str, Any], type_name: str) -> Cause:
    _, causes = decode(tree, type_name, NEWEST)
    assert len(causes) == 1, causes
    return causes[0]


def kept(tree: dict[str, Any], type_name: str) -> dict[str, Any]:
    found, causes = decode(tree, type_name, NEWEST)
    assert causes == []
    return found


def test_go_empty_values_vanish() -> None:
    cpu = {"cores": 0, "sockets": 2, "model": "", "dedicatedCpuPlacement": False, "features": []}
    assert kept(cpu, "kubevirt.CPU") == {"sockets": 2}
    spec = {"domain": {"devices": {}}, "nodeSelector": {}, "tolerations": [], "hostname": ""}
    assert kept(spec, VMI_SPEC) == {"domain": {"devices": {}}}


def test_what_a_pointer_leads_to_stays() -> None:
    domain = {
        "devices": {"autoattachPodInterface": False, "tpm": {}, "rng": {}},
        "memory": {},
        "cpu": {},
        "clock": {},
    }
    assert kept(domain, DOMAIN) == domain
    assert kept({"domain": {"devices": {}}, "terminationGracePeriodSeconds": 0}, VMI_SPEC) == {
        "domain": {"devices": {}},
        "terminationGracePeriodSeconds": 0,
    }


def test_the_input_is_not_changed() -> None:
    tree = {
        "metadata": {"name": "a", "creationTimestamp": None},
        "spec": {
            "template": {"spec": {"domain": {"devices": {"disks": []}, "cpu": {"cores": 0}}}},
            "bogus": 1,
        },
    }
    before = copy.deepcopy(tree)
    found, _ = decode(tree, VM, NEWEST)
    encode(found, VM, NEWEST)
    assert tree == before


@pytest.mark.parametrize(
    ("raw", "canonical"),
    [("1024Mi", "1Gi"), (1000, "1k"), (2.0, "2"), ("0.5Gi", "512Mi"), ("+1Gi", "+1Gi")],
)
def test_quantities_become_canonical(raw: str | float, canonical: str) -> None:
    assert kept({"guest": raw}, "kubevirt.Memory") == {"guest": canonical}
    requests = {"requests": {"memory": raw}}
    assert kept(requests, "kubevirt.ResourceRequirements") == {"requests": {"memory": canonical}}


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("2gb", "quantities must match the regular expression"),
        ("2K", "unable to parse quantity's suffix"),
        ("Gi", "no number before the suffix"),
        (".", "no number before the suffix"),
        (" 1Gi", "a space around it"),
        (1.5, "a fraction must be written as a string"),
        ("9" * 2000, "must not have more than 1000 digits"),
    ],
)
def test_no_quantity(raw: str | float, text: str) -> None:
    cause = only({"guest": raw}, "kubevirt.Memory")
    assert of_check(cause.check).number == "VR108"
    assert text in cause.message
    assert len(cause.message) < 300


def test_hugepages_are_no_quantity() -> None:
    assert kept({"pageSize": "1024Mi"}, "kubevirt.Hugepages") == {"pageSize": "1024Mi"}


def test_addresses_are_sanitised() -> None:
    spec = {
        "domain": {"devices": {"interfaces": [
            {"name": "n", "dhcpOptions": {"ntpServers": ["010.0.0.1", "10.0.0.010", "ntp"]}},
        ]}},
        "dnsConfig": {"nameservers": ["::ffff:10.0.0.1", "1.1.1.01", "::ffff:1.2.3.04"]},
        "networks": [{"name": "n", "pod": {
            "vmNetworkCIDR": "010.0.2.5/24", "vmIPv6NetworkCIDR": "fd10:0::/64",
        }}],
    }  # fmt: skip
    found = kept(spec, VMI_SPEC)
    assert found["dnsConfig"] == {"nameservers": ["10.0.0.1", "1.1.1.1", "1.2.3.4"]}
    assert found["networks"][0]["pod"] == {
        "vmNetworkCIDR": "10.0.2.5/24",
        "vmIPv6NetworkCIDR": "fd10:0::/64",
    }
    assert found["domain"]["devices"]["interfaces"][0]["dhcpOptions"] == {
        "ntpServers": ["10.0.0.1", "10.0.0.10", "ntp"]
    }


def test_an_unknown_field_names_its_path_and_the_nearest() -> None:
    cause = only({"spec": {"template": {"spec": {"domain": {"devices": {}, "memry": {}}}}}}, VM)
    assert cause.message == (
        'unknown field "memry": spec.template.spec.domain.memry in body is a forbidden property'
    )
    assert cause.help == 'did you mean "memory"?'
    assert cause.path == ("spec", "template", "spec", "domain", "memry")


def test_an_unknown_field_is_dropped_and_its_siblings_stay() -> None:
    found, causes = decode({"Cores": 4, "cores": 2}, "kubevirt.CPU", NEWEST)
    assert found == {"cores": 2}
    assert [p.help for p in causes] == ['did you mean "cores"?']


def test_paths_have_indexes_and_kubevirts_text_has_none() -> None:
    tree = {"disks": [{"name": "a"}, {"name": "b", "Cdrom": {}}]}
    assert findings(tree, "kubevirt.Devices") == [
        (
            "VR105",
            "disks[1].Cdrom",
            'unknown field "Cdrom": disks.Cdrom in body is a forbidden property',
        )
    ]


@pytest.mark.parametrize(
    ("tree", "type_name", "text"),
    [
        ({"devices": 3}, DOMAIN, 'got a whole number: devices in body must be of type object: "number"'),
        ({"cores": "2"}, "kubevirt.CPU", 'got a string: cores in body must be of type integer: "string"'),
        ({"cores": 1.5}, "kubevirt.CPU", 'must be of type integer: "number"'),
        ({"cores": True}, "kubevirt.CPU", 'must be of type integer: "boolean"'),
        ({"model": True}, "kubevirt.CPU", 'must be of type string: "boolean"'),
        ({"features": {}}, "kubevirt.CPU", 'must be of type array: "object"'),
        ({"features": [None]}, "kubevirt.CPU", 'features in body must be of type object: "null"'),
        ({"labels": {"a": 1}}, "meta.ObjectMeta", 'labels.a in body must be of type string: "number"'),
        ({"guest": {}}, "kubevirt.Memory", 'guest in body must be of type string,integer,number: "object"'),
        ({"port": []}, "core.TCPSocketAction", 'port in body must be of type string,integer: "array"'),
    ],
)  # fmt: skip
def test_wrong_types(tree: dict[str, Any], type_name: str, text: str) -> None:
    cause = only(tree, type_name)
    assert of_check(cause.check).number == "VR106"
    assert text in cause.message


@pytest.mark.parametrize(
    ("tree", "type_name", "cure"),
    [
        ({"cpu": 2, "devices": {}}, DOMAIN, "write `cpu: {cores: 2}`"),
        ({"memory": "2Gi", "devices": {}}, DOMAIN, "write `memory: {guest: 2Gi}`"),
        ({"cpu": 2, "memory": {"guest": "1Gi"}}, INSTANCETYPE, "write `cpu: {guest: 2}`"),
        ({"cpu": 2}, "instancetype.VirtualMachinePreferenceSpec", "write a mapping: "),
        ({"machine": "q35", "devices": {}}, DOMAIN, "write `machine: {type: q35}`"),
        ({"bootloader": "efi"}, "kubevirt.Firmware", "write `bootloader: {efi: {}}`"),
        ({"features": {}}, "kubevirt.CPU", "write a list: "),
        ({"devices": 3}, DOMAIN, "write a mapping: "),
    ],
)
def test_how_a_value_of_another_type_is_written(
    tree: dict[str, Any], type_name: str, cure: str
) -> None:
    assert only(tree, type_name).help.startswith(cure)


@pytest.mark.parametrize(("value", "strategy"), [(True, "Always"), (False, "Halted")])
def test_a_run_strategy_is_no_boolean_in_quotes(*, value: bool, strategy: str) -> None:
    """It was meant for `running`: `"true"` would be refused as well."""
    cause = only({"runStrategy": value, "template": {"spec": {"domain": {"devices": {}}}}}, SPEC)
    assert cause.help == f"write {strategy}"
    assert [fix.safe for fix in cause.fixes] == [False]


@pytest.mark.parametrize(
    ("tree", "type_name", "found"),
    [
        ({"cores": 2.0}, "kubevirt.CPU", {"cores": 2}),
        ({"port": 80.0}, "core.TCPSocketAction", {"port": 80}),
    ],
)
def test_a_whole_number_may_be_written_with_a_fraction(
    tree: dict[str, Any], type_name: str, found: dict[str, Any]
) -> None:
    assert decode(tree, type_name, NEWEST) == (found, [])


def test_null_is_dropped_or_missing() -> None:
    kept, (cause,) = decode({"labels": {"a": None, "b": "c"}}, "meta.ObjectMeta", NEWEST)
    assert (of_check(cause.check).number, cause.path, kept) == (
        "VR114",
        ("labels", "a"),
        {"labels": {"b": "c"}},
    )
    assert only({"devices": None}, DOMAIN).check == "missing-field"
    assert only({"devices": {}, "chassis": None}, DOMAIN).check == "content-dropped"


@pytest.mark.parametrize(
    ("tree", "type_name", "cure"),
    [
        (
            {"source": {"secret": {"secretName": "keys"}}},
            "kubevirt.SSHPublicKeyAccessCredential",
            "add `propagationMethod` as `{noCloud: {}}` or `{configDrive: {}}` or `{qemuGuestAgent: {users: [USER]}}`",
        ),
        (
            {"propagationMethod": {"qemuGuestAgent": {}}},
            "kubevirt.UserPasswordAccessCredential",
            "add `source` as `{secret: {secretName: NAME}}`",
        ),
        (
            {"metadata": {"name": "root"}},
            "kubevirt.DataVolumeTemplateSpec",
            (
                "add `spec` as "
                "`{source: {registry: {url: URL}}, storage: {resources: {requests: {storage: 10Gi}}}}`"
            ),
        ),
    ],
)
def test_nothing_empty_is_added_where_kubevirt_wants_something_inside(
    tree: dict[str, Any], type_name: str, cure: str
) -> None:
    cause = only(tree, type_name)
    assert (cause.check, cause.help, cause.fixes) == ("missing-field", cure, ())
    field = cause.help.split("`")[1]
    for way in cause.help.split("`")[3::2]:
        added = read(way.encode(), "way.yaml").documents[0].body
        assert decode({**tree, field: added}, type_name, NEWEST)[1] == []


@pytest.mark.parametrize("holder", ["template", "dataVolumeTemplates"])
@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        (None, '.metadata in body must be of type object: "null"'),
        ({"labels": None}, '.metadata.labels in body must be of type object: "null"'),
        ({"labels": {"a": None}}, '.metadata.labels.a in body must be of type string: "null"'),
        ({"name": None}, '.metadata.name in body must be of type string: "null"'),
        ({"finalizers": [None]}, '.metadata.finalizers in body must be of type string: "null"'),
    ],
)
def test_nulls_in_the_metadata_of_a_template_reach_the_webhook(
    holder: str, metadata: Any, text: str
) -> None:
    """Its CRD preserves what stands there, so that the API server prunes nothing."""
    inner = {"metadata": metadata, "spec": {"domain": {"devices": {}}}}
    item = {"metadata": metadata, "spec": {}}
    spec = {"template": inner} if holder == "template" else {"dataVolumeTemplates": [item]}
    (cause,) = decode({"spec": spec}, VM, NEWEST)[1][:1]
    assert of_check(cause.check).number == "VR106"
    assert text in cause.message


def test_a_null_creation_timestamp_is_what_kubectl_writes() -> None:
    metadata = {"creationTimestamp": None, "labels": {"a": "b"}}
    template = {"metadata": metadata, "spec": {"domain": {"devices": {}}}}
    assert findings({"spec": {"template": template}}, VM) == []


@pytest.mark.parametrize("number", [-1, 2**32, 10**5000], ids=["negative", "large", "huge"])
def test_what_the_go_type_cannot_hold(number: int) -> None:
    cause = only({"cores": number}, "kubevirt.CPU")
    assert of_check(cause.check).number == "VR109"
    assert "must be a whole number from 0 to 4294967295" in cause.message
    assert len(cause.message) < 200


def test_missing_fields() -> None:
    assert findings({"spec": {"template": {"spec": {}}}}, VM) == [
        (
            "VR107",
            "spec.template.spec.domain",
            'missing field "domain": spec.template.spec.domain in body is required',
        )
    ]
    assert only({}, DOMAIN).help == "add `devices: {}`"
    assert only({}, "kubevirt.Disk").help == "add `name`"
    assert only({}, VM).help.startswith("add `spec`, at least `spec: {runStrategy: Always, ")
    assert only({"spec": {}}, VM).help.startswith("add `template`, at least `template: {spec: ")


@pytest.mark.parametrize("spec", [{}, {"spec": {"template": {"spec": {}}}}, {"spec": {}}])
def test_the_least_that_is_missing_is_enough(spec: dict[str, Any]) -> None:
    name, shape = only(spec, VM).help.split("`")[3].split(": ", 1)
    value = read(f"v: {shape}".encode(), "f.yaml").documents[0].body["v"]
    inner = {"template": {"spec": {name: value}}} if name == "domain" else {name: value}
    assert findings(inner if name == "spec" else {"spec": inner}, VM) == []
    assert kept({"metadata": {}, "spec": {"template": {}}}, VM)["spec"] == {"template": {}}


@pytest.mark.parametrize(
    "volume",
    [
        {"persistentVolumeClaim": {}},
        {"ephemeral": {"persistentVolumeClaim": {}}},
        {"memoryDump": {}},
    ],
)
def test_claim_names_are_required(volume: dict[str, Any]) -> None:
    cause = only({"name": "v", **volume}, "kubevirt.Volume")
    assert cause.path[-1] == "claimName"


def test_the_machine_type_is_not_required() -> None:
    assert kept({}, "kubevirt.Machine") == {}
    assert encode({}, "kubevirt.Machine", NEWEST) == {"type": ""}


@pytest.mark.parametrize("value", ["", "clusterfirst"])
def test_enumerations(value: str) -> None:
    cause = only({"domain": {"devices": {}}, "dnsPolicy": value}, VMI_SPEC)
    assert of_check(cause.check).number == "VR109"
    assert (
        "dnsPolicy in body should be one of [ClusterFirst ClusterFirstWithHostNet Default None]"
        in cause.message
    )


def test_server_side_fields_go() -> None:
    tree = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {
            "name": "vm",
            "creationTimestamp": None,
            "managedFields": [{"manager": "kubectl"}],
            "labels": None,
        },
        "spec": {"template": {"metadata": {"creationTimestamp": None}, "spec": {"domain": {"devices": {}}}}},
        "status": {"anything": [1], "instancetypeRef": {"name": "it"}, "preferenceRef": 3},
    }  # fmt: skip
    found = kept(tree, VM)
    assert found["metadata"] == {"name": "vm"}
    assert found["status"] == {"instancetypeRef": {"name": "it"}}
    assert found["spec"]["template"]["metadata"] == {}


def test_encoding_adds_what_go_always_writes() -> None:
    tree = {
        "spec": {
            "template": {
                "spec": {
                    "domain": {
                        "machine": {},
                        "features": {},
                        "devices": {
                            "inputs": [{"bus": "usb"}],
                            "filesystems": [{"name": "f"}],
                        },
                    },
                    "volumes": [{"name": "e", "emptyDisk": {}}],
                }
            },
            "dataVolumeTemplates": [{"spec": {"pvc": {"dataSource": {"kind": "k", "name": "n"}}}}],
        }
    }
    assert encode(tree, VM, NEWEST) == {
        "metadata": {},
        "spec": {
            "template": {
                "metadata": {},
                "spec": {
                    "domain": {
                        "machine": {"type": ""},
                        "features": {"acpi": {}},
                        "devices": {
                            "inputs": [{"bus": "usb", "type": "", "name": ""}],
                            "filesystems": [{"name": "f", "virtiofs": None}],
                        },
                        "resources": {},
                    },
                    "volumes": [{"name": "e", "emptyDisk": {"capacity": "0"}}],
                },
            },
            "dataVolumeTemplates": [
                {
                    "metadata": {},
                    "spec": {
                        "pvc": {
                            "dataSource": {"kind": "k", "name": "n", "apiGroup": None},
                            "resources": {},
                        }
                    },
                }
            ],
        },
    }


def test_encoding_an_instancetype() -> None:
    assert encode({}, "instancetype.VirtualMachineInstancetypeSpec", NEWEST) == {
        "cpu": {"guest": 0},
        "memory": {"guest": "0"},
    }


def test_a_resource_gives_diagnostics() -> None:
    body = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "it"},
        "spec": {"cpu": {"guest": 1, "gust": 2}, "memory": {"guest": "1024Mi"}},
    }
    tree, diagnostics = decode_resource(from_body(body, 7), NEWEST)
    assert tree["spec"] == {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    (found,) = diagnostics
    assert (found.code, found.severity, found.field) == ("VR105", Severity.ERROR, "spec.cpu.gust")
    assert found.location.index == 7
    assert found.help == 'did you mean "guest"?'


def test_foreign_kinds_are_left_alone() -> None:
    body = {"apiVersion": "example.org/v1", "kind": "VirtualMachine", "spec": {"memory": "1024Mi"}}
    tree, diagnostics = decode_resource(from_body(body, 0), NEWEST)
    assert tree is body
    assert diagnostics == []


def test_a_quantity_that_go_prints_in_two_steps() -> None:
    body = {"requests": {"memory": "62.5Ki"}}
    decoded, causes = decode(body, "kubevirt.ResourceRequirements", NEWEST)
    assert (decoded, causes) == ({"requests": {"memory": "64k"}}, [])
