import pytest

from render.yaml.excerpts.lines import Excerpts


@pytest.mark.parametrize(
    ("text", "number", "printed"),
    [
        ("userData: hunter2", 1, "userData: [redacted]"),
        ('  "password" : "hunter2"', 1, '  "password" : [redacted]'),
        ("a: {userData: hunter2, b: c}", 1, "a: {userData: [redacted]b: c}"),
        ('{"userData":"hunter2"}', 1, '{"userData":[redacted]'),
        ("userData: |\n  hunter2", 2, "  [redacted]"),
        ("- userData: |\n    a:\n      hunter2", 3, "      [redacted]"),
        ("userData: |\n  a\n\n  b: hunter2", 4, "  [redacted]"),
        ("userData:\nname: b", 2, "name: b"),
        ("volume:\n  userData: |\n    hunter2\n  name: b", 4, "  name: b"),
        ("kind: Secret\ndata:\n  a: hunter2", 3, "  [redacted]"),
        ("data:\n  a: hunter2\nkind: Secret", 2, "  [redacted]"),
        ("data:\n  a: b\n---\nkind: Secret", 2, "  a: b"),
        ("kind: Secret\n---\ndata:\n  a: b", 4, "  a: b"),
        ("kind: ConfigMap\ndata:\n  a: b", 3, "  [redacted]"),
        ("userDataSecretRef: {name: a}", 1, "userDataSecretRef: {name: a}"),
        ("image: u:hunter2@reg/x", 1, "image: [redacted]@reg/x"),
        ("image: 'u:hun''ter2@reg/x'", 1, "image: [redacted]"),
        ('image: "https://u:hun\\\n ter2@reg/x"', 1, "image: [redacted]"),
        ("annotations: {a/b: {c: hunter2}}", 1, "annotations: {a/b: [redacted]"),
        ("annotations: {a/b: c}", 1, "annotations: {a/b: c}"),
    ],
)
def test_lines_are_shown_without_what_is_secret(text: str, number: int, printed: str) -> None:
    assert Excerpts(text.encode()).at(number, 1)[0] == printed


@pytest.mark.parametrize(
    ("text", "column", "at"),
    [
        ("a: https://user:hunter2@host/x", 11, 11),
        ("a: https://user:hunter2@host/x", 12, 12),
        ("a: https://user:hunter2@host/x", 13, 0),
        ("userData: hunter2", 11, 11),
        ("userData: hunter2", 13, 0),
        ("a: b # password: hunter2", 17, 17),
        ("a: b # password: hunter2", 19, 0),
    ],
)
def test_a_column_is_marked_up_to_where_something_is_hidden(
    text: str, column: int, at: int
) -> None:
    printed, marked = Excerpts(text.encode()).at(1, column)
    assert "hunter2" not in printed
    assert marked == at


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("userData: |\n  a\n\n  b\nc: d\n", {1, 3}),
        ("kind: Secret\ndata:\n\n  a: b\n\n  c: d\n", {3, 5}),
        ("a: b\n", set()),
    ],
)
def test_lines_with_nothing_on_them_are_not_private(text: str, private: set[int]) -> None:
    assert Excerpts(text.encode()).private() == private
