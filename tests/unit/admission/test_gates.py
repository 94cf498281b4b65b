"""Feature gates: which count as on, and what is refused without them."""

import json
from importlib import import_module
from pathlib import Path

import pytest

from render import Settings, render
from render.admission import order
from render.admission.checks import Check
from render.model.cluster import gates
from render.model.cluster_config import from_kubevirt
from render.model.release import (
    NEWEST,
    PREVIEW,
    VERSIONS,
    Version,
    Windowed,
    in_force,
    minor,
    row,
    version,
)
from render.schemas import refusals
from tests.support.refusals import Json, names

FILE = "tests/unit/admission/test_gates.py"
RELEASES = tuple(map(minor, VERSIONS))
STATES = json.loads(
    (Path(__file__).parents[3] / "schemas" / "gates.json").read_text(encoding="utf-8")
)
NONE: frozenset[str] = frozenset()


def devices(**stated: object) -> Json:
    return {"domain": {"devices": stated}}


VOLUMES = [{"name": "a", "persistentVolumeClaim": {"claimName": "a"}}]
GRACE = devices(gpus=[{"name": "g", "deviceName": "nvidia.com/g"}])
PERMITTED = {
    "permittedHostDevices": {
        "pciHostDevices": [{"pciVendorSelector": "10DE:2342", "resourceName": "nvidia.com/g"}]
    }
}


def interface(**more: object) -> Json:
    return {
        **devices(interfaces=[{"name": "n", **more}]),
        "networks": [{"name": "n", "pod": {}}],
    }


def secured(kind: str, architecture: str = "amd64") -> Json:
    return {
        "architecture": architecture,
        "domain": {
            "devices": {},
            "launchSecurity": {kind: {}} if kind else {},
            "firmware": {"bootloader": {"efi": {"secureBoot": False}}},
        },
    }


#: gate -> the releases in which something is refused without it, and what.
GATED: dict[str, tuple[tuple[str, ...], Json]] = {
    "DeclarativeHotplugVolumes": (RELEASES[2:], devices(disks=[{"name": "d", "cdrom": {}}])),
    "DownwardMetrics": (RELEASES, devices(downwardMetrics={})),
    "EnableVirtioFsConfigVolumes": (
        RELEASES[1:4],
        {
            **devices(filesystems=[{"name": "a", "virtiofs": {}}]),
            "volumes": [{"name": "a", "configMap": {"name": "a"}}],
        },
    ),
    "EnableVirtioFsStorageVolumes": (
        RELEASES[1:],
        {**devices(filesystems=[{"name": "a", "virtiofs": {}}]), "volumes": VOLUMES},
    ),
    "GPUsWithDRA": (
        RELEASES[2:],
        {
            **devices(gpus=[{"name": "g", "claimName": "c", "requestName": "r"}]),
            "resourceClaims": [{"name": "c", "resourceClaimName": "c"}],
        },
    ),
    "GraceIOVirtualization": (RELEASES[5:], GRACE),
    "HostDevices": (RELEASES, devices(hostDevices=[{"name": "h", "deviceName": "x.org/h"}])),
    "HostDevicesWithDRA": (
        RELEASES[4:],
        {
            **devices(hostDevices=[{"name": "h", "claimName": "c", "requestName": "r"}]),
            "resourceClaims": [{"name": "c", "resourceClaimName": "c"}],
        },
    ),
    "HostDisk": (
        RELEASES,
        {"volumes": [{"name": "a", "hostDisk": {"path": "/a", "type": "Disk"}}]},
    ),
    "MultiArchitecture": (RELEASES[:4], {"architecture": "arm64"}),
    "NetworkBindingPlugins": (RELEASES[:1], interface(binding={"name": "x"})),
    "NetworkDevicesWithDRA": (
        RELEASES[5:],
        {
            **devices(interfaces=[{"name": "n", "sriov": {}}]),
            "networks": [{"name": "n", "resourceClaim": {"claimName": "c", "requestName": "r"}}],
            "resourceClaims": [{"name": "c", "resourceClaimName": "c"}],
        },
    ),
    "PanicDevices": (RELEASES[2:5], devices(panicDevices=[{"model": "isa"}])),
    "PasstBinding": (RELEASES[4:], interface(passtBinding={})),
    "PersistentReservation": (
        RELEASES[:5],
        {
            **devices(disks=[{"name": "a", "lun": {"reservation": True}}]),
            "volumes": VOLUMES,
        },
    ),
    "PortRangesSpec": (
        RELEASES[5:],
        interface(masquerade={}, portRanges=[{"protocol": "TCP", "start": 1, "end": 2}]),
    ),
    "RebootPolicy": (RELEASES[4:], {"domain": {"devices": {}, "rebootPolicy": "Reboot"}}),
    "ReservedOverheadMemlock": (
        RELEASES[4:],
        {"domain": {"devices": {}, "memory": {"reservedOverhead": {}}}},
    ),
    "SecureExecution": (RELEASES[2:5], secured("", "s390x")),
    "VMPersistentState": (RELEASES[:2], devices(tpm={"persistent": True})),
    "VSOCK": (RELEASES, devices(autoattachVSOCK=True)),
    "VideoConfig": (RELEASES[2:5], devices(video={"type": "vga"})),
    "WorkloadEncryptionSEV": (RELEASES, secured("sev")),
    "WorkloadEncryptionTDX": (RELEASES[3:], secured("tdx")),
}
#: Gates that something else than a VMI spec needs, and those that only count once they are listed.
ELSEWHERE = {
    "DecentralizedLiveMigration",  # runStrategy
    "ExperimentalIgnitionSupport",  # annotations
    "IOMMUFD",  # with GraceIOVirtualization
    "Macvtap",
    "PCINUMAAwareTopology",  # with GraceIOVirtualization
    "Passt",
    "Sidecar",  # annotations
    "VolumeMigration",  # updateVolumesStrategy
    "VolumesUpdateStrategy",  # updateVolumesStrategy
}


