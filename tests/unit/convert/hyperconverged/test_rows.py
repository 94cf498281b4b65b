"""What the rows name exists: in the schema of HyperConverged, and in the types of KubeVirt."""

from typing import Any

import pytest

from render.convert.hyperconverged import crd, fields, gates
from render.convert.hyperconverged import kubevirt as operator
from render.convert.hyperconverged.desired import Desired, Setting, stored_version
from render.model import types
from render.model.release import NEWEST, Version, Windowed, in_force

RELEASES: tuple[Version, ...] = ((1, 4, 1), (1, 5, 3), (1, 6, 6), (1, 7, 4), (1, 8, 4), (1, 9, 0))


def known(setting: Setting, api_version: str, release: Version) -> bool:
    node: Any = crd.schema(api_version, release)
    for step in ("spec", *(setting.of(api_version) or ("absent",))):
        node = (node or {}).get("properties", {}).get(step)
    return node is not None


@pytest.mark.parametrize("setting", fields.CONVERTED)
@pytest.mark.parametrize("api_version", ["v1beta1", "v1"])
def test_a_setting_is_a_field_of_some_release(setting: Setting, api_version: str) -> None:
    assert (setting.of(api_version) is None) or any(
        known(setting, api_version, release) for release in RELEASES
    )


@pytest.mark.parametrize("row", operator._ROWS)  # noqa: SLF001
def test_a_target_is_a_field_of_kubevirt(
    row: operator.SettingRow | Windowed[operator.SettingRow],
) -> None:
    name = "kubevirt.KubeVirt"
    (target,) = [each.target for each in in_force((row,), RELEASES[0])]
    for step in target:
        assert isinstance(step, str)
        name = types.fields(name, NEWEST)[step].type.removeprefix("*")


@pytest.mark.parametrize("release", RELEASES)
def test_the_operator_reads_what_the_stored_version_has(release: Version) -> None:
    api_version = stored_version(release)
    read = [row.setting for row in in_force(operator._ROWS, release)]  # noqa: SLF001
    # A field that came later is unknown and pruned; nothing that the release has is forgotten.
    had = [each for each in fields.CONVERTED if known(each, api_version, release)]
    others = {
        fields.IMAGE_TEMPLATES,
        fields.INFRA,
        fields.INJECTOR,
        fields.MIN_CPU_MODEL,
        fields.MULTI_ARCHITECTURE,
        fields.OBSOLETE_CPUS,
        fields.PERMITTED_DEVICES,
        fields.TLS_PROFILE,
        fields.TUNING,
    }
    assert set(had) <= {*read, *others}


@pytest.mark.parametrize(
    ("name", "release", "phase"),
    [
        ("template", (1, 8, 4), None),
        ("template", (1, 9, 0), "beta"),
        ("Template", (1, 9, 0), "beta"),
        ("DownwardMetrics", (1, 8, 4), None),
        ("downwardMetrics", (1, 8, 4), "alpha"),
        ("declarativeHotplugVolumes", (1, 8, 4), "alpha"),
        ("declarativeHotplugVolumes", (1, 9, 0), "beta"),
        ("persistentReservation", (1, 9, 0), "deprecated"),
        ("nonRoot", (1, 8, 4), "ignored"),
        ("nonRoot", (1, 9, 0), None),
    ],
)
def test_the_phase_of_a_gate(name: str, release: Version, phase: str | None) -> None:
    assert gates.phase_of(name, release) == phase


def test_a_gate_that_is_ignored_is_off_whatever_is_said() -> None:
    text = {"featureGates": [{"name": "nonRoot"}, {"name": "objectGraph"}]}
    desired = Desired("v1", (1, 8, 4), text, {})
    assert gates.converted(desired, "v1beta1", [])["objectGraph"] is True
    assert "nonRoot" not in gates.converted(desired, "v1beta1", [])
    assert not gates.is_on(desired, "nonRoot")


def test_v1_keeps_of_v1beta1_only_what_differs_from_the_default() -> None:
    text = {"downwardMetrics": True, "alignCPUs": False, "decentralizedLiveMigration": True}
    desired = Desired("v1beta1", (1, 9, 0), {"featureGates": text}, {})
    assert gates.converted(desired, "v1", []) == [{"name": "downwardMetrics", "state": "Enabled"}]
    off = desired._replace(spec={"featureGates": {"decentralizedLiveMigration": False}})
    held = [{"name": "DecentralizedLiveMigration", "state": "Enabled"}, {"name": "objectGraph"}]
    assert gates.converted(off, "v1", held) == [
        {"name": "DecentralizedLiveMigration", "state": "Disabled"}
    ]
