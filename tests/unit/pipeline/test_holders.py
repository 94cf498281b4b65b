"""Pools and replica sets: what they make is rendered where it stands, and findings point there."""

from typing import Any

import pytest

from render import Rendered, Settings, render
from render.diagnostics.codes import CODES
from render.model import tree
from render.pipeline import pinning
from render.resolve.renames import follow
from render.revisions import lockfile
from tests.support.pools import (
    SELECTOR,
    SMALL,
    VM,
    VMI,
    WITHIN,
    Json,
    changed,
    pool,
    replica_set,
    resources,
)


def rendered(*bodies: Json, **settings: Any) -> Rendered:
    return render(bodies, Settings(**settings))


def codes(result: Rendered) -> list[tuple[str, str]]:
    return [(found.code, found.field) for found in result.diagnostics]


def alone(vm: Json) -> Json:
    """The VM of a pool by itself."""
    metadata = {**vm["metadata"], "name": "web-0", "namespace": "shop"}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": vm["spec"],
    }


def test_a_pools_template_becomes_what_the_vm_becomes() -> None:
    result = rendered(SMALL, pool())
    assert result.diagnostics == ()
    body = result.resources[1]
    single = rendered(SMALL, alone(VM)).resources[1]
    template = tree.get(body, *WITHIN)
    assert template["spec"] == single["spec"]
    assert template["metadata"]["annotations"] == single["metadata"]["annotations"]
    assert template["metadata"].keys() == {"labels", "annotations"}
    assert body["kind"] == "VirtualMachinePool"
    assert body["spec"]["replicas"] == 3
    again = render(result.resources)
    assert again.resources == result.resources
    assert again.diagnostics == ()


def test_a_name_in_the_template_stays_there() -> None:
    named = changed(pool(), {"name": "mine", "labels": {"app": "web"}}, *WITHIN, "metadata")
    assert tree.get(rendered(SMALL, named).resources[1], *WITHIN, "metadata", "name") == "mine"


def test_the_instance_of_a_pool_is_its_first() -> None:
    asks = {"appendIndexToConfigMapRefs": True}
    vmi = rendered(SMALL, pool(nameGeneration=asks), emit="vmi").resources[1]
    assert vmi["kind"] == "VirtualMachineInstance"
    assert (vmi["metadata"]["name"], vmi["metadata"]["namespace"]) == ("web-0", "shop")
    assert vmi["spec"]["domain"]["memory"]["guest"] == "2Gi"
    volumes = vmi["spec"]["volumes"]
    assert volumes[0]["dataVolume"]["name"] == "root-0"
    assert volumes[1]["configMap"]["name"] == "settings-0"
    assert volumes[2]["secret"]["secretName"] == "key"


@pytest.mark.parametrize(
    ("release", "configuration", "secret", "data"),
    [
        ("1.5", "settings-0", "key-0", "data"),
        ("1.7", "settings-0", "key-0", "data"),
        ("1.8", "settings-0", "key-0", "data-0"),
    ],
)
def test_what_a_release_numbers(release: str, configuration: str, secret: str, data: str) -> None:
    asks = {"appendIndexToConfigMapRefs": True, "appendIndexToSecretRefs": True}
    inputs = changed(
        pool(nameGeneration=asks),
        f"pool.kubevirt.io/{'v1beta1' if release == '1.8' else 'v1alpha1'}",
        "apiVersion",
    )
    volumes = [
        *VMI["spec"]["volumes"],
        {"name": "init", "cloudInitNoCloud": {"secretRef": {"name": "data"}}},
    ]
    inputs = changed(inputs, volumes, *WITHIN, "spec", "template", "spec", "volumes")
    vmi = rendered(SMALL, inputs, emit="vmi", kubevirt=release).resources[1]
    found = {volume["name"]: volume for volume in vmi["spec"]["volumes"]}
    assert found["settings"]["configMap"]["name"] == configuration
    assert found["key"]["secret"]["secretName"] == secret
    assert found["init"]["cloudInitNoCloud"]["secretRef"]["name"] == data


def test_the_instance_of_a_replica_set_has_a_generated_name() -> None:
    vmi = rendered(replica_set(), emit="vmi").resources[0]
    assert vmi["metadata"]["generateName"] == "set"
    named = changed(replica_set(), "web-", "spec", "template", "metadata", "generateName")
    vmi = rendered(named, emit="vmi").resources[0]
    assert vmi["metadata"]["generateName"] == "web-"


