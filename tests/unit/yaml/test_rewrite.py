"""Editing YAML text: nothing changes but what is edited."""

import re

import pytest

from render.model.edits import Move, Operation, Put, Remove, edited
from render.model.fieldpath import FieldPath
from render.yaml.budget import DEEPEST, Limits
from render.yaml.editing.rewrite import Unwritten, is_yaml, rewrite
from render.yaml.reader import read

VM = """\
# who owns it
apiVersion: kubevirt.io/v1 # which
kind: VirtualMachine
metadata: {name: "web", labels: {a: 'b'}}
spec:
  # started at once
  running: true # always
  # the size
  flavor:
    name: small
    kind: VirtualMachineFlavor # of this namespace

  template:
    spec:
      volumes:
        - name: root
          # the claim
          persistentVolumeClaim: {claimName: root}
      text: |
        # no comment
        line
  # the end
"""
RENAME = (
    Move(("spec", "running"), ("spec", "runStrategy")),
    Put(("spec", "runStrategy"), "Always"),
)


def edit(text: str, *edits: Operation, document: int = 0, route: FieldPath = ()) -> str:
    made = rewrite(text, {document: [(route, edit) for edit in edits]})
    assert isinstance(made, str)
    return made


def test_a_key_is_renamed_in_its_place_with_its_comments() -> None:
    assert edit(VM, *RENAME) == VM.replace("running: true #", "runStrategy: Always #")


@pytest.mark.parametrize(
    ("change", "after"),
    [
        pytest.param(Move(("a", "b"), ("a", "d")), "a:\n  d: 1 # one\n  c: 2\n", id="in-its-place"),
        pytest.param(
            Move(("a", "b"), ("d", "b")), "a:\n  c: 2\nd:\n  b: 1 # one\n", id="to-elsewhere"
        ),
    ],
)
def test_a_comment_goes_where_its_key_goes(change: Operation, after: str) -> None:
    """Also where more than the key is written anew."""
    made = edit("a:\n  b: 1 # one\n  c: 2\n", change, Put(("e",), []))
    assert made.rstrip() == f"{after}e: []"


MISPLACED = """\
spec:
  template:
    spec:
      # what it is
      domain:
        # the cores
        cpu: {cores: 2}
        # what it boots from,
        # and no more
        volumes: # all
        # the root
        - name: root
          text: |
            # no comment
              deeper
          # in the registry
        # how much
        memory: {guest: 1Gi}
          # and no more
      # the end
"""


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_is_moved_takes_its_own_comments_and_no_others(ending: str) -> None:
    spec = ("spec", "template", "spec")
    move = Move((*spec, "domain", "volumes"), (*spec, "volumes"))
    begin, end = MISPLACED.index("        # what it boots"), MISPLACED.index("        # how much")
    moved = re.sub("^  ", "", MISPLACED[begin:end], flags=re.MULTILINE)
    rest = MISPLACED[:begin] + MISPLACED[end:]
    expected = rest.replace("      # the end\n", f"{moved}      # the end\n")
    assert edit(MISPLACED.replace("\n", ending), move) == expected.replace("\n", ending)


@pytest.mark.parametrize(
    ("text", "change", "after"),
    [
        pytest.param(
            "a:\n  b:\n    x: 1\n    # the last\n    c: 2\n  d: 3\n",
            Move(("a", "b", "c"), ("a", "e")),
            "a:\n  b:\n    x: 1\n  d: 3\n  # the last\n  e: 2\n",
            id="called-otherwise",
        ),
        pytest.param(
            "a:\n  d: 3\n  b:\n    x: 1\n    # the last\n    c: 2\n    # of b\ne: 1\n",
            Move(("a", "b", "c"), ("a", "c")),
            "a:\n  d: 3\n  b:\n    x: 1\n    # of b\n  # the last\n  c: 2\ne: 1\n",
            id="last-of-the-last",
        ),
        pytest.param(
            "a:\n  b: 'it\n  # no comment'\n  c: 1\nd:\n    e:\n      f: 1\n",
            Move(("a", "c"), ("d", "e", "c")),
            "a:\n  b: 'it\n  # no comment'\nd:\n    e:\n      f: 1\n      c: 1\n",
            id="below-a-text-with-a-hash",
        ),
        pytest.param(
            "a:\n  # of b\n  b: 1\n  # of d\n  d: # all\n  - |\n    x\n  e: 3\nf: 1\n",
            Move(("a", "d"), ("g", "h", "d")),
            "a:\n  # of b\n  b: 1\n  e: 3\nf: 1\ng:\n  h:\n    # of d\n    d: # all\n    - |\n      x\n",
            id="to-a-new-mapping",
        ),
        pytest.param(
            "f:\n- a:\n    b: 1\n    # of d\n    d: 1\n- 2\n",
            Move(("f", 0, "a", "d"), ("f", 0, "g", "e")),
            "f:\n- a:\n    b: 1\n  g:\n    # of d\n    e: 1\n- 2\n",
            id="to-a-new-mapping-of-an-item",
        ),
    ],
)
def test_lines_are_moved_as_they_are(text: str, change: Operation, after: str) -> None:
    assert edit(text, change) == after


