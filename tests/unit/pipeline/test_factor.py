"""What new definitions may say, beside the rules by which definitions reach a VM."""

import pytest

from render import FactorOptions, Settings, factor, render
from render.apply import instancetype, preference
from render.model.release import VERSIONS, in_force
from render.pipeline.factor import instancetypes, naming, places
from tests.differential.test_factor import machine

#: What an instancetype says of where a VM runs stays in the VM; the rest is its size.
_LEFT = {"nodeSelector", "schedulerName", "annotations"}
_SIZE = {"cpu.guest", "memory.guest", "memory.overcommitPercent"}


def test_a_new_instancetype_may_say_all_that_one_brings() -> None:
    read = {
        ".".join(map(str, path))
        for release in VERSIONS
        for rule in in_force(instancetype.RULES, release)
        for path in rule.reads
    }
    known = {".".join(map(str, source)) for source, _ in instancetypes._FIELDS}  # noqa: SLF001
    assert read == known | _LEFT | _SIZE


def test_every_field_that_a_preference_fills_is_a_place() -> None:
    """A rule that writes into a list or a structure needs a row of its own in `places`."""
    structures = {
        ".".join(map(str, path))
        for release in VERSIONS
        for rule in in_force(preference.RULES, release)
        for path in rule.writes
        if places.is_structure(("spec", *path))
    }
    assert structures == {
        "domain.clock",
        "domain.devices.disks.blockSize",
        "domain.devices.disks.cache",
        "domain.devices.disks.cdrom.bus",
        "domain.devices.disks.dedicatedIOThread",
        "domain.devices.disks.disk",
        "domain.devices.disks.disk.bus",
        "domain.devices.disks.io",
        "domain.devices.disks.lun.bus",
        "domain.devices.inputs.bus",
        "domain.devices.inputs.type",
        "domain.devices.interfaces.masquerade",
        "domain.devices.interfaces.model",
        "domain.devices.video",
        "domain.features",
        "domain.features.hyperv",
        "domain.firmware.bootloader",
    }


def test_a_name_says_what_is_in_it_and_differs_with_that() -> None:
    plain = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}}
    assert naming.name_of("instancetype", plain) == "cpu2-4gi"
    dedicated = {**plain, "cpu": {"guest": 2, "dedicatedCPUPlacement": True}}
    assert naming.name_of("instancetype", dedicated).startswith("cpu2-4gi-dedicated-")
    buses = [{"devices": {"preferredDiskBus": "virtio", "preferredRng": {}}}]
    buses.append({"devices": {"preferredDiskBus": "virtio"}})
    names = {naming.name_of("preference", bus) for bus in buses}
    assert len(names) == len(buses)
    assert all(name.startswith("virtio-") for name in names)


def test_what_has_both_is_done_and_nothing_is_added() -> None:
    factoring = factor([machine("u1.medium", "linux")], Settings(), FactorOptions(near=True))
    assert [machine.outcome for machine in factoring.machines] == ["done"]
    assert not factoring.definitions


def test_vms_of_several_namespaces_share_a_definition_of_the_cluster() -> None:
    bodies = []
    for namespace in ("a", "b"):
        body = machine("", "")
        body["metadata"]["namespace"] = namespace
        domain = body["spec"]["template"]["spec"]["domain"]
        domain |= {
            "cpu": {"sockets": 3, "cores": 1, "threads": 1},
            "memory": {"guest": "5Gi"},
        }
        bodies.append(body)
    factoring = factor(bodies)
    assert {
        machine.instancetype.kind for machine in factoring.machines if machine.instancetype
    } == {"VirtualMachineClusterInstancetype"}
    (definition,) = factoring.definitions
    assert len(definition.users) == 2


@pytest.mark.parametrize(
    ("image", "wanted"),
    [
        ("registry/rhel:9", "linux"),
        ("registry/rhel:8.10", "rhel.8"),
        ("registry/fedora", "fedora"),
        ("registry/disk", "fedora"),
    ],
)
def test_no_preference_of_another_system_is_proposed(image: str, wanted: str) -> None:
    """Fedora's brings more, RHEL 9's says more than this VM has, and RHEL 7's and 8's are alike."""
    (body,) = render([machine("u1.medium", "fedora")], Settings(annotations=False)).resources
    body["spec"]["template"]["spec"]["volumes"][0]["containerDisk"]["image"] = image
    (found,) = factor([body]).machines
    assert found.preference is not None
    assert found.preference.name == wanted


def test_no_preference_of_another_version_is_near() -> None:
    (body,) = render([machine("u1.medium", "rhel.8")], Settings(annotations=False)).resources
    spec = body["spec"]["template"]["spec"]
    spec["volumes"][0]["containerDisk"]["image"] = "registry/rhel:9"
    spec["domain"]["memory"]["guest"] = "5Gi"
    (found,) = factor([body], options=FactorOptions(near=True)).machines
    assert found.nearest is not None
    assert found.nearest.preference is not None
    assert found.nearest.preference.name == "linux"