def test_presets_reach_the_template_of_a_replica_set() -> None:
    preset: Json = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstancePreset",
        "metadata": {"name": "cores", "namespace": "shop"},
        "spec": {"selector": SELECTOR, "domain": {"cpu": {"cores": 4}}},
    }
    body = rendered(preset, replica_set(), kubevirt="v1.6").resources[-1]
    assert body["kind"] == "VirtualMachineInstanceReplicaSet"
    assert body["spec"]["template"]["spec"]["domain"]["cpu"]["cores"] == 4


@pytest.mark.parametrize("emit", ["hashed", "revisions"])
def test_matchers_of_a_pool_name_contents(emit: str) -> None:
    result = rendered(SMALL, pool(), emit=emit)
    inputs, beside = result.resources[1:]
    matcher = tree.get(inputs, *WITHIN, "spec", "instancetype")
    assert beside["metadata"]["name"] == matcher["revisionName" if emit == "revisions" else "name"]
    assert "spec" in (beside if emit == "hashed" else beside["data"])


def test_a_revision_is_there_before_its_pool() -> None:
    wave = {"argocd.argoproj.io/sync-wave": "-4"}
    early = changed(pool(), wave, "metadata", "annotations")
    beside = rendered(SMALL, early, emit="revisions").resources[-1]
    assert beside["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == "-5"


@pytest.mark.parametrize("body", [pool(), replica_set()])
def test_source_and_expand_leave_it_as_it_is(body: Json) -> None:
    assert rendered(SMALL, body, emit="source").resources[1] == body
    result = rendered(SMALL, body, emit="expand")
    assert result.resources[1] == body
    assert codes(result) == [("VR505", "")]


def test_findings_stand_in_the_template() -> None:
    body = changed(pool(), "tiny", *WITHIN, "spec", "instancetype", "name")
    (found,) = rendered(SMALL, body).diagnostics
    assert (found.code, found.field) == (
        "VR441",
        "spec.virtualMachineTemplate.spec.instancetype.name",
    )
    assert found.resource == ("VirtualMachinePool", "shop", "web")
    assert 'virtualmachineinstancetypes.instancetype.kubevirt.io "tiny" not found' in found.message


def test_what_a_pool_cannot_use_is_said_with_what_speaks_against_it() -> None:
    """Of several faults the first is the finding; each names what it conflicts with once."""
    own = {"devices": {}, "memory": {"guest": "1Gi"}, "cpu": {"cores": 1}}
    body = changed(pool(), own, *WITHIN, "spec", "template", "spec", "domain")
    (found,) = rendered(SMALL, body).diagnostics
    messages = [found.message, *(diagnostic.message for diagnostic in found.related)]
    assert [item.rpartition(" sets ")[2] for item in messages[1::2]] == [
        "cpu.guest: 2",
        "memory.guest: 2Gi",
    ]
    assert ["conflicts with" in item for item in messages] == [True, False, True, False]


def test_warnings_stand_there_too() -> None:
    vm = {key: value for key, value in VM["spec"].items() if key != "runStrategy"}
    body = changed(pool(), {**vm, "running": True}, *WITHIN, "spec")
    assert codes(rendered(SMALL, body)) == [("VR502", "spec.virtualMachineTemplate.spec.running")]


def test_what_the_pool_is_refused_for_is_not_said_of_its_vms_again() -> None:
    disks = {"devices": {"disks": [{"name": "none", "disk": {}}]}}
    body = changed(pool(), disks, *WITHIN, "spec", "template", "spec", "domain")
    found = codes(rendered(SMALL, body))
    assert [code for code, _ in found] == ["VR420"]


@pytest.mark.parametrize(
    ("more", "code", "field", "text"),
    [
        ({"replicas": "3"}, "VR106", "spec.replicas", 'must be of type integer: "string"'),
        ({"replicas": -1}, "VR440", "spec.replicas", "greater than or equal to 0"),
        ({"replicas": 2**31}, "VR109", "spec.replicas", "from -2147483648 to 2147483647"),
        ({"replica": 3}, "VR105", "spec.replica", "in body is a forbidden property"),
        ({"paused": "no"}, "VR106", "spec.paused", 'must be of type boolean: "string"'),
        ({"selector": None}, "VR107", "spec.selector", "spec.selector in body is required"),
        (
            {"nameGeneration": {"x": True}},
            "VR105",
            "spec.nameGeneration.x",
            "spec.nameGeneration.x in body is a forbidden property",
        ),
        (
            {"scaleInStrategy": {"proactive": {"selectionPolicy": {"sortPolicy": "Latest"}}}},
            "VR109",
            "spec.scaleInStrategy.proactive.selectionPolicy.sortPolicy",
            "should be one of [AscendingOrder DescendingOrder Newest Oldest Random]",
        ),
        (
            {"autohealing": {"startUpFailureThreshold": 0}},
            "VR440",
            "spec.autohealing.startUpFailureThreshold",
            "greater than or equal to 1",
        ),
        (
            {"autohealing": {"minFailingToStartDuration": "5x"}},
            "VR440",
            "spec.autohealing.minFailingToStartDuration",
            'invalid duration "5x"',
        ),
    ],
)
def test_the_schema_of_the_pool_itself(more: Json, code: str, field: str, text: str) -> None:
    result = rendered(SMALL, pool(**more), kubevirt="1.9")
    (found,) = result.diagnostics
    assert (found.code, found.field, found.is_error) == (code, field, True)
    assert text in found.message
    assert len(result.resources) == (1 if CODES[code].withholds else 2)


@pytest.mark.parametrize("place", [WITHIN, (*WITHIN, "spec", "template")])
def test_null_in_the_metadata_of_a_pool_is_what_go_makes_of_it(place: Any) -> None:
    """The CRD preserves what stands there, and no webhook has a schema of pools."""
    metadata = {"labels": {"app": "web"}, "annotations": {"a": None}, "finalizers": None}
    result = rendered(SMALL, changed(pool(), metadata, *place, "metadata"))
    assert result.diagnostics == ()
    read = tree.get(result.resources[1], *place, "metadata")
    assert read["annotations"]["a"] == ""
    assert "finalizers" not in read
    assert (
        codes(rendered(SMALL, changed(pool(), None, *WITHIN, "spec", "template", "metadata"))) == []
    )


def test_null_is_said_once() -> None:
    body = changed(pool(), None, *WITHIN, "spec", "template", "spec", "hostname")
    assert [code for code, _ in codes(rendered(SMALL, body))] == ["VR114"]


def test_what_a_release_does_not_know_of_a_pool() -> None:
    older = "pool.kubevirt.io/v1alpha1"
    negative = {**pool(replicas=-1), "apiVersion": older}
    assert codes(rendered(SMALL, negative, kubevirt="1.6")) == []
    healing = {**pool(autohealing={"startUpFailureThreshold": 1}), "apiVersion": older}
    assert codes(rendered(SMALL, healing, kubevirt="1.6")) == [("VR105", "spec.autohealing")]
    assert codes(rendered(SMALL, healing, kubevirt="1.7")) == []


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        (("spec", "replicas"), "3", "VR106"),
        (("spec", "replicas"), 2**31, "VR109"),
        (("spec", "selector"), None, "VR107"),
        (("spec", "updateStrategy"), {}, "VR105"),
    ],
)
def test_the_schema_of_the_replica_set_itself(path: Any, value: object, code: str) -> None:
    assert codes(rendered(changed(replica_set(), value, *path))) == [(code, ".".join(path))]


