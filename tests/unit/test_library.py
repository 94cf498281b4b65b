"""What a Python program may hand over, and what it gets back."""

import datetime as dt
import math
import re
import typing
from collections.abc import Iterable
from typing import Any

import pytest

from render import Diagnostic, Impact, ReadError, Rendered, Settings, load, render
from render.diff.impact import FieldChange, MachineImpact
from render.model import tree
from render.pipeline.result import RenderedMachine
from tests.support.cases import ROOT

VM = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web"},
    "spec": {
        "runStrategy": "Always",
        "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
        "template": {"spec": {"domain": {"devices": {}}}},
    },
}
SMALL = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineInstancetype",
    "metadata": {"name": "small"},
    "spec": {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}},
}
NOTE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}}


DOCUMENTED = (Rendered, RenderedMachine, Diagnostic, Impact, MachineImpact, FieldChange)


@pytest.mark.parametrize("class_", DOCUMENTED, ids=lambda class_: class_.__name__)
def test_the_page_names_each_public_field(class_: type[tuple[Any, ...]]) -> None:
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    public = {name for name in vars(class_) if not name.startswith("_")}
    assert not sorted(name for name in public if not re.search(rf"`{name}\b", page))


def listed(*items: Any, kind: str = "List") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "items": list(items)}


def messages(rendered: Rendered) -> list[tuple[str, int | None, str]]:
    return [(d.code, d.location.index, d.message) for d in rendered.diagnostics]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "None"),
        ("x", "a value of type str"),
        (5, "a value of type int"),
        ([NOTE], "a value of type list"),
    ],
)
def test_what_is_no_object_is_named_by_its_position(value: Any, kind: str) -> None:
    rendered = render([NOTE, value, {**NOTE, "kind": "Secret"}])
    message = "{} is {}, not a Kubernetes object"
    assert messages(rendered) == [("VR104", 1, message.format("resources[1]", kind))]
    assert rendered.sources == (0, 2)
    rendered = render([listed(NOTE, listed(value))])
    assert messages(rendered) == [
        ("VR104", 0, message.format("resources[0].items[1].items[0]", kind))
    ]
    assert rendered.resources == [NOTE]


@pytest.mark.parametrize("value", [NOTE, "x", b"y", None, 5])
def test_one_object_in_the_place_of_a_list_is_a_mistake_in_the_program(value: Any) -> None:
    with pytest.raises(TypeError):
        render(value)


def test_lists_are_taken_apart() -> None:
    rendered = render([NOTE, listed(SMALL, listed(VM))])
    assert [body["kind"] for body in rendered.resources] == ["ConfigMap", SMALL["kind"], VM["kind"]]
    assert rendered.resources[2]["spec"]["template"]["spec"]["domain"]["cpu"]["sockets"] == 2
    assert rendered.sources == (0, 1, None)
    assert {item.position for item in rendered.provenance if not item.decider} == {1}
    assert render([NOTE, SMALL, VM]).resources == rendered.resources
    alone = {key: value for key, value in SMALL.items() if key not in ("apiVersion", "kind")}
    typed = {**listed(alone, kind=f"{SMALL['kind']}List"), "apiVersion": SMALL["apiVersion"]}
    assert render([typed]).resources == [SMALL]


def test_positions_are_those_of_what_was_given() -> None:
    inputs: list[Any] = [listed(NOTE, SMALL), None, NOTE]
    rendered = render(inputs)
    twice, missing = sorted(rendered.diagnostics, key=lambda found: found.code)
    assert (missing.location.index, twice.code, twice.location.index) == (1, "VR103", 2)
    assert twice.related[0].location.index == 0


def test_a_path_that_nobody_can_write_in_utf8_is_an_error_that_can_be_printed() -> None:
    with pytest.raises(ReadError) as raised:
        load("vms/\ud800.yaml")
    assert str(raised.value).encode().startswith(rb"vms/\ud800.yaml: VR110 unreadable: ")


def changed(path: Iterable[Any], value: Any) -> dict[str, Any]:
    """The VM with *value* at *path*."""
    *above, last = path
    body: dict[str, Any] = {
        key: dict(item) if isinstance(item, dict) else item for key, item in VM.items()
    }
    node: Any = body
    for step in above:
        node = node.setdefault(step, {})
    node[last] = value
    return body


@pytest.mark.parametrize(
    ("body", "code", "field", "message"),
    [
        (changed(("metadata", "annotations"), {1: "x"}), "VR106", "metadata.annotations", "the key 1 is of type int"),
        (changed(("metadata", "labels"), {None: "x"}), "VR106", "metadata.labels", "the key None"),
        (changed(("spec", "since"), dt.date(2020, 1, 1)), "VR106", "spec.since", "not the type date"),
        (changed(("spec", "n"), [1, math.nan]), "VR106", "spec.n[1]", "not infinity and NaN"),
        (changed(("spec", "n"), (1, 2)), "VR106", "spec.n", "not the type tuple"),
        (changed(("metadata", "name"), "a\ud800"), "VR106", "metadata.name", "not UTF-8"),
        (changed(("metadata", "labels"), {"a": "\udfff"}), "VR106", "metadata.labels.a", "not UTF-8"),
        (changed(("spec", "\ud800"), 1), "VR106", "spec", r"the key '\ud800' is not UTF-8"),
        ({2: 3}, "VR106", "", "the key 2"),
    ],
)  # fmt: skip
def test_what_json_does_not_have_is_an_error(
    body: Any, code: str, field: str, message: str
) -> None:
    rendered = render([NOTE, body])
    (found,) = rendered.diagnostics
    assert (found.code, found.field, found.location.index) == (code, field, 1)
    assert message in found.message
    assert rendered.resources == [NOTE]


def test_what_contains_itself_is_too_deep() -> None:
    body = changed(("spec", "self"), {})
    body["spec"]["self"] = body
    rendered = render([body])
    assert [found.code for found in rendered.diagnostics] == ["VR111"]
    assert rendered.resources == []


@pytest.mark.parametrize("emit", ["vm", "expand", "hashed", "revisions"])
def test_nobody_decided_a_field_that_is_left_out(emit: Any) -> None:
    """KubeVirt's defaults are applied on the way to each of these, and most of them left out again."""
    rendered = render([SMALL, VM], Settings(emit=emit))
    (vm,) = (body for body in rendered.resources if body["kind"] == VM["kind"])
    decided = [item.field for item in rendered.provenance if item.decider]
    assert [field for field in decided if tree.get(vm, *field) is None] == []


def test_settings_say_of_which_types_they_are() -> None:
    """Libraries that make forms or checks of a class ask it so."""
    assert typing.get_type_hints(Settings).keys() == set(Settings._fields)
