"""IP addresses as KubeVirt's decoders leave them."""

import pytest

from render.model.apimachinery.addresses import sanitised_cidr, sanitised_ip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("010.0.0.1", "10.0.0.1"),
        ("10.0.0.256", "10.0.0.256"),
        ("10.0.0", "10.0.0"),
        ("10.0.0.-1", "10.0.0.-1"),
        ("2001:0db8::0001", "2001:db8::1"),
        ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("::ffff:010.0.0.1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::1%eth0"),
        ("::zz", "::zz"),
        ("dns.example.org", "dns.example.org"),
        ("\u0660.0.0.1", "\u0660.0.0.1"),
        ("", ""),
        ("0" * 5000 + ".0.0.1", "0" * 5000 + ".0.0.1"),
    ],
)
def test_ip(text: str, expected: str) -> None:
    assert sanitised_ip(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("010.0.2.5/24", "10.0.2.5/24"),
        ("10.0.2.0/024", "10.0.2.0/24"),
        ("10.0.2.0/33", "10.0.2.0/33"),
        ("10.0.2.0", "10.0.2.0"),
        ("010.0.2.0/", "010.0.2.0/"),
        ("fd10:0::0/64", "fd10::/64"),
        ("nonsense/8", "nonsense/8"),
    ],
)
def test_cidr(text: str, expected: str) -> None:
    assert sanitised_cidr(text) == expected