@pytest.mark.parametrize("admission", ["off", "full"])
def test_a_pool_that_says_nothing_of_its_vms(admission: str) -> None:
    body = changed(pool(), {}, *WITHIN)
    result = rendered(SMALL, body, admission=admission)
    assert codes(result) == [("VR107", "spec.virtualMachineTemplate.spec")]


@pytest.mark.parametrize(
    ("spec", "code", "field"),
    [
        ({"template": 1}, "VR106", "spec.template"),
        ({"template": {"spec": 1}}, "VR106", "spec.template.spec"),
        ({"template": None}, "VR107", "spec.template"),
        (1, "VR106", "spec"),
    ],
)
def test_the_first_field_that_is_wrong_is_the_one_named(spec: Any, code: str, field: str) -> None:
    """As the API server does, which looks no further."""
    (found,) = rendered(changed(replica_set(), spec, "spec")).diagnostics
    assert (found.code, found.field) == (code, field)
    assert f"{field} in body " in found.message


@pytest.mark.parametrize("missing", [{}, {"spec": None}])
@pytest.mark.parametrize(
    ("metadata", "selector", "more"),
    [
        ({}, SELECTOR, [("VR440", "selector does not match labels.")]),
        ({"metadata": {"labels": {"app": "web"}}}, SELECTOR, []),
        (
            {},
            {"matchExpressions": [{"key": "a", "operator": "In"}]},
            [
                (
                    "VR440",
                    "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
                )
            ],
        ),
        ({}, None, [("VR107", 'missing field "selector": spec.selector in body is required')]),
    ],
)
def test_a_replica_set_that_says_nothing_of_its_vmis(
    missing: Json, metadata: Json, selector: Json | None, more: list[tuple[str, str]]
) -> None:
    template = {**metadata, **missing}
    body = changed(
        changed(replica_set(), template, "spec", "template"), selector, "spec", "selector"
    )
    found = [(diagnostic.code, diagnostic.message) for diagnostic in rendered(body).diagnostics]
    if more:
        assert found == more
    else:  # KubeVirt takes it: no VMI of it can be made
        ((code, text),) = found
        assert code == "VR441"
        assert "KubeVirt takes the VirtualMachineInstanceReplicaSet" in text
        assert "no memory requested" in text
    assert codes(rendered(body, admission="off")) == []


