"""Durations as Go reads and writes them."""

import pytest

from render.model.apimachinery.duration import DurationError, canonical, nanoseconds, text


@pytest.mark.parametrize(
    ("stated", "written"),
    [
        ("60s", "1m0s"),
        ("1m0s", "1m0s"),
        ("48h", "48h0m0s"),
        ("1.5h", "1h30m0s"),
        (".5s", "500ms"),
        ("-90s", "-1m30s"),
        ("+1s", "1s"),
        ("0", "0s"),
        ("1us", "1\u00b5s"),
        ("1\u03bcs", "1\u00b5s"),
        ("1500ns", "1.5\u00b5s"),
        ("61.25s", "1m1.25s"),
        ("1h1ns", "1h0m0.000000001s"),
        (f"{'0' * 5000}1.5{'0' * 5000}h", "1h30m0s"),
    ],
)
def test_what_go_makes_of_a_duration(stated: str, written: str) -> None:
    assert canonical(stated) == written
    assert canonical(written) == written


@pytest.mark.parametrize(
    "stated", ["", "1", "s", "1 m", "1d", "-", "1m-1s", "300000000h", "9" * 5000 + "h"]
)
def test_what_is_no_duration(stated: str) -> None:
    with pytest.raises(DurationError, match="time: invalid duration"):
        nanoseconds(stated)


def test_a_length_without_unit_is_nothing() -> None:
    assert text(0) == "0s"
