"""What we make of objects of CDI's is what CDI v1.66.0 made of them, for every recorded case."""

from typing import Any

from render import Diagnostic
from render.admission.cdi import order, versions
from render.model import fieldpath
from render.schemas import decode
from tests.support import answers, checks
from tests.support.goldens import cases

CASES = cases("importer/cdi")
#: Where CDI's own code crashes there is no right answer but an error.
Answer = tuple[bool, list[tuple[str, str]] | None]


def recorded(want: dict[str, Any]) -> Answer:
    """Whether the object was accepted, and the causes, None where a schema refused it."""
    if want["allowed"] or (want["stage"] == "validate" and want["causes"]):
        return want["allowed"], [(cause["field"], cause["message"]) for cause in want["causes"]]
    return False, None


def matches(answer: Answer, findings: list[Diagnostic], above: str = "") -> bool:
    allowed, causes = answer
    errors = [finding for finding in findings if finding.is_error]
    if allowed or causes is None:
        return allowed is not bool(errors)
    messages = [(error.field, error.message) for error in errors]
    return sorted(messages) == sorted(
        (f"{above}.{field}".strip("."), text) for field, text in causes
    )


def judged_strictly(case: dict[str, Any]) -> tuple[Diagnostic, ...]:
    """What is found of *case*, at which two tests look."""
    return answers.rendered(case, admission="strict", preset_conflicts="fail").diagnostics


def test_every_object_is_judged_as_recorded() -> None:
    wrong, missing, judged = [], [], 0
    for case in CASES:
        if case["family"] == "update":
            continue
        found = judged_strictly(case)
        missing += checks.missing(checks.examples_of(checks.IMPORTER, case, checks.NEWEST, found))
        indexes = [
            index for index, body in enumerate(case["objects"]) if body["kind"] in order.KINDS
        ]
        wants = [
            want for want in case["want"] if want["kind"] != "VirtualMachine" and "of" not in want
        ]
        for index, want in zip(indexes, wants, strict=True):
            judged += 1
            of_object = [diagnostic for diagnostic in found if diagnostic.location.index == index]
            if not matches(recorded(want), of_object):
                wrong.append((case["id"], want, of_object))
    assert (wrong, judged) == ([], 942)
    assert not missing, checks.CURE


def is_refused_before(found: list[Diagnostic], place: str) -> bool:
    """Whether KubeVirt's own schema or webhook refuses the template, so that CDI is never asked.

    It drops unknown fields.
    """
    return any(
        diagnostic.is_error
        and fieldpath.text((diagnostic.position or diagnostic.location).path).startswith(place)
        for diagnostic in found
        if diagnostic.code not in ("VR460", "VR105")
    )


def test_the_disk_of_every_template_is_judged_as_recorded() -> None:
    wrong, judged = [], 0
    for case in CASES:
        found = judged_strictly(case)
        for want in (want for want in case["want"] if "of" in want):
            place = f"spec.dataVolumeTemplates[{want['template']}]"
            of_vm = [item for item in found if item.resource and item.resource.name == want["of"]]
            of_disk = [
                diagnostic
                for diagnostic in of_vm
                if diagnostic.code == "VR460" and diagnostic.field.startswith(place)
            ]
            if is_refused_before(of_vm, place):
                assert not of_disk
                continue
            judged += 1
            if "error" in want:
                good = [diagnostic.message for diagnostic in of_disk if diagnostic.is_error] == [
                    want["error"]
                ]
            else:
                good = matches(recorded(want), of_disk, place)
            if not good:
                wrong.append((case["id"], want, of_vm))
    assert (wrong, judged) == ([], 253)


def test_every_update_is_judged_as_recorded() -> None:
    wrong, judged = [], 0
    for case in CASES:
        if case["family"] != "update":
            continue
        for before, after, want in zip(case["old"], case["objects"], case["want"], strict=True):
            row = order.KINDS[after["kind"]]
            new, faults = decode(after, row.type, versions.NEWEST)
            if {fault.check for fault in faults} - {"unknown-field", "content-dropped"}:
                assert not want["allowed"]
                continue
            old, _ = decode(before, row.type, versions.NEWEST)
            each_causes = order.update_causes(after["kind"], old, new, versions.NEWEST)
            judged += 1
            allowed, causes = recorded(want)
            messages = [
                (fieldpath.text(diagnostic.path), diagnostic.message) for diagnostic in each_causes
            ]
            if allowed is not (not each_causes) or (causes is not None and messages != causes):
                wrong.append((case["id"], want, each_causes))
    assert (wrong, judged) == ([], 54)


def test_what_would_be_refused_is_refused_without_a_word_on_kubevirt() -> None:
    """The verdicts of the engine alone, on the DataVolumes that KubeVirt's own webhook would not let it make."""
    answered = [
        want for case in CASES for want in case["want"] if "of" in want and "error" not in want
    ]
    assert len(answered) > 200
    for want in answered:
        if "crd" in want:
            continue
        metadata = {"name": want["name"]}
        body, _ = decode(
            {"metadata": metadata, "spec": want["spec"]}, "importer.DataVolume", versions.NEWEST
        )
        causes = order.causes("DataVolume", body, versions.NEWEST)
        messages = [(fieldpath.text(diagnostic.path), diagnostic.message) for diagnostic in causes]
        assert messages == [(cause["field"], cause["message"]) for cause in want["causes"]]
