"""Keys and values of labels, as apimachinery accepts them."""

import weakref
from collections.abc import Callable

import pytest

from render.admission.metadata import open_names
from render.model.apimachinery import dns1123
from render.model.apimachinery.labels import key_faults, value_faults
from render.model.apimachinery.selectors import SelectorError, selects
from render.model.release import NEWEST, version


@pytest.mark.parametrize("key", ["a", "kubevirt.io/os", "A_b.c-1", "x" * 63, f"{'p' * 253}/a"])
def test_keys(key: str) -> None:
    assert key_faults(key) == ()


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("", "name part must be non-empty; name part must consist"),
        ("a b", "name part must consist of alphanumeric characters"),
        ("/a", "prefix part must be non-empty"),
        ("A.b/a", "prefix part a lowercase RFC 1123 subdomain must consist"),
        ("a/b/c", "a qualified name must consist"),
        ("x" * 64, "name part must be no more than 63 characters"),
        (f"{'p' * 254}/a", "prefix part must be no more than 253 characters"),
        ("a\n", "name part must consist"),
    ],
)
def test_no_keys(key: str, fault: str) -> None:
    assert "; ".join(key_faults(key)).startswith(fault)


def test_values() -> None:
    assert [value_faults(value) for value in ("", "a", "1.2-3_x")] == [(), (), ()]
    assert value_faults("b ig")[0].startswith("a valid label must be an empty string or consist")
    assert value_faults("x" * 64) == ("must be no more than 63 characters",)


@pytest.mark.parametrize(
    ("selector", "fault"),
    [
        ({"matchLabels": {"a b": "c"}}, 'key: Invalid value: "a b": name part must'),
        ({"matchLabels": {"a": "b ig"}}, 'values[0][a]: Invalid value: "b ig": a valid label must'),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c "]}]},
            'values[1][a]: Invalid value: "c ": a valid',
        ),
        (
            {"matchExpressions": [{"key": "a b", "operator": "In"}]},
            '[key: Invalid value: "a b": name part',
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
            'values: Invalid value: ["b"]: values set must be empty for exists and does not exist',
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["<b>"]}]},
            '[values: Invalid value: ["\\u003cb\\u003e"]: values set must be empty',
        ),
    ],
)
def test_selectors_with_invalid_labels(selector: dict[str, object], fault: str) -> None:
    with pytest.raises(SelectorError) as caught:
        selects(selector, {"a": "b"}, NEWEST)
    assert str(caught.value).startswith(fault)


@pytest.mark.parametrize(
    ("release", "operator", "values", "listing"),
    [
        ("1.7", "In", [], "[]string(nil)"),
        ("1.8", "In", [], "null"),
        ("1.7", "Exists", ["b", "c"], '[]string{"b", "c"}'),
        ("1.8", "Exists", ["b", "c"], '["b","c"]'),
    ],
)
def test_how_a_release_shows_the_values_of_a_selector(
    release: str, operator: str, values: list[str], listing: str
) -> None:
    expression = {"key": "a", "operator": operator, "values": values}
    with pytest.raises(SelectorError) as caught:
        selects({"matchExpressions": [expression]}, {}, version(release))
    assert str(caught.value).startswith(f"values: Invalid value: {listing}: ")


@pytest.mark.parametrize(("operator", "printed"), [("In\t", r'"In\t"'), ('a"b', r'"a\"b"')])
def test_an_operator_is_shown_as_go_quotes_it(operator: str, printed: str) -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": operator, "values": ["x"]}]}
    with pytest.raises(SelectorError) as found:
        selects(selector, {"a": "x"}, NEWEST)
    assert str(found.value) == f"{printed} is not a valid label selector operator"


def _marked(text: str) -> object:
    return [*open_names({"name": text})]


class _Text(str):
    """A text of which can be known whether anything holds it."""

    __slots__ = ("__weakref__",)


@pytest.mark.parametrize("faults", [value_faults, key_faults, dns1123.label_faults, _marked])
def test_what_is_too_long_for_a_name_is_not_kept(faults: Callable[[str], object]) -> None:
    """A language server reads many texts of any length."""
    text = _Text("-" * 1000)
    held = weakref.ref(text)
    faults(text)
    del text
    assert held() is None


def test_what_is_too_long_has_its_other_faults_too() -> None:
    assert [len(value_faults("-" * size)) for size in (63, 64)] == [1, 2]
    assert [len(key_faults("-" * size)) for size in (63, 1000)] == [1, 2]
    assert [len(dns1123.label_faults("-" * size)) for size in (63, 64)] == [1, 2]


def test_bytes_count_and_no_characters() -> None:
    assert value_faults("ä" * 32)[0] == dns1123.label_faults("ä" * 32)[0]
    assert value_faults("ä" * 32)[0] == "must be no more than 63 characters"
