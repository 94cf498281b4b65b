"""Which stamps a VM gets, and which it keeps."""

import re
from typing import Any

import pytest

from render import Settings, render
from render.model import tree
from render.model.release import NEWEST, tag
from render.model.resource import OWN
from render.revisions import stamps
from tests.support.cases import ROOT

Json = dict[str, Any]
WATCHDOG = {"name": "w", "i6300esb": {"action": "poweroff"}}
PRESET: Json = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachineInstancePreset",
    "metadata": {"name": "quiet", "namespace": "prod"},
    "spec": {
        "selector": {"matchLabels": {"quiet": "yes"}},
        "domain": {"devices": {"watchdog": WATCHDOG}},
    },
}


def vm(annotations: Json | None = None, labels: Json | None = None, **spec: Any) -> Json:
    metadata: Json = {"name": "web", "namespace": "prod"}
    if annotations is not None:
        metadata["annotations"] = annotations
    template: Json = {"spec": {"domain": {"devices": {}}}}
    if "instancetype" not in spec:
        template["spec"]["domain"]["memory"] = {"guest": "1Gi"}
    if labels:
        template["metadata"] = {"labels": labels}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": {"runStrategy": "Always", **spec, "template": template},
    }


U1 = {"instancetype": {"name": "u1.medium"}}


def rendered(*objects: Json, **settings: Any) -> Json:
    found = render(objects, Settings(**settings))
    assert not any(diagnostic.is_error for diagnostic in found.diagnostics), found.diagnostics
    (body,) = (
        resource
        for resource in found.resources
        if resource["kind"].startswith("VirtualMachine") and "Preset" not in resource["kind"]
    )
    return body


def keys(body: Json) -> set[str]:
    return {key.removeprefix(f"{OWN}/") for key in stamps.read(body)}


def test_what_was_applied_is_stamped() -> None:
    body = rendered(vm(**U1, preference={"name": "fedora"}))
    assert keys(body) == {"instancetype", "preference", "rendered"}
    found = stamps.read(body)
    assert found[stamps.INSTANCETYPE].startswith(
        "VirtualMachineClusterInstancetype/u1.medium@sha256:"
    )
    assert found[stamps.INSTANCETYPE].endswith(f" kubevirt-{tag(NEWEST)}")
    assert stamps.is_rendered(body)
    assert stamps.is_genuine(body)


def test_nothing_applied_is_not_stamped() -> None:
    assert "annotations" not in rendered(vm())["metadata"]


def test_presets_are_stamped_and_stay_so() -> None:
    body = rendered(vm(labels={"quiet": "yes"}), PRESET)
    assert keys(body) == {"presets", "rendered"}
    assert stamps.read(body)[stamps.PRESETS].startswith("quiet@sha256:")
    assert rendered(body, PRESET) == body
    assert rendered(body) == body


def test_stamps_are_never_in_the_template() -> None:
    body = rendered(vm(**U1))
    assert OWN not in str(tree.get(body, "spec"))


@pytest.mark.parametrize(
    "settings",
    [
        {"emit": "vmi"},
        {"emit": "expand"},
        {"emit": "source"},
        {"emit": "hashed"},
        {"emit": "revisions"},
    ],
)
def test_only_written_out_vms_are_stamped(settings: Json) -> None:
    found = render([vm(**U1)], Settings(**settings))
    assert OWN not in str(found.resources)


def test_stamps_of_a_vm_with_matchers_are_not_believed() -> None:
    stale = {
        stamps.RENDERED: "sha256:old",
        stamps.PREFERENCE: "old",
        "team": "a",
        stamps.REVISION: "7",
    }
    body = rendered(vm(stale, **U1))
    assert keys(body) == {"instancetype", "rendered"}
    assert body["metadata"]["annotations"]["team"] == "a"
    assert stamps.is_genuine(body)


def test_no_annotations_takes_them_away() -> None:
    assert "annotations" not in rendered(vm(**U1), annotations=False)["metadata"]
    stamped = rendered(vm({"team": "a"}, **U1))
    again = rendered(stamped, annotations=False)
    assert again["metadata"]["annotations"] == {"team": "a"}
    assert again["spec"] == stamped["spec"]


def test_an_edit_is_not_covered_up() -> None:
    edited = tree.copy(rendered(vm(**U1)))
    tree.put(edited, ("spec", "template", "spec", "domain", "memory", "guest"), "8Gi")
    again = rendered(edited)
    assert stamps.read(again) == stamps.read(edited)
    assert not stamps.is_genuine(again)


def test_additions_on_request_are_stamped_anew() -> None:
    first = rendered(vm(**U1))
    more = rendered(first, defaults="cluster")
    assert stamps.is_genuine(more)
    assert stamps.read(more)[stamps.INSTANCETYPE] == stamps.read(first)[stamps.INSTANCETYPE]
    assert stamps.read(more)[stamps.RENDERED] != stamps.read(first)[stamps.RENDERED]


def test_the_page_shows_every_stamp() -> None:
    page = (ROOT / "docs" / "pins.md").read_text(encoding="utf-8")
    assert (
        tuple(re.findall(rf"^({re.escape(stamps.PREFIX)}\w+): ", page, re.MULTILINE)) == stamps.KEYS
    )
