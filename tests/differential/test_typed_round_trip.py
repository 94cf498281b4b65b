"""Decoding and encoding against what KubeVirt's own types, schemas and CRDs made of the same."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from render.diagnostics.cause import Cause
from render.diagnostics.codes import WRONG_TYPE
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.release import NEWEST
from render.model.resource import from_body
from render.schemas import decode, decode_resource, encode
from tests.support.goldens import FAMILIES as ALL
from tests.support.goldens import cases, is_refused_by_schema

VM = "kubevirt.VirtualMachine"
VMI = "kubevirt.VirtualMachineInstance"
MACHINES = ("VirtualMachine", "VirtualMachineInstance")
ANSWERS = {"mutated": VM, "expand": VM, "expand_mutated": VM, "vm": VM, "started": VMI, "vmi": VMI}
_RANGE = re.compile(r" in body should be (less|greater) than or equal to \d+$")

#: The families of verdicts hold no rendered objects: tests/differential/test_admission.py.
#: The others are about the verdicts that come of what a schema finds.
FAMILIES = tuple(name for name in ALL if not name.startswith(("admission-", "settings")))


def machines(case: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each VM or VMI of a case with what is recorded about it."""
    bodies = [body for body in case["objects"] if body["kind"] in MACHINES]
    yield from zip(bodies, case["want"], strict=True)


def causes_of(body: dict[str, Any]) -> list[Cause]:
    return decode(body, f"kubevirt.{body['kind']}", NEWEST)[1]


def dotted(path: FieldPath) -> str:
    """As KubeVirt writes it: without list indexes."""
    return ".".join(str(step) for step in path if not isinstance(step, int))


def words(refusal: dict[str, Any]) -> list[str]:
    """What the schema and the parser of the webhook said; matchers are another stage's."""
    content = [cause["message"] for cause in refusal.get("causes", ())] or [
        refusal.get("message", "")
    ]
    return [text for text in content if " in body " in text or text.startswith("quantities must")]


def is_inside(text: str, cause: Cause) -> bool:
    """Whether *text* is about what is below a mistyped value: one finding names the value."""
    return cause.check == WRONG_TYPE.slug and text.startswith(f"{dotted(cause.path)}.")


def unnamed(crd: dict[str, list[str]], found: set[FieldPath]) -> list[str]:
    """What the CRD says and no finding at *found* names.

    Ranges are left to the own validation of instancetypes, which has KubeVirt's words for them.
    """
    fields = {dotted(path) for path in found}
    exact = {fieldpath.text(path) for path in found}
    invalid = [text for text in crd.get("invalid", ()) if not _RANGE.search(text)]
    return [text for text in invalid if text.split(" ")[0].strip('"') not in fields] + [
        text
        for text in crd.get("pruned", ())
        if not any(text == field or text.startswith(f"{field}.") for field in exact)
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_false_alarm_on_what_kubevirt_runs(family: str) -> None:
    alarms = []
    checked = 0
    for case in cases(family):
        for body, entry in machines(case):
            if is_refused_by_schema(case, entry) or not entry.keys() & {"mutated", "vmi"}:
                continue
            checked += 1
            alarms += [(case["id"], cause.message) for cause in causes_of(body)]
    assert checked > 20
    assert alarms == []


@pytest.mark.parametrize("family", FAMILIES)
def test_no_false_alarm_on_the_other_objects(family: str) -> None:
    alarms = []
    for case in cases(family):
        if any("crd" in answer or not answer["allowed"] for answer in case.get("resources", ())):
            continue
        for index, body in enumerate(case["objects"]):
            if body["kind"] not in MACHINES:
                _, found = decode_resource(from_body(body, index), NEWEST)
                alarms += [(case["id"], diagnostic.message) for diagnostic in found]
    assert alarms == []


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_crd_finds_in_a_vm_is_named(family: str) -> None:
    missed = []
    for case in cases(family):
        for body, entry in machines(case):
            found = {cause.path for cause in causes_of(body)}
            missed += [(case["id"], text) for text in unnamed(entry.get("crd", {}), found)]
    assert missed == []


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_crd_finds_in_other_objects_is_named(family: str) -> None:
    missed = []
    for case in cases(family):
        found = {
            (body["kind"], body["metadata"]["name"]): decode_resource(
                from_body(body, index), NEWEST
            )[1]
            for index, body in enumerate(case["objects"])
            if body["kind"] not in MACHINES
        }
        for answer in case.get("resources", ()):
            paths = {item.location.path for item in found[answer["kind"], answer["name"]]}
            missed += [(case["id"], text) for text in unnamed(answer.get("crd", {}), paths)]
            if not answer["allowed"] and "causes" not in answer and not paths:
                missed.append((case["id"], "what the webhook could not read"))
    assert missed == []


def test_the_webhooks_words_stand_in_the_message() -> None:
    missed = []
    checked = 0
    for case in cases("schema"):
        for body, entry in machines(case):
            found = causes_of(body)
            for text in words(entry.get("mutate_error", {})):
                checked += 1
                if not any(text in cause.message or is_inside(text, cause) for cause in found):
                    missed.append((case["id"], text))
    assert checked > 130  # a null is no refusal
    assert missed == []


@pytest.mark.parametrize("family", FAMILIES)
def test_what_kubevirt_wrote_is_a_fixed_point(family: str) -> None:
    changed = []
    checked = 0
    for case in cases(family):
        for body, entry in machines(case):
            for key in ANSWERS.keys() & entry.keys():
                type_name = VMI if body["kind"] == "VirtualMachineInstance" else ANSWERS[key]
                answer = entry[key]
                found = encode(decode(answer, type_name, NEWEST)[0], type_name, NEWEST)
                if key == "vm" and "metadata" not in answer["spec"]["template"]:
                    del found["spec"]["template"]["metadata"]  # `vm` leaves an empty one out
                checked += 1
                if found != answer:
                    changed.append((case["id"], key))
    assert checked > 50
    assert changed == []


@pytest.mark.parametrize("family", FAMILIES)
def test_expanding_without_matchers_is_the_round_trip(family: str) -> None:
    changed = []
    for case in cases(family):
        for body, entry in machines(case):
            spec = body["spec"]
            if (
                "expand" not in entry
                or "crd" in entry
                or spec.get("instancetype")
                or spec.get("preference")
            ):
                continue
            found = encode(decode(body, VM, NEWEST)[0], VM, NEWEST)["spec"]
            if found["template"]["spec"]["domain"].get("firmware") == {}:
                del found["template"]["spec"]["domain"]["firmware"]  # so do the recorded answers
            if found != entry["expand"]["spec"]:
                changed.append(case["id"])
    assert changed == []
