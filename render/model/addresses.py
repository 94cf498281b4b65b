"""IP addresses as KubeVirt sanitises them when it reads them (api/core/v1/sanitizers.go).

Go's "sloppy" parsers allow leading zeros in the parts of an IPv4 address; what they read is printed
in the usual notation, and what they cannot read stays as it is.
"""

_PARTS = 4
_BYTE = 255
_LONGEST = 64  # ours: longer texts are no addresses, whatever Go makes of their zeros


def sanitised_ip(text: str) -> str:
    """*text* in the usual notation (``010.0.0.1`` is ``10.0.0.1``), or as it is."""
    return _ip(text) or text


def sanitised_cidr(text: str) -> str:
    """A network in the usual notation, its host bits kept, or *text* as it is."""
    address, _, bits = text.partition("/")
    found = _ip(address)
    widest = 128 if ":" in address else 32
    length = _number(bits)
    return f"{found}/{length}" if found and 0 <= length <= widest else text


def _ip(text: str) -> str:
    """The address in the usual notation, ``""`` where *text* is none."""
    if len(text) > _LONGEST:
        return ""
    if ":" in text:
        return _ipv6(text)
    parts = [_number(part) for part in text.split(".")]
    if len(parts) != _PARTS or not all(0 <= part <= _BYTE for part in parts):
        return ""
    return ".".join(map(str, parts))


def _number(digits: str) -> int:
    """The number that ASCII *digits* make, -1 for anything else."""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < _LONGEST else -1


def _ipv6(text: str) -> str:
    import ipaddress  # rarely needed, and not cheap

    head, colon, last = text.rpartition(":")
    if "." in last:
        text = head + colon + _ip(last)
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return ""
    return "" if address.scope_id else str(address.ipv4_mapped or address)