def test_a_new_mapping_is_made_once_for_all_that_is_moved_into_it() -> None:
    text = "a:\n  b: 1\n  c: 2\n  d: 3\n"
    moves = [Move(("a", name), ("e", name)) for name in ("b", "c")]
    assert edit(text, *moves) == "a:\n  d: 3\ne:\n  b: 1\n  c: 2\n"


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        ((Move(("a", "b"), ("e", "b")), Put(("e", "b"), 5)), "a:\n  c: 2\ne:\n  f: 1\n  b: 5\n"),
        ((Put(("e", "b"), 5), Move(("a", "b"), ("e", "b"))), "a:\n  c: 2\ne:\n  f: 1\n  b: 1\n"),
        ((Put(("e", "b"), 5), Put(("e", "b"), 6)), "a:\n  b: 1\n  c: 2\ne:\n  f: 1\n  b: 6\n"),
        ((Put(("e", "b"), {"x": 5}), Put(("e", "b", "x"), 6)), "a:\n  b: 1\n  c: 2\ne:\n  f: 1\n  b:\n    x: 6\n"),
        ((Put(("e", "b"), 5), Remove(("e", "b"))), "a:\n  b: 1\n  c: 2\ne:\n  f: 1\n"),
        (tuple(Move(("a", name), ("e", "g")) for name in "bc"), "e:\n  f: 1\n  g: 2\n"),
    ],
)  # fmt: skip
def test_what_an_edit_adds_another_one_edits(changes: tuple[Operation, ...], after: str) -> None:
    """No entry stands there twice."""
    text = "a:\n  b: 1\n  c: 2\ne:\n  f: 1\n"
    assert edit(text, *changes).replace("a: {}\n", "") == after


def test_comments_in_what_is_removed_stay_in_its_place() -> None:
    text = "a: 1\nb: # why\n  # as asked\n  c: '#1' # exactly\nd: 2 # two\n"
    assert edit(text, Remove(("b",))) == "a: 1\n# why\n# as asked\n# exactly\nd: 2 # two\n"


def test_only_the_edited_document_is_written_anew() -> None:
    odd = "a:   {b:    1}   # odd\n"
    text = f"{odd}---\n{VM}---\n{odd}"
    assert edit(text, *RENAME, document=1) == text.replace(
        "running: true #", "runStrategy: Always #"
    )


def test_an_item_of_a_list() -> None:
    text = "kind: List\nitems:\n- a: 1 # one\n- a: 2 # two\n"
    assert edit(text, Put(("a",), 3), route=("items", 1)) == text.replace("a: 2", "a: 3")


@pytest.mark.parametrize(
    "change",
    [
        Remove(("spec", "running")),
        Remove(("spec", "flavor", "kind")),
        Remove(("spec", "template", "spec", "volumes")),
        Move(("spec", "flavor", "name"), ("spec", "instancetype", "name")),
    ],
    ids=str,
)
def test_every_comment_survives_and_the_text_says_what_the_tree_does(change: Operation) -> None:
    made = edit(VM, change)
    for comment in (
        "# who owns it", "# which", "# started at once", "# always", "# the size",
        "# of this namespace", "# the claim", "# no comment", "# the end",
    ):  # fmt: skip
        assert comment in made
    (document,) = read(made.encode(), "made").documents
    (before,) = read(VM.encode(), "before").documents
    assert document.body == edited(before.body, [change])


@pytest.mark.parametrize(
    "text", [VM.replace("\n", "\r\n"), f"\ufeff{VM}", f"---\n{VM}", VM.rstrip()]
)
def test_line_breaks_and_marks_stay(text: str) -> None:
    made = edit(text, *RENAME)
    assert made.rstrip() == text.replace("running: true #", "runStrategy: Always #").rstrip()


