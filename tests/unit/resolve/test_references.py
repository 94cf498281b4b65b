"""Names that lead nowhere: said where only a slip explains them, and nowhere else."""

from typing import Any

import pytest

from render import Diagnostic, Settings, render

Json = dict[str, Any]
CLAIM = "PersistentVolumeClaim"


def vm(namespace: str = "prod", **spec: Any) -> Json:
    metadata = {"name": "web"} | ({"namespace": namespace} if namespace else {})
    own = {key: spec.pop(key) for key in ("dataVolumeTemplates",) if key in spec}
    domain = {"memory": {"guest": "1Gi"}, "devices": spec.pop("devices", {})}
    template = {"spec": {"domain": domain, **spec}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": {"runStrategy": "Always", "template": template, **own},
    }


def with_volume(source: str, value: Json, namespace: str = "prod") -> Json:
    return vm(namespace, volumes=[{"name": "v", source: value}])


def thing(kind: str, name: str, namespace: str = "prod", version: str = "v1", **more: Any) -> Json:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def found(*objects: Json, **settings: Any) -> list[Diagnostic]:
    every = render(list(objects), Settings(emit="source", **settings)).diagnostics
    return [diagnostic for diagnostic in every if diagnostic.code == "VR455"]


def checks(*objects: Json, **settings: Any) -> list[str]:
    return [item.check.removeprefix("reference/") for item in found(*objects, **settings)]


NAD = "k8s.cni.cncf.io/v1"
#: A VM that names "web-init", and an object of another name of the kind that is meant.
NAMING = {
    "secret": (with_volume("secret", {"secretName": "web-init"}), ("Secret", "v1")),
    "config map": (with_volume("configMap", {"name": "web-init"}), ("ConfigMap", "v1")),
    "service account": (
        with_volume("serviceAccount", {"serviceAccountName": "web-init"}),
        ("ServiceAccount", "v1"),
    ),
    "claim": (with_volume("persistentVolumeClaim", {"claimName": "web-init"}), (CLAIM, "v1")),
    "claim of a DataVolume": (
        with_volume("persistentVolumeClaim", {"claimName": "web-init"}),
        ("DataVolume", "cdi.kubevirt.io/v1beta1"),
    ),
    "ephemeral claim": (
        with_volume("ephemeral", {"persistentVolumeClaim": {"claimName": "web-init"}}),
        (CLAIM, "v1"),
    ),
    "DataVolume": (
        with_volume("dataVolume", {"name": "web-init"}),
        ("DataVolume", "cdi.kubevirt.io/v1beta1"),
    ),
    "user data": (
        with_volume("cloudInitNoCloud", {"secretRef": {"name": "web-init"}}),
        ("Secret", "v1"),
    ),
    "network data": (
        with_volume("cloudInitConfigDrive", {"networkDataSecretRef": {"name": "web-init"}}),
        ("Secret", "v1"),
    ),
    "sysprep": (with_volume("sysprep", {"configMap": {"name": "web-init"}}), ("ConfigMap", "v1")),
    "pull secret": (
        with_volume("containerDisk", {"image": "x", "imagePullSecret": "web-init"}),
        ("Secret", "v1"),
    ),
    "SSH keys": (
        vm(
            volumes=[],
            accessCredentials=[
                {
                    "sshPublicKey": {
                        "source": {"secret": {"secretName": "web-init"}},
                        "propagationMethod": {"qemuGuestAgent": {"users": ["a"]}},
                    }
                }
            ],
        ),
        ("Secret", "v1"),
    ),
    "network": (
        vm(networks=[{"name": "a", "multus": {"networkName": "web-init"}}]),
        ("NetworkAttachmentDefinition", NAD),
    ),
    "network of a namespace": (
        vm(networks=[{"name": "a", "multus": {"networkName": "prod/web-init"}}], namespace="dev"),
        ("NetworkAttachmentDefinition", NAD),
    ),
}


@pytest.mark.parametrize("name", NAMING)
def test_a_name_one_slip_away(name: str) -> None:
    machine, (kind, version) = NAMING[name]
    (diagnostic,) = found(machine, thing(kind, "web-innit", version=version))
    assert diagnostic.check == "reference/slip"
    assert diagnostic.message.endswith("web-init is not in the input, but web-innit is")
    assert diagnostic.related[0].location.resource == (kind, "prod", "web-innit")
    assert str(diagnostic.severity) == "warning"


