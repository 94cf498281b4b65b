"""Edits in place leave every other character alone, or are left to those who write documents anew."""

import pytest

from render.model.edits import Move, Operation, Put, Remove
from render.model.fieldpath import FieldPath
from render.yaml.editing.spans import hunks, replace

RENAME: tuple[Operation, ...] = (
    Move(("spec", "running"), ("spec", "runStrategy")),
    Put(("spec", "runStrategy"), "Always"),
)


def edited(text: str, *edits: Operation, route: FieldPath = ()) -> str | None:
    return replace(text, [(route, edit) for edit in edits])


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
        "spec: {running: true, runStrategy: null}\n",
        "spec: &s {running: true}\n",
        "spec: {a: 1}\n",
        "spec: {running: !!bool 'true'}\n",
        "spec:\n  running:\n",
        "spec: []\n",
    ],
)
def test_what_takes_more_is_left_to_others(text: str) -> None:
    assert edited(text, *RENAME) is None


LINES = """\
a: 1 # one
b:
  # two
  c: "x" # three
  d:
    - e: 1
      f: 2
    - g

  h: |
    text
# end
"""


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (Put(("a",), "y"), "a: 1", 'a: "y"'),
        (Put(("a",), 2), "a: 1", "a: 2"),
        (Put(("a",), None), "a: 1", "a: null"),
        (Put(("b", "c"), "z"), '"x"', '"z"'),
        (Put(("b", "i"), {"k": [1]}), "    text\n", "    text\n  i:\n    k:\n    - 1\n"),
        (Put(("b", "d", 2), {"m": "x"}), "    - g\n", "    - g\n    - m: x\n"),
        (Put(("b", "d", 0, "m"), "x"), "      f: 2\n", "      f: 2\n      m: x\n"),
        (Remove(("a",)), "a: 1 # one\n", "# one\n"),
        (Remove(("b", "d", 0)), "    - e: 1\n      f: 2\n", ""),
        (Remove(("b", "d", 1)), "    - g\n", ""),
        (Remove(("b", "d", 0, "e")), "e: 1\n      f", "f"),
        (Remove(("b", "d")), "  d:\n    - e: 1\n      f: 2\n    - g\n", ""),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_lines_come_and_go(change: Operation, before: str, after: str, ending: str) -> None:
    text, want = (item.replace("\n", ending) for item in (LINES, LINES.replace(before, after, 1)))
    assert want != text
    assert edited(text, change) == want


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (Remove(("a", 0)), "a: [2, 3]\n"),
        (Remove(("a", 1)), "a: [1, 3]\n"),
        (Remove(("a", 2)), "a: [1, 2]\n"),
        (Put(("a", 1), "x y"), 'a: [1, "x y", 3]\n'),
    ],
)
def test_entries_between_brackets(change: Operation, after: str) -> None:
    assert edited("a: [1, 2, 3]\n", change) == after


def test_other_edits_take_more() -> None:
    text = "a: 1\nb: {c: d}\ne: |\n  f\n"
    assert edited(text, Put(("a",), {"b": 1})) is None
    assert edited(text, Put(("b", "new"), "x")) is None
    assert edited(text, Put(("e",), "x")) is None
    assert edited(text, Remove(("b", "c"))) is None
    assert edited(text, Move(("a",), ("b", "a"))) is None


def test_hunks_are_the_lines_that_differ() -> None:
    before, after = "a\nb\nc\n", "a\nB\nc\nd\n"
    assert list(hunks(before, after)) == [(2, 4, "B\n"), (6, 6, "d\n")]
