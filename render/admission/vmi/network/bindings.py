"""Networks, and what connects an interface with one.

Upstream: pkg/network/admitter/netsource.go, admit.go, binding.go, passt.go, macvtap.go, slirp.go, dra.go, netiface.go.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from render.admission import faults
from render.admission.checks import EACH, Check, Evaluate, Subject, Violation, each, needs_gate
from render.diagnostics.cause import Cause
from render.diagnostics.fix import Fix, FixEdit, set_to
from render.model import tree
from render.model.apimachinery.go import quoted
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since, until
from render.model.tree import Tree

_NETWORKS = ("networks",)
_INTERFACES = ("domain", "devices", "interfaces")
_CLAIMED = (*_NETWORKS, EACH, "resourceClaim")
_SOURCES = ("pod", "multus", "resourceClaim")
_METHODS = ("bridge", "masquerade", "sriov", "passtBinding", "binding")
_DISCONTINUED = ("slirp", "macvtap", "passt")
_OLD_METHODS = ("bridge", "masquerade", "sriov", *_DISCONTINUED)
#: The checks of the module `discontinued`, which come first.
_GIVEN_UP = (
    "network/slirp",
    "network/passt",
    "network/passt-gate",
    "network/macvtap",
    "network/macvtap-gate",
)
_RESERVED_MAC = "02:00:00:00:00:00"


def _is_default(network: Tree) -> bool:
    """Whether pods have this network by default, unless another is asked for."""
    multus = network.get("multus")
    return network.get("pod") is not None or (multus is not None and bool(multus.get("default")))


def _is_not_secondary(network: Tree) -> bool:
    """What counted as the default network before 1.9."""
    multus = network.get("multus")
    return multus is None or bool(multus.get("default"))


def _one_default(subject: Subject) -> Iterator[Cause]:
    networks = subject.spec["networks"]
    if len(networks) == 1 and len(networks[0]) <= 2:  # noqa: PLR2004 - a name and one source
        return
    pods = [index for index, network in enumerate(networks) if network.get("pod") is not None]
    defaults = [
        index
        for index, network in enumerate(networks)
        if network.get("multus") is not None and network["multus"].get("default")
    ]
    if len(pods) > 1:
        yield Cause(
            "network/one-pod-network",
            subject.at("interfaces"),
            f"more than one interface is connected to a pod network in {subject.text('interfaces')}",
            "a VM has one pod network; connect the others with multus",
            place=subject.at("networks", pods[1]),
        )
    if len(defaults) > 1:
        yield Cause(
            "network/one-default",
            subject.at("networks"),
            "Multus CNI should only have one default network",
            "set default: true for one network only",
            place=subject.at("networks", defaults[1], "multus", "default"),
        )
    if pods and defaults:
        yield Cause(
            "network/pod-and-default",
            subject.at("networks"),
            "Pod network cannot be defined when Multus default network is defined",
            "drop the pod network, or default: true of the multus network",
            place=subject.at("networks", pods[0]),
        )


@each(_NETWORKS)
def _one_source(_subject: Subject, network: Tree, path: FieldPath) -> Violation | None:
    count = 0
    for source in _SOURCES:
        if network.get(source) is not None:
            count += 1
    if count == 1:
        return None
    return Violation(
        path,
        "should have only one network type" if count else "should have a network type",
        "a network has either pod or multus",
    )


def _multus_name(subject: Subject) -> Iterator[Violation]:
    for index, network in enumerate(subject.spec["networks"]):
        multus = network.get("multus")
        if multus is not None and not multus.get("networkName"):
            yield Violation(
                subject.at("networks", index),
                "CNI delegating plugin must have a networkName",
                "name the network attachment definition, as NAMESPACE/NAME or NAME",
                place=subject.at("networks", index, "multus"),
            )
            return


def _state(allowed: tuple[str, ...], subject: Subject) -> Iterator[Cause]:
    for index, interface in enumerate(subject.spec["domain"]["devices"]["interfaces"]):
        state = interface.get("state")
        if not state:
            continue
        path = subject.at(*_INTERFACES, index, "state")
        name = interface.get("name", "")
        if state not in allowed:
            yield Cause(
                "network/state",
                path,
                f"logical {name} interface state value is unsupported: {state}",
                f"use one of {', '.join(allowed)}",
            )
        elif state != "absent":
            if interface.get("sriov") is not None:
                yield Cause(
                    "network/state-sriov",
                    path,
                    f"{quoted(name)} interface's state {quoted(state)} is not supported for SR-IOV NICs",
                    "drop the state",
                )
        elif interface.get("bridge") is None:
            yield Cause(
                "network/absent-bridge",
                path,
                f'{quoted(name)} interface\'s state "absent" is supported only for bridge binding',
                "drop the interface and its network instead",
            )


def _absent_default(is_default: Callable[[Tree], bool], subject: Subject) -> Iterator[Violation]:
    for index, interface in enumerate(subject.spec["domain"]["devices"]["interfaces"]):
        if interface.get("state") != "absent":
            continue
        networks = subject.spec.get("networks") or ()
        default: Tree = next(filter(is_default, networks), {})
        name = interface.get("name", "")
        if default and default.get("name", "") == name:
            yield Violation(
                subject.at(*_INTERFACES, index, "state"),
                f'{quoted(name)} interface\'s state "absent" is not supported on default networks',
                "drop the state, or the interface",
            )


def _both_bindings(methods: tuple[str, ...]) -> Evaluate:
    """Interfaces with a binding plugin and one of *methods*."""

    @each(_INTERFACES)
    def both(_subject: Subject, interface: Tree, path: FieldPath) -> Violation | None:
        if interface.get("binding") is None:
            return None
        if all(interface.get(method) is None for method in methods):
            return None
        return Violation(
            (*path, "binding"),
            f"logical {interface.get('name', '')} interface cannot have both binding plugin and interface "
            "binding method",
            "keep one of them",
        )

    return both


def without_one_binding(spec: Tree, root: FieldPath) -> Iterator[Cause]:
    """The interfaces of the VMI spec *spec*, which stands at *root*, with no binding or several that 1.9 knows."""
    for index, interface in enumerate(tree.get(spec, *_INTERFACES) or ()):
        count = 0
        for method in _METHODS:
            if interface.get(method) is not None:
                count += 1
        if count != 1:
            yield Cause(
                "network/binding",
                (*root, *_INTERFACES, index),
                f"logical {interface.get('name', '')} interface must have exactly one binding method or binding "
                "plugin",
                f"give the interface one of {', '.join(_METHODS)}",
            )


def _one_binding(subject: Subject) -> Iterator[Cause]:
    for cause in without_one_binding(subject.spec, subject.root):
        if subject.is_machine:
            interface = subject.get(*cause.path[len(subject.root) :])
            if any(interface.get(key) is not None for key in _DISCONTINUED):
                continue  # said already, by the stage before
        yield cause


def _networks(subject: Subject) -> dict[str, Tree]:
    """The networks by name; the last of several with one name."""
    return {network.get("name", ""): network for network in subject.spec.get("networks") or ()}


def _masquerade(subject: Subject) -> Iterator[Cause]:
    networks: dict[str, Tree] | None = None
    for index, interface in enumerate(subject.spec["domain"]["devices"]["interfaces"]):
        if interface.get("masquerade") is None:
            continue
        networks = _networks(subject) if networks is None else networks
        if networks.get(interface.get("name", ""), {}).get("pod") is None:
            yield Cause(
                "network/masquerade-pod",
                subject.at(*_INTERFACES, index, "name"),
                "Masquerade interface only implemented with pod network",
                "use bridge or another binding, or connect the interface with the pod network",
                place=subject.at(*_INTERFACES, index, "masquerade"),
            )
        if interface.get("macAddress") == _RESERVED_MAC:
            yield Cause(
                "network/reserved-mac",
                subject.at(*_INTERFACES, index, "macAddress"),
                "The requested MAC address is reserved for the in-pod bridge. Please choose another one.",
                "choose another address",
            )


def _bridge_on_pod(subject: Subject) -> Iterator[Violation]:
    if subject.config.bridge_on_pod_network:
        return
    networks = _networks(subject)
    for index, interface in enumerate(subject.spec["domain"]["devices"]["interfaces"]):
        network = networks.get(interface.get("name", ""), {})
        if interface.get("bridge") is not None and network.get("pod") is not None:
            yield Violation(
                subject.at(*_INTERFACES, index, "name"),
                "Bridge on pod network configuration is not enabled under kubevirt-config",
                "use masquerade, or set network.permitBridgeInterfaceOnPodNetwork in the KubeVirt CR",
                place=subject.at(*_INTERFACES, index, "bridge"),
            )


def _source_of(key: str, source: str, message: str, subject: Subject) -> Iterator[Violation]:
    """An interface with the binding *key* on a network that is no *source*."""
    networks = _networks(subject)
    for index, interface in enumerate(subject.spec["domain"]["devices"]["interfaces"]):
        if interface.get(key) is None:
            continue
        if networks.get(interface.get("name", ""), {}).get(source) is None:
            yield Violation(
                subject.at(*_INTERFACES, index, "name"),
                message,
                f"connect the interface with a {source} network, or use another binding",
                place=subject.at(*_INTERFACES, index, key),
            )


def _needs_source(key: str, source: str, message: str) -> Check:
    name = f"network/{key.removesuffix('Binding')}-{source}"
    return Check(name, partial(_source_of, key, source, message), where=_every(key))


def _never_enabled(gate: str) -> Check:
    """A binding whose gate is discontinued: without the gate it is refused here, with it by the gate itself."""
    key = gate.lower()

    @each(_INTERFACES)
    def never(subject: Subject, interface: Tree, path: FieldPath) -> Violation | None:
        if interface.get(key) is None or subject.has_gate(gate):
            return None
        return Violation(
            (*path, "name"),
            f"{gate} feature gate is not enabled",
            "use masquerade, bridge or a network binding plugin instead",
            place=(*path, key),
        )

    return Check(f"network/{key}", never, where=_every(key), follows=(f"network/{key}-gate",))


def _slirp(subject: Subject) -> Iterator[Violation]:
    networks = _networks(subject)
    for index, interface in enumerate(subject.spec["domain"]["devices"]["interfaces"]):
        network = networks.get(interface.get("name", ""))
        if interface.get("slirp") is None or network is None:
            continue
        message = (
            "Slirp interface is not enabled in kubevirt-config"
            if network.get("pod") is not None
            else "Slirp interface only implemented with pod network"
        )
        if network.get("pod") is None or not subject.config.slirp_permitted:
            yield Violation(
                subject.at(*_INTERFACES, index, "name"),
                message,
                "use masquerade, bridge or a network binding plugin instead",
                place=subject.at(*_INTERFACES, index, "slirp"),
            )


def _unique_networks(subject: Subject) -> Iterator[Violation]:
    networks = subject.spec["networks"]
    if len(networks) == 1:
        return
    known: set[str] = set()
    for index, network in enumerate(networks):
        name = network.get("name", "")
        if name in known:
            yield Violation(
                subject.at("networks", index, "name"),
                f"Network with name {quoted(name)} already exists, every network must have a unique name",
                "give the networks and their interfaces different names",
            )
        known.add(name)


def _connected(subject: Subject) -> Iterator[Violation]:
    networks = subject.spec["networks"]
    interfaces = _names(subject.get(*_INTERFACES))
    free = sorted(interfaces - _names(networks))
    for index, network in enumerate(networks):
        name = network.get("name", "")
        if name not in interfaces:
            path = ("networks", index, "name")
            yield Violation(
                subject.at(*path),
                f"{subject.text(*path)} '{name}' not found.",
                f"add an interface named {name}, or drop the network",
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


def _unique_interfaces(subject: Subject) -> Iterator[Violation]:
    interfaces = subject.spec["domain"]["devices"]["interfaces"]
    if len(interfaces) == 1:
        return
    known: set[str] = set()
    for index, interface in enumerate(interfaces):
        name = interface.get("name", "")
        if name in known:
            yield Violation(
                subject.at(*_INTERFACES, index, "name"),
                "Only one interface can be connected to one specific network",
                "add a network for the second interface, or drop the interface",
            )
        known.add(name)


def _interfaces_with_network(subject: Subject) -> Iterator[Violation]:
    networks = subject.spec.get("networks") or []
    interfaces = subject.spec["domain"]["devices"]["interfaces"]
    names = _names(networks)
    free = sorted(names - _names(interfaces))
    has_pod = any(network.get("pod") is not None for network in networks)
    for index, interface in enumerate(interfaces):
        name = interface.get("name", "")
        if name not in names:
            path = (*_INTERFACES, index, "name")
            yield Violation(
                subject.at(*path),
                f"{subject.text(*path)} '{name}' not found.",
                f"add a network named {name}, or drop the interface",
                fixes=_with_network(subject, index, interface, free, has_pod=has_pod),
            )


_CLAIMS = "NetworkDevicesWithDRA"


def _claim_gate(subject: Subject) -> Iterator[Violation]:
    for index, network in enumerate(subject.spec["networks"]):
        if network.get("resourceClaim") is not None and not subject.has_gate(_CLAIMS):
            yield Violation(
                subject.at("networks"),
                "vmi.spec.networks contains DRA networks but NetworkDevicesWithDRA feature gate is not enabled",
                f"enable the feature gate {_CLAIMS} in the KubeVirt CR, or use another network",
                place=subject.at("networks", index, "resourceClaim"),
            )
            return


def _claims(subject: Subject) -> Iterator[Cause]:
    networks = subject.spec["networks"]
    claimed = [
        (index, network)
        for index, network in enumerate(networks)
        if network.get("resourceClaim") is not None
    ]
    if not claimed or not subject.has_gate(_CLAIMS):
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
        yield from _claim_binding(subject, network.get("name", ""))
        yield from _claim(subject, network["resourceClaim"], index, known)


def _claim(subject: Subject, named: Tree, index: int, known: set[str]) -> Iterator[Cause]:
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


def _claim_binding(subject: Subject, name: str) -> Iterator[Cause]:
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


def _every(key: str) -> FieldPath:
    """The place of a key of the interfaces."""
    return (*_INTERFACES, EACH, key)


CHECKS: tuple[Check | Windowed[Check], ...] = (
    Check("network", _one_default, where=_NETWORKS),
    Check("network/source", _one_source, where=_NETWORKS),
    Check("network/multus-name", _multus_name, where=(*_NETWORKS, EACH, "multus")),
    until("1.5", Check("network", partial(_state, ("absent",)), where=_every("state"))),
    since(
        "1.5", Check("network", partial(_state, ("absent", "up", "down")), where=_every("state"))
    ),
    until(
        "1.9",
        Check(
            "network/absent-default",
            partial(_absent_default, _is_not_secondary),
            where=_every("state"),
        ),
    ),
    since(
        "1.9",
        Check(
            "network/absent-default",
            partial(_absent_default, _is_default),
            where=_every("state"),
        ),
    ),
    until(
        "1.8",
        Check(
            "network/binding",
            _both_bindings(_OLD_METHODS),
            where=_every("binding"),
            follows=_GIVEN_UP,
        ),
    ),
    since(
        "1.8",
        until(
            "1.9",
            Check(
                "network/binding",
                _both_bindings(_METHODS[:-1]),
                where=_every("binding"),
                follows=_GIVEN_UP,
            ),
        ),
    ),
    since("1.9", Check("network/binding", _one_binding, where=_INTERFACES, follows=_GIVEN_UP)),
    Check("network", _masquerade, where=_every("masquerade")),
    Check(
        "network/bridge-on-pod",
        _bridge_on_pod,
        "network.permitBridgeInterfaceOnPodNetwork",
        _every("bridge"),
    ),
    until(
        "1.5",
        needs_gate(
            "network/plugin-gate",
            _every("binding"),
            "NetworkBindingPlugins",
            "Binding plugins feature gate is not enabled",
            reported_path=_every("name"),
        ),
    ),
    until(
        "1.8",
        _never_enabled("Macvtap"),
    ),
    until(
        "1.8",
        _needs_source(
            "macvtap", "multus", "Macvtap interface only implemented with Multus network"
        ),
    ),
    until(
        "1.8",
        _never_enabled("Passt"),
    ),
    until(
        "1.8", _needs_source("passt", "pod", "Passt interface only implemented with pod network")
    ),
    since(
        "1.8",
        needs_gate(
            "network/passt-binding-gate",
            _every("passtBinding"),
            "PasstBinding",
            "PasstBinding feature gate is not enabled",
            reported_path=_every("name"),
        ),
    ),
    since(
        "1.8",
        _needs_source(
            "passtBinding", "pod", "PasstBinding interface only implemented with pod network"
        ),
    ),
    until(
        "1.6",
        Check("network/slirp-permitted", _slirp, "network.permitSlirpInterface", _every("slirp")),
    ),
    Check("network/network-unique", _unique_networks, where=_NETWORKS),
    since("1.9", Check("network/claim-gate", _claim_gate, f"gate {_CLAIMS}", _CLAIMED)),
    since("1.9", Check("network", _claims, f"gate {_CLAIMS}", _CLAIMED)),
    Check("network/network-without-interface", _connected, where=_NETWORKS),
    Check("network/interface-unique", _unique_interfaces, where=_INTERFACES),
    Check("network/interface-without-network", _interfaces_with_network, where=_INTERFACES),
)