@pytest.mark.parametrize("name", NAMING)
def test_nothing_is_said_of_what_is_there_or_nowhere(name: str) -> None:
    machine, (kind, version) = NAMING[name]
    other = thing(kind, "web-innit", version=version)
    keys: Json = {"data": {"userdata": "eA==", "networkdata": "eA=="}} if kind == "Secret" else {}
    assert checks(machine) == []
    assert checks(machine, thing(kind, "database", version=version)) == []
    assert checks(machine, thing(kind, "web-init", version=version, **keys), other) == []
    assert checks(machine, other, admission="off") == []


def test_a_priority_class_is_of_no_namespace() -> None:
    other = thing("PriorityClass", "important", "", "scheduling.k8s.io/v1", value=1)
    assert checks(vm(volumes=[], priorityClassName="imporant"), other) == ["slip"]
    assert checks(vm(volumes=[], priorityClassName="important"), other) == []


NAMES_SECRET = NAMING["secret"][0]
NAMES_CLAIM = NAMING["claim"][0]


@pytest.mark.parametrize(
    "others",
    [
        [thing("Secret", "web-innit", "dev")],
        [thing("Secret", "web-innit", "")],
        [thing("ConfigMap", "web-innit")],
        [thing("SealedSecret", "web-init", version="bitnami.com/v1alpha1"), thing("Secret", "web-innit")],
        [
            thing("ExternalSecret", "x", version="external-secrets.io/v1", spec={"target": {"name": "web-init"}}),
            thing("Secret", "web-innit"),
        ],
        [thing("Secret", "web-init", ""), thing("Secret", "web-innit")],
        [thing("Secret", "web-innit"), thing("Secret", "web-inits")],
    ],
)  # fmt: skip
def test_nothing_is_said_where_nobody_can_be_sure(others: list[Json]) -> None:
    assert checks(NAMES_SECRET, *others) == []


def test_what_the_vm_names_too_is_not_what_it_meant() -> None:
    volumes = [{"name": name, "secret": {"secretName": name}} for name in ("web-init", "web-innit")]
    assert checks(vm(volumes=volumes), thing("Secret", "web-innit")) == []


def test_templates_of_vms_make_claims() -> None:
    template = {"metadata": {"name": "web-init"}, "spec": {"storage": {}, "source": {"blank": {}}}}
    machine = vm(
        volumes=[{"name": "v", "dataVolume": {"name": "web-init"}}],
        dataVolumeTemplates=[template],
    )
    other = thing("DataVolume", "web-innit", version="cdi.kubevirt.io/v1beta1")
    assert checks(machine, other) == []


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("web-init-5gk2m6t7h8", ["hash"]),
        ("web-init-5gk2m6t7h", []),
        ("web-init-5gk2m6t7ha", []),
        ("web-init-x5gk2m6t7h8", []),
    ],
)
def test_the_hash_of_a_generator(name: str, messages: list[str]) -> None:
    assert checks(NAMES_SECRET, thing("Secret", name)) == messages


@pytest.mark.parametrize(
    ("reference", "key", "messages"),
    [
        ("secretRef", "userdata", []),
        ("secretRef", "userData", []),
        ("secretRef", "user-data", ["key"]),
        ("secretRef", "networkdata", ["key"]),
        ("networkDataSecretRef", "networkData", []),
        ("networkDataSecretRef", "userdata", ["key"]),
    ],
)
@pytest.mark.parametrize("holder", ["data", "stringData"])
def test_the_key_that_kubevirt_reads(
    reference: str, key: str, messages: list[str], holder: str
) -> None:
    machine = with_volume("cloudInitNoCloud", {reference: {"name": "web"}})
    assert checks(machine, {**thing("Secret", "web"), holder: {key: "eA=="}}) == messages


def test_a_secret_loses_what_stands_below_a_misspelt_field() -> None:
    """The API server leaves out a field that it does not know."""
    machine = with_volume("cloudInitNoCloud", {"secretRef": {"name": "web"}})
    (told,) = found(machine, thing("Secret", "web", stringdata={"userdata": "x"}))
    assert (told.check, told.code) == ("reference/key", "VR455")
    assert told.help.startswith("write stringData for stringdata")
    both = thing("Secret", "web", stringdata={"a": "x"}, data={"userdata": "eA=="})
    assert checks(machine, both) == []


