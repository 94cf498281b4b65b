"""The binding of an interface, and its state.

Upstream: pkg/network/admitter/admit.go, binding.go, passt.go, macvtap.go, slirp.go, netiface.go.
"""

from collections.abc import Callable, Iterator
from functools import partial

from render.admission.checks import EACH, Check, Evaluate, Subject, Violation, each, needs_gate
from render.diagnostics.cause import Cause
from render.model import tree
from render.model.apimachinery.go import quoted
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, since, until
from render.model.tree import Tree

_INTERFACES = ("domain", "devices", "interfaces")
_METHODS = ("bridge", "masquerade", "sriov", "passtBinding", "binding")
_DISCONTINUED_METHODS = ("slirp", "macvtap", "passt")
_OLD_METHODS = ("bridge", "masquerade", "sriov", *_DISCONTINUED_METHODS)
#: The checks of the module `discontinued`, which come first.
_DISCONTINUED_CHECKS = (
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


def _with_both_bindings(methods: tuple[str, ...]) -> Evaluate:
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


def _without_one_binding(subject: Subject) -> Iterator[Cause]:
    for cause in without_one_binding(subject.spec, subject.root):
        if subject.is_machine:
            interface = subject.get(*cause.path[len(subject.root) :])
            if any(interface.get(key) is not None for key in _DISCONTINUED_METHODS):
                continue  # refused already, by a check of `discontinued`
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


def _needs_source(name: str, key: str, source: str, message: str) -> Check:
    return Check(name, partial(_source_of, key, source, message), where=_every(key))


def _never_enabled(name: str, gate: str) -> Check:
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

    return Check(name, never, where=_every(key), follows=(f"{name}-gate",))


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


def _every(key: str) -> FieldPath:
    """The place of a key of the interfaces."""
    return (*_INTERFACES, EACH, key)


CHECKS: tuple[Check | Windowed[Check], ...] = (
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
            _with_both_bindings(_OLD_METHODS),
            where=_every("binding"),
            follows=_DISCONTINUED_CHECKS,
        ),
    ),
    since(
        "1.8",
        until(
            "1.9",
            Check(
                "network/binding",
                _with_both_bindings(_METHODS[:-1]),
                where=_every("binding"),
                follows=_DISCONTINUED_CHECKS,
            ),
        ),
    ),
    since(
        "1.9",
        Check(
            "network/binding", _without_one_binding, where=_INTERFACES, follows=_DISCONTINUED_CHECKS
        ),
    ),
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
        _never_enabled("network/macvtap", "Macvtap"),
    ),
    until(
        "1.8",
        _needs_source(
            "network/macvtap-multus",
            "macvtap",
            "multus",
            "Macvtap interface only implemented with Multus network",
        ),
    ),
    until(
        "1.8",
        _never_enabled("network/passt", "Passt"),
    ),
    until(
        "1.8",
        _needs_source(
            "network/passt-pod", "passt", "pod", "Passt interface only implemented with pod network"
        ),
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
            "network/passt-pod",
            "passtBinding",
            "pod",
            "PasstBinding interface only implemented with pod network",
        ),
    ),
    until(
        "1.6",
        Check("network/slirp-permitted", _slirp, "network.permitSlirpInterface", _every("slirp")),
    ),
)
