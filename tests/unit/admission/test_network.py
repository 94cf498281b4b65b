"""Networks and interfaces."""

from typing import Any

import pytest

from render.admission.vmi.network import (
    bindings,
    connections,
    discontinued,
    interfaces,
)
from render.admission.vmi.network import networks as networks_of
from render.model.cluster_config import ClusterConfig
from tests.support.refusals import Json, refusals, subject_of

POD: Json = {"name": "a", "pod": {}}
FIELD = "spec.domain.devices.interfaces"
NETWORK = (*networks_of.CHECKS, *bindings.CHECKS, *connections.CHECKS)


def vmi(*stated: Json, networks: list[Json] | None = None) -> Json:
    return {
        "domain": {"devices": {"interfaces": list(stated)}},
        "networks": [POD] if networks is None else networks,
    }


def messages(rows: Any, spec: Json, **more: Any) -> list[tuple[str, str]]:
    return [(name.partition("/")[2], field) for name, field, _ in refusals(rows, spec, **more)]


@pytest.mark.parametrize(
    "spec",
    [
        {},
        vmi({"name": "a", "masquerade": {}}),
        vmi({"name": "a", "bridge": {}, "state": "down", "macAddress": "02-00-00-00-00-01"}),
        vmi({"name": "a", "binding": {"name": "x"}, "state": "up"}),
        vmi(
            {"name": "a", "masquerade": {}},
            {"name": "b", "sriov": {}},
            networks=[POD, {"name": "b", "multus": {"networkName": "x"}}],
        ),
        vmi(
            {"name": "b", "bridge": {}, "state": "absent"},
            networks=[{"name": "b", "multus": {"networkName": "x"}}],
        ),
    ],
)
def test_good_networks(spec: Json) -> None:
    assert messages(NETWORK, spec) == []
    assert messages(interfaces.CHECKS, spec) == []


@pytest.mark.parametrize(
    ("release", "help_"),
    [("1.8", "one of pod, multus"), ("1.9", "one of pod, multus, resourceClaim")],
)
def test_what_a_network_has_one_of(release: str, help_: str) -> None:
    spec = vmi({"name": "a", "bridge": {}}, networks=[{"name": "a"}])
    subject = subject_of(spec, release=release)
    found = [found.help for check in networks_of.CHECKS for found in check.evaluate(subject)]
    assert found == [f"a network has {help_}"]


@pytest.mark.parametrize(
    ("networks", "expected"),
    [
        ([POD, {"name": "b", "pod": {}}], [("one-pod-network", "spec.interfaces")]),
        (
            [
                {"name": name, "multus": {"networkName": "x", "default": True}}
                for name in ("a", "b")
            ],
            [("one-default", "spec.networks")],
        ),
        (
            [POD, {"name": "b", "multus": {"networkName": "x", "default": True}}],
            [("pod-and-default", "spec.networks")],
        ),
        (
            [{"name": "a", "pod": {}, "multus": {"networkName": "x", "default": True}}],
            [("pod-and-default", "spec.networks"), ("source", "spec.networks[0]")],
        ),
        ([POD, {"name": "b"}], [("source", "spec.networks[1]")]),
        (
            [POD, {"name": "b", "pod": {}, "multus": {"networkName": "x"}}],
            [("one-pod-network", "spec.interfaces"), ("source", "spec.networks[1]")],
        ),
        (
            [POD, {"name": "b", "multus": {}}, {"name": "a", "multus": {}}],
            [("multus-name", "spec.networks[1]"), ("network-unique", "spec.networks[2].name")],
        ),
    ],
)
def test_networks(networks: list[Json], expected: list[tuple[str, str]]) -> None:
    names = dict.fromkeys(network["name"] for network in networks)
    inputs = [{"name": name, "bridge": {}} for name in names]
    assert messages(NETWORK, vmi(*inputs, networks=networks)) == expected


@pytest.mark.parametrize(
    ("interface", "expected"),
    [
        ({}, [("binding", f"{FIELD}[0]")]),
        ({"bridge": {}, "masquerade": {}}, [("binding", f"{FIELD}[0]")]),
        ({"bridge": {}, "state": "gone"}, [("state", f"{FIELD}[0].state")]),
        ({"sriov": {}, "state": "up"}, [("state-sriov", f"{FIELD}[0].state")]),
        (
            {"masquerade": {}, "state": "absent"},
            [("absent-bridge", f"{FIELD}[0].state"), ("absent-default", f"{FIELD}[0].state")],
        ),
        (
            {"masquerade": {}, "macAddress": "02:00:00:00:00:00"},
            [("reserved-mac", f"{FIELD}[0].macAddress")],
        ),
        (
            {"name": "z", "masquerade": {}},
            [
                ("masquerade-pod", f"{FIELD}[0].name"),
                ("network-without-interface", "spec.networks[0].name"),
                ("interface-without-network", f"{FIELD}[0].name"),
            ],
        ),
    ],
)
def test_how_an_interface_is_connected(interface: Json, expected: list[tuple[str, str]]) -> None:
    assert messages(NETWORK, vmi({"name": "a", **interface})) == expected


