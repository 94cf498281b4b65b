"""Templates: objects with parameters, and what they make once these are filled in.

Upstream: kubevirt.io/virt-template-engine (template/parameters.go, template/processor.go) for a VirtualMachineTemplate,
OpenShift's library-go (pkg/template/templateprocessing/template.go) for a Template. Harvester
(pkg/apis/harvesterhci.io/v1beta1/template.go) and Cluster API's provider for KubeVirt
(api/v1alpha1/kubevirtmachine_types.go) hold a VM as it is.
"""

import json
import re
from collections.abc import Callable, Iterator

from render.model import tree, types
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.model.release import Version
from render.model.resource import KUBEVIRT, Resource, text_at
from render.model.tree import Tree

OPENSHIFT = "Template"
OURS = "VirtualMachineTemplate"
_CLUSTER_API = "KubevirtMachineTemplate"
_METADATA = ("annotations", "generateName", "labels", "name", "namespace")
#: What holds the one VM that it makes, by kind: its group, and where the VM stands. Only the first has parameters.
_HOLDERS: dict[str, tuple[str, FieldPath]] = {
    OURS: (f"template.{KUBEVIRT}", ("spec", "virtualMachine")),
    "VirtualMachineTemplateVersion": ("harvesterhci.io", ("spec", "vm")),
    _CLUSTER_API: (
        "infrastructure.cluster.x-k8s.io",
        ("spec", "template", "spec", "virtualMachineTemplate"),
    ),
}
KINDS = frozenset({OPENSHIFT, *_HOLDERS})
_GROUPS = {
    OPENSHIFT: ("template.openshift.io", ""),
    **{kind: (group,) for kind, (group, _) in _HOLDERS.items()},
}
_IN_TEXT = pattern(r"\$\{([a-zA-Z0-9_]+)\}")
_AS_JSON = pattern(r"\$\{\{([a-zA-Z0-9_]+)\}\}\Z")
_LABELS: FieldPath = ("metadata", "labels")
_MOST_FILLED = 16 << 20
"""Characters that the parameters of one template may be in all, wherever they stand."""
_TYPES = {
    "VirtualMachine": "kubevirt.VirtualMachine",
    "VirtualMachineInstance": "kubevirt.VirtualMachineInstance",
}
#: Values of a type that a parameter may stand for, a small and a large one.
_EXAMPLES = {
    "bool": ("true", "false"),
    "intstr": ("1", "4"),
    "quantity": ("1Gi", "8Gi"),
    **dict.fromkeys(("int", "int32", "int64", "uint", "uint8", "uint32", "uint64"), ("1", "4")),
}
EXAMPLES = 2


class Parameter(NamedTuple):
    """A parameter as its template declares it, at *path*; *value* is its default, None where it has none."""

    name: str
    value: str | None
    is_generated: bool
    is_required: bool
    path: FieldPath


class Use(NamedTuple):
    """A parameter where it is used: *path* in the object, *type* of the field as Go has it, *whole* if nothing else."""

    name: str
    path: FieldPath
    type: str
    whole: bool


class TemplateObject(NamedTuple):
    """An object that a template makes; *path* is where it stands there, *uses* the references that it had."""

    path: FieldPath
    body: Tree
    uses: tuple[Use, ...]


#: What stands where a parameter is used; None leaves the reference as it is.
Fill = Callable[[Use], str | None]


def is_template(resource: Resource) -> bool:
    """Whether *resource* is a template of OpenShift or KubeVirt, or of Harvester or Cluster API."""
    return resource.kind in KINDS and resource.group in _GROUPS[resource.kind]


def parameters(resource: Resource) -> dict[str, Parameter]:
    """The parameters that a template declares, by name; of what declares none, what is to be filled in before it."""
    if resource.kind not in (OPENSHIFT, OURS):
        names = {name for _, _, body in places(resource) for name in _named_in(body)}
        return {
            name: Parameter(name, None, is_generated=False, is_required=False, path=())
            for name in sorted(names)
        }
    above: FieldPath = ("parameters",) if resource.kind == OPENSHIFT else ("spec", "parameters")
    declared = tree.get(resource.body, *above)
    by_name = {}
    for index, parameter in enumerate(declared if isinstance(declared, list) else ()):
        name = text_at(parameter, "name")
        if name:
            by_name[name] = Parameter(
                name,
                _text(parameter.get("value")) or None,
                bool(text_at(parameter, "generate")),
                parameter.get("required") is True,
                (*above, index),
            )
    return by_name


def _named_in(value: Any) -> Iterator[str]:
    """The names in ``${NAME}`` below *value*."""
    if isinstance(value, str):
        yield from _IN_TEXT.findall(value)
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _named_in(item)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | int | float) else ""


class TemplateLimitError(Exception):
    """What a template makes would be larger than any that is meant to be applied."""


def _bounded(fill: Fill) -> Fill:
    """*fill* as long as all that it fills in, of one template, is no larger than it may be."""
    left = _MOST_FILLED

    def bounded(use: Use) -> str | None:
        nonlocal left
        value = fill(use)
        left -= len(value or "")
        if left < 0:
            raise TemplateLimitError
        return value

    return bounded


