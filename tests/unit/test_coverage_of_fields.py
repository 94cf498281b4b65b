"""Every field of an instancetype or preference is read by a rule, or listed with a reason."""

import re
from collections.abc import Iterator

import pytest

from render.apply import instancetype, preference
from render.convert import instancetypes
from render.model import types
from render.model.release import NEWEST, Windowed
from render.model.tree import Tree
from render.rules import Rule, Rules
from tests.conftest import ROOT
from tests.support import names
from tests.support.older import OLDER_FIELDS

STOP = ("kubevirt.", "core.", "resource.")


def leaves(type_name: str, prefix: str = "") -> Iterator[str]:
    """The fields down to the types that are copied whole."""
    for name, field in types.fields(type_name, NEWEST).items():
        inner = field.type.lstrip("*")
        dotted = f"{prefix}{name}"
        if types.is_struct(inner) and not inner.startswith(STOP):
            yield from leaves(inner, f"{dotted}.")
        else:
            yield dotted


def plain(rules: Rules) -> list[Rule]:
    """The rules of all releases."""
    return [rule.item if isinstance(rule, Windowed) else rule for rule in rules]


def unread(type_name: str, rules: Rules, elsewhere: dict[str, str]) -> set[str]:
    read = {".".join(map(str, path)) for rule in plain(rules) for path in rule.reads}
    fields = set(leaves(type_name))
    assert fields
    return {
        f
        for f in fields
        if f not in elsewhere and not any(f"{r}.".startswith(f"{f}.") for r in read)
    }


@pytest.mark.parametrize(
    ("type_name", "rules", "elsewhere"),
    [
        ("instancetype.VirtualMachineInstancetypeSpec", instancetype.RULES, {}),
        ("instancetype.VirtualMachinePreferenceSpec", preference.RULES, preference.ELSEWHERE),
    ],
)
def test_every_field_has_a_rule_or_a_reason(
    type_name: str, rules: Rules, elsewhere: dict[str, str]
) -> None:
    fields = unread(type_name, rules, elsewhere)
    assert not fields, f"no rule of render/apply reads {sorted(fields)}"
    assert set(elsewhere) <= set(leaves(type_name))
    assert all(elsewhere.values())


def test_a_new_field_has_a_case_and_a_row_of_who_decides() -> None:
    """Since `tests.support.names` was written."""
    inputs = (ROOT / "fixtures/cases").glob("*/*/input/*")
    cases = "".join(path.read_text(encoding="utf-8") for path in inputs if path.is_file())
    rows = (ROOT / "tests/property/test_who_decides.py").read_text(encoding="utf-8")
    for resource in names.added():
        if resource.kind == "field":
            assert re.search(resource.pattern, cases), (
                f"no case of fixtures/cases has {resource.name}"
            )
            assert re.search(resource.pattern, rows), (
                f"no row of test_who_decides.py has {resource.name}"
            )


@pytest.mark.parametrize(
    ("type_name", "rules"),
    [
        ("instancetype.VirtualMachineInstancetypeSpec", instancetype.RULES),
        ("instancetype.VirtualMachinePreferenceSpec", preference.RULES),
    ],
)
def test_every_path_of_a_rule_exists(type_name: str, rules: Rules) -> None:
    for rule in plain(rules):
        for read in rule.reads:
            assert exists(type_name, read), (
                f"{type_name} has no {read}: make kubevirt-release, then make generate"
            )
        for written in rule.writes:
            assert exists("kubevirt.VirtualMachineInstanceSpec", written), written


def exists(type_name: str, path: tuple[str | int, ...]) -> bool:
    for step in path:
        inner = type_name.lstrip("*").removeprefix("[]")
        if not types.is_struct(inner):
            return inner.startswith("map[")
        field = types.fields(inner, NEWEST).get(str(step))
        if field is None:
            return False
        type_name = field.type
    return True


def spec_with(path: str) -> Tree:
    """A spec in which something stands at the dotted *path*, and nowhere else."""
    first, _, rest = path.partition(".")
    return {first: spec_with(rest) if rest else {"x": 1}}


@pytest.mark.parametrize("kind", OLDER_FIELDS)
def test_a_field_that_the_older_versions_lack_is_known_to_be_newer(kind: str) -> None:
    older = OLDER_FIELDS[kind]
    fields = set(leaves(f"instancetype.{kind}Spec"))
    assert older <= fields
    for name in fields:
        newer = instancetypes.newer_fields(kind, "v1alpha2", spec_with(name))
        assert bool(newer) is (name not in older), (
            f"{name}: the table of newer fields in render/convert/instancetypes.py"
        )