def test_a_secret_without_content_gets_it_elsewhere() -> None:
    machine = with_volume("cloudInitNoCloud", {"secretRef": {"name": "web"}})
    assert checks(machine, thing("Secret", "web")) == []
    assert checks(machine, thing("Secret", "web", data=None)) == []
    assert checks(machine, thing("Secret", "web", stringData={})) == []


@pytest.mark.parametrize("name", NAMING)
def test_in_another_namespace_only_is_a_note(name: str) -> None:
    machine, (kind, version) = NAMING[name]
    (diagnostic,) = found(machine, thing(kind, "web-init", "stage", version))
    assert (diagnostic.check, str(diagnostic.severity)) == ("reference/namespace", "info")


def test_without_a_namespace_any_may_be_meant() -> None:
    machine = with_volume("secret", {"secretName": "web-init"}, namespace="")
    assert checks(machine, thing("Secret", "web-init", "stage")) == []
    assert checks(machine, thing("Secret", "web-innit", "")) == ["slip"]


def test_an_annotation_silences_it() -> None:
    machine = with_volume("secret", {"secretName": "web-init"})
    machine["metadata"]["annotations"] = {
        "virt-render.dev/ignore.VR455.slip": "there in the cluster"
    }
    assert checks(machine, thing("Secret", "web-innit")) == []


def test_many_names_are_compared_in_time() -> None:
    """Each with each would take a minute."""
    claims = [thing(CLAIM, f"{index:05}-of-many-data-volumes") for index in range(1000)]
    machines = []
    for index in range(1000):
        machine = with_volume(
            "persistentVolumeClaim", {"claimName": f"{index:05}-of-many-data-volume"}
        )
        machine["metadata"]["name"] = f"web{index}"
        machines.append(machine)
    assert len(found(*machines, *claims)) == 1000


NO_NAMES = {
    "a claim": with_volume("persistentVolumeClaim", {"claimName": "web_root"}),
    "a DataVolume": with_volume("dataVolume", {"name": "Web-root"}),
    "a Secret": with_volume("secret", {"secretName": "web-root-"}),
    "a ConfigMap": with_volume("configMap", {"name": "web root"}),
    "a Secret for images": with_volume("containerDisk", {"image": "a", "imagePullSecret": "A"}),
    "a Secret with cloud-init": with_volume(
        "cloudInitNoCloud", {"secretRef": {"name": "web_init"}}
    ),
    "a network": vm(networks=[{"name": "a", "multus": {"networkName": "VLAN10"}}]),
    "a network of a namespace": vm(
        networks=[{"name": "a", "multus": {"networkName": "infra/a/b"}}]
    ),
    "a network of no namespace": vm(networks=[{"name": "a", "multus": {"networkName": "/a"}}]),
}


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_name_that_no_object_can_have(name: str) -> None:
    (diagnostic,) = found(NO_NAMES[name])
    assert (diagnostic.check, str(diagnostic.severity)) == ("reference/name", "warning")
    assert "Kubernetes has no object of such a name" in diagnostic.message


@pytest.mark.parametrize(
    "machine",
    [
        with_volume("persistentVolumeClaim", {"claimName": "web.root-1"}),
        with_volume("persistentVolumeClaim", {"claimName": "${NAME}_root"}),
        with_volume("dataVolume", {"name": "__NAME__-root"}),
        with_volume("secret", {"secretName": "<name>"}),
        with_volume("serviceAccount", {"serviceAccountName": "A_B"}),
        vm(networks=[{"name": "a", "multus": {"networkName": "infra/vlan10"}}]),
        vm(networks=[{"name": "a", "multus": {"networkName": "1"}}]),
    ],
)
def test_a_name_that_an_object_may_have_or_that_is_filled_in_later(machine: Json) -> None:
    assert not found(machine)


def test_of_a_slip_it_is_told_what_was_meant() -> None:
    (diagnostic,) = found(
        with_volume("secret", {"secretName": "Web-init"}), thing("Secret", "web-init")
    )
    assert diagnostic.check == "reference/slip"


