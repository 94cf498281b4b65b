"""How what may be changed is found out by halving."""

from collections.abc import Sequence

import pytest

from render.pipeline.migration import trial


@pytest.mark.parametrize("units", [(), (1,), (1, 2, 3)])
def test_it_ends_where_everything_is_spoken_against(units: Sequence[int]) -> None:
    accepted: list[int] = []
    refused = list(trial.add(accepted, units, lambda _: "no"))
    assert (accepted, refused) == ([], [(unit, "no") for unit in units])


def test_what_nothing_speaks_against_is_added() -> None:
    accepted: list[int] = []
    refused = list(trial.add(accepted, range(8), lambda units: "odd" if 5 in units else ""))
    assert (sorted(accepted), refused) == ([0, 1, 2, 3, 4, 6, 7], [(5, "odd")])