def test_two_interfaces_of_one_name() -> None:
    twice = {"name": "a", "bridge": {}}
    assert messages(NETWORK, vmi(twice, twice)) == [("interface-unique", f"{FIELD}[1].name")]


def test_a_bridge_on_the_pod_network_may_be_forbidden() -> None:
    spec = vmi({"name": "a", "bridge": {}})
    forbidden = ClusterConfig(bridge_on_pod_network=False)
    assert messages(NETWORK, spec, config=forbidden) == [("bridge-on-pod", f"{FIELD}[0].name")]


@pytest.mark.parametrize(
    ("release", "interface", "expected"),
    [
        ("1.4", {"bridge": {}, "state": "up"}, [("state", f"{FIELD}[0].state")]),
        ("1.5", {"bridge": {}, "state": "up"}, []),
        ("1.8", {}, []),
        ("1.8", {"bridge": {}, "binding": {}}, [("binding", f"{FIELD}[0].binding")]),
        ("1.7", {"passt": {}, "binding": {}}, [
            ("binding", f"{FIELD}[0].binding"), ("passt", f"{FIELD}[0].name")]),
        ("1.7", {"macvtap": {}}, [
            ("macvtap", f"{FIELD}[0].name"), ("macvtap-multus", f"{FIELD}[0].name")]),
        ("1.8", {"macvtap": {}}, []),
        ("1.5", {"slirp": {}}, [("slirp-permitted", f"{FIELD}[0].name")]),
        ("1.6", {"slirp": {}}, []),
    ],
)  # fmt: skip
def test_bindings_of_older_releases(
    release: str, interface: Json, expected: list[tuple[str, str]]
) -> None:
    assert messages(NETWORK, vmi({"name": "a", **interface}), release=release) == expected


def test_slirp_is_judged_where_it_is_and_has_a_network() -> None:
    spec = vmi(
        {"name": "a", "slirp": {}}, {"name": "b", "masquerade": {}}, {"name": "c", "slirp": {}}
    )
    spec["networks"] = [network for network in spec["networks"] if network["name"] != "c"]
    found = [field for check, field in messages(NETWORK, spec, release="1.5") if "slirp" in check]
    assert found == [f"{FIELD}[0].name"]


def test_discontinued_bindings() -> None:
    spec = vmi({"name": "a", "slirp": {}}, {"name": "b", "macvtap": {}})
    assert messages(discontinued.CHECKS, spec, release="1.7") == [("slirp", f"{FIELD}[0].slirp")]
    assert messages(discontinued.CHECKS, spec) == [
        ("slirp", f"{FIELD}[0].slirp"),
        ("macvtap", f"{FIELD}[1].macvtap"),
    ]
    assert messages(discontinued.CHECKS, spec, kind="VirtualMachinePool") == []
    listed = ClusterConfig(feature_gates=frozenset({"Macvtap", "Slirp"}))
    assert messages(discontinued.CHECKS, spec, config=listed, kind="VirtualMachinePool") == [
        ("macvtap-gate", "")
    ]
    assert messages(discontinued.CHECKS, spec, config=listed, kind="VirtualMachine") == [
        ("macvtap-gate", ""),
        ("slirp", f"{FIELD}[0].slirp"),
    ]


CLAIMED: Json = {"name": "a", "resourceClaim": {"claimName": "c", "requestName": "r"}}
DRA = ClusterConfig(feature_gates=frozenset({"NetworkDevicesWithDRA"}))


