"""Interface preferences (upstream: pkg/instancetype/preference/apply/interface.go)."""

from collections.abc import Iterable

from render.model import tree
from render.model.draft import Draft
from render.model.tree import Tree
from render.rules import Edit, Result, Rule, custom, each, spec

#: The fields that bind an interface, of which one is set.
BINDINGS = (
    "bridge",
    "slirp",
    "masquerade",
    "sriov",
    "macvtap",
    "passt",
    "passtBinding",
    "binding",
)


def _masquerade(definition: Tree, draft: Draft) -> Iterable[Result]:
    source = ("devices", "preferredInterfaceMasquerade")
    preferred = tree.get(definition, *source)
    if preferred is None:
        return
    place = spec("domain", "devices", "interfaces")
    pods = {
        network.get("name")
        for network in draft.get("spec", "networks") or ()
        if network.get("pod") is not None
    }
    for index, interface in enumerate(draft.get(*place) or ()):
        unbound = all(interface.get(binding) is None for binding in BINDINGS)
        if unbound and interface.get("name") in pods:
            yield Edit((*place, index, "masquerade"), preferred, source)


RULES: tuple[Rule, ...] = (
    each("domain.devices.interfaces", ("devices.preferredInterfaceModel", "model")),
    custom(
        _masquerade,
        reads=("devices.preferredInterfaceMasquerade",),
        writes=("domain.devices.interfaces.masquerade",),
    ),
)
