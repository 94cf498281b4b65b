"""Values and faults as PyYAML has them, recorded with PyYAML 6.0.3."""

from typing import Any

import pytest

from render.guest import yaml11
from render.guest.yaml11 import Date


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True), ("Off", False), ("y", "y"), ("~", None), ("", None), ("null", None), ("NULL", None),
        ("0644", 420), ("0x1F", 31), ("0b101", 5), ("1_000", 1000), ("1:30", 90), ("-1:30", -90),
        ("0o7", "0o7"), ("08", "08"), ("1e3", "1e3"), ("1.5e+3", 1500.0), (".5", 0.5), ("1:30.5", 90.5), ("1.", 1.0),
        ("2026-01-01", Date("2026-01-01")), ("2026-1-1", "2026-1-1"), ("52:54:00:12:34:56", 41135085296),
        ("plain words", "plain words"), ("'1'", "1"), ("!!str 1", "1"), ("!!binary aGk=", b"hi"),
        ("[a, 1]", ["a", 1]), ("{a: 1, a: 2}", {"a": 2}), ("{1: a}", {"1": "a"}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
        ("a: |\n  x\ty\n# z\tz\nb: 'q\tq'", {"a": "x\ty\n", "b": "q\tq"}),
    ],
)  # fmt: skip
def test_values(text: str, value: Any) -> None:
    loaded = yaml11.load(text)
    assert loaded.fault is None
    assert loaded.value == value
    assert type(loaded.value) is type(value)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: b: c", 1, 5),
        ("a:\tb", 1, 3),
        ("a: b\t", 1, 5),
        ("a: 'b", 1, 4),
        ("a: [b", 1, 4),
        ("a: *x", 1, 4),
        ("a: !x b", 1, 4),
        ("? [a]\n: b", 1, 1),
        ("a: 1\n---\nb: 2", 1, 1),
        ("a: \x07", 1, 1),
    ],
)
def test_faults_stand_where_pyyaml_has_them(text: str, line: int, column: int) -> None:
    fault = yaml11.load(text).fault
    assert fault is not None
    assert (fault.line, fault.column) == (line, column)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100,
        "a: &a [1]\n" + "".join(f"b{n}: &a [*a, *a]\n" for n in range(40)),
        "[" + "a," * 60_000 + "]",
    ],
)
def test_what_nobody_wrote_is_given_up(text: str) -> None:
    with pytest.raises(yaml11.TooMuchError):
        yaml11.load(text)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("a",), (1, 1)),
        (("a", 1), (3, 5)),
        (("a", 1, "b"), (3, 5)),
        (("a", 7), (1, 1)),
        ((), (1, 1)),
    ],
)
def test_places(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    assert yaml11.placer("a:\n  - x\n  - b: y\n")(path) == place
