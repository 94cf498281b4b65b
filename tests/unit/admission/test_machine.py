"""The machine type, and ACPI tables."""

import pytest

from render.admission.vmi.domain import acpi, machine
from render.model.cluster_config import ClusterConfig
from render.model.release import in_force, version
from tests.support.refusals import Json, refusals, subject_of

TYPE = "spec.domain.machine.type"


def of(machine_type: str, **more: str) -> Json:
    return {"domain": {"machine": {"type": machine_type}}, **more}


@pytest.mark.parametrize(
    ("spec", "patterns"),
    [
        (of("q35"), ""),
        (of("pc-q35-rhel9.4.0", architecture="amd64"), ""),
        (of("virt-8", architecture="arm64"), ""),
        (of("my-q35"), "[q35* pc-q35*]"),
        (of("q35", architecture="arm64"), "[virt*]"),
        (of("pc", architecture="riscv64"), "[q35* pc-q35*]"),
    ],
)
def test_machine_types(spec: Json, patterns: str) -> None:
    inputs = spec["domain"]["machine"]["type"]
    message = f"{TYPE} is not supported: {inputs} (allowed values: {patterns})"
    expected = [("machine/supported", TYPE, message)] if patterns else []
    assert refusals(machine.CHECKS, spec) == expected


@pytest.mark.parametrize(
    ("machine_type", "cure"),
    [
        ("Q35", "did you mean q35?"),
        ("PC-Q35-RHEL9.4.0", "did you mean pc-q35-rhel9.4.0?"),
        ("q53", "did you mean q35?"),
        ("i440fx", "use a machine type that one of these patterns matches, or leave it out"),
    ],
)
@pytest.mark.parametrize("release", ["1.4.1", "1.9.0"])
def test_the_machine_type_that_was_meant(machine_type: str, cure: str, release: str) -> None:
    subject = subject_of(of(machine_type), release=release)
    (check,) = in_force(machine.CHECKS, version(release))
    (found,) = check.evaluate(subject)
    assert found.help == cure


def test_the_cluster_says_which_machine_types_there_are() -> None:
    config = ClusterConfig(emulated_machines=(("amd64", ("pc-i440fx-?",)),))
    assert refusals(machine.CHECKS, of("pc-i440fx-4"), config=config) == []
    message = f"{TYPE} is not supported: q35 (allowed values: [pc-i440fx-?])"
    assert refusals(machine.CHECKS, of("q35"), config=config)[0].message == message


def test_patterns_were_regular_expressions_once() -> None:
    assert refusals(machine.CHECKS, of("my-q35x"), release="1.5.3") == []
    assert len(refusals(machine.CHECKS, of("my-q35x"), release="1.6.0")) == 1


VOLUMES = [{"name": "s", "secret": {"secretName": "x"}}, {"name": "c", "configMap": {"name": "x"}}]


def with_acpi(**references: str) -> Json:
    return {"domain": {"firmware": {"acpi": references}}, "volumes": VOLUMES}


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        ({"slicNameRef": "s", "msdmNameRef": "s"}, []),
        (
            {},
            [
                (
                    "acpi/reference",
                    "spec.acpi",
                    "ACPI was set but no SLIC nor MSDM volume reference was set",
                )
            ],
        ),
        (
            {"slicNameRef": "c", "msdmNameRef": "no"},
            [
                (
                    "acpi/volume",
                    "spec.acpi.slicNameRef",
                    "spec.acpi refers to Volume of unsupported type.",
                ),
                (
                    "acpi/volume",
                    "spec.acpi.msdmNameRef",
                    "spec.acpi does not have a matching Volume.",
                ),
            ],
        ),
    ],
)
def test_acpi(references: dict[str, str], expected: list[tuple[str, str, str]]) -> None:
    assert refusals(acpi.CHECKS, with_acpi(**references)) == expected


def test_acpi_before_msdm() -> None:
    missing = [("acpi/volume", "spec.acpi", "spec.acpi does not have a matching Volume.")]
    assert refusals(acpi.CHECKS, with_acpi(), release="1.5.3") == missing
    unfit = refusals(acpi.CHECKS, with_acpi(slicNameRef="c"), release="1.5.3")
    assert [refusal.field for refusal in unfit] == ["spec.acpi.slicNameRef"]
    assert refusals(acpi.CHECKS, with_acpi(slicNameRef="no"), release="1.4.1") == []
