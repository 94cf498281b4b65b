"""What CDI refuses, by version, settings and place: which of its versions counts, and what is said of the others."""

from typing import Any

import pytest

from render import Diagnostic, Settings, render
from render.admission.cdi import schedule
from render.model.apimachinery import urls

Json = dict[str, Any]
SIZE: Json = {"resources": {"requests": {"storage": "1Gi"}}}
WEB: Json = {"url": "https://example.org/disk.img"}


def obj(kind: str, spec: Json, **metadata: Any) -> Json:
    named = {"name": "it", "namespace": "prod", **metadata}
    return {"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": kind, "metadata": named, "spec": spec}


def volume(source: Json, **metadata: Any) -> Json:
    return obj("DataVolume", {"source": source, "storage": SIZE}, **metadata)


def cron(source: Json, **spec: Any) -> Json:
    template = {"spec": {"source": source, "storage": SIZE}}
    settings = {"managedDataSource": "it", "schedule": "@daily", "template": template, **spec}
    return obj("DataImportCron", settings)


def vm(template: Json, kind: str = "VirtualMachine", **metadata: Any) -> Json:
    volumes = [{"name": "root", "dataVolume": {"name": "root"}}]
    disks = {"disks": [{"name": "root", "disk": {}}]}
    guest = {"spec": {"domain": {"memory": {"guest": "1Gi"}, "devices": disks}, "volumes": volumes}}
    templates = [{"metadata": {"name": "root"}, "spec": template}]
    spec = {"runStrategy": "Always", "dataVolumeTemplates": templates, "template": guest}
    named = {"name": "web", "namespace": "prod", **metadata}
    return {"apiVersion": "kubevirt.io/v1", "kind": kind, "metadata": named, "spec": spec}


def hyperconverged(version: str = "") -> Json:
    body: Json = {
        "apiVersion": "hco.kubevirt.io/v1beta1",
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"},
        "spec": {},
    }
    if version:
        body["status"] = {"versions": [{"name": "operator", "version": version}]}
    return body


def found(*objects: Json, **settings: Any) -> list[Diagnostic]:
    diagnostics = render(objects, Settings(**settings)).diagnostics
    return [diagnostic for diagnostic in diagnostics if diagnostic.code == "VR460"]


def told(*objects: Json, **settings: Any) -> list[tuple[str, str, str]]:
    return [
        (str(diagnostic.severity), diagnostic.check, diagnostic.message)
        for diagnostic in found(*objects, **settings)
    ]


SUM: Json = {"http": {**WEB, "checksum": "abc"}}
WRONG = "Invalid checksum format: invalid checksum format: expected 'algorithm:hash', got 'abc'"
LEFT_OUT = 'unknown field "spec.source.http.checksum": CDI'


def test_a_rule_of_some_versions_is_a_warning_that_names_them() -> None:
    alone = "(by CDI 1.65, 1.66 alone, and nothing says which one runs)"
    older = "1.60, 1.61, 1.62, 1.63, 1.64"
    assert told(volume(SUM)) == [
        ("warning", "cdi/checksum", f"{WRONG} {alone}"),
        ("info", "cdi/unknown-field", f"{LEFT_OUT} {older} leaves it out"),
    ]
    assert told(volume(SUM), admission="strict") == [("error", "cdi/checksum", WRONG)]


@pytest.mark.parametrize("version", ["1.18.0", "1.19.1", "4.22.0"])
def test_a_hyperconverged_brings_the_version_that_refuses(version: str) -> None:
    assert told(volume(SUM), hyperconverged(version)) == [("error", "cdi/checksum", WRONG)]


@pytest.mark.parametrize("version", ["1.14.0", "1.17.3", "4.18.2"])
def test_a_hyperconverged_brings_a_version_without_the_field(version: str) -> None:
    left_out = [("warning", "cdi/unknown-field", f"{LEFT_OUT} leaves it out")]
    assert told(volume(SUM), hyperconverged(version)) == left_out
    assert told(
        volume(SUM),
        hyperconverged(),
        kubevirt=f"1.{4 + int(version[2:].split('.', maxsplit=1)[0]) % 14}",
    )


