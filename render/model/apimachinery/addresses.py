"""IP addresses as KubeVirt sanitises them when it reads them (api/core/v1/sanitizers.go), and MAC addresses.

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
    network = _ip(address)
    widest = 128 if ":" in address else 32
    length = _number(bits)
    return f"{network}/{length}" if network and 0 <= length <= widest else text


def bits_of_hosts(cidr: str) -> int:
    """How many bits of an address are left for the hosts of a network, -1 where *cidr* is none."""
    address, _, bits = cidr.partition("/")
    widest = 128 if ":" in address else 32
    length = _number(bits)
    return widest - length if _ip(address) and 0 <= length <= widest else -1


def is_ip(text: str) -> bool:
    """Whether *text* is an IP address (Go's net.ParseIP)."""
    import ipaddress  # rarely needed, and not cheap

    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


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


_HEX = frozenset("0123456789abcdefABCDEF")
_OCTETS = (6, 8, 20)
_PAIR = 2
_GROUP = 4


def mac_octets(text: str) -> int:
    """How many octets a hardware address has, 0 where *text* is none (upstream: net.ParseMAC)."""
    if text[_PAIR : _PAIR + 1] in (":", "-"):
        parts, size = text.split(text[_PAIR]), _PAIR
    elif text[_GROUP : _GROUP + 1] == ".":
        parts, size = text.split("."), _GROUP
    else:
        parts, size = [text], len(text)
    digits = "".join(parts)
    octets, odd = divmod(len(digits), _PAIR)
    if odd or octets not in _OCTETS or not _HEX.issuperset(digits):
        return 0
    return octets if set(map(len, parts)) == {size} else 0


def is_ipv4(text: str) -> bool:
    """Whether *text* is an IPv4 address, perhaps in the notation of IPv6 (upstream: net.ParseIP, To4)."""
    if ":" not in text:
        return text != "" and _ip(text) == text
    import ipaddress  # rarely needed, and not cheap

    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return address.ipv4_mapped is not None and address.scope_id is None
