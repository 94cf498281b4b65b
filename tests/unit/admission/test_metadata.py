"""Labels and annotations."""

import pytest

from render.admission.vmi.metadata import CHECKS
from render.model.cluster_config import ClusterConfig
from tests.support.refusals import Json, refusals

RESERVED = "creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited"
THREADS = "kubevirt.io/multiThreadedQemuMigration"


def test_reserved_labels() -> None:
    labels = {"kubevirt.io/nodeName": "n", "kubevirt.io/schedulable": "true", "kubevirt.io/vm": "a"}
    expected = [("metadata/reserved-label", "metadata.labels", RESERVED)]
    assert refusals(CHECKS, {}, metadata={"labels": labels}) == expected
    assert refusals(CHECKS, {}, metadata={"labels": {"kubevirt.io/vm": "a"}}) == []
    assert (
        refusals(CHECKS, {}, metadata={"labels": labels}, kind="VirtualMachineInstanceReplicaSet")
        == []
    )


@pytest.mark.parametrize(
    ("annotation", "gate", "check", "message"),
    [
        (
            "kubevirt.io/ignitiondata",
            "ExperimentalIgnitionSupport",
            "metadata/ignition",
            (
                "ExperimentalIgnitionSupport feature gate is not enabled in kubevirt-config, "
                "invalid entry metadata.annotations.kubevirt.io/ignitiondata"
            ),
        ),
        (
            "hooks.kubevirt.io/hookSidecars",
            "Sidecar",
            "metadata/sidecar",
            (
                "sidecar feature gate is not enabled in kubevirt-config, "
                "invalid entry metadata.annotations.hooks.kubevirt.io/hookSidecars"
            ),
        ),
    ],
)
def test_annotations_with_gates(annotation: str, gate: str, check: str, message: str) -> None:
    metadata = {"annotations": {annotation: "[]"}}
    on = ClusterConfig(feature_gates=frozenset({gate}))
    assert refusals(CHECKS, {}, metadata=metadata) == [(check, "metadata.annotations", message)]
    assert refusals(CHECKS, {}, metadata=metadata, config=on) == []
    assert refusals(CHECKS, {}, metadata={"annotations": {annotation: ""}}) == []


@pytest.mark.parametrize(
    ("count", "fault"),
    [
        ("2", ""),
        ("+4", ""),
        ("1", "thread count (1) must be larger than 1. "),
        ("2.5", 'cannot parse 2.5 to int: strconv.Atoi: parsing "2.5": invalid syntax, '),
        ("", 'cannot parse  to int: strconv.Atoi: parsing "": invalid syntax, '),
        (
            "9223372036854775808",
            (
                "cannot parse 9223372036854775808 to int: strconv.Atoi: parsing "
                '"9223372036854775808": value out of range, '
            ),
        ),
    ],
)
def test_migration_threads(count: str, fault: str) -> None:
    metadata: Json = {"annotations": {THREADS: count}}
    message = f"{fault}invalid entry metadata.annotations.{THREADS}"
    expected = [("metadata/migration-threads", "metadata.annotations", message)] if fault else []
    assert refusals(CHECKS, {}, metadata=metadata, release="1.4.1") == expected
    assert refusals(CHECKS, {}, metadata=metadata, release="1.5.0") == []
