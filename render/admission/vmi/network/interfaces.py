"""What an interface says about itself: name, model, addresses, ports, DHCP options.

Upstream: pkg/network/admitter/netiface.go.
"""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from render.admission import faults
from render.admission.checks import (
    EACH,
    Check,
    Evaluate,
    FieldValue,
    Subject,
    Violation,
    each,
    judged,
    needs_gate,
    one_of,
)
from render.diagnostics.cause import Cause
from render.diagnostics.fix import respelled
from render.model import fieldpath
from render.model.apimachinery.addresses import is_ipv4, mac_octets
from render.model.apimachinery.go import is_pci_address
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since, until
from render.model.tree import Tree

_INTERFACES = ("domain", "devices", "interfaces")
_EACH = (*_INTERFACES, EACH)
_LOWER = frozenset("abcdefghijklmnopqrstuvwxyz")
_DIGITS = frozenset("0123456789")
_NAME = frozenset(map(str.upper, _LOWER)) | _LOWER | _DIGITS | {"-", "_"}
_PORT_NAME = _LOWER | _DIGITS | {"-"}
_MAC_OCTETS = 6
MODELS = ("", "e1000", "e1000e", "igb", "ne2k_pci", "pcnet", "rtl8139", "virtio")
_LONGEST_PORT_NAME = 15
_LAST_PORT = 65535
_PROTOCOLS = ("TCP", "UDP")
_MOST_RANGES = 10
_FIRST_OPTION, _LAST_OPTION = 224, 254
_GATE = "PortRangesSpec"


@each(_INTERFACES)
def _name(_subject: Subject, interface: Tree, path: FieldPath) -> Violation | None:
    name = interface.get("name")
    if name and _NAME.issuperset(name):
        return None
    return Violation(
        (*path, "name"),
        "Network interface name can only contain alphabetical characters, numbers, dashes (-) or "
        "underscores (_)",
        "choose another name, for the network too"
        if name
        else f"{faults.NAMELESS}: that of its network",
    )


def _mac(apart: str) -> Evaluate:
    """MAC addresses; the characters *apart* must stand between the octets, one of them at least."""

    @each(_INTERFACES)
    def malformed(_subject: Subject, interface: Tree, path: FieldPath) -> Violation | None:
        mac = interface.get("macAddress")
        if not mac:
            return None
        octets = mac_octets(mac) if not apart or any(sign in mac for sign in apart) else 0
        if octets == _MAC_OCTETS:
            return None
        fault = "too long" if octets else "malformed"
        return Violation(
            (*path, "macAddress"),
            f"interface {fieldpath.text((*path, 'name'))} has {fault} MAC address ({mac}).",
            "write six octets like 02:00:5e:00:53:01, in quotes",
        )

    return malformed


def _pci_fault(subject: Subject, at: FieldValue) -> str:
    if not at.value or is_pci_address(at.value):
        return ""
    return (
        f"interface {subject.text(*at.path[:-1], 'name')} has malformed PCI address ({at.value})."
    )


def _on_pod_network(subject: Subject, key: str) -> Iterator[tuple[FieldPath, Tree]]:
    """The interfaces that have *key* and the pod network, with their places below the VMI spec."""
    networks: dict[str, Tree] = {}
    for index, interface in enumerate(subject.spec["domain"]["devices"]["interfaces"]):
        if interface.get(key) is None:
            continue
        if not networks:
            networks = {
                network.get("name", ""): network for network in subject.spec.get("networks") or ()
            }
        if networks.get(interface.get("name", ""), {}).get("pod") is not None:
            yield (*_INTERFACES, index), interface


