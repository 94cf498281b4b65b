"""Edits of plain trees, which mirror those of text."""

from render.model.edits import Move, Put, Remove, edited

BODY = {"a": 1, "b": {"c": 2, "d": 3}, "e": [{"f": 4}]}


def test_put_sets_and_creates_what_is_on_the_way() -> None:
    made = edited(BODY, [Put(("b", "c"), 5), Put(("g", "h"), 6), Put(("e", 0, "f"), 7)])
    assert made == {"a": 1, "b": {"c": 5, "d": 3}, "e": [{"f": 7}], "g": {"h": 6}}


def test_move_within_a_mapping_keeps_the_place_of_the_key() -> None:
    made = edited(BODY, [Move(("b", "c"), ("b", "x"))])
    assert list(made["b"].items()) == [("x", 2), ("d", 3)]


def test_move_onto_a_key_that_is_there_replaces_it() -> None:
    assert edited(BODY, [Move(("b", "c"), ("b", "d"))])["b"] == {"d": 2}


def test_move_elsewhere_takes_the_value_along() -> None:
    assert edited(BODY, [Move(("b", "c"), ("x", "y"))]) == {
        "a": 1, "b": {"d": 3}, "e": [{"f": 4}], "x": {"y": 2},
    }  # fmt: skip


def test_remove_and_the_source_stays_as_it_was() -> None:
    assert edited(BODY, [Remove(("b",)), Remove(("no", "such"))]) == {"a": 1, "e": [{"f": 4}]}
    assert BODY["b"] == {"c": 2, "d": 3}
