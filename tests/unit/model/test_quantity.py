"""Quantities against the table recorded from Kubernetes' own code."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.model.apimachinery import quantity
from render.model.apimachinery.quantity import BINARY, DECIMAL, EXPONENT, QuantityError

TABLE = Path(__file__).parents[3] / "fixtures" / "quantities.tsv"
ROWS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]
READABLE = [row for row in ROWS if row[1] != "error"]
REFUSED = [row for row in ROWS if row[1] == "error"]


def test_every_readable_row() -> None:
    found = {
        text: (
            quantity.text_of(quantity.parse_text(text)),
            str(quantity.value(text)),
            quantity.format_of(text),
        )
        for text, *_ in READABLE
    }
    assert len(READABLE) == 1209
    assert found == {text: tuple(expected) for text, *expected in READABLE}


def test_every_refused_row() -> None:
    messages = {}
    for text, *_ in REFUSED:
        with pytest.raises(QuantityError) as error:
            quantity.parse_text(text)
        messages[text] = str(error.value)
    assert len(REFUSED) == 279
    assert messages == {text: message for text, _, message in REFUSED}


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("1", 1000),
        ("100m", 100),
        ("1u", 1),
        ("-1u", -1),
        ("-1500m", -1500),
        ("0", 0),
        ("1Ki", 1024000),
        ("2e3", 2000000),
        ("1.0000000001", 1001),
        ("9223372036854775807", -1000),
    ],
)
def test_thousandths(text: str, milli: int) -> None:
    assert quantity.milli_value(text) == milli


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1000, "1k"),
        (1.5, "1500m"),
        (1e3, "1k"),
        (1e16, "10P"),
        (1e21, "1e+21"),
        (0.00001, "10u"),
        (1e-7, "100e-9"),
        (-2.5e-5, "-25u"),
        (" 1024Mi ", "1Gi"),
    ],
)
def test_json_values(number: str | float, text: str) -> None:
    assert quantity.canonical(number) == text


@pytest.mark.parametrize(
    ("number", "number_format", "text"),
    [
        (4000000000, BINARY, "3906250Ki"),
        (1023, BINARY, "1023"),
        (1000, BINARY, "1k"),
        (2**60 * 7, BINARY, "7Ei"),
        (4000000000, DECIMAL, "4G"),
        (12000, EXPONENT, "12e3"),
        (0, BINARY, "0"),
        (-2048, BINARY, "-2Ki"),
    ],
)
def test_from_int(number: int, number_format: str, text: str) -> None:
    assert quantity.from_int(number, number_format) == text


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("1Gi", "1024Mi", 0),
        ("1G", "1Gi", -1),
        ("0", "-1", 1),
        ("0Gi", "0", 0),
        ("-2", "-1", -1),
        ("1e2000000000", "1e1999999999", 1),
        ("-1e2000000000", "1", -1),
        ("10", "9.99", 1),
        ("1500m", "1.5", 0),
    ],
)
def test_compare(left: str, right: str, expected: int) -> None:
    assert quantity.compare(left, right) == expected
    assert quantity.compare(right, left) == -expected


def test_zero() -> None:
    assert quantity.is_zero("0Gi")
    assert quantity.is_zero("-0.000")
    assert not quantity.is_zero("1n")


@pytest.mark.parametrize(
    "text", ["9" * 30 + "e999999999", "1" * 900, "1e-999999999", "5" * 500 + "Ei"]
)
def test_absurd_sizes_are_cheap(text: str) -> None:
    assert quantity.canonical(quantity.canonical(text)) == quantity.canonical(text)
    assert -(2**63) <= quantity.value(text) < 2**63


def test_a_number_of_ten_thousand_digits_is_refused() -> None:
    with pytest.raises(QuantityError, match="more than 1000 digits"):
        quantity.parse("1" * 10_000)


@given(
    st.integers(-(10**20), 10**20),
    st.integers(0, 10**6),
    st.sampled_from(["", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E-2", "n"]),
)
def test_canonical_text_is_a_fixed_point(whole: int, fraction: int, suffix: str) -> None:
    once = quantity.canonical(f"{whole}.{fraction}{suffix}")
    assert quantity.canonical(once) == once
