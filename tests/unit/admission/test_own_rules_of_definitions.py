"""Each refusal of a definition comes with a way out."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from render.admission.definitions import validate_instancetype, validate_preference
from render.diagnostics.cause import Cause


@pytest.mark.parametrize(
    ("validate", "spec", "cure"),
    [
        (validate_preference, {"cpu": {"preferredCPUTopology": "x"}}, "use one of any, cores, sockets, spread"),
        (
            validate_preference,
            {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"across": "x"}}},
            "use one of SocketsCores, CoresThreads, SocketsCoresThreads",
        ),
        (
            validate_preference,
            {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"across": "CoresThreads", "ratio": 3}}},
            "set ratio: 2, or leave it out",
        ),
        (validate_instancetype, {"memory": {"overcommitPercent": 101}}, "write the percent of guest memory"),
        (validate_instancetype, {"memory": {"overcommitPercent": 1, "hugepages": {}}}, "remove one of the two"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_do(
    validate: Callable[[dict[str, Any]], Iterator[Cause]], spec: dict[str, Any], cure: str
) -> None:
    (cause,) = validate(spec)
    assert cause.help.startswith(cure)