def test_a_hyperconverged_that_does_not_say_its_version_brings_any() -> None:
    assert [severity for severity, *_ in told(volume(SUM), hyperconverged())] == ["warning", "info"]


def test_the_first_and_the_newest_refuse_in_other_words() -> None:
    assert told(cron({"http": WEB})) == [("error", "cdi/cron-source", "Missing source")]
    assert told(cron({"http": WEB}), hyperconverged("1.14.0")) == [
        ("error", "cdi/cron-source", "Missing registry source")
    ]


def test_what_only_older_versions_refuse_names_them() -> None:
    claim = {"pvc": {"namespace": "golden", "name": "fedora"}}
    assert told(cron(claim)) == [
        (
            "warning",
            "cdi/cron-source",
            "Missing registry source (by CDI 1.60, 1.61 alone, and nothing says which one runs)",
        )
    ]
    assert not found(cron(claim), admission="strict")
    imageio = {"url": "https://h/x", "diskId": "1", "secretRef": "s", "insecureSkipVerify": True}
    text = "spec.source.Imageio source Imageio is not valid"
    older = "(by CDI 1.60, 1.61, 1.62, 1.63 alone, and nothing says which one runs)"
    assert told(volume({"imageio": imageio}))[0] == ("warning", "cdi/imageio", f"{text} {older}")


def test_the_disk_of_a_vm_is_never_made() -> None:
    template = {"source": {"http": {"url": "ftp://h/x"}}, "storage": SIZE}
    (diagnostic,) = found(vm(template))
    assert diagnostic.is_error
    assert (diagnostic.field, diagnostic.resource and diagnostic.resource.name) == (
        "spec.dataVolumeTemplates[0].spec.source.HTTP.url",
        "web",
    )
    assert diagnostic.position is not None
    assert diagnostic.position.path[-2:] == ("http", "url")
    assert diagnostic.help.startswith("the VM is admitted, but its disk is never made; ")


def test_what_kubevirt_refuses_is_said_once() -> None:
    diagnostics = render([vm({"storage": SIZE})]).diagnostics
    assert [diagnostic.code for diagnostic in diagnostics if diagnostic.is_error] == ["VR436"]


def test_a_clone_of_what_is_known_needs_no_size() -> None:
    template = {"sourceRef": {"kind": "DataSource", "name": "fedora"}, "storage": {}}
    assert not found(vm(template))
    empty = obj("DataSource", {"source": {}}, name="fedora")
    (diagnostic,) = found(vm(template), empty)
    assert diagnostic.message == "DataVolume sourceRef not supported"
    full = {"source": {"pvc": {"namespace": "golden", "name": "fedora"}}}
    assert not found(vm(template), obj("DataSource", full, name="fedora"))
    elsewhere = obj("DataSource", {"source": {}}, name="fedora", namespace="golden")
    assert not found(vm(template), elsewhere)


@pytest.mark.parametrize(
    ("kind", "source", "lost"),
    [("DataSource", {"blank": {}}, "source"), ("Other", {"pvc": {"name": "a"}}, "sourceRef")],
)
def test_of_a_source_and_a_reference_kubevirt_drops_one(kind: str, source: Json, lost: str) -> None:
    reference = {"kind": kind, "name": "fedora", "namespace": "images"}
    storage = {"resources": {"requests": {"storage": "1Gi"}}}
    template = {"sourceRef": reference, "source": source, "storage": storage}
    (diagnostic,) = found(vm(template))
    assert diagnostic.check == "cdi/one-source"
    assert not diagnostic.is_error
    assert diagnostic.field == f"spec.dataVolumeTemplates[0].spec.{lost}"
    assert diagnostic.message.startswith(f"{lost} counts for nothing: KubeVirt makes the disk of")


def test_a_namespace_that_none_can_have_is_told_of_the_vm_alone() -> None:
    body = vm({"source": {"blank": {}}, "storage": {"resources": {"requests": {"storage": "1Gi"}}}})
    body["metadata"]["namespace"] = "Prod"
    assert not found(body)
    assert "VR129" in [each.code for each in render([body], Settings()).diagnostics]


def test_a_data_source_of_a_cron_is_filled_in_by_it() -> None:
    template = {"sourceRef": {"kind": "DataSource", "name": "fedora"}, "storage": {}}
    managed = obj("DataSource", {"source": {}}, name="fedora")
    managed["metadata"]["labels"] = {"cdi.kubevirt.io/dataImportCron": "fedora"}
    assert not found(vm(template), managed)


