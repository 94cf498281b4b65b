"""Which release is rendered for, and what one lacks that another has."""

from typing import Any

import pytest

from render import Settings, render
from render.model import types
from render.model.release import MAIN, NEWEST, PREVIEW, VERSIONS, minor, version
from render.model.resource import from_body
from render.pipeline import pinning
from render.revisions import lockfile

Json = dict[str, Any]


def vm(name: str = "web", /, **template: Any) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "template": {
                "spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}, **template}}
            },
        },
    }


def kubevirt(**body: Any) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
        **body,
    }


def max_sockets(objects: list[Json], **settings: Any) -> Any:
    """What only KubeVirt >= 1.6 fills in, where nothing is configured."""
    rendered = render(objects, Settings(emit="vmi", **settings))
    (machine,) = (
        resource for resource in rendered.resources if resource["kind"] == "VirtualMachineInstance"
    )
    return machine["spec"]["domain"]["cpu"].get("maxSockets")


@pytest.mark.parametrize("query", ["1.5", "v1.5", "1.5.3", "v1.5.3", "1.5.0", "openshift-4.19"])
def test_a_release_is_asked_for_in_any_spelling(query: str) -> None:
    assert max_sockets([vm()], kubevirt=query) is None


@pytest.mark.parametrize("query", ["1.6", "v1.6.6", "1.9", "auto", "openshift-4.20"])
def test_another_release_renders_otherwise(query: str) -> None:
    assert max_sockets([vm()], kubevirt=query) == 4


def hyperconverged(version: str = "v1beta1", **body: Any) -> Json:
    return {
        "apiVersion": f"hco.kubevirt.io/{version}",
        "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": "openshift-cnv"},
        **body,
    }


def said_of_release(objects: list[Json]) -> str:
    (diagnostic,) = (found for found in render(objects).diagnostics if found.code == "VR711")
    return diagnostic.message


def test_a_hyperconverged_tells_before_a_kubevirt() -> None:
    status = {"versions": [{"name": "operator", "version": "4.19.3"}]}
    objects = [kubevirt(spec={"imageTag": "v1.9.0"}), hyperconverged(status=status), vm()]
    assert "rendered for KubeVirt 1.5: HyperConverged" in said_of_release(objects)
    objects[1] = hyperconverged()
    assert "rendered for KubeVirt 1.9: KubeVirt kubevirt/kubevirt" in said_of_release(objects)
    assert said_of_release([hyperconverged("v1"), vm()]).endswith("says that it is 1.8 or later")


@pytest.mark.parametrize("query", ["1.3", "1.99", "1", "1.5.x", "latest", "", "openshift-4.17"])
def test_what_is_no_release_that_we_render_for_is_refused(query: str) -> None:
    assert [d.code for d in render([vm()], Settings(kubevirt=query)).diagnostics] == ["VR801"]


def test_a_patch_that_is_not_the_newest_is_said() -> None:
    (diagnostic,) = render([vm()], Settings(kubevirt="1.6.2")).diagnostics
    assert (diagnostic.code, str(diagnostic.severity)) == ("VR711", "info")
    assert "v1.6.2 is rendered as v1.6.6" in diagnostic.message
    assert render([vm()], Settings(kubevirt="1.6.6")).diagnostics == ()


def test_a_patch_has_the_rules_of_its_time() -> None:
    memory: Json = {"memory": {"guest": "2Gi"}}
    for patch, request in (("1.6.1", "1Gi"), ("1.6.2", "2Gi"), ("1.6.3", "1Gi"), ("1.6.4", None)):
        config = kubevirt(
            spec={"configuration": {"developerConfiguration": {"memoryOvercommit": 200}}}
        )
        rendered = render([config, vm(**memory)], Settings(emit="vmi", kubevirt=patch))
        machine = next(
            resource for resource in rendered.resources if resource["kind"].endswith("Instance")
        )
        requests = machine["spec"]["domain"]["resources"].get("requests", {})
        assert requests.get("memory") == request, patch