def filled(resource: Resource, fill: Fill, release: Version) -> Iterator[TemplateObject]:
    """What a template makes, its references replaced by what *fill* says.

    A namespace that is no reference goes, as it does where templates are processed. Raises TemplateLimitError.
    """
    fill = _bounded(fill)
    labels = resource.body.get("labels") if resource.kind == OPENSHIFT else None
    for path, kind, written in places(resource):
        walk = _Template(fill, type_of(kind), release)
        body = walk.value(_unplaced(written), ())
        if isinstance(labels, dict):
            body = _labelled(body, walk.value(labels, _LABELS))
        if resource.kind == _CLUSTER_API:
            body = _without_unknown_metadata(body)
        if resource.kind in _HOLDERS:
            body = {**body, "apiVersion": f"{KUBEVIRT}/v1", "kind": kind}
        yield TemplateObject(path, body, tuple(walk.uses))


def _without_unknown_metadata(body: Tree) -> Tree:
    """*body* without what is no field of its metadata: the definition of the resource keeps that, nobody reads it."""
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return body
    return {**body, "metadata": {key: metadata[key] for key in _METADATA if key in metadata}}


def places(resource: Resource) -> Iterator[tuple[FieldPath, str, Tree]]:
    """The objects in a template as they are written: where, of which kind, and what."""
    if resource.kind in _HOLDERS:
        path = _HOLDERS[resource.kind][1]
        body = tree.get(resource.body, *path)
        if isinstance(body, dict):
            yield path, "VirtualMachine", body
        return
    objects = resource.body.get("objects")
    for index, body in enumerate(objects if isinstance(objects, list) else ()):
        if isinstance(body, dict):
            yield ("objects", index), text_at(body, "kind"), body


def _labelled(body: Tree, labels: Tree) -> Tree:
    """*body* with *labels* added, unless its metadata or labels are no mapping, which the decoder refuses."""
    metadata = body.get("metadata") or {}
    known = (metadata.get("labels") or {}) if isinstance(metadata, dict) else None
    if not isinstance(known, dict):
        return body
    return {**body, "metadata": {**metadata, "labels": {**known, **labels}}}


def _unplaced(body: Tree) -> Tree:
    namespace = tree.get(body, "metadata", "namespace")
    if namespace is None or (isinstance(namespace, str) and _IN_TEXT.search(namespace)):
        return body
    metadata = {key: value for key, value in body["metadata"].items() if key != "namespace"}
    return {**body, "metadata": metadata}


class _Template:
    """One object and what fills it."""

    def __init__(self, fill: Fill, type_name: str, release: Version) -> None:
        self._fill = fill
        self._type = type_name
        self._release = release
        self.uses: list[Use] = []

    def value(self, value: Any, path: FieldPath) -> Any:
        """*value*, which stands at *path*, with its references replaced."""
        if isinstance(value, str):
            return self._string(value, path) if "${" in value else value
        if isinstance(value, dict):
            return {
                self._key(key, path): self.value(item, (*path, key)) for key, item in value.items()
            }
        if isinstance(value, list):
            return [self.value(item, (*path, index)) for index, item in enumerate(value)]
        return value

    def _key(self, key: str, path: FieldPath) -> str:
        return self._in_text(key, (*path, key), "string") if "${" in key else key

    def _string(self, text: str, path: FieldPath) -> Any:
        type_name = type_at(self._type, path, self._release) if self._type else "string"
        match = _AS_JSON.match(text)
        if match is None:
            return self._in_text(text, path, type_name)
        value = self._filled(Use(match[1], path, type_name, whole=True))
        return text if value is None else as_json(value)

    def _in_text(self, text: str, path: FieldPath, type_name: str) -> str:
        def replaced(match: re.Match[str]) -> str:
            value = self._filled(Use(match[1], path, type_name, match[0] == text))
            return match[0] if value is None else value

        return _IN_TEXT.sub(replaced, text)

    def _filled(self, use: Use) -> str | None:
        self.uses.append(use)
        return self._fill(use)


def as_json(text: str) -> Any:
    """What *text* means as JSON; a word without quotes is a text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if value is None else value


def type_of(kind: str) -> str:
    """The Go type of a machine of this *kind*, ``""`` for another object."""
    return _TYPES.get(kind, "")


def type_at(type_name: str, path: FieldPath, release: Version) -> str:
    """The Go type of the field at *path* of a *type_name*, ``""`` where there is none."""
    for step in path:
        if isinstance(step, int):
            type_name = type_name.removeprefix("[]")
        elif type_name.startswith("map["):
            type_name = type_name.partition("]")[2]
        elif types.is_struct(type_name) and step in types.fields(type_name, release):
            type_name = types.fields(type_name, release)[step].type
        else:
            return ""
        type_name = type_name.removeprefix("*")
    return type_name


def example(use: Use, number: int, release: Version) -> str | None:
    """The example *number* (of `EXAMPLES`) of what might be filled in; None where that may be anything."""
    if use.type.startswith("enum:"):
        values = types.enum(use.type.removeprefix("enum:"), release)
        return values[-number]
    if use.type == "quantity" and (not use.whole or use.path[-1] == "cpu"):
        return _EXAMPLES["intstr"][number]
    if use.type in _EXAMPLES:
        return _EXAMPLES[use.type][number]
    if use.type.startswith(("[]", "map[")) or types.is_struct(use.type):
        return None
    name = re.sub(r"[^a-z0-9]+", "-", use.name.lower()).strip("-") or "x"
    return f"{name}-{number}" if number else name  # what quotes one is not certain