def test_a_preset_says_everything_of_the_vmis_of_a_replica_set() -> None:
    template = {"metadata": {"labels": {"app": "web"}}}
    body = changed(replica_set(), template, "spec", "template")
    preset = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstancePreset",
        "metadata": {"name": "memory", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "domain": {"devices": {}, "resources": {"requests": {"memory": "1Gi"}}},
        },
    }
    found = rendered(preset, body, emit="vmi")
    assert [code for code, _ in codes(found)] == ["VR704"]
    vmi = next(
        resource for resource in found.resources if resource["kind"] == "VirtualMachineInstance"
    )
    assert vmi["spec"]["domain"]["memory"]["guest"] == "1Gi"


def test_no_identity_is_shared_by_the_vms_of_a_pool() -> None:
    result = rendered(SMALL, pool(), firmware_uuid="stable")
    assert [code for code, _ in codes(result)] == ["VR710"]
    template = tree.get(result.resources[1], *WITHIN, "spec", "template", "spec", "domain")
    assert "firmware" not in template
    vmi = rendered(SMALL, pool(), firmware_uuid="stable", emit="vmi").resources[1]
    assert vmi["spec"]["domain"]["firmware"]["uuid"]


def test_a_pool_is_pinned_under_its_name() -> None:
    found = pinning.pin(resources(SMALL, pool()), Settings())
    assert list(found.lock.pins) == ["VirtualMachinePool/shop/web"]
    lock = lockfile.document(found.lock)
    bigger = changed(SMALL, "4Gi", "spec", "memory", "guest")
    result = rendered(bigger, pool(), lock=lock)
    domain = tree.get(result.resources[1], *WITHIN, "spec", "template", "spec", "domain")
    assert domain["memory"]["guest"] == "2Gi"
    stamps = tree.get(result.resources[1], *WITHIN, "metadata", "annotations")
    assert stamps["virt-render.dev/revision"] == "1"
    missing = rendered(SMALL, pool(), pins="require")
    assert codes(missing) == [("VR606", "spec.virtualMachineTemplate.spec.instancetype")]


def test_matchers_of_a_pool_follow_what_kustomize_renamed() -> None:
    former = {
        "internal.config.kubernetes.io/previousKinds": "VirtualMachineInstancetype",
        "internal.config.kubernetes.io/previousNames": "small",
        "internal.config.kubernetes.io/previousNamespaces": "default",
    }
    named = changed(
        SMALL, {"name": "a-small", "namespace": "shop", "annotations": former}, "metadata"
    )
    _, followed = follow(resources(named, pool()), "default")
    assert tree.get(followed.body, *WITHIN, "spec", "instancetype", "name") == "a-small"


@pytest.mark.parametrize(
    ("name", "code"), [([], "VR106"), ({}, "VR106"), (3, "VR106"), (None, "VR107")]
)
def test_a_pool_with_a_volume_that_names_no_text_is_refused(name: Any, code: str) -> None:
    volumes = [{"name": "a", "dataVolume": {"name": name}}]
    body = changed(pool(), volumes, *WITHIN, "spec", "template", "spec", "volumes")
    place = "spec.virtualMachineTemplate.spec.template.spec.volumes[0].dataVolume.name"
    for emit in ("vm", "vmi"):
        assert codes(rendered(SMALL, body, emit=emit)) == [(code, place)]
