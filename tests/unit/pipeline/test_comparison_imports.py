"""Edits of what CDI reads, as `compare` has them: refused, or nothing to tell."""

from typing import Any

import pytest

from render import Settings, compare

Json = dict[str, Any]


def volume(
    size: str = "1Gi", kind: str = "DataVolume", url: str = "https://h/x", **more: Any
) -> Json:
    storage = {"resources": {"requests": {"storage": size}}}
    spec: Json = {"source": {"http": {"url": url}}, "storage": storage, **more}
    if kind == "DataImportCron":
        template = {"spec": {**spec, "source": {"registry": {"url": "docker://h/x"}}}}
        spec = {"managedDataSource": "x", "schedule": "@daily", "template": template}
    return {
        "apiVersion": "cdi.kubevirt.io/v1beta1", "kind": kind,
        "metadata": {"name": "image", "namespace": "prod"}, "spec": spec,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["DataVolume", "DataImportCron"])
def test_an_edit_of_the_spec_is_refused(kind: str) -> None:
    (machine,) = compare([volume(kind=kind)], [volume("2Gi", kind)]).machines
    assert (machine.resource.kind, machine.effects) == (kind, ("refused",))
    assert machine.messages == (f"Cannot update {kind} Spec",)
    (change,) = machine.changes
    assert (change.before, change.after, change.effect) == ("1Gi", "2Gi", "refused")
    assert change.field.endswith("spec.storage.resources.requests.storage")
    assert change.cause is not None
    assert change.cause.resource == machine.resource


def test_another_notation_a_label_and_a_stage_are_no_edit() -> None:
    labelled = volume("1024Mi")
    labelled["metadata"]["labels"] = {"a": "b"}
    assert not compare([volume()], [labelled]).machines
    staged: Json = {"source": {"vddk": {"url": "https://h"}}}
    points = [{"current": "b", "previous": "a"}]
    assert not compare([volume(**staged)], [volume(**staged, checkpoints=points)]).machines


def test_what_is_new_gone_or_not_asked_for() -> None:
    assert not compare([volume()], []).machines
    assert not compare([], [volume()]).machines
    assert not compare([volume()], [volume("2Gi")], Settings(admission="off")).machines


def test_the_password_of_a_url_is_not_shown() -> None:
    before, after = volume(url="https://a:canary@h/x"), volume(url="https://a:canary@h/y")
    assert "canary" not in str(compare([before], [after]).machines)


def test_a_vm_whose_disk_is_never_made_is_stored_and_fails() -> None:
    def machine(*templates: Json) -> Json:
        volumes = [{"name": "root", "dataVolume": {"name": "root"}} for _ in templates]
        guest = {"domain": {"memory": {"guest": "1Gi"}, "devices": {}}, "volumes": volumes}
        spec = {
            "runStrategy": "Always", "dataVolumeTemplates": [*templates], "template": {"spec": guest},
        }  # fmt: skip
        metadata = {"name": "web", "namespace": "prod"}
        return {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": metadata,
            "spec": spec,
        }

    storage = {"resources": {"requests": {"storage": "1Ki"}}}
    small = {"metadata": {"name": "root"}, "spec": {"source": {"blank": {}}, "storage": storage}}
    (each_machine,) = compare([machine()], [machine(small)]).machines
    assert "error" in each_machine.effects
    assert "refused" not in each_machine.effects
    assert "Storage size should be at least 1MiB" in each_machine.messages
