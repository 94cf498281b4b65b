"""The type table is complete in itself."""

import os
import re

import pytest

from render.model import types
from render.model.release import NEWEST, VERSIONS, Version

SCALARS = {
    "any", "bool", "cidr", "duration", "float32", "int", "int32", "int64", "intstr", "ip",
    "quantity", "string", "time", "uint", "uint8", "uint32", "uint64",
}  # fmt: skip


def test_the_folder_holds_the_table() -> None:
    assert "kubevirt.types.json" in os.listdir(types.schemas_folder())


@pytest.mark.parametrize("release", VERSIONS)
def test_every_type_that_a_field_names_is_known(release: Version) -> None:
    unknown = []
    for owner in types.type_names():
        for name, field in types.fields(owner, release).items():
            base = re.sub(r"^(\*|\[\]|map\[string\])*", "", field.type)
            if base.startswith("enum:"):
                assert types.enum(base.removeprefix("enum:"), release)
            elif base not in SCALARS and not types.is_struct(base):
                unknown.append((owner, name, field.type))
    assert len(types.type_names()) > 200
    assert unknown == []


@pytest.mark.parametrize(
    ("owner", "name", "expected"),
    [
        ("kubevirt.Machine", "type", ("string", False, False, False)),
        ("kubevirt.Disk", "name", ("string", False, True, False)),
        ("kubevirt.CPU", "cores", ("uint32", True, False, False)),
        ("kubevirt.Memory", "guest", ("*quantity", True, False, False)),
        ("core.PersistentVolumeClaimVolumeSource", "claimName", ("string", False, True, False)),
        ("core.TypedObjectReference", "apiGroup", ("*string", False, False, True)),
        ("meta.ObjectMeta", "creationTimestamp", ("time", True, False, True)),
    ],
)  # fmt: skip
def test_fields(owner: str, name: str, expected: tuple[str, bool, bool, bool]) -> None:
    assert types.fields(owner, NEWEST)[name] == expected


def test_status_is_not_ours_to_check() -> None:
    assert "status" not in types.fields("kubevirt.VirtualMachine", NEWEST)


def test_an_unknown_type() -> None:
    with pytest.raises(KeyError):
        types.fields("kubevirt.Nothing", NEWEST)