ROWS: list[Check | Windowed[Check]] = [
    row
    for concern in order.CONCERNS
    for row in import_module(f"render.admission.{concern.name}").CHECKS
]


def check(row: Check | Windowed[Check]) -> Check:
    return row.item if isinstance(row, Windowed) else row


def refused(gate: str, release: str, **developer: list[str]) -> bool:
    config = {**PERMITTED, "developerConfiguration": developer}
    rows = [row for row in ROWS if check(row).needs == f"gate {gate}"]
    settings = from_kubevirt({"spec": {"configuration": config}}, NEWEST)
    return bool(names(rows, GATED[gate][1], release=release, config=settings))


def test_every_gate_that_a_check_needs_is_in_the_table() -> None:
    needs = {check(row).needs for row in ROWS}
    needed = {need.removeprefix("gate ") for need in needs if need.startswith("gate ")}
    missing = sorted(needed - GATED.keys() - ELSEWHERE)
    assert not missing, f"no row of GATED in {FILE} has {missing}"
    left = sorted((GATED.keys() | ELSEWHERE) - needed)
    assert not left, f"no check needs {left}, which {FILE} has"


@pytest.mark.parametrize("release", [NEWEST, PREVIEW.version], ids=minor)
def test_every_gate_that_a_check_needs_is_registered(release: Version) -> None:
    registered = {name for states in STATES[minor(release)].values() for name in states}
    needs = {item.needs for item in in_force(ROWS, release)}
    needed = {need.removeprefix("gate ") for need in needs if need.startswith("gate ")}
    unknown = sorted(needed - registered)
    assert not unknown, (
        f"KubeVirt {minor(release)} registers no gate {unknown}, which a check needs: was it renamed?"
    )


@pytest.mark.parametrize("release", [NEWEST, PREVIEW.version], ids=minor)
def test_every_gate_that_a_field_needs_is_registered(release: Version) -> None:
    registered = {name for states in STATES[minor(release)].values() for name in states}
    unknown = sorted(set(refusals.GATED_FIELDS.values()) - registered)
    assert not unknown, (
        f"KubeVirt {minor(release)} registers no gate {unknown} of GATED_FIELDS in"
        " render/schemas/refusals.py: was it renamed?"
    )


@pytest.mark.parametrize("gate", GATED)
@pytest.mark.parametrize("release", RELEASES)
def test_what_a_gate_allows(gate: str, release: str) -> None:
    asking = release in GATED[gate][0]
    on = gates.is_on(gate, NONE, NONE, version(release))
    assert refused(gate, release) == (asking and not on)
    assert not refused(gate, release, featureGates=[gate])
    if on and asking:
        assert refused(gate, release, disabledFeatureGates=[gate])


