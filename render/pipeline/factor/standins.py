"""VMs that are held by another object, a pool or a template: plain VMs stand in for them.

They come behind all objects: of a pool the first VM that it makes; of a template each VM twice, filled in with defaults
and examples, and with others, since what is found has to hold whatever is filled in.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from render.convert import templates
from render.convert.templates import EXAMPLES, OPENSHIFT, OURS, Fill, Parameter, TemplateObject, Use
from render.diagnostics import secrets
from render.diff.impact import HALTED
from render.kubevirt import replicas
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.kinds import KIND_CLASSES
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.model.release import NEWEST
from render.model.resource import KUBEVIRT, POOL, TEMPLATE, VM, Resource, from_body
from render.model.tree import Tree
from render.pipeline.factor import places

_DIGITS = 12
#: Of the name of a template, in which VMs tell their system.
_LONGEST = 40
_NO_LABEL = pattern(r"[^a-z0-9]+")
_MATCHERS = frozenset(("spec", kind_class.word) for kind_class in KIND_CLASSES)
#: Values of fields that are texts to the API server, and not any text to KubeVirt.
_WORDS: Mapping[object, tuple[str, str]] = {
    "bus": ("virtio", "sata"),
    "model": ("virtio", "e1000e"),
    "cache": ("none", "writeback"),
    "io": ("native", "threads"),
}


class StandIn(NamedTuple):
    """The VM *resource* for what *outer* holds at *path*.

    *number*: of a template which of its examples. *open*: by their place in the metadata and the spec of the VMI what
    the template writes where a parameter is used. *fault*: what to say where nothing can be rendered of it.
    """

    resource: Resource
    outer: Resource
    path: FieldPath
    number: int = 0
    open: Mapping[FieldPath, str] = {}
    fault: str = "there are errors about it: see `virt-render check`"

    @property
    def is_templated(self) -> bool:
        """Whether the VM is made later, of a template, and in any namespace."""
        return self.outer.kind != POOL

    @property
    def others(self) -> tuple[int, ...]:
        """The indexes of the same VM with other examples."""
        count = EXAMPLES if self.is_templated else 1
        return tuple(self.resource.index + offset for offset in range(1, count - self.number))


class Held(NamedTuple):
    """All *resources* with stand-ins for held VMs behind them, and these by index."""

    resources: list[Resource]
    by_index: dict[int, StandIn]

    def written(self, index: int) -> tuple[Resource, FieldPath]:
        """The object of the input that has the VM at *index*, and where in it the VM stands."""
        held = self.by_index.get(index)
        return (held.outer, held.path) if held else (self.resources[index], ())

    def others(self, indexes: Iterable[int]) -> Iterator[int]:
        """The indexes of the other examples of the VMs at *indexes*."""
        for index in indexes:
            if index in self.by_index:
                yield from self.by_index[index].others


def is_holder(resource: Resource) -> bool:
    """Whether *resource* is a pool or a template that may hold VMs which are to be factored.

    What Harvester and Cluster API hold is immutable.
    """
    if resource.kind == POOL:
        return replicas.is_holder(resource) and replicas.incomplete(resource) is None
    return resource.kind in (OPENSHIFT, OURS) and templates.is_template(resource)


def of(resources: Sequence[Resource]) -> Held:
    """*resources* with the stand-ins of those that hold VMs."""
    found = [
        stand_in for resource in resources if is_holder(resource) for stand_in in _held_by(resource)
    ]
    numbered = {
        index: stand_in._replace(resource=stand_in.resource._replace(index=index))
        for index, stand_in in enumerate(found, len(resources))
    }
    return Held([*resources, *(stand_in.resource for stand_in in numbered.values())], numbered)


def _held_by(holder: Resource) -> Iterator[StandIn]:
    if holder.kind == POOL:
        vm = replicas.first_replica(holder)._replace(holders=())
        yield StandIn(vm, holder, replicas.template_of(holder))
    else:
        yield from _of_template(holder)


def _of_template(template: Resource) -> Iterator[StandIn]:
    """The VMs that *template* makes, each as often as there are examples, in a namespace that nothing else is in."""
    declared = templates.parameters(template)
    examples = [
        list(templates.filled(template, _filling(declared, number), NEWEST))
        for number in range(EXAMPLES)
    ]
    digest = hashlib.sha256(str(template.ref).encode()).hexdigest()[:_DIGITS]
    for position, items in enumerate(zip(*examples, strict=True)):
        for number, item in enumerate(items):
            vm = from_body(item.body, 0)
            if vm.kind != VM or vm.group != KUBEVIRT or not isinstance(item.body.get("spec"), dict):
                continue
            name = f"vm{position}-{number}-{_NO_LABEL.sub('-', template.name.lower())[:_LONGEST]}"
            body = _as_later(item.body, name.strip("-"), f"template-{digest}")
            yield StandIn(
                from_body(body, 0, template.origin),
                template,
                item.path,
                number,
                dict(_open(template, item, declared)),
                _fault(item, declared),
            )


def _as_later(body: Tree, name: str, namespace: str) -> Tree:
    """The VM *body* of this *name*, which does not run: a change of its template reaches none that does."""
    metadata = body.get("metadata")
    metadata = dict(metadata) if isinstance(metadata, dict) else {}
    metadata.pop("generateName", None)
    spec = {key: value for key, value in body["spec"].items() if key != "running"}
    return {
        **body,
        "metadata": {**metadata, "name": name, "namespace": namespace},
        "spec": {**spec, "runStrategy": HALTED},
    }


def _filling(declared: Mapping[str, Parameter], number: int) -> Fill:
    """What stands for parameters in the example *number*."""

    def fill(use: Use) -> str | None:
        if use.name not in declared:
            return None
        parameter = declared[use.name]
        default = None if secrets.is_secret_key(use.name) else parameter.value
        if number and _may_be_empty(use, parameter):
            return ""
        words = _WORDS.get(use.path[-1]) if use.whole else None
        example = words[number] if words else templates.example(use, number, NEWEST)
        is_typed = use.type != "string" and example is not None
        return example if default is None or (number and is_typed) else default

    return fill


def _may_be_empty(use: Use, parameter: Parameter) -> bool:
    """Whether nothing at all may be filled in at a place that a definition fills then."""
    if parameter.is_required or parameter.is_generated or not use.whole or use.type != "string":
        return False
    place = tuple(0 if isinstance(step, int) else step for step in use.path[len(TEMPLATE) :])
    is_inside = use.path[: len(TEMPLATE)] == TEMPLATE
    return is_inside and any(places.of_preference(_alone(place), NEWEST))


def _alone(path: FieldPath) -> Tree:
    """A tree with a text at *path*, and nothing else."""
    value: Any = "x"
    for step in reversed(path):
        value = [value] if isinstance(step, int) else {step: value}
    return value if isinstance(value, dict) else {}


def _open(
    template: Resource, item: TemplateObject, declared: Mapping[str, Parameter]
) -> Iterator[tuple[FieldPath, str]]:
    for use in item.uses:
        if use.name in declared and use.path[: len(TEMPLATE)] == TEMPLATE:
            text = tree.get(template.body, *item.path, *use.path)
            yield use.path[len(TEMPLATE) :], text if isinstance(text, str) else f"${{{use.name}}}"


def _fault(item: TemplateObject, declared: Mapping[str, Parameter]) -> str:
    """Why nothing is known of a VM, should its examples tell nothing."""
    for use in item.uses:
        text = tree.get(item.body, *use.path)
        if use.name in declared and isinstance(text, str) and f"{{{use.name}}}" in text:
            return f"the parameter {use.name} stands for a whole list or mapping"
        if use.name in declared and use.path[:2] in _MATCHERS:
            return f"the parameter {use.name} decides its {use.path[1]}"
    return "there are errors about it with examples of its parameters"
