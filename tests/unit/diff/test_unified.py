"""``migrate --diff``: what it prints makes the new text from the old one."""

import difflib
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.diff import unified
from render.diff.unified import Hunk

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n")
NO_END = "\\ No newline at end of file\n"
#: Few, so that they come again and again; and what YAML or Python take for a line break, but no patch.
LINES = st.sampled_from(
    ["spec:\n", "  a: 1\n", "  a: 2\n", "---\n", "\n", "x\r\n", "# \u2028\n", "\x0c\n", "\\ x\n"]
)
TEXTS = st.builds(
    lambda lines, end: "".join(lines) + end,
    st.lists(LINES, min_size=1, max_size=40),
    st.sampled_from(["", "end", "spec:", "\r"]),
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and the same with some lines taken out and others put in."""
    before = draw(TEXTS)
    lines = before.splitlines(keepends=True)
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(lines)))
        end = draw(st.integers(start, min(len(lines), start + 4)))
        lines[start:end] = draw(st.lists(LINES, max_size=4))
    after = "".join(lines)
    return before, after or "none\n"


def applied(diff: str, before: str) -> str:
    """*before* with *diff*, of which each line and each number has to be right."""
    old = re.findall(r"[^\n]*\n|[^\n]+", before)
    text = re.findall(r"[^\n]*\n", diff)
    assert "".join(text) == diff
    made: list[str] = []
    done = index = 0
    text = text[2:]
    while index < len(text):
        head = HUNK.fullmatch(text[index])
        assert head
        index += 1
        start, count, to_start, to_count = (1 if n is None else int(n) for n in head.groups())
        made += old[done : start - (count > 0)]
        done = start - (count > 0)
        assert len(made) == to_start - (to_count > 0)
        body: list[str] = []
        while index < len(text) and text[index][0] != "@":
            if text[index] == NO_END:
                body[-1] = body[-1].removesuffix("\n")
            else:
                body.append(text[index])
            index += 1
        kept = [line[1:] for line in body if line[0] in " -"]
        new = [line[1:] for line in body if line[0] in " +"]
        assert (len(kept), len(new)) == (count, to_count)
        assert old[done : done + count] == kept
        made += new
        done += count
    return "".join(made + old[done:])


@given(edited())
def test_any_edit_is_told(texts: tuple[str, str]) -> None:
    before, after = texts
    diff = unified.diff(before, after, "a.yaml")
    assert (diff == "") == (before == after)
    assert applied(diff, before) == after


@given(edited())
def test_what_has_no_counterpart_is_replaced_whole_where_it_is_long(texts: tuple[str, str]) -> None:
    before, after = texts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unified, "SMALL", 0)
        assert applied(unified.diff(before, after, "a.yaml"), before) == after


@given(text=TEXTS, other=TEXTS)
def test_any_two_texts(text: str, other: str) -> None:
    assert applied(unified.diff(text, other, "a.yaml"), text) == other


PROGRAMS = {"git": ["git", "apply", "-"], "patch": ["patch", "-s", "-p1", "--binary"]}
ODD = [
    ("a: 1\nb: 2\n", "a: 1\nb: 3"),
    ("a: 1\nb: 2", "a: 1\nb: 3\n"),
    ("a: 1\nb: 2", "a: 0\nb: 2"),
    ("a: 1\r\nb: 2\r\n", "a: 1\r\nb: 3\r\n"),
    ("a: 1 # \u2028 \x85 \x0c \r x\nb: 2\n", "a: 2 # \u2028 \x85 \x0c \r x\nb: 2\n"),
    ("".join(f"{n}\n" for n in range(40)), "".join(f"{n}\n" for n in range(40) if n % 9)),
    ("---\n" * 9, "---\n" * 7 + "+++\n---\n"),
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("before", "after"), ODD)
@pytest.mark.parametrize(
    "name",
    [
        "vm.yaml",
        "my vms/the ünï.yaml",
        'tab\t"quoted"\\\x7f.yaml',
        "ü\x85\x9b2J\u2028\u202e\ufeff.yaml",
        "no-utf-8-\udcff.yaml",
    ],
)
def test_git_and_patch_take_it(
    before: str, after: str, name: str, program: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(before, encoding="utf-8", newline="")
    diff = unified.diff(before, after, name)
    assert all(line.isprintable() for line in diff.split("\n")[:2] if "\t" not in line)
    subprocess.run(PROGRAMS[program], cwd=tmp_path, input=diff.encode(), check=True)
    assert file.read_bytes().decode() == after


@pytest.mark.parametrize("between", range(9))
def test_hunks_are_those_of_difflib(between: int) -> None:
    """Where contexts meet, there is one; the texts leave no choice which lines are equal."""
    before = [f"{number}\n" for number in range(30)]
    after = before.copy()
    after[10] = "x\n"
    after[11 + between : 12 + between] = []
    upstream = difflib.unified_diff(before, after, "a/f", "b/f")
    assert unified.diff("".join(before), "".join(after), "f") == "".join(upstream)


def test_every_item_of_a_long_list_has_its_own_change() -> None:
    """Also without a line that stands there once only."""
    item = "- kind: A\n  spec:\n    running: true\n    a: 1\n    b: 1\n"
    old = (item * 500).splitlines(keepends=True)
    new = (item.replace("running: true", "runStrategy: Always") * 500).splitlines(keepends=True)
    found = list(unified.changes(old, new))
    assert found == [Hunk(n, n + 1, n, n + 1) for n in range(2, 2500, 5)]
