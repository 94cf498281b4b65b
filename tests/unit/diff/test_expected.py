"""What of an expected tree another one does not have."""

from typing import Any

import pytest

from render.diff.expected import ABSENT, unmet

ITEMS = {"items": [{"name": "root", "bus": "virtio"}, {"name": "data", "bus": "sata"}]}


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({}, {"a": 1}),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}, "d": 3}),
        ({"a": None}, {}),
        ({"a": None}, {"a": None}),
        ({"memory": "8192Mi"}, {"memory": "8Gi"}),
        ({"cpu": 4}, {"cpu": "4"}),
        ({"cpu": 0.5}, {"cpu": "500m"}),
        ({"items": [{"name": "data", "bus": "sata"}]}, ITEMS),
        ({"items": []}, {"items": []}),
        ({"items": [{"a": 1}, 2]}, {"items": [{"a": 1, "b": 2}, 2]}),
        ({"on": True}, {"on": True}),
    ],
)
def test_what_is_expected_is_there(expected: Any, actual: Any) -> None:
    assert list(unmet(expected, actual)) == []


@pytest.mark.parametrize(
    ("expected", "actual", "written", "path", "found"),
    [
        ({"a": 1}, {}, ("a",), ("a",), ABSENT),
        ({"a": None}, {"a": 0}, ("a",), ("a",), 0),
        ({"memory": "8Gi"}, {"memory": "8G"}, ("memory",), ("memory",), "8G"),
        ({"on": True}, {"on": 1}, ("on",), ("on",), 1),
        ({"on": False}, {}, ("on",), ("on",), ABSENT),
        ({"one": "1"}, {"one": True}, ("one",), ("one",), True),
        ({"a": {"b": 1}}, {"a": 2}, ("a",), ("a",), 2),
        ({"items": []}, ITEMS, ("items",), ("items",), ITEMS["items"]),
        ({"items": [{"bus": "virtio"}]}, ITEMS, ("items",), ("items",), ITEMS["items"]),
        (
            {"items": [{"name": "data", "bus": "virtio"}]}, ITEMS,
            ("items", 0, "bus"), ("items", 1, "bus"), "sata",
        ),
        ({"items": [{"name": "swap"}]}, ITEMS, ("items", 0), ("items", "swap"), ABSENT),
    ],
)  # fmt: skip
def test_what_is_not_is_named_where_it_is_written_and_where_it_would_be(
    expected: Any, actual: Any, written: Any, path: Any, found: Any
) -> None:
    (reference,) = unmet(expected, actual)
    assert (reference.written, reference.path, reference.actual) == (written, path, found)