@pytest.mark.parametrize(
    ("networks", "interface", "expected"),
    [
        ([CLAIMED], {"sriov": {}}, []),
        ([CLAIMED], {"masquerade": {}}, [
            ("masquerade-pod", f"{FIELD}[0].name"), ("claim-binding", FIELD)]),
        ([CLAIMED, {"name": "b", "multus": {"networkName": "x"}}], {"sriov": {}}, [
            ("claim-multus", "spec.networks"),
            ("network-without-interface", "spec.networks[1].name")]),
        ([{"name": "a", "resourceClaim": {"claimName": "z"}}], {"sriov": {}}, [
            ("claim-names", "spec.networks[0].resourceClaim.requestName")]),
        ([{"name": "a", "resourceClaim": {"claimName": "z", "requestName": "r"}}], {"sriov": {}}, [
            ("claim-listed", "spec.networks[0].resourceClaim.claimName")]),
        ([CLAIMED, {**CLAIMED, "name": "b"}], {"sriov": {}}, [
            ("claim-unique", "spec.networks[1]"),
            ("network-without-interface", "spec.networks[1].name")]),
    ],
)  # fmt: skip
def test_claimed_networks(
    networks: list[Json], interface: Json, expected: list[tuple[str, str]]
) -> None:
    spec = {**vmi({"name": "a", **interface}, networks=networks), "resourceClaims": [{"name": "c"}]}
    assert messages(NETWORK, spec, config=DRA) == expected
    older = [
        cause
        for cause in messages(NETWORK, spec, release="1.8", config=DRA)
        if cause[0] != "source"
    ]
    assert older == [item for item in expected if not item[0].startswith("claim-")]


@pytest.mark.parametrize(
    ("mac", "fault"),
    [
        ("02:00:5e:00:53:01", ""),
        ("02-00-5E-00-53-01", ""),
        ("0200.5e00.5301", ""),
        ("02005e005301", ""),
        ("", ""),
        ("02005e00530", "malformed"),
        ("0200.5e005301", "malformed"),
        ("02:00:5e:00:53", "malformed"),
        ("02:00:5e:00:53-01", "malformed"),
        ("2:0:5e:0:53:1", "malformed"),
        ("02:00:5e:00:53:0g", "malformed"),
        ("0200.5e00", "malformed"),
        ("02:00:5e:00:53:01:02", "malformed"),
        ("02:00:5e:00:53:01\n", "malformed"),
        ("02:00:5e:00:53:01:02:03", "too long"),
        ("0200.5e00.5301.0203", "too long"),
        ("02005e0053010203", "too long"),
    ],
)
def test_mac_addresses(mac: str, fault: str) -> None:
    spec = vmi({"name": "a", "bridge": {}, "macAddress": mac})
    expected = (
        [
            (
                "network/interface-mac",
                f"{FIELD}[0].macAddress",
                f"interface {FIELD}[0].name has {fault} MAC address ({mac}).",
            )
        ]
        if fault
        else []
    )
    assert refusals(interfaces.CHECKS, spec) == expected


def test_a_mac_address_of_digits_alone_before_1_9() -> None:
    spec = vmi({"name": "a", "bridge": {}, "macAddress": "02005e005301"})
    assert messages(interfaces.CHECKS, spec, release="1.8") == [
        ("interface-mac", f"{FIELD}[0].macAddress")
    ]


@pytest.mark.parametrize(
    ("interface", "expected"),
    [
        ({"name": "a.b"}, [("interface-name", f"{FIELD}[0].name")]),
        ({"name": ""}, [("interface-name", f"{FIELD}[0].name")]),
        ({"name": "a_B-1"}, []),
        ({"model": "e1000e"}, []),
        ({"model": "vmxnet3"}, [("interface-model", f"{FIELD}[0].model")]),
        ({"pciAddress": "0000:81:01.0"}, []),
        ({"pciAddress": "0000:81:01.8"}, [("interface-pci", f"{FIELD}[0].pciAddress")]),
        ({"dhcpOptions": {"privateOptions": [{"option": 224}, {"option": 254}]}}, []),
        (
            {"dhcpOptions": {"privateOptions": [{"option": 240}, {"option": 240}, {"option": 3}]}},
            [("dhcp-option-unique", "spec"), ("dhcp-option", "spec")],
        ),
        (
            {
                "dhcpOptions": {
                    "ntpServers": [
                        "10.0.0.1",
                        "::ffff:10.0.0.1",
                        "pool.ntp.org",
                        "::1",
                        "::ffff:1.2.3.4%a",
                    ]
                }
            },
            [
                ("dhcp-ntp", f"{FIELD}[0].dhcpOptions.ntpServers[2]"),
                ("dhcp-ntp", f"{FIELD}[0].dhcpOptions.ntpServers[3]"),
                ("dhcp-ntp", f"{FIELD}[0].dhcpOptions.ntpServers[4]"),
            ],
        ),
    ],
)
def test_what_an_interface_says(interface: Json, expected: list[tuple[str, str]]) -> None:
    assert messages(interfaces.CHECKS, vmi({"name": "a", "bridge": {}, **interface})) == expected


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ([{"port": 1}, {"port": 65535, "protocol": "UDP", "name": "a-1"}], []),
        ([{"port": 0}], [("port-number", "ports[0].port")]),
        ([{"port": 65536}, {"port": -1}], [
            ("port-number", "ports[0].port"), ("port-number", "ports[1].port")]),
        ([{"port": 1, "protocol": "tcp"}], [("port-protocol", "ports[0].protocol")]),
        ([{"port": 1, "name": "x"}, {"port": 2, "name": "x"}], [
            ("port-name-unique", "ports[1].name")]),
        ([{"port": 1, "name": name} for name in ("1", "a--b", "-a", "a-", "A", "x" * 16)], [
            ("port-name", f"ports[{index}].name") for index in range(6)]),
    ],
)  # fmt: skip
def test_ports(ports: list[Json], expected: list[tuple[str, str]]) -> None:
    spec = vmi({"name": "a", "masquerade": {}, "ports": ports})
    assert messages(interfaces.CHECKS, spec) == [
        (name, f"{FIELD}[0].{field}") for name, field in expected
    ]
    elsewhere = [{"name": "a", "multus": {"networkName": "x"}}]
    assert messages(interfaces.CHECKS, {**spec, "networks": elsewhere}) == []


