"""JSON patches, in the words of the operator's package."""

import json
from typing import Any

import pytest

from render.convert.hyperconverged.patch import PatchError, applied, parsed
from render.model.apimachinery.labels import MOST_ANNOTATIONS


def document() -> dict[str, Any]:
    return {"spec": {"list": ["a", "b"], "map": {"x/y": 1, "n": None}}}


def patched(*operations: dict[str, Any]) -> Any:
    return applied(document(), parsed(json.dumps(operations)))["spec"]


def op(name: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": name, "path": path, **more}


def test_the_operations() -> None:
    assert patched(op("add", "/spec/list/-", value="c"))["list"] == ["a", "b", "c"]
    assert patched(op("add", "/spec/list/0", value="c"))["list"] == ["c", "a", "b"]
    assert patched(op("add", "/spec/list/-1", value="c"))["list"] == ["a", "b", "c"]
    assert patched(op("remove", "/spec/list/-1"))["list"] == ["a"]
    assert patched(op("replace", "/spec/list/1", value={}))["list"] == ["a", {}]
    assert patched(op("replace", "/spec/map/x~1y", value=2))["map"]["x/y"] == 2
    assert "x/y" not in patched(op("remove", "/spec/map/x~1y"))["map"]
    assert patched({**op("copy", "/spec/map/copy"), "from": "/spec/list"})["map"]["copy"] == [
        "a",
        "b",
    ]
    moved = patched({**op("move", "/spec/map/moved"), "from": "/spec/list/0"})
    assert (moved["map"]["moved"], moved["list"]) == ("a", ["b"])
    assert patched(op("test", "/spec/map/x~1y", value=1), op("test", "/spec/map/none"))
    assert patched(op("test", "/spec/map/n", value=None)) == document()["spec"]


def test_the_document_stays_as_it_was() -> None:
    before = document()
    applied(before, parsed(json.dumps([op("remove", "/spec/list/0")])))
    assert before == document()


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (op("add", "/spec/none/a", value=1), 'doc is missing path: "/spec/none/a": missing value'),
        (op("add", "/spec/list/3", value=1), "Unable to access invalid index: 3"),
        (op("test", f"/spec/list/{'9' * 5000}", value=1), "value out of range"),
        (op("add", "/spec/list/x", value=1), "value was not a proper array index: 'x'"),
        (op("remove", "/spec/list/2"), "error in remove for path: '/spec/list/2': Unable to access"),
        (op("remove", "/spec/none/a"), 'remove operation does not apply: doc is missing path: "'),
        (op("replace", "/spec/none", value=1), "doc is missing key: /spec/none: missing value"),
        (op("replace", "/spec/list/9", value=1), "doc is missing key: /spec/list/9: missing value"),
        (op("replace", "/spec/none/a", value=1), "doc is missing path: /spec/none/a: missing value"),
        (op("test", "/spec/map/x~1y", value=True), "testing value /spec/map/x~1y failed: test failed"),
        (op("test", "/spec/map/x~1y", value=1.0), "failed: test failed"),
        (op("test", "/spec/list/7", value=1), "error in test for path: '/spec/list/7'"),
        (op("test", "/spec/none/a", value=1), "test operation does not apply: is missing path"),
        ({**op("move", "/spec/a"), "from": ""}, "unable to move entire document to another path"),
        ({**op("move", "/spec/a"), "from": "/spec/b"}, "error in move for path: 'b': unable to get"),
        ({**op("move", "/spec/b/a"), "from": "/spec/list"}, "is missing destination path: /spec/b/a"),
        ({**op("copy", "/spec/a"), "from": "/a/b"}, 'copy operation does not apply: doc is missing from path: "/a/b"'),
        ({**op("copy", "/spec/a"), "from": "/spec/b"}, "error in copy for from: '/spec/b'"),
        ({**op("copy", "/spec/b/a"), "from": "/spec/list"}, "is missing destination path: /spec/b/a"),
        (op("spread", "/spec/a"), 'invalid operation {"op":"spread","path":"/spec/a"}: unsupported operation'),
        (op("add", "/spec/a"), "failed to decode 'value': operation, missing value field: missing value"),
        (op("move", "/spec/a"), "failed to decode 'from': operation, missing from field: missing value"),
        ({"op": "remove"}, "failed to decode 'path': operation missing path field: missing value"),
        ({"op": "remove", "path": 1}, "failed to decode 'path': json: cannot unmarshal number into Go value"),
        (op("remove", "/spec"), "can only modify spec fields"),
    ],
)  # fmt: skip
def test_what_does_not_fit(operation: dict[str, Any], message: str) -> None:
    with pytest.raises(PatchError) as error:
        patched(operation)
    assert message in str(error.value)


