"""What becomes of the networks of a VMI that runs when those of its VM change.

Upstream: pkg/network/vmliveupdate/restart.go, pkg/network/controllers/vm.go, pkg/network/migration/evaluator.go.
"""

from collections.abc import Callable

from render.model import tree
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree

_ABSENT = "absent"
Named = dict[str, Tree]
Reduce = Callable[[Tree], Tree]


class NetworkRules(NamedTuple):
    """What differs between releases.

    *live_targets*: another network attachment is no restart; *pod_needs_restart*: a pod network is not plugged in;
    *migrates*: a plugged interface asks for the migration by itself.
    """

    live_targets: bool
    pod_needs_restart: bool
    migrates: bool


class Synced(NamedTuple):
    """Interfaces and networks of the VMI after the controller has seen the VM, and whether they ask for a migration."""

    interfaces: list[Tree]
    networks: list[Tree]
    migrates: bool


def interfaces_of(spec: Tree) -> list[Tree]:
    """The interfaces of a VMI *spec*."""
    return tree.get(spec, "domain", "devices", "interfaces") or []


def networks_of(spec: Tree) -> list[Tree]:
    """The networks of a VMI *spec*."""
    return spec.get("networks") or []


def named(items: list[Tree]) -> Named:
    """*items* by name; of two with the same the later one counts, as in Go."""
    return {item.get("name", ""): item for item in items}


def needs_restart(spec: Tree, running: Tree, rules: NetworkRules) -> bool:
    """Whether the VMI *running* cannot become what *spec* asks for while it runs; both are VMI specs."""
    if _have_changed(named(interfaces_of(spec)), named(interfaces_of(running)), _without_state):
        return True
    wanted, current = networks_of(spec), networks_of(running)
    if rules.pod_needs_restart and plugs_pod(spec, running):
        return True
    reduced = _without_target if rules.live_targets else dict
    return _have_changed(named(wanted), named(current), reduced)


def _have_changed(wanted: Named, current: Named, reduced: Reduce) -> bool:
    return any(
        name not in wanted or reduced(wanted[name]) != reduced(item)
        for name, item in current.items()
    )


def plugs_pod(spec: Tree, running: Tree) -> bool:
    """Whether *spec* has the network of the pod, and the VMI *running* has not; both are VMI specs."""
    wanted, current = (
        any(network.get("pod") is not None for network in networks_of(state))
        for state in (spec, running)
    )
    return wanted and not current


def _without_state(interface: Tree) -> Tree:
    return {key: value for key, value in interface.items() if key != "state"}


def _without_target(network: Tree) -> Tree:
    multus = network.get("multus")
    if multus is None:
        return network
    return {**network, "multus": {key: multus[key] for key in multus if key != "networkName"}}


def without_absent(spec: Tree) -> tuple[list[Tree], list[Tree]]:
    """Interfaces and networks of a VMI *spec* once what was absent from the start is unplugged."""
    interfaces = [
        interface for interface in interfaces_of(spec) if interface.get("state") != _ABSENT
    ]
    return interfaces, _of_interfaces(networks_of(spec), interfaces)


def retained(spec: Tree, running: Tree | None) -> tuple[list[Tree], list[Tree]]:
    """Interfaces and networks that the controller leaves in a VM of *spec* whose VMI, if any, has the spec *running*.

    Networks come in the order of their interfaces.
    """
    current = named(interfaces_of(running)) if running else {}
    interfaces = [
        interface
        for interface in interfaces_of(spec)
        if interface.get("state") != _ABSENT or interface.get("name", "") in current
    ]
    return interfaces, _of_interfaces(networks_of(spec), interfaces)


def _of_interfaces(networks: list[Tree], interfaces: list[Tree]) -> list[Tree]:
    known = named(networks)
    return [
        known[interface["name"]] for interface in interfaces if interface.get("name", "") in known
    ]


def sync(spec: Tree, running: Tree, namespace: str, rules: NetworkRules) -> Synced:
    """What the controller makes of the VMI *running* when its VM has the template *spec*."""
    current, wanted = named(interfaces_of(running)), named(networks_of(spec))
    interfaces, networks = list(interfaces_of(running)), list(networks_of(running))
    migrates = False
    for interface in interfaces_of(spec):
        name, state = interface.get("name", ""), interface.get("state", "")
        old = current.get(name)
        if old is None:
            if state != _ABSENT and (
                interface.get("bridge") is not None or interface.get("sriov") is not None
            ):
                interfaces.append(interface)
                networks.append(wanted.get(name, {"name": name}))
                migrates |= rules.migrates and _is_secondary(networks[-1])
        elif state != old.get("state", "") and old.get("state") != _ABSENT:
            changed = {**_without_state(old), **({"state": state} if state else {})}
            interfaces[next(i for i, x in enumerate(interfaces) if x is old)] = changed
            migrates |= state == _ABSENT and rules.migrates
    attached = []
    for network in _of_interfaces(networks, interfaces):
        target = tree.get(wanted.get(network["name"], {}), "multus", "networkName")
        before = tree.get(network, "multus", "networkName")
        if rules.live_targets and target is not None and before is not None and target != before:
            moved = {**network["multus"], "networkName": target}
            attached.append({**network, "multus": moved})
            migrates |= _full(target, namespace) != _full(before, namespace)
        else:
            attached.append(network)
    return Synced(interfaces, attached, migrates)


def _is_secondary(network: Tree) -> bool:
    """Whether a pod may have *network* beside its own."""
    multus = network.get("multus")
    return multus is not None and not multus.get("default")


def refusal(synced: Synced) -> str:
    """What the VMI webhook says against the networks that a controller asks for, in its words."""
    pods = sum(network.get("pod") is not None for network in synced.networks)
    return (
        "more than one interface is connected to a pod network in spec.interfaces"
        if pods > 1
        else ""
    )


def _full(target: str, namespace: str) -> str:
    return target if "/" in target else f"{namespace}/{target}"
