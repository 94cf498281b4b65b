"""Which interface is connected with which network, and the claims that networks name.

Upstream: pkg/network/admitter/admit.go, netiface.go, dra.go.
"""

from collections.abc import Iterable, Iterator

from render.admission import faults
from render.admission.checks import EACH, Check, Subject, Violation, repeated_names
from render.diagnostics.cause import Cause
from render.diagnostics.fix import Fix, FixEdit, set_to
from render.model.apimachinery.go import quoted
from render.model.release import Windowed, since
from render.model.tree import Tree

_NETWORKS = ("networks",)
_INTERFACES = ("domain", "devices", "interfaces")
_CLAIMED = (*_NETWORKS, EACH, "resourceClaim")
_CLAIM_GATE = "NetworkDevicesWithDRA"


def _repeated_networks(subject: Subject) -> Iterator[Violation]:
    for index, name in repeated_names(subject.spec["networks"]):
        yield Violation(
            subject.at("networks", index, "name"),
            f"Network with name {quoted(name)} already exists, every network must have a unique name",
            "give the networks and their interfaces different names",
        )


def _networks_without_interface(subject: Subject) -> Iterator[Violation]:
    networks = subject.spec["networks"]
    interfaces, names = _names(subject.get(*_INTERFACES)), _names(networks)
    if names <= interfaces:
        return
    free = sorted(interfaces - names)
    for index, network in enumerate(networks):
        name = network.get("name", "")
        if name not in interfaces:
            path = ("networks", index, "name")
            yield Violation(
                subject.at(*path),
                f"{subject.text(*path)} '{name}' not found.",
                faults.meant(name, free, f"add an interface named {name}, or drop the network"),
                fixes=_with_interface(subject, index, network, free),
            )


def _names(items: list[Tree] | None) -> set[str]:
    return {item.get("name", "") for item in items or ()}


def _with_interface(
    subject: Subject, index: int, network: Tree, free: Iterable[str]
) -> tuple[Fix, ...]:
    """What may be done about a *network* without an interface; one for it has the binding that is usual.

    *free* are the interfaces without a network.
    """
    name = network.get("name", "")
    interfaces = subject.get(*_INTERFACES) or []
    binding = "bridge" if network.get("pod") is None else "masquerade"
    added = set_to(subject.at(*_INTERFACES, len(interfaces)), {"name": name, binding: {}})
    place = subject.at("networks", index)
    words = f"add an interface with {binding}"
    return faults.unpaired(place, name, free, "network", (words, added))


def _with_network(
    subject: Subject, index: int, interface: Tree, free: Iterable[str], *, has_pod: bool
) -> tuple[Fix, ...]:
    """What may be done about an *interface* without a network; *free* are the networks without an interface.

    *has_pod*: one of the networks is that of pods, which may be added only once.
    """
    name = interface.get("name", "")
    added: list[tuple[str, FixEdit]] = []
    if not has_pod:
        place = subject.at("networks", len(subject.spec.get("networks") or []))
        added.append(("add the pod network", set_to(place, {"name": name, "pod": {}})))
    return faults.unpaired(subject.at(*_INTERFACES, index), name, free, "interface", *added)


def _interfaces_of_one_network(subject: Subject) -> Iterator[Violation]:
    for index, _ in repeated_names(subject.spec["domain"]["devices"]["interfaces"]):
        yield Violation(
            subject.at(*_INTERFACES, index, "name"),
            "Only one interface can be connected to one specific network",
            "add a network for the second interface, or drop the interface",
        )


def _interfaces_without_network(subject: Subject) -> Iterator[Violation]:
    networks = subject.spec.get("networks") or []
    interfaces = subject.spec["domain"]["devices"]["interfaces"]
    names, named = _names(networks), _names(interfaces)
    if named <= names:
        return
    free = sorted(names - named)
    has_pod = any(network.get("pod") is not None for network in networks)
    for index, interface in enumerate(interfaces):
        name = interface.get("name", "")
        if name not in names:
            path = (*_INTERFACES, index, "name")
            yield Violation(
                subject.at(*path),
                f"{subject.text(*path)} '{name}' not found.",
                faults.meant(name, free, f"add a network named {name}, or drop the interface"),
                fixes=_with_network(subject, index, interface, free, has_pod=has_pod),
            )


