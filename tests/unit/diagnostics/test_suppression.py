from typing import Any

import pytest

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, at
from render.diagnostics.suppression import suppress
from render.model.resource import Resource, from_body

UNMET = codes.REQUIREMENT_UNMET


def machine(index: int = 0, /, **ignored: Any) -> Resource:
    annotations = {f"virt-render.dev/ignore.{code}": reason for code, reason in ignored.items()}
    metadata = {"name": f"vm{index}", "annotations": annotations}
    return from_body({"kind": "VirtualMachine", "metadata": metadata}, index)


def unused(resource: Resource, code: str) -> Diagnostic:
    (found,) = suppress([], [resource])
    assert found.code == codes.UNUSED_SUPPRESSION.number
    assert found.location.path == ("metadata", "annotations", f"virt-render.dev/ignore.{code}")
    return found


def test_finding_on_the_annotated_object_is_silenced() -> None:
    assert suppress([UNMET.at(at(machine()), "too small")], [machine(VR401="sized by hand")]) == ()


def test_finding_on_another_object_stays() -> None:
    resources = [machine(0, VR401="sized by hand"), machine(1)]
    own, other = (UNMET.at(at(resource), "too small") for resource in resources)
    assert suppress([own, other], resources) == (other,)


def test_every_finding_of_the_code_is_silenced_and_no_other() -> None:
    resource = machine(VR401="sized by hand")
    first, second = (UNMET.at(at(resource), message) for message in ("cpu", "memory"))
    other = codes.SPREAD_INDIVISIBLE.at(at(resource), "odd")
    assert suppress([first, other, second], [resource]) == (other,)


def test_one_check_of_a_code_is_silenced() -> None:
    resource = machine(0, **{"VR420.name": "the clone keeps it"})
    wrong, other = (
        codes.DISKS.at(at(resource), check)._replace(check=check)
        for check in ("disks/name", "disks/bus")
    )
    assert suppress([wrong, other], [resource]) == (other,)
    assert "does not occur" in unused(resource, "VR420.name").message


def test_unused_suppression_is_reported() -> None:
    assert "does not occur" in unused(machine(VR401="sized by hand"), "VR401").message


def test_what_an_error_may_have_kept_from_being_found_is_not_called_unused() -> None:
    resource = machine(VR401="sized by hand", VR402="on purpose")
    fault = codes.CPU.at(at(resource), "wrong")
    assert suppress([fault], [resource]) == (fault,)
    silenced = UNMET.at(at(resource), "too small")
    (idle,) = suppress([silenced], [resource])
    assert "VR402" in idle.message
    assert suppress([], [resource], is_looked_through=lambda _: False) == ()


def test_unknown_code_names_the_nearest() -> None:
    assert "did you mean VR901?" in unused(machine(VR9O1="why"), "VR9O1").message


@pytest.mark.parametrize(
    ("annotation", "meant"),
    [
        ("virt-render.dev/ingore.VR420", "virt-render.dev/ignore.VR420"),
        ("virt-render.dev/ignore-vr420.name", "virt-render.dev/ignore.VR420.name"),
        ("virtrender.dev/ignore.VR420", "virt-render.dev/ignore.VR420"),
        ("virt-render.dev/ignored", "virt-render.dev/ignore.VRnnn"),
        ("virt-render.dev/instancetype", ""),
        ("virt-render.dev/owner", ""),
        ("example.com/ignore.VR420", ""),
        ("ingore.VR420", ""),
    ],
)
def test_an_annotation_that_is_nearly_one_of_ours_is_told(annotation: str, meant: str) -> None:
    metadata = {"name": "a", "annotations": {annotation: "the clone keeps it"}}
    resource = from_body({"kind": "VirtualMachine", "metadata": metadata}, 0)
    found = suppress([], [resource])
    assert [each.help for each in found] == ([f"did you mean {meant}?"] if meant else [])
    assert not suppress([], [resource], reading=True)


def test_unknown_check_names_the_nearest() -> None:
    assert (
        "did you mean VR420.ide-bus?"
        in unused(machine(**{"VR420.ide-buss": "why"}), "VR420.ide-buss").message
    )
    message = unused(machine(**{"VR420.zzz": "why"}), "VR420.zzz").message
    assert "suppressed here but does not occur" in message


@pytest.mark.parametrize("reason", ["", "  ", True, None])
def test_reason_is_required(reason: object) -> None:
    resource = machine(VR401=reason)
    finding = UNMET.at(at(resource), "too small")
    kept, idle = suppress([finding], [resource])
    assert kept == finding
    assert "gives no reason" in idle.message


def test_what_would_change_the_vm_cannot_be_suppressed() -> None:
    resource = machine(VR301="I know better", VR120="be quiet")
    conflict = codes.INSTANCETYPE_CONFLICT.at(at(resource), "conflicts")
    kept, *idle = suppress([conflict], [resource])
    assert kept == conflict
    assert ["cannot be suppressed" in found.message for found in idle] == [True, True]


def test_findings_of_the_reader_are_judged_by_the_reader_only() -> None:
    resource = machine(VR113="the label is meant as a boolean", VR401="sized by hand")
    ambiguous = codes.AMBIGUOUS_SCALAR.at(at(resource), "yes")
    unmet = UNMET.at(at(resource), "too small")
    assert suppress([ambiguous], [resource], reading=True) == ()
    assert suppress([unmet], [resource]) == ()
    (idle,) = suppress([], [resource], reading=True)
    assert "VR113" in idle.message


@pytest.mark.parametrize("annotations", [None, [], "text"])
def test_odd_annotations_are_somebody_elses_finding(annotations: object) -> None:
    resource = from_body({"metadata": {"annotations": annotations}}, 0)
    assert suppress([], [resource]) == ()


@pytest.mark.parametrize(
    ("error", "asks_admission", "messages"),
    [
        (None, True, ["VR401", "VR420", "VR713"]),
        (None, False, ["VR401"]),
        (codes.SPREAD_INDIVISIBLE, True, []),
        (codes.INSTANCETYPE_NOT_FOUND, True, []),
    ],
)
def test_nothing_is_said_of_what_was_not_looked_for(
    error: codes.Code | None,
    asks_admission: bool,  # noqa: FBT001
    messages: list[str],
) -> None:
    resource = machine(VR401="by hand", VR420="by hand", VR713="by hand")
    found = [error.at(at(resource), "wrong")] if error else []
    idle = suppress(
        found,
        [resource, machine(1)],
        is_enabled=lambda code: asks_admission or not code.of_admission,
    )[len(found) :]
    assert [diagnostic.message.partition(" ")[0] for diagnostic in idle] == messages
