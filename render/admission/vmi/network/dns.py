"""DNS of the pod (upstream: validateDNSPolicy and validatePodDNSConfig in admitters/vmi-create-admitter.go)."""

from collections.abc import Iterator

from render.admission.checks import Check, Subject, one_of
from render.diagnostics.cause import Cause
from render.model.apimachinery.addresses import is_ip
from render.model.apimachinery.dns1123 import subdomain_faults
from render.model.apimachinery.go import listed
from render.model.fieldpath import FieldPath
from render.model.tree import Tree

_CONFIG = ("dnsConfig",)
_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None", "")
#: KubeVirt names these fields alone.
_SERVERS, _SEARCHES, _OPTIONS = ("nameservers",), ("searchDomains",), ("options",)
_MOST_SERVERS, _MOST_SEARCHES, _MOST_CHARACTERS = 3, 6, 256


def _none(subject: Subject) -> Iterator[Cause]:
    """The policy None, with which the VM brings its own servers."""
    config = subject.spec.get("dnsConfig")
    if subject.spec["dnsPolicy"] != "None" or (config or {}).get("nameservers"):
        return
    at_least, reported_path = (
        ("`dnsConfig`", subject.at(*_CONFIG))
        if config is None
        else ("at least one DNS nameserver", _SERVERS)
    )
    message = f"must provide {at_least} when `dnsPolicy` is None"
    yield Cause(
        "dns/none",
        reported_path,
        message,
        "add dnsConfig.nameservers",
        place=subject.at("dnsPolicy"),
    )


def _config(subject: Subject) -> Iterator[Cause]:
    config = subject.spec["dnsConfig"]
    if subject.spec.get("dnsPolicy") == "None" and not config.get("nameservers"):
        return
    yield from _nameservers(config.get("nameservers") or [], subject.at(*_CONFIG, "nameservers"))
    yield from _search_domains(config.get("searches") or [], subject.at(*_CONFIG, "searches"))
    options: list[Tree] = config.get("options") or []
    for index, option in enumerate(options):
        if not option.get("name"):
            place = subject.at(*_CONFIG, "options", index)
            message = "Option.Name must not be empty"
            yield Cause("dns/option", _OPTIONS, message, "name the option", place=place)


def _nameservers(servers: list[str], place: FieldPath) -> Iterator[Cause]:
    if len(servers) > _MOST_SERVERS:
        message = f"must not have more than {_MOST_SERVERS} nameservers: {listed(servers)}"
        cure = f"leave {_MOST_SERVERS} of them"
        yield Cause("dns/nameservers", _SERVERS, message, cure, place=place)
    for index, server in enumerate(servers):
        if not is_ip(server):
            message = f"must be valid IP address: {server}"
            cure = "write an IPv4 or IPv6 address"
            yield Cause("dns/nameserver", _SERVERS, message, cure, place=(*place, index))


def _search_domains(searches: list[str], place: FieldPath) -> Iterator[Cause]:
    if len(searches) > _MOST_SEARCHES:
        message = f"must not have more than {_MOST_SEARCHES} search paths"
        cure = f"leave {_MOST_SEARCHES} of them"
        yield Cause("dns/searches", _SEARCHES, message, cure, place=place)
    if len(" ".join(searches).encode()) > _MOST_CHARACTERS:
        message = f"must not have more than {_MOST_CHARACTERS} characters (including spaces) in the search list"
        yield Cause("dns/searches", _SEARCHES, message, "leave some of them out", place=place)
    for index, search in enumerate(searches):
        for fault in subdomain_faults(search):
            cure = "write a domain in lower case"
            yield Cause("dns/search", _SEARCHES, fault, cure, place=(*place, index))


CHECKS: tuple[Check, ...] = (
    one_of(
        "dns/policy",
        ("dnsPolicy",),
        _POLICIES,
        f"DNSPolicy: {{value}} is not supported, valid values: {listed(_POLICIES)}",
    ),
    Check("dns", _none, where=("dnsPolicy",)),
    Check("dns", _config, where=_CONFIG),
)
