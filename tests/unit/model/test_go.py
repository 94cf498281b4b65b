"""Printing and matching as Go does."""

import pytest

from render.model.apimachinery.addresses import is_ip
from render.model.apimachinery.go import atoi, is_pci_address, listed, path_matches, quoted


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a'b", '"a\'b"'),
        ('a"b\\', '"a\\"b\\\\"'),
        ("\a\b\f\n\r\t\v\0\x7f", '"\\a\\b\\f\\n\\r\\t\\v\\x00\\x7f"'),
        ("é日", '"é日"'),
        ("\u200b\U000e0001", '"\\u200b\\U000e0001"'),
    ],
)
def test_quoted(text: str, printed: str) -> None:
    assert quoted(text) == printed


def test_listed() -> None:
    assert [listed(items) for items in ((), ("a",), ("a", "b"))] == ["[]", "[a]", "[a b]"]


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("q35*", "q35", True),
        ("q35*", "pc-q35", False),
        ("q35*", "q35/8", False),
        ("q35", "q35-8", False),
        ("q35", "q35", True),
        ("*", "a/b", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a.c", "abc", False),
        ("[a-c]x", "bx", True),
        ("[^a-c]x", "bx", False),
        ("[^a-c]x", "dx", True),
        ("[z-a]", "b", False),
        ("[^z-a]", "b", True),
        ("[\\]a]", "]", True),
        ("a\\*", "a*", True),
        ("a\\*", "ab", False),
        ("[a", "a", False),
        ("[]", "", False),
        ("a\\", "a", False),
        ("", "", True),
    ],
)
def test_path_matches(pattern: str, text: str, *, matches: bool) -> None:
    assert path_matches(pattern, text) is matches


def test_addresses() -> None:
    assert all(map(is_ip, ("10.0.0.1", "::1", "fe80::1", "::ffff:1.2.3.4")))
    assert not any(map(is_ip, ("", "1", "10.0.0", "10.0.0.01", "fe80::1%eth0", "10.0.0.1/8", "x")))
    assert all(map(is_pci_address, ("0000:00:01.0", "ABcd:eF:1f.7")))
    assert not any(map(is_pci_address, ("", "0:00:01.0", "0000:00:01.8", "0000:00:01.0\n")))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("+7", 7),
        (f"-{'0' * 5000}7", -7),
        (str(2**63 - 1), 2**63 - 1),
        (str(2**63), "value out of range"),
        (str(-(2**63)), -(2**63)),
        (str(-(2**63) - 1), "value out of range"),
        ("1" * 20, "value out of range"),
        ("1.0", "invalid syntax"),
        ("", "invalid syntax"),
    ],
)
def test_atoi(text: str, number: int | str) -> None:
    assert atoi(text) == number