def _claims_without_gate(subject: Subject) -> Iterator[Violation]:
    for index, network in enumerate(subject.spec["networks"]):
        if network.get("resourceClaim") is not None and not subject.has_gate(_CLAIM_GATE):
            yield Violation(
                subject.at("networks"),
                "vmi.spec.networks contains DRA networks but NetworkDevicesWithDRA feature gate is not enabled",
                f"enable the feature gate {_CLAIM_GATE} in the KubeVirt CR, or use another network",
                place=subject.at("networks", index, "resourceClaim"),
            )
            return


def _refused_claims(subject: Subject) -> Iterator[Cause]:
    networks = subject.spec["networks"]
    claimed = [
        (index, network)
        for index, network in enumerate(networks)
        if network.get("resourceClaim") is not None
    ]
    if not claimed or not subject.has_gate(_CLAIM_GATE):
        return
    if any(network.get("multus") is not None for network in networks):
        yield Cause(
            "network/claim-multus",
            subject.at("networks"),
            "mixing Multus and DRA resourceClaim networks in the same VMI is not supported",
            "use one kind of network",
            place=subject.at("networks", claimed[0][0]),
        )
        return
    known: set[str] = set()
    for index, network in claimed:
        yield from _binding_of_claim(subject, network.get("name", ""))
        yield from _refused_claim(subject, network["resourceClaim"], index, known)


def _refused_claim(subject: Subject, named: Tree, index: int, known: set[str]) -> Iterator[Cause]:
    """What is wrong with the claim that the network at *index* has *named*; those of others are *known*."""
    path = subject.at("networks", index, "resourceClaim")
    for key in ("claimName", "requestName"):
        if not named.get(key):
            yield Cause(
                "network/claim-names",
                (*path, key),
                f"{key} is required for DRA network",
                "a claim is named by claimName and requestName",
                place=path,
            )
    claim, request = named.get("claimName"), named.get("requestName")
    if not claim or not request:
        return
    if claim not in {
        resource_claim.get("name", "")
        for resource_claim in subject.spec.get("resourceClaims") or ()
    }:
        yield Cause(
            "network/claim-listed",
            (*path, "claimName"),
            f"network references resourceClaim {quoted(claim)} which is not defined in spec.resourceClaims",
            f"add {claim} to resourceClaims",
        )
    pair = f"{claim}/{request}"
    if pair in known:
        yield Cause(
            "network/claim-unique",
            subject.at("networks", index),
            f"duplicate claimName/requestName combination {quoted(pair)}",
            "ask for another request of the claim",
        )
    known.add(pair)


def _binding_of_claim(subject: Subject, name: str) -> Iterator[Cause]:
    for index, interface in enumerate(subject.get(*_INTERFACES) or ()):
        if interface.get("name", "") == name:
            if interface.get("sriov") is None and interface.get("binding") is None:
                yield Cause(
                    "network/claim-binding",
                    subject.at(*_INTERFACES),
                    f"DRA network {quoted(name)} requires an SR-IOV or binding plugin interface",
                    "give its interface sriov or binding",
                    place=subject.at(*_INTERFACES, index),
                )
            return


CHECKS: tuple[Check | Windowed[Check], ...] = (
    Check("network/network-unique", _repeated_networks, where=_NETWORKS),
    since(
        "1.9",
        Check("network/claim-gate", _claims_without_gate, f"gate {_CLAIM_GATE}", _CLAIMED),
    ),
    since("1.9", Check("network", _refused_claims, f"gate {_CLAIM_GATE}", _CLAIMED)),
    Check("network/network-without-interface", _networks_without_interface, where=_NETWORKS),
    Check("network/interface-unique", _interfaces_of_one_network, where=_INTERFACES),
    Check("network/interface-without-network", _interfaces_without_network, where=_INTERFACES),
)