def test_lists_keep_their_indentation() -> None:
    flush = "a:\n  b:\n  - c: 1\n  - c: 2\n"
    assert edit(flush, Put(("x",), 1)) == f"{flush}x: 1\n"
    deeper = "a:\n  b:\n    - c: 1\n    - c: 2\n"
    assert edit(deeper, Put(("x",), 1)) == f"{deeper}x: 1\n"


def test_json_is_no_yaml_here() -> None:
    assert is_yaml(VM)
    assert not is_yaml('{"a": 1}')


@pytest.mark.parametrize(
    "text",
    [
        "a: {\n  # why\n  b: 1, # and how\n  c: [1, # one\n    2]\n  }\nrunning: true\n",
        "a: # before the value\n  # and once more\n  1\nrunning: true\n",
        "a: |2 # of a block\n  # not one\n  x\nb: 'it#s' # one\nrunning: &x true # two\n",
        "running: # late\n  true # or never\n",
    ],
)
def test_no_comment_is_lost(text: str) -> None:
    """Either all are there, or there is no new text and the reason names one."""
    move = (Move(("running",), ("runStrategy",)), Put(("runStrategy",), "Always"))
    made = rewrite(text, {0: [((), item) for item in move]})
    content = re.findall(r"(?<!\w)# \w.*", text.replace("# not one", ""))
    if isinstance(made, str):
        assert all(item in made for item in content)
        assert "runStrategy" in made
    else:
        assert any(f"the comment {item} would be lost" in made.why for item in content)


def test_what_an_alias_shares_is_edited_once() -> None:
    text = "items:\n- spec: &s {running: false, a: 1}\n- spec: *s\n"
    places: list[tuple[FieldPath, Operation]] = [
        (("items", index), edit)
        for index in (0, 1)
        for edit in (
            Move(("spec", "running"), ("spec", "runStrategy")),
            Put(("spec", "runStrategy"), "Halted"),
        )
    ]
    assert rewrite(text, {0: places}) == (
        "items:\n- spec: &s {runStrategy: Halted, a: 1}\n- spec: *s\n"
    )


NUMBER = "a value that looks like a number or a date is none"
UNREAD = {
    "a: 1\t# one\n": "line 3: found character '\\t' that cannot start any token",
    "a:\t1\n": "line 3: found character '\\t' that cannot start any token",
    "a: b\tc\n": "line 3: found character '\\t' that cannot start any token",
    "a: !!map [1]\n": "line 3: expected a mapping node, but found sequence",
    "a: 2024-13-45\n": f"it: {NUMBER} (month must be in 1..12)",
    "a: 0x_\n": f"it: {NUMBER} (string index out of range)",
    "a: 1\nb: ._\n": f"it: {NUMBER} (could not convert string to float: '.')",
    "a: !%25 b\n": "it: a tag with a % in it is no URI",
    f"a: {'[' * (DEEPEST - 1)}{']' * (DEEPEST - 1)}\n": "it: it is nested too deep",
}


@pytest.mark.parametrize("text", UNREAD, ids=lambda text: text[:20])
def test_what_ruamel_does_not_read_has_no_new_text(text: str) -> None:
    """We read it as kubectl does; the line is that of the file."""
    before = f"b: 1\n---\n{text}"
    assert not read(before.encode(), "before", Limits(depth=DEEPEST)).diagnostics
    why = f"ruamel.yaml, which keeps the comments, cannot read {UNREAD[text]}"
    assert rewrite(before, {1: [((), Put(("c", "d"), 1))]}) == Unwritten(why)


def test_what_ruamel_writes_wrong_is_told_as_its_own() -> None:
    """The line of that was called one of the file."""
    text = "x:\n  # about d\n  d: 2\nz:\n  y: 1\n"
    why = "ruamel.yaml, which keeps the comments, would make no YAML of it: edit it by hand"
    for change in (Move(("x", "d"), ("z", "d")), Remove(("x", "d"))):
        assert rewrite(text, {0: [((), change)]}) == Unwritten(why)


def test_a_value_that_ruamel_cannot_write_is_no_tag() -> None:
    made = rewrite("a: 1\n", {0: [((), Put(("b", "c"), 10**5000))]})
    assert isinstance(made, Unwritten)
    assert "cannot read it: Exceeds the limit" in made.why
    assert "tag" not in made.why


def test_an_anchor_that_stands_twice_is_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    text = "a: &x 1\nb: &x 2\nc: *x\n"
    assert edit(text, Put(("d",), 1)) == f"{text}d: 1\n"
    assert not recwarn.list