def test_a_pool_whose_vms_get_no_disk() -> None:
    inner = vm({"source": {"blank": {}}, "storage": {}})["spec"]
    labels = {"labels": {"app": "web"}}
    pool = {
        "apiVersion": "pool.kubevirt.io/v1beta1", "kind": "VirtualMachinePool",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {
            "selector": {"matchLabels": labels["labels"]},
            "virtualMachineTemplate": {"metadata": labels, "spec": inner},
        },
    }  # fmt: skip
    (diagnostic,) = [diagnostic for diagnostic in render([pool]).diagnostics if diagnostic.is_error]
    assert diagnostic.code == "VR441"
    assert "Storage size is missing" in diagnostic.message


def test_off_and_expand_ask_nothing() -> None:
    broken = (volume({}), vm({"source": {"http": {"url": "x"}}, "storage": SIZE}))
    assert [diagnostic.is_error for diagnostic in found(*broken)] == [True, True]
    assert not found(*broken, admission="off")
    assert not found(*broken, emit="expand")


@pytest.mark.parametrize("body", [volume({}), vm({"source": {"blank": {}}, "storage": {}})])
def test_an_annotation_silences(body: Json) -> None:
    assert found(body)
    annotations = {"virt-render.dev/ignore.VR460": "made by hand"}
    metadata: Json = {**body["metadata"], "annotations": annotations}
    diagnostics = render([{**body, "metadata": metadata}]).diagnostics
    assert not [diagnostic for diagnostic in diagnostics if diagnostic.code in ("VR460", "VR120")]


@pytest.mark.parametrize("url", ["${IMAGE}", "{{ .Values.image }}"])
def test_what_is_still_to_be_filled_in_is_not_judged(url: str) -> None:
    assert not found(volume({"http": {"url": url}}))


def test_other_kinds_of_the_group_and_other_groups_are_not_judged() -> None:
    profile = obj("StorageProfile", {"claimPropertySets": 5})
    other = {**volume({}), "apiVersion": "example.org/v1"}
    assert not found(profile, other)


def test_a_claim_of_the_same_name() -> None:
    claim: Json = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "it", "namespace": "prod"}, "spec": {},
    }  # fmt: skip
    blank = volume({"blank": {}})
    text = "Destination PVC prod/it already exists"
    (diagnostic,) = found(blank, claim)
    assert (str(diagnostic.severity), diagnostic.field) == ("warning", "DataVolume.Name")
    assert diagnostic.message.startswith(
        f"{text} (the feature gate DataVolumeClaimAdoption of CDI decides"
    )
    assert told(blank, claim, admission="strict") == [("error", "cdi/claim-exists", text)]
    assert not found(blank, claim, hyperconverged("1.19.0"))
    key = "cdi.kubevirt.io/allowClaimAdoption"
    assert not found(volume({"blank": {}}, annotations={key: "true"}), claim)
    refusing = volume({"blank": {}}, annotations={key: "no"})
    assert told(refusing, claim, hyperconverged("1.19.0")) == [("error", "cdi/claim-exists", text)]
    metadata = {**claim["metadata"], "annotations": {"cdi.kubevirt.io/storage.populatedFor": "it"}}
    assert not found(blank, {**claim, "metadata": metadata})
    assert not found(blank, {**claim, "metadata": {"name": "it", "namespace": "test"}})


@pytest.mark.parametrize(
    "field", ["serviceAccountName", "source.http.checksum", "source.vddk.certConfigMap"]
)
def test_what_a_template_loses_is_said_with_the_unknown_field(field: str) -> None:
    source: Json = {"vddk": {}} if "vddk" in field else {"http": {**WEB}}
    spec: Json = {"source": source, "storage": SIZE}
    *above, key = field.split(".")
    place = spec
    for step in above:
        place = place[step]
    place[key] = "sha256:abc"
    (diagnostic,) = [
        diagnostic for diagnostic in render([vm(spec)]).diagnostics if diagnostic.code == "VR105"
    ]
    assert "a cluster drops it from a template without a word" in diagnostic.help
    assert diagnostic.help.endswith("such a checksum is never verified") is (key == "checksum")