@pytest.mark.parametrize("operation", [op("Add", "/spec/a"), {"op": "add"}])
def test_a_value_is_not_quoted(operation: dict[str, Any]) -> None:
    with pytest.raises(PatchError, match="invalid operation") as error:
        patched({**operation, "value": {"password": "hunter2"}})
    assert "hunter2" not in str(error.value)


def test_copies_of_copies_end_where_no_api_server_takes_them() -> None:
    copies = [
        {"op": "copy", "from": "/spec", "path": f"/spec/copy{number}"} for number in range(40)
    ]
    with pytest.raises(PatchError, match="which no API server takes"):
        applied({"spec": {"a": "b"}}, copies)
    assert "copy9" in applied({"spec": {"a": "b"}}, copies[:10])["spec"]


def test_what_is_put_into_itself_ends_before_python_does() -> None:
    """Each round is one level more: Python calls itself for each."""
    nesting = [op("add", "/spec/a", value={})]
    nesting += [
        {"op": "copy", "from": "/spec/a", "path": "/spec/b"},
        op("add", "/spec/a", value={}),
        {"op": "move", "from": "/spec/b", "path": "/spec/a/x"},
    ] * 1_200
    for count in (300, len(nesting)):
        with pytest.raises(PatchError, match="more than 100 levels"):
            applied({"spec": {}}, nesting[:count])
    assert applied({"spec": {}}, nesting[:100])
    with pytest.raises(PatchError, match="more than 100 levels"):
        parsed(f'[{{"op": "add", "path": "/spec/a", "value": {"[" * 101}{"]" * 101}}}]')


def test_a_patch_longer_than_any_annotation_is_not_read() -> None:
    insertion = json.dumps(op("add", "/spec/a/0", value=1))
    with pytest.raises(PatchError, match="which no API server takes"):
        parsed(f"[{','.join([insertion] * (MOST_ANNOTATIONS // len(insertion)))}]")
    assert len(parsed(f"[{','.join([insertion] * 1_000)}]")) == 1_000


@pytest.mark.parametrize("operation", [op("add", "/spec/a/0", value=1), op("remove", "/spec/a/0")])
def test_a_list_of_any_length_is_not_edited(operation: dict[str, Any]) -> None:
    """Each insertion at the front moves the whole list: time would grow with the square."""
    with pytest.raises(PatchError, match="a list of more than 100000 items"):
        applied({"spec": {"a": [0] * 100_001}}, [operation])
    assert applied({"spec": {"a": [0] * 100_000}}, [operation])


@pytest.mark.parametrize("text", ["", "no", "[NaN]", "[" * 100_000])
def test_what_is_no_json(text: str) -> None:
    with pytest.raises(PatchError, match="invalid state detected"):
        parsed(text)


def test_what_is_no_list_of_operations() -> None:
    assert parsed("null") == []
    with pytest.raises(PatchError, match=r"string into Go value of type jsonpatch\.Patch"):
        parsed('"a"')
    with pytest.raises(PatchError, match=r"number into Go value of type jsonpatch\.Operation"):
        parsed("[1]")