@pytest.mark.parametrize("release", RELEASES)
def test_which_gates_are_on_without_configuration(release: str) -> None:
    states = STATES[release]
    on = {
        name
        for names in states.values()
        for name in names
        if gates.is_on(name, NONE, NONE, version(release))
    }
    beta = states["Beta"] if row(version(release)).has_beta_gates else ()
    assert on == {*states["GA"], *beta}


@pytest.mark.parametrize(
    ("name", "release", "listed", "disabled", "on"),
    [
        ("VSOCK", "1.9", True, False, True),
        ("VSOCK", "1.9", True, True, True),  # listing wins
        ("RebootPolicy", "1.9", False, True, False),
        ("RebootPolicy", "1.8", False, False, False),  # beta counts from 1.9 on
        ("NUMA", "1.9", False, True, True),  # a matter of course cannot be disabled
        ("NoSuchGate", "1.9", True, False, False),
        ("NoSuchGate", "1.8", True, False, True),
        ("Sidecar", "1.4", True, False, True),  # not registered then
    ],
)
def test_lists_of_gates(name: str, release: str, listed: bool, disabled: bool, on: bool) -> None:  # noqa: FBT001
    inputs = frozenset({name})
    assert (
        gates.is_on(
            name, inputs if listed else NONE, inputs if disabled else NONE, version(release)
        )
        is on
    )


def machine(spec: Json, annotations: Json, run_strategy: str) -> Json:
    domain = {"devices": {}, **spec.get("domain", {})}
    domain["memory"] = {"guest": "1Gi", **domain.get("memory", {})}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "vm", "namespace": "ns"},
        "spec": {
            "runStrategy": run_strategy,
            "template": {
                "metadata": {"annotations": annotations},
                "spec": {**spec, "domain": domain},
            },
        },
    }


#: Of `ELSEWHERE`: the releases, annotations and run strategy.
ASKED_ELSEWHERE: dict[str, tuple[tuple[str, ...], Json, str]] = {
    "DecentralizedLiveMigration": (RELEASES[2:], {}, "WaitAsReceiver"),
    "ExperimentalIgnitionSupport": (RELEASES, {"kubevirt.io/ignitiondata": "{}"}, "Always"),
    "Sidecar": (RELEASES, {"hooks.kubevirt.io/hookSidecars": "[]"}, "Always"),
}
WARNED = [
    *((gate, rows[0], machine(rows[1], {}, "Always")) for gate, rows in GATED.items()),
    *((gate, rows[0], machine({}, *rows[1:])) for gate, rows in ASKED_ELSEWHERE.items()),
]


#: Asked only where a setting says something else first: which devices are permitted, which gates are listed, how
#: changes are rolled out.
BY_SETTINGS = {
    "GraceIOVirtualization", "IOMMUFD", "Macvtap", "PCINUMAAwareTopology", "Passt", "VolumeMigration",
    "VolumesUpdateStrategy",
}  # fmt: skip


def test_every_gate_that_an_object_alone_asks_for_is_among_those_that_only_warn() -> None:
    assert {gate for gate, _, _ in WARNED} | BY_SETTINGS == GATED.keys() | ELSEWHERE


@pytest.mark.parametrize(
    ("gate", "release", "body"),
    [
        (gate, release, body)
        for gate, releases, body in WARNED
        if gate not in BY_SETTINGS
        for release in releases
    ],
)
def test_without_settings_of_the_cluster_a_gate_only_warns(
    gate: str, release: str, body: Json
) -> None:
    answer = render([body], Settings(admission="full", kubevirt=release))
    diagnostics = [
        diagnostic
        for diagnostic in answer.diagnostics
        if f"gate {gate} decides" in diagnostic.message
    ]
    assert not any(diagnostic.is_error for diagnostic in diagnostics)
    strict = render([body], Settings(admission="strict", kubevirt=release))
    if gates.is_on(gate, NONE, NONE, version(release)):
        assert not diagnostics
    else:
        assert diagnostics
        assert any(
            diagnostic.is_error and diagnostic.code == diagnostics[0].code
            for diagnostic in strict.diagnostics
        )
