"""Patterns that others wrote: what they match, and that no pattern takes long."""

import re
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.model.apimachinery.go import path_matches
from render.model.patterns import named, regular
from tests.support.calls import calls

ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "\\.", "-", "[a-c-]", "\\d", "\\W"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map("({})".format),
        st.tuples(
            inner,
            st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,2}", "{2,}", "{0,1}", "{0}", "{0,}"]),
        ).map(lambda part: f"(?:{part[0]}){part[1]}"),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS, st.text("ab-.\n1c", max_size=8))
def test_an_expression_matches_as_python_says(pattern: str, text: str) -> None:
    automaton = regular(pattern)
    assert automaton is not None
    assert automaton.matches(text) is (re.fullmatch(pattern, text, re.ASCII) is not None)


@given(st.text("ab*?[]!-", max_size=8), st.text("ab-]!", max_size=6))
def test_a_name_matches_as_python_says(pattern: str, text: str) -> None:
    assert named(pattern)(text) is fnmatchcase(text, pattern)


@pytest.mark.parametrize(
    ("pattern", "texts", "others"),
    [
        ("^web-(a|b)$", ("web-a",), ("web", "web-ab")),
        (".*", ("", "x"), ("x\ny",)),
        ("a|b", ("a", "b"), ("ab",)),
        ("", ("",), ("a",)),
        ("a\\$", ("a$",), ("a",)),
    ],
)
def test_expressions(pattern: str, texts: tuple[str, ...], others: tuple[str, ...]) -> None:
    automaton = regular(pattern)
    assert automaton is not None
    assert all(map(automaton.matches, texts))
    assert not any(map(automaton.matches, others))


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "a)", "[", "[]", "*", "a**", "a{2}{3}", "(?i)a", "(?=a)", "\\bx", "(a)\\1", "a{1001}",
     "((((a{99}){99}){99}){99})", "(" * 5000, "((){1000}){1000}", "[b-a]", "a$b", "x" * 501, "\\", "[\\", "a{", "a{2"],
)  # fmt: skip
def test_what_is_none_or_too_much(pattern: str) -> None:
    assert regular(pattern) is None


def test_no_pattern_takes_long() -> None:
    """Twice the text, twice the work; a quantifier within another one changes nothing."""

    def work(size: int) -> int:
        text = "a" * size
        nested = regular("((v|m|a|aa)+)+b|.*c")
        assert nested is not None
        stars = "*a*a*a*a*a*a*a*a*b"
        return calls(lambda: [nested.matches(text), path_matches(stars, text), named(stars)(text)])

    work(10)
    assert work(400) < 2.2 * work(200)


def test_a_name_is_not_matched_in_two_ways() -> None:
    """Each way to lay sixty letters into two hundred would be tried otherwise."""
    pattern = "*a" * 60
    assert named(pattern)("a" * 200)
    assert not named(f"{pattern}b*")("a" * 200)
    assert named(f"{pattern}?[!b]*")("a" * 62)
    assert not named(f"{pattern}?[!b]*")("a" * 61)