@pytest.mark.parametrize(
    "body",
    [
        {"spec": {"imageTag": "v1.5.3"}},
        {"status": {"observedKubeVirtVersion": "v1.5.3"}, "spec": {"imageTag": "v1.9.0"}},
    ],
)
def test_the_input_says_which_release_it_is_for(body: Json) -> None:
    objects = [kubevirt(**body), vm()]
    assert max_sockets(objects) is None
    assert max_sockets(objects, kubevirt="1.6") == 4
    assert max_sockets([vm()], cluster_config=objects[0]) is None
    diagnostics = [d for d in render(objects, Settings()).diagnostics if d.code == "VR711"]
    assert [d.message for d in diagnostics] == [
        "rendered for KubeVirt 1.5: KubeVirt kubevirt/kubevirt says that it is 1.5.3"
    ]


def test_a_release_that_nobody_knows_is_the_newest_and_said() -> None:
    rendered = render([kubevirt(spec={"imageTag": "v1.3.1"}), vm()], Settings())
    (diagnostic,) = (d for d in rendered.diagnostics if d.code == "VR711")
    assert f"says that it is 1.3.1, which is none of 1.4 to {minor(NEWEST)}" in diagnostic.message


@pytest.mark.parametrize(
    ("domain", "field", "gate"),
    [
        ({"rebootPolicy": "Reboot"}, "rebootPolicy", "RebootPolicy (on from 1.9)"),
        (
            {"memory": {"guest": "1Gi", "reservedOverhead": {}}},
            "memory.reservedOverhead",
            "ReservedOverheadMemlock",
        ),
    ],
)
def test_a_field_that_the_release_lacks_names_the_one_that_has_it(
    domain: Json, field: str, gate: str
) -> None:
    (diagnostic,) = render([vm(**domain)], Settings(kubevirt="1.7")).diagnostics
    assert diagnostic.code == "VR105"
    assert diagnostic.field == f"spec.template.spec.domain.{field}"
    assert (
        diagnostic.help == f"remove it: KubeVirt has it from 1.8 on, with the feature gate {gate}"
    )


def test_a_field_is_known_from_its_release_on() -> None:
    known = render([vm(rebootPolicy="Reboot")], Settings(kubevirt="1.8"))
    assert not any(d.is_error for d in known.diagnostics)


PREFERENCE: Json = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachinePreference",
    "metadata": {"name": "screen", "namespace": "prod"},
    "spec": {"devices": {"preferredVideoType": "virtio", "preferredRng": {}}},
}


def preferring(name: str) -> Json:
    body = vm(name)
    body["spec"]["preference"] = {"kind": "VirtualMachinePreference", "name": "screen"}
    return body


def test_a_version_that_no_release_serves_is_refused() -> None:
    coming = {**PREFERENCE, "apiVersion": "instancetype.kubevirt.io/v1"}
    (refused,) = render([coming], Settings(kubevirt="1.9")).diagnostics
    assert refused.help == "write apiVersion: instancetype.kubevirt.io/v1beta1"


def test_main_is_rendered_by_name_only() -> None:
    assert version(MAIN) > NEWEST
    assert MAIN not in map(minor, VERSIONS)
    for stated in (f"v{NEWEST[0]}.{NEWEST[1] + 1}.0", "main"):
        body = kubevirt(status={"observedKubeVirtVersion": stated})
        found = render([vm(), body], Settings(catalog="none"))
        assert all("main" not in note.message for note in found.diagnostics if note.code == "VR711")
    preference = render([PREFERENCE, preferring("web")], Settings(kubevirt="main")).resources[-1]
    newest = render([PREFERENCE, preferring("web")], Settings(kubevirt=minor(NEWEST)))
    assert preference == newest.resources[-1]


def test_main_says_which_commit_it_is() -> None:
    catalogued = {**vm(), "spec": {**vm()["spec"], "instancetype": {"name": "u1.medium"}}}
    catalogued["spec"]["template"] = {"spec": {"domain": {"devices": {}}}}
    found = render([catalogued], Settings(kubevirt="main"))
    stamp = found.resources[0]["metadata"]["annotations"]["virt-render.dev/instancetype"]
    assert stamp.endswith(f" kubevirt-main-{PREVIEW.commit}")