def _ports(last: int, number: FieldPath, subject: Subject) -> Iterator[Cause]:
    """Ports up to *last*; *number* is what KubeVirt appends to the place of a port whose number is wrong."""
    for above, interface in _on_pod_network(subject, "ports"):
        ports = [((*above, "ports", index), port) for index, port in enumerate(interface["ports"])]
        yield from _port_names(subject, ports)
        for place, port in ports:
            value = port.get("port", 0)
            if value == 0:
                yield Cause(
                    "network/port-number",
                    subject.at(*place, *number),
                    "Port field is mandatory.",
                    "write the number of the port, from 1 to 65535",
                )
            if value < 0 or value > last:
                yield Cause(
                    "network/port-number",
                    subject.at(*place, *number),
                    "Port field must be in range 0 < x < 65536.",
                    "write the number of the port, from 1 to 65535",
                )
            if port.get("protocol", "") not in ("", *_PROTOCOLS):
                yield Cause(
                    "network/port-protocol",
                    subject.at(*place, "protocol"),
                    "Unknown protocol, only TCP or UDP allowed",
                    "write TCP or UDP, in capitals",
                    fixes=respelled(subject.at(*place, "protocol"), port["protocol"], _PROTOCOLS),
                )


def _is_port_name(name: str) -> bool:
    """Upstream: IsValidPortName in k8s.io/apimachinery/pkg/util/validation/validation.go."""
    return (
        len(name) <= _LONGEST_PORT_NAME
        and _PORT_NAME.issuperset(name)
        and not _LOWER.isdisjoint(name)
        and "--" not in name
        and "-" not in (name[0], name[-1])
    )


def _port_names(subject: Subject, ports: list[tuple[FieldPath, Tree]]) -> Iterator[Cause]:
    known: set[str] = set()
    for place, port in ports:
        name = port.get("name")
        if not name:
            continue
        path = subject.at(*place, "name")
        if name in known:
            yield Cause(
                "network/port-name-unique",
                path,
                f"Duplicate name of the port: {name}",
                "give the ports different names",
            )
        if not _is_port_name(name):
            yield Cause(
                "network/port-name",
                path,
                f"Invalid name of the port: {name}",
                "use 1 to 15 of a-z, 0-9 and single hyphens inside, and one letter at least",
            )
        known.add(name)


def _range_places(subject: Subject) -> Iterator[Cause]:
    if not subject.has_gate(_GATE):
        return
    for above, interface in _on_pod_network(subject, "portRanges"):
        if interface.get("ports") is not None:
            yield Cause(
                "network/port-ranges-or-ports",
                subject.at(*above, "name"),
                "Cannot define both ports and portRanges on interface",
                "write each port as a range, or drop portRanges",
                place=subject.at(*above, "portRanges"),
            )
        if interface.get("masquerade") is None:
            yield Cause(
                "network/port-ranges-masquerade",
                subject.at(*above, "name"),
                "portRanges are only supported on masquerade interfaces",
                "use masquerade, or drop portRanges",
                place=subject.at(*above, "portRanges"),
            )


def _ranges(subject: Subject) -> Iterator[Cause]:
    if not subject.has_gate(_GATE):
        return
    for above, interface in _on_pod_network(subject, "portRanges"):
        place = (*above, "portRanges")
        ranges = interface["portRanges"]
        if len(ranges) > _MOST_RANGES:
            yield Cause(
                "network/port-ranges-count",
                subject.at(*place),
                "No more than 10 portRanges are allowed",
                "join neighbouring ranges",
            )
            continue
        intervals: dict[str, list[tuple[int, int]]] = {}
        for index, port_range in enumerate(ranges):
            fault = _range_fault(port_range)
            if fault:
                key, message = fault
                yield Cause(
                    "network/port-range",
                    subject.at(*place, index, key),
                    message,
                    "a range has a protocol, TCP or UDP, and two ports from 1 to 65535",
                )
            else:
                pair = port_range["start"], port_range["end"]
                intervals.setdefault(port_range["protocol"], []).append(pair)
        for protocol, pairs in intervals.items():
            pairs.sort()
            for before, after in pairwise(pairs):
                if after[0] <= before[1]:
                    yield Cause(
                        "network/port-ranges-overlap",
                        subject.at(*place),
                        f"{protocol} portRanges [{before[0]}-{before[1]}] and [{after[0]}-{after[1]}] overlap",
                        "join the two ranges",
                    )