def test_ports_before_1_9() -> None:
    ports = [{"port": 65536}, {"port": 65537}]
    spec = vmi({"name": "a", "masquerade": {}, "ports": ports})
    assert messages(interfaces.CHECKS, spec, release="1.8") == [
        ("port-number", f"{FIELD}[0].ports[1]")
    ]


def ranged(*pairs: tuple[str, int, int]) -> list[Json]:
    return [{"protocol": protocol, "start": start, "end": end} for protocol, start, end in pairs]


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        (ranged(("TCP", 1, 9), ("TCP", 10, 65535), ("UDP", 5, 5)), []),
        (ranged(("", 1, 9)), [("port-range", "[0].protocol")]),
        (ranged(("TCP", 0, 9)), [("port-range", "[0].start")]),
        (ranged(("TCP", 1, 65536)), [("port-range", "[0].end")]),
        (ranged(("TCP", 9, 1)), [("port-range", "[0].start")]),
        ([{"protocol": "TCP", "end": 9}], [("port-range", "[0].start")]),
        ([{"protocol": "TCP", "start": 9}], [("port-range", "[0].end")]),
        (ranged(("TCP", 5, 9), ("TCP", 1, 5), ("UDP", 1, 9)), [("port-ranges-overlap", "")]),
        (ranged(*[("TCP", port, port) for port in range(1, 12)]), [("port-ranges-count", "")]),
    ],
)
def test_port_ranges(ranges: list[Json], expected: list[tuple[str, str]]) -> None:
    spec = vmi({"name": "a", "masquerade": {}, "portRanges": ranges})
    config = ClusterConfig(feature_gates=frozenset({"PortRangesSpec"}))
    place = f"{FIELD}[0].portRanges"
    assert messages(interfaces.CHECKS, spec, config=config) == [
        (name, f"{place}{field}") for name, field in expected
    ]
    assert messages(interfaces.CHECKS, spec) == [("port-ranges-gate", f"{FIELD}[0].name")]


def test_port_ranges_with_ports_on_a_bridge() -> None:
    spec = vmi(
        {"name": "a", "bridge": {}, "ports": [], "portRanges": ranged(("TCP", 5, 9), ("TCP", 1, 5))}
    )
    config = ClusterConfig(feature_gates=frozenset({"PortRangesSpec"}))
    assert [
        (name, message) for name, _, message in refusals(interfaces.CHECKS, spec, config=config)
    ] == [
        ("network/port-ranges-or-ports", "Cannot define both ports and portRanges on interface"),
        (
            "network/port-ranges-masquerade",
            "portRanges are only supported on masquerade interfaces",
        ),
        ("network/port-ranges-overlap", "TCP portRanges [1-5] and [5-9] overlap"),
    ]


def test_messages_quote_names_as_go_does() -> None:
    spec = vmi({"name": 'a"\n', "sriov": {}, "state": "up"})
    (message,) = (
        refusal for _, field, refusal in refusals(NETWORK, spec) if field.endswith("state")
    )
    assert message == r""""a\"\n" interface's state "up" is not supported for SR-IOV NICs"""
