"""What the API server refuses of any object's metadata."""

from typing import Any

import pytest

from render.admission.metadata import refusals


@pytest.mark.parametrize(
    ("metadata", "paths"),
    [
        ({"name": "web-1.example"}, []),
        ({"name": "a" * 253}, []),
        ({"name": "a" * 254}, ["name"]),
        ({"name": "-web"}, ["name"]),
        ({"name": "Web"}, ["name"]),
        ({"name": "web server"}, ["name"]),
        ({"generateName": "Web-"}, []),
        ({"namespace": "a" * 64}, ["namespace"]),
        ({"namespace": "1"}, []),
        ({"labels": {"a/b/c": ""}}, ["a/b/c"]),
        ({"labels": {"a": "-"}}, ["a"]),
        ({"labels": {"Example.com/a": ""}}, ["Example.com/a"]),
        ({"labels": {"a": 1, "b": None}}, []),
        ({"labels": "a"}, []),
        ({"annotations": {"Example.com/a": "- any text\n"}}, []),
        ({"annotations": {"a" * 64: ""}}, ["a" * 64]),
        ({"annotations": {"a": "b" * (256 * 1024 - 1)}}, []),
        ({"annotations": {"a": "b" * (256 * 1024)}}, ["annotations"]),
        ({"annotations": {"a": "\u00e9" * (128 * 1024)}}, ["annotations"]),
    ],
)
def test_what_is_refused(metadata: dict[str, Any], paths: list[str]) -> None:
    assert [one.path[-1] for one in refusals(metadata)] == paths


@pytest.mark.parametrize(
    "name",
    ["${NAME}", "$(NAME)", "{{ name }}", "<name>", "%NAME%", "@name@", "__NAME__", "VM_NAME"],
)
def test_placeholders_are_for_others(name: str) -> None:
    metadata = {"name": name, "namespace": name, "labels": {"a": name}}
    assert list(refusals(metadata)) == []
