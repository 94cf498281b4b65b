"""Variables of Flux: recorded answers of its own envsubst, None where it refuses the text."""

import pytest

from render.manifests.uses.substitution.envsubst import SubstitutionError, substitute

VARIABLES = {
    "A": "value",
    "B": "",
    "C": "Hello World",
    "D": "a/b/a",
    "E": "4Gi",
    "F": "\u00e9\u00e0b",
}
RECORDED = [
    ("plain $A text", "plain $A text"),
    ("${A}", "value"),
    ("$${A}", "${A}"),
    ("$$${A}", "$value"),
    ("${B}", ""),
    ("${X}", ""),
    ("${B:-x y}", "x y"),
    ("${B:=4Gi}", "4Gi"),
    ("${A:=4Gi}", "value"),
    ("${B:?x}", "x"),
    ("${B:+x}", "x"),
    ("${B=x}", "x"),
    ("${B-x}", None),
    ("${X:=${A}}", "value"),
    ("${X:=${Y:-deep}}", "deep"),
    ("${X:-a${A}b}", "avalueb"),
    ("${#C}", "11"),
    ("${#X}", "0"),
    ("${#F}", "5"),
    ("${C:0:5}", "Hello"),
    ("${C:6}", "World"),
    ("${C:-}", "Hello World"),
    ("${C: -3}", "Hello World"),
    ("${C:20}", ""),
    ("${C:2:99}", "llo World"),
    ("${C:x}", "Hello World"),
    (f"${{C:{'9' * 5000}}}", "Hello World"),
    (f"${{C:0:{'9' * 5000}}}", "Hello World"),
    ("${C:1:x}", "Hello World"),
    ("${F:0:1}", "�"),
    ("${C:1::2}", "el"),
    ("${D//a/z}", "z/b/z"),
    ("${D/a/z}", "z/b/a"),
    ("${D/a}", None),
    ("${D//a}", None),
    ("${D/#a/z}", "z/b/a"),
    ("${D/%a/z}", "a/b/z"),
    ("${D/#a}", None),
    ("${D//\\//-}", "a-b-a"),
    ("${D#*/}", "b/a"),
    ("${D##*/}", "a"),
    ("${D%/*}", "a/b"),
    ("${D%%/*}", "a"),
    ("${D#?}", "/b/a"),
    ("${D#[ab]}", "/b/a"),
    ("${D##x*}", "a/b/a"),
    ("${A^}", "Value"),
    ("${A^^}", "VALUE"),
    ("${C,}", "hello World"),
    ("${C,,}", "hello world"),
    ("${C,^}", "Hello World"),
    ("${A", None),
    ("${}", None),
    ("${A B}", None),
    ("${A:}", None),
    ("${A!}", None),
    ("${A//}", None),
    ("${A#}", None),
    ("${-}", None),
    ("a ${ b", None),
    ("${E} ${A} $$", "4Gi value $"),
    ("${X:-}${Y}", ""),
    ("${C/World/\\/}", "Hello /"),
]


@pytest.mark.parametrize(("text", "answer"), RECORDED)
def test_recorded(text: str, answer: str | None) -> None:
    if answer is None:
        with pytest.raises(SubstitutionError):
            substitute(text, VARIABLES)
    else:
        assert substitute(text, VARIABLES) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("${X} ${A}", "${X} value"),
        ("${X:=4Gi}", "${X:=4Gi}"),
        ("${B:=${X}}", "${B:=${X}}"),
        ("$${A} ${B}.", "${A} ."),
    ],
)
def test_what_is_not_known_stays_as_it_is_written(text: str, answer: str) -> None:
    assert substitute(text, VARIABLES, is_complete=False) == answer


@pytest.mark.parametrize(
    "text",
    [
        "${A:=" * 40 + "}" * 40,
        "${D//a/" + "x" * 2_000_000 + "}",
        "${L%%*a*b*c}",
    ],
)
def test_what_would_become_too_much_is_refused(text: str) -> None:
    with pytest.raises(SubstitutionError):
        substitute(text, {**VARIABLES, "L": "ab" * 5_000})


def test_a_name_that_is_none() -> None:
    with pytest.raises(SubstitutionError, match=r"'values\.yaml' var name is invalid"):
        substitute("plain", {"values.yaml": "x"})


def test_no_more_is_made_than_shows_that_it_is_too_much() -> None:
    values = {"L": "a" * 1_000}
    assert substitute("${L}" * 100_000, values, most=5_000) in {"a" * 6_000, "a" * 7_000}
    assert substitute("${L}${L}", values, most=2_000) == "a" * 2_000
    with pytest.raises(SubstitutionError, match="more than 1,048,576 characters"):
        substitute("${NONE:=" + "${L}" * 2_000 + "}", values)