def _range_fault(port_range: Tree) -> tuple[str, str] | None:
    """The key that is wrong, and KubeVirt's text."""
    start, end = port_range.get("start", 0), port_range.get("end", 0)
    if port_range.get("protocol") not in _PROTOCOLS:
        return "protocol", "Unknown protocol, only TCP or UDP allowed"
    if not 0 < start <= _LAST_PORT:
        return "start", "Start must be a valid port number, 0 < x < 65536"
    if not 0 < end <= _LAST_PORT:
        return "end", "End must be a valid port number, 0 < x < 65536"
    if start > end:
        return "start", "Start must be less than or equal to end"
    return None


def _dhcp(subject: Subject) -> Iterator[Cause]:
    for index, interface in enumerate(subject.spec["domain"]["devices"]["interfaces"]):
        options = interface.get("dhcpOptions")
        if options is None:
            continue
        place = subject.at(*_INTERFACES, index, "dhcpOptions", "privateOptions")
        numbers = [option.get("option", 0) for option in options.get("privateOptions") or ()]
        if len(set(numbers)) < len(numbers):
            yield Cause(
                "network/dhcp-option-unique",
                subject.root,
                "Found Duplicates: you have provided duplicate DHCPPrivateOptions",
                "give each option a number of its own",
                place=place,
            )
        for position, number in enumerate(numbers):
            if not _FIRST_OPTION <= number <= _LAST_OPTION:
                yield Cause(
                    "network/dhcp-option",
                    subject.root,
                    "provided DHCPPrivateOptions are out of range, must be in range 224 to 254",
                    "use a number from 224 to 254",
                    place=(*place, position, "option"),
                )
        for position, server in enumerate(options.get("ntpServers") or ()):
            if not is_ipv4(server):
                yield Cause(
                    "network/dhcp-ntp",
                    subject.at(*_INTERFACES, index, "dhcpOptions", "ntpServers", position),
                    "NTP servers must be a list of valid IPv4 addresses.",
                    "write an IPv4 address; names are not resolved",
                )


CHECKS: tuple[Check | Windowed[Check], ...] = (
    Check("network/interface-name", _name, where=_INTERFACES),
    one_of(
        "network/interface-model",
        (*_EACH, "model"),
        MODELS,
        "interface {parent}.name uses model {value} that is not supported.",
    ),
    # Go reads digits alone since 1.26, with which KubeVirt is built since 1.9.
    until(
        "1.9",
        Check("network/interface-mac", _mac(":-."), where=(*_EACH, "macAddress")),
    ),
    since("1.9", Check("network/interface-mac", _mac(""), where=(*_EACH, "macAddress"))),
    judged(
        "network/interface-pci",
        (*_EACH, "pciAddress"),
        _pci_fault,
        help="write domain, bus, slot and function, like 0000:81:01.0",
    ),
    until("1.9", Check("network", partial(_ports, _LAST_PORT + 1, ()), where=(*_EACH, "ports"))),
    since("1.9", Check("network", partial(_ports, _LAST_PORT, ("port",)), where=(*_EACH, "ports"))),
    since(
        "1.9",
        needs_gate(
            "network/port-ranges-gate",
            (*_EACH, "portRanges"),
            _GATE,
            "portRanges is specified on interface but the PortRangesSpec feature gate is not enabled",
            reported_path=(*_EACH, "name"),
        ),
    ),
    since("1.9", Check("network", _range_places, f"gate {_GATE}", (*_EACH, "portRanges"))),
    since("1.9", Check("network", _ranges, f"gate {_GATE}", (*_EACH, "portRanges"))),
    Check("network", _dhcp, where=(*_EACH, "dhcpOptions")),
)
