"""What a terminal gets: lines that fit, excerpts as they are, colours where the text is not in the way of them."""

import re

import pytest

from render.report.impact import text as impact_text
from render.report.impact.formats import ImpactStyle
from render.report.terminal import BOLD, CYAN, GREEN, GUTTER, RED, fold, painted, painted_patch
from tests.unit.report.test_impact import SAMPLES

LINE = "vm.yaml:1:2: error VR301 instancetype-conflict: VirtualMachine prod/web: a b c d e f g h i j k l m n o p q r"


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_lines_fit_and_no_word_is_lost(columns: int) -> None:
    folded = fold(f"{LINE}\n  help: {LINE}\n", columns)
    assert all(len(line) <= columns or " " not in line.strip() for line in folded.splitlines())
    assert folded.split() == f"{LINE} help: {LINE}".split()
    assert all(line.startswith("    ") for line in folded.splitlines()[1:2])


def test_excerpts_and_what_is_for_machines_stay() -> None:
    excerpt = f"  12 |   {'x ' * 60}\n     |   ^\n"
    assert fold(excerpt, 40) == excerpt
    assert fold(LINE, 0) == LINE


def test_excerpts_in_colours_stay_too() -> None:
    excerpt = f"  {painted('12 |', GUTTER, colour=True)}   {'x ' * 60}\n"
    assert fold(excerpt, 40) == excerpt


def test_a_patch_has_the_colours_of_git() -> None:
    patch = "--- a/vm.yaml\n+++ b/vm.yaml\n@@ -1 +1 @@\n-old\n+new\n same\n"
    assert painted_patch(patch, colour=False) == patch
    lines = painted_patch(patch, colour=True).splitlines()
    assert [line[2:].partition("m")[0] for line in lines[:5]] == [BOLD, BOLD, CYAN, RED, GREEN]
    assert lines[5] == " same"
    assert painted_patch(" a\u2028b\x85c\n", colour=True) == " a\u2028b\x85c\n"


def test_colours_take_no_columns() -> None:
    text = " ".join(painted("word", BOLD, colour=True) for _ in range(8))
    assert len(fold(text, 40).splitlines()) == 1
    assert painted("", BOLD, colour=True) == ""


def test_a_review_in_colour_says_the_same() -> None:
    review = SAMPLES["fleet"]()
    plain = impact_text.report(review, ImpactStyle())
    coloured = impact_text.report(review, ImpactStyle(colour=True))
    assert "\x1b[31m" in coloured
    assert "\x1b[32m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
