"""What the quick reader takes, and does not leave to the other one."""

import pytest

from render.yaml import plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: b\nlonger: c\n", {"a": "b", "longer": "c"}),
        ("a:\n  b: c\n  longer: d\ne: f\n", {"a": {"b": "c", "longer": "d"}, "e": "f"}),
        ("a:\n- b: c\n  longer: d\n- e: f\n", {"a": [{"b": "c", "longer": "d"}, {"e": "f"}]}),
        ("a:\n  - b\n  - longer\n", {"a": ["b", "longer"]}),
    ],
)
def test_what_most_manifests_are_made_of(text: str, value: object) -> None:
    read = plain.read(text, 30)
    assert read is not None
    assert read[0] == value


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("a:\n  b:\n    c: d\n", 3),
        ("a:\n- b:\n  - c: d\n", 5),
        ("a:\n- b: []\n", 4),
    ],
)
def test_each_collection_is_a_level_of_nesting(text: str, levels: int) -> None:
    assert plain.read(text, levels) is not None
    assert plain.read(text, levels - 1) is None


_OUTLINES = [
    f"kind: A\nspec:\n  text: |\n{block}  after: {after}\n"
    for block in ("    a\n", "    b: c\n", "     a\n", "    a\n   b\n", "    a\n\n", "    a\n  # b\n", "  # b\n")
    for after in ("1", "x", "{}", "{a: 1}", "{a: {}}", "[]", "|\n    a", "|-\n    a", "a b", "*a")
]  # fmt: skip


def test_texts_that_differ_in_values_alone_share_their_places_and_no_others_do() -> None:
    alone = []
    for text in _OUTLINES:
        plain.forget()
        alone.append(_at(text))
    plain.forget()
    assert [_at(text) for text in _OUTLINES] == alone
    assert any(alone)
    assert not all(alone)
    first, second, other = (plain.places(f"kind: {rest}\n", 9) for rest in ("A", "B", "\n  C: D"))
    assert first is second
    assert other is not first


def _at(text: str) -> object:
    known = plain.places(text, 9)
    return known and (known.at, known.within)
