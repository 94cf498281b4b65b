"""IP addresses as KubeVirt sanitises them when it reads them (api/core/v1/sanitizers.go).

Go's "sloppy" parsers allow leading zeros in the parts of an IPv4 address; what they read is printed
in the usual notation, and what they cannot read stays as it is.
"""

import re

_PART = "0*([0-9]{1,3})"
_IPV4 = re.compile(r"\.".join([_PART] * 4))
_EMBEDDED_IPV4 = re.compile(r"(.*:)([0-9.]+)")
_BYTE = 255


def sanitised_ip(text: str) -> str:
    """*text* in the usual notation (``010.0.0.1`` is ``10.0.0.1``), or as it is."""
    return _ip(text) or text


def sanitised_cidr(text: str) -> str:
    """A network in the usual notation, its host bits kept, or *text* as it is."""
    address, slash, bits = text.partition("/")
    found = _ip(address)
    widest = 128 if ":" in address else 32
    if not found or not slash or not re.fullmatch("[0-9]{1,9}", bits) or int(bits) > widest:
        return text
    return f"{found}/{int(bits)}"


def _ip(text: str) -> str:
    """The address in the usual notation, ``""`` where *text* is none."""
    if ":" in text:
        return _ipv6(text)
    parts = _IPV4.fullmatch(text)
    if parts is None or any(int(part) > _BYTE for part in parts.groups()):
        return ""
    return ".".join(str(int(part)) for part in parts.groups())


def _ipv6(text: str) -> str:
    import ipaddress  # noqa: PLC0415 - rarely needed, and not cheap

    embedded = _EMBEDDED_IPV4.fullmatch(text)
    if embedded and "." in embedded[2]:
        text = embedded[1] + _ip(embedded[2])
    if "%" in text:
        return ""
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return ""
    return str(address.ipv4_mapped or address)
