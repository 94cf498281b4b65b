import pytest

from render.yaml.excerpts import Excerpts


@pytest.mark.parametrize(
    ("text", "number", "shown"),
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
    ],
)
def test_lines_are_shown_without_what_is_secret(text: str, number: int, shown: str) -> None:
    assert Excerpts(text.encode()).at(number, 1)[0] == shown