def test_a_name_that_no_object_can_have_is_not_suggested() -> None:
    assert not found(with_volume("secret", {"secretName": "web-init"}), thing("Secret", "Web-init"))


WITH_USER_DATA = with_volume("cloudInitNoCloud", {"secretRef": {"name": "web-init"}})


def undecodable(text: str, **more: Any) -> list[Diagnostic]:
    secret = thing("Secret", "web-init", data={"userdata": text}, **more)
    return [item for item in found(WITH_USER_DATA, secret) if item.check == "reference/base64"]


@pytest.mark.parametrize(
    "text",
    [
        "#cloud-config\npackages: [nginx]\n",
        "#cloud-config\nhostname: ${NAME}\n",
        "#cloud-config\nusers: [{name: {{ .user }}}]\n",
        "I2Nsb3VkLWNvbmZpZwo",
        "I2Nsb3Vk LWNvbmZpZwo=",
    ],
    ids=["text", "with a variable", "with a template", "without its end", "with a blank"],
)
def test_plain_text_below_data_of_a_secret_is_refused(text: str) -> None:
    [finding] = undecodable(text)
    assert finding.is_error
    assert finding.field == "data.userdata"
    assert "Secret prod/web-init: data.userdata is not base64" in finding.message
    assert text.partition("\n")[0] not in f"{finding.message} {finding.help}"


@pytest.mark.parametrize(
    "text",
    [
        "I2Nsb3VkLWNvbmZpZwo=",
        "I2Nsb3Vk\nLWNvbmZpZwo=\n",
        "",
        "ENC[AES256_GCM,data:w8E=,iv:a,tag:b,type:str]",
        "${USER_DATA}",
        "${USER_DATA_A}${USER_DATA_B}",
        "$USER_DATA",
        "{{ .Values.userData | b64enc }}",
        "{% if a %}YQ=={% endif %}",
        "<path:secret/data/web#userdata | base64encode>",
        "<userdata>",
        "@userdata@",
        "__USER_DATA__",
        "ref+vault://web/userdata",
        "CHANGE_ME",
        "change-me",
        "[redacted]",
        "***",
    ],
)
def test_what_others_fill_in_below_data_of_a_secret_is_left_alone(text: str) -> None:
    assert not undecodable(text)


def test_an_encrypted_secret_and_one_that_no_machine_names_are_left_alone() -> None:
    assert not undecodable("#cloud-config\n", sops={"mac": "x"})
    other = thing("Secret", "other-thing", data={"userdata": "#cloud-config\n"})
    assert not found(WITH_USER_DATA, other)


def test_a_secret_of_two_machines_is_refused_once() -> None:
    second = {**WITH_USER_DATA, "metadata": {"name": "web2", "namespace": "prod"}}
    secret = thing("Secret", "web-init", data={"userdata": "#cloud-config\n"})
    assert checks(WITH_USER_DATA, second, secret) == ["base64"]


def clone_of(name: str, namespace: str = "images") -> Json:
    reference = {"kind": "DataSource", "name": name, "namespace": namespace}
    spec = {"sourceRef": reference, "storage": {"resources": {"requests": {"storage": "9Gi"}}}}
    return vm(
        volumes=[{"name": "v", "dataVolume": {"name": "root"}}],
        dataVolumeTemplates=[{"metadata": {"name": "root"}, "spec": spec}],
    )


def test_a_slip_in_the_name_of_a_data_source() -> None:
    version = "cdi.kubevirt.io/v1beta1"
    fedora = thing("DataSource", "fedora", "images", version)
    [finding] = found(clone_of("fedroa"), fedora)
    assert finding.check == "reference/slip"
    assert finding.field == "spec.dataVolumeTemplates[0].spec.sourceRef.name"
    assert finding.message == "DataSource fedroa is not in the input, but fedora is"
    cron = thing("DataImportCron", "it", "images", version, spec={"managedDataSource": "fedroa"})
    for others in ([cron], [thing("DataSource", "fedroa", "images", version)]):
        assert not found(clone_of("fedroa"), fedora, *others)
    assert not found(clone_of("fedora"), fedora)
    assert not found(clone_of("fedroa", "golden"), fedora)
    assert not found(clone_of("rhel8"), thing("DataSource", "rhel9", "images", version))
