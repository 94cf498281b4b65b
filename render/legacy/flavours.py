"""What the flavour of a VM of the store means, and how it fills what the VM leaves open.

A flavour may be a flavor, an instancetype or a preset of its name.
"""

from collections.abc import Iterable, Iterator

from render.apply import application
from render.convert import flavors
from render.model import tree
from render.model.catalogue import Catalogue, Definition, Key
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.kinds import FLAVOR, INSTANCETYPE, KindClass
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.resource import former
from render.model.tree import Tree
from render.presets import Preset

_DOMAIN: FieldPath = ("spec", "domain")
_TOPOLOGY = ("sockets", "cores", "threads")


def candidates(
    catalogue: Catalogue, presets: Iterable[Preset], namespace: str, name: str
) -> list[Definition]:
    """What *name* may mean in *namespace*, whose *presets* are these: flavors, else instancetypes, else presets."""
    for kind_class in (FLAVOR, INSTANCETYPE):
        keys = [Key(kind_class.namespaced, namespace, name), Key(kind_class.cluster, "", name)]
        definitions = [
            definition for definition in map(catalogue.definition, keys) if definition is not None
        ]
        definitions = definitions or _renamed(catalogue, kind_class, namespace, name)
        if definitions:
            return definitions
    shipped = catalogue.bundled.get((INSTANCETYPE.cluster, name))
    if shipped is not None:
        return [Definition(INSTANCETYPE.cluster, name, shipped, None)]
    return [
        Definition(preset.resource.kind, name, preset.spec, preset.resource)
        for preset in presets
        if preset.resource.name == name
    ]


def _renamed(
    catalogue: Catalogue, kind_class: KindClass, namespace: str, name: str
) -> list[Definition]:
    """The objects that were called *name* before kustomize renamed them, by its own notes."""
    scopes = {kind_class.cluster: "", kind_class.namespaced: namespace}
    return [
        definition
        for key, definition in catalogue.definitions.items()
        if scopes.get(key.kind) == key.namespace and definition.resource is not None
        if any(name == before for _, _, before in former(definition.resource))
    ]


class Fragment(NamedTuple):
    """The *template* that a flavour makes of an empty one, and the *sources* of its fields, where they have others."""

    template: Tree
    sources: dict[FieldPath, FieldPath]

    def sources_of(self, place: FieldPath) -> list[tuple[FieldPath, FieldPath]]:
        """What it has at *place* and below, each with its source."""
        sources = [pair for pair in self.sources.items() if pair[0][: len(place)] == place]
        return sources or [(place, place)]


def fragment(definition: Definition, release: Version) -> Fragment | str:
    """What *definition* makes of an empty template, or why it makes nothing."""
    if "Preset" in definition.kind:
        return Fragment({"spec": {"domain": tree.get(definition.spec, "domain") or {}}}, {})
    chosen = flavors.choose(definition.spec, "")
    if isinstance(chosen, str):
        return chosen
    draft, rules = Draft({}), application.rules_for(definition.kind)
    applied = application.apply(draft, chosen, None, release, rules)
    return Fragment(draft.tree, {edit.path: edit.source for edit in applied.from_instancetype})


def fill(template: Draft, fragment: Fragment) -> list[FieldPath]:
    """Fill in *template* what it leaves open and *fragment* has; the paths that were filled."""
    rest = Draft(fragment.template)
    _leave_to_the_vm(template, rest)
    return list(_filled(template, rest.tree, ()))


def _leave_to_the_vm(template: Draft, rest: Draft) -> None:
    """Take out of *rest* what the VM says in other words: its topology, and its memory as requests."""
    own = template.get(*_DOMAIN, "cpu") or {}
    resources = template.get(*_DOMAIN, "resources") or {}
    amounts = [resources.get(key) or {} for key in ("requests", "limits")]
    if any(own.get(key) for key in _TOPOLOGY) or any("cpu" in amount for amount in amounts):
        for key in _TOPOLOGY:
            rest.remove((*_DOMAIN, "cpu", key))
    if any("memory" in amount for amount in amounts):
        rest.remove((*_DOMAIN, "memory", "guest"))


def _filled(draft: Draft, fragment: Tree, path: FieldPath) -> Iterator[FieldPath]:
    """Put what *draft* lacks of *fragment*, mapping by mapping; the paths that were filled."""
    for key, value in fragment.items():
        place = (*path, key)
        present = draft.get(*place)
        if present is None:
            draft.put(place, value)
            yield place
        elif isinstance(present, dict) and isinstance(value, dict):
            yield from _filled(draft, value, place)