def test_no_type_of_a_definition_is_other_in_main() -> None:
    """Contents are hashed as the newest release knows them: a field of main alone would be in no hash."""
    names = [name for name in types.type_names() if name.startswith("instancetype.")]
    assert names
    other = [
        name for name in names if types.fields(name, version(MAIN)) != types.fields(name, NEWEST)
    ]
    assert other == [], "read main anew (CONTRIBUTING.md, A KubeVirt release), or decide on hashes"


def test_the_hash_of_a_content_does_not_depend_on_the_release() -> None:
    stamps = {
        render([PREFERENCE, preferring("web")], Settings(kubevirt=release)).resources[-1][
            "metadata"
        ]["annotations"]["virt-render.dev/preference"]
        for release in ("1.8", "1.9")
    }
    assert len(stamps) == 1


def pinned(objects: list[Json], release: str, lock: Json | None = None) -> pinning.Pinned:
    resources = [from_body(body, index) for index, body in enumerate(objects)]
    return pinning.pin(resources, Settings(kubevirt=release, lock=lock))


def test_another_release_is_no_edit() -> None:
    objects = [PREFERENCE, preferring("one"), preferring("two")]
    lock = lockfile.document(pinned(objects, "1.9").lock)
    assert lock["kubevirt"] == "v1.9.0"
    moved = pinned(objects, "1.8", lock)
    assert moved.moves == []
    (diagnostic,) = (d for d in moved.diagnostics if d.code == "VR711")
    assert diagnostic.message.endswith("which the lock was written for: 2 VMs")
    assert moved.lock.kubevirt == "v1.8.4"
    assert {pin.revision for pin in moved.lock.pins.values()} == {1}
    objects[1]["spec"]["template"]["spec"]["domain"]["rng"] = {}
    objects[1]["spec"]["template"]["spec"]["hostname"] = "edited"
    edited = pinned(objects, "1.8", lock)
    assert [move.vm for move in edited.moves] == ["prod/one"]
    assert edited.lock.pins["prod/one"].revision == 2
    assert edited.lock.pins["prod/two"].revision == 1


def test_a_pin_of_what_the_release_lacks_is_an_error_at_the_lock() -> None:
    objects = [PREFERENCE, preferring("web")]
    lock = lockfile.document(pinned(objects, "1.9").lock)
    edited = {**PREFERENCE, "spec": {"devices": {"preferredRng": {}}}}
    found = render([edited, preferring("web")], Settings(kubevirt="1.8", lock=lock))
    errors = [d for d in found.diagnostics if d.is_error]
    assert [d.resource and d.resource.kind for d in errors] == ["RevisionLock"]
    assert errors[0].help.startswith("virt-render pin --upgrade prod/web")


def test_a_resource_beside_the_input_has_no_place_in_it() -> None:
    note = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}}
    around = [note, note, kubevirt(spec={"imageTag": "v1.6.2"})]
    found = render([vm("a"), vm("b"), vm("c")], Settings(catalog=around)).diagnostics
    codes = [diagnostic.location for diagnostic in found if diagnostic.code == "VR711"]
    assert {(str(item.resource), item.index) for item in codes} == {
        ("KubeVirt kubevirt/kubevirt", None)
    }


@pytest.mark.parametrize(
    ("architecture", "devices", "others"),
    [
        ("ppc64le", {}, {"1.4", "1.6"}),
        ("s390x", {"watchdog": {"name": "dog", "i6300esb": {"action": "reset"}}}, {"1.4"}),
    ],
)
def test_the_releases_that_refuse_are_named(
    architecture: str, devices: Json, others: set[str]
) -> None:
    machine = vm(devices=devices)
    machine["spec"]["template"]["spec"]["architecture"] = architecture
    found = [
        diagnostic
        for diagnostic in render([kubevirt(spec={}), machine]).diagnostics
        if diagnostic.check
    ]
    assert [str(diagnostic.severity) for diagnostic in found] == ["warning"]
    releases = ", ".join(name for name in map(minor, VERSIONS) if name not in others)
    assert f"(by KubeVirt {releases} alone, and nothing says" in found[0].message
