"""DNS of the pod."""

import pytest

from render.admission.vmi.network.dns import CHECKS
from tests.support.refusals import Json, refusals

MANY = [f"10.0.0.{number}" for number in range(1, 5)]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"dnsPolicy": "ClusterFirstWithHostNet"}, []),
        ({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["fe80::1", "10.0.0.1"]}}, []),
        (
            {"dnsConfig": {"searches": ["a.b", "c"], "options": [{"name": "ndots", "value": "2"}]}},
            [],
        ),
        (
            {"dnsPolicy": "none"},
            [
                (
                    "dns/policy",
                    "spec.dnsPolicy",
                    (
                        "DNSPolicy: none is not supported, valid values: "
                        "[ClusterFirstWithHostNet ClusterFirst Default None ]"
                    ),
                )
            ],
        ),
        (
            {"dnsPolicy": "None"},
            [("dns/none", "spec.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")],
        ),
        (
            {"dnsPolicy": "None", "dnsConfig": {"searches": ["A"]}},
            [
                (
                    "dns/none",
                    "nameservers",
                    "must provide at least one DNS nameserver when `dnsPolicy` is None",
                )
            ],
        ),
        (
            {"dnsConfig": {"nameservers": MANY}},
            [
                (
                    "dns/nameservers",
                    "nameservers",
                    "must not have more than 3 nameservers: [10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4]",
                )
            ],
        ),
        (
            {"dnsConfig": {"nameservers": ["10.0.0.256", "fe80::1%eth0", "dns.local"]}},
            [
                ("dns/nameserver", "nameservers", f"must be valid IP address: {server}")
                for server in ("10.0.0.256", "fe80::1%eth0", "dns.local")
            ],
        ),
        (
            {"dnsConfig": {"searches": list("abcdefg")}},
            [("dns/searches", "searchDomains", "must not have more than 6 search paths")],
        ),
        ({"dnsConfig": {"searches": ["a" * 128, "b" * 127]}}, []),
        (
            {"dnsConfig": {"searches": ["a" * 128, "b" * 128]}},
            [
                (
                    "dns/searches",
                    "searchDomains",
                    "must not have more than 256 characters (including spaces) in the search list",
                )
            ],
        ),
        (
            {"dnsConfig": {"options": [{"value": "2"}]}},
            [("dns/option", "options", "Option.Name must not be empty")],
        ),
    ],
)
def test_dns(spec: Json, expected: list[tuple[str, str, str]]) -> None:
    assert refusals(CHECKS, spec) == expected


def test_each_fault_of_a_search_domain_is_a_cause() -> None:
    found = refusals(CHECKS, {"dnsConfig": {"searches": ["A" * 254]}})
    assert [(check, field) for check, field, _ in found] == [("dns/search", "searchDomains")] * 2
    assert found[0].message == "must be no more than 253 characters"
    assert found[1].message.startswith("a lowercase RFC 1123 subdomain must consist")
