"""Edits in place leave every other character alone, or are left to those who write documents anew."""

import pytest

from render.model.edits import Move, Operation, Put, Remove
from render.model.fieldpath import FieldPath
from render.yaml.spans import replace

RENAME: tuple[Operation, ...] = (
    Move(("spec", "running"), ("spec", "runStrategy")),
    Put(("spec", "runStrategy"), "Always"),
)


def edited(text: str, *edits: Operation, route: FieldPath = ()) -> str | None:
    return replace(text, [(route, one) for one in edits])


@pytest.mark.parametrize(
    "text",
    [
        "spec: {  # odd\n  a: [ 1,2 ], # é 🙂\n  running:   true , # always\n }\n",
        "spec:\n    running: # why\n        # in the morning\n        true\n    # last\n",
        "spec:\r\n  running: true # x\r\n  b:   'y'\r\n",
    ],
)
def test_nothing_else_changes(text: str) -> None:
    want = text.replace("running", "runStrategy").replace("true", "Always")
    assert edited(text, *RENAME) == want


def test_an_item_of_a_list() -> None:
    text = "items:\n- spec: {running: true}\n- spec: {running: true}\n"
    want = "items:\n- spec: {running: true}\n- spec: {runStrategy: Always}\n"
    assert edited(text, *RENAME, route=("items", 1)) == want


@pytest.mark.parametrize(
    "text",
    [
        "spec: {'running': true}\n",
        "spec: {running: 'true'}\n",
        "spec: {running: true, runStrategy: null}\n",
        "spec: &s {running: true}\n",
        "spec: {a: 1}\n",
        "spec:\n  running:\n",
        "spec: []\n",
    ],
)
def test_what_takes_more_is_left_to_others(text: str) -> None:
    assert edited(text, *RENAME) is None


def test_other_edits_take_more() -> None:
    text = "a: 1\nb: c\n"
    assert edited(text, Remove(("a",))) is None
    assert edited(text, Put(("a",), {"b": 1})) is None
    assert edited(text, Put(("b",), "two words")) is None
    assert edited(text, Put(("new",), "x")) is None
    assert edited(text, Move(("a",), ("d", "a"))) is None