def test_the_password_of_a_url_is_quoted_by_no_format() -> None:
    from render.report.findings import find
    from render.report.places import Sources

    registry = volume({"registry": {"url": "ftp://user:canary@h/x"}})
    diagnostics = found(registry)
    assert "canary" not in " ".join(item.text for item in find(diagnostics, Sources(())))


SCHEDULES = {
    True: (
        "* * * * *", "0 */12 * * *", "@every 1h30m", "@daily", "5-10/2,30 ? 1 JAN-mar sun",
        "TZ=Europe/Berlin 0 6 * * *", "CRON_TZ= 0 6 * * *", "TZ=UTC @hourly", "1/5 * * * *", "+5 0 * * *",
    ),
    False: (
        "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7",
        "1-2-3 * * * *", "1/2/3 * * * *", "5-1 * * * *", "*/0 * * * *", "-1 * * * *", "@Daily", "@every 1x",
        "TZ=Mars/Base 0 6 * * *", "mon * * * *", "a * * * *", "*/x * * * *",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("is_valid", "text"), [(ok, item) for ok, all_ in SCHEDULES.items() for item in all_]
)
def test_schedules(is_valid: bool, text: str) -> None:  # noqa: FBT001 - a parameter of the test
    assert schedule.is_valid(text) is is_valid


#: text -> what Go prints of it, None where it reads no URL.
URLS = {
    "docker://quay.io/x:latest": "docker://quay.io/x:latest",
    "HTTP://H/a b?c d#e f": "http://H/a%20b?c d#e%20f",
    "http://h/a%20b": "http://h/a%20b",
    "http://h/%zz": None,
    "http://[::1]:80/x": "http://[::1]:80/x",
    "http://[fe80::1%25en0]/": "http://[fe80::1%25en0]/",
    "http://[]/x": None,
    "http://[1.2.3.4]/": None,
    "http://[::1/": None,
    "http://a[::1]/": None,
    "http://h:port/": None,
    "http://h:1:2/": None,
    "docker://h:1:2/": "docker://h:1:2/",
    "http://h^/": None,
    "http://h%20x/": None,
    "http://h%C3%A9/": "http://h%C3%A9/",
    "http://user:p@h/": "http://user:p@h/",
    "http://us er@h/": None,
    "a:b:c": "a:b:c",
    "1a:b": None,
    ":x": None,
    "*": "*",
    "x/y?": "x/y?",
    "./a:b": "./a:b",
    "http:/x": "http:/x",
    "http://": "http:",
    "///x": "///x",
    "http://h/\x7f": None,
}  # fmt: skip


@pytest.mark.parametrize("text", URLS)
def test_urls_are_read_and_printed_as_go_does(text: str) -> None:
    try:
        printed: str | None = str(urls.parse(text))
    except urls.URLError:
        printed = None
    assert printed == URLS[text]


@pytest.mark.parametrize("target", ["pvc", "storage"])
def test_a_claim_with_a_mode_that_is_none_is_told(target: str) -> None:
    """CDI takes the DataVolume, and the API server refuses the claim that it makes."""
    claim = {**SIZE, "accessModes": ["ReadWriteOnce"], "volumeMode": "block"}
    (told_,) = found(obj("DataVolume", {"source": {"blank": {}}, target: claim}))
    assert (str(told_.severity), told_.field) == ("warning", f"spec.{target}.volumeMode")
    assert told_.message.endswith(
        'spec.volumeMode: Unsupported value: "block": supported values: "Block", "Filesystem"'
    )
    assert told_.help == "did you mean Block?"
    for mode in ("Block", "Filesystem", "FromStorageProfile"):
        good = {**claim, "volumeMode": mode}
        assert not found(obj("DataVolume", {"source": {"blank": {}}, target: good}))


def test_the_mode_of_a_cron_is_told_in_its_template() -> None:
    storage = {**SIZE, "volumeMode": "block"}
    source = {"registry": {"url": "docker://registry.example.com/disk"}}
    template = {"spec": {"source": source, "storage": storage}}
    (told_,) = found(cron({}, template=template))
    assert told_.field == "spec.template.spec.storage.volumeMode"
