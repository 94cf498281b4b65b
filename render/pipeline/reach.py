"""Which presets reach a machine: what there is to say of each, once for the whole input."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from render import presets
from render.convert.presets import compact, replacement
from render.diagnostics.codes import PRESET_DEPRECATED, PRESET_UNREACHED
from render.diagnostics.diagnostic import Diagnostic, Related, at
from render.machine import Context, Machine
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.kinds import INSTANCETYPE, PREFERENCE
from render.model.resource import HOLDER_GROUPS, TEMPLATE, VM, Resource
from render.pipeline.input import definitions
from render.presets import HISTORIC, MODERN, Era, Preset

_MAX_LISTED = 3


class PresetReach:
    """Collects which presets the machines have."""

    def __init__(self, context: Context, resources: Sequence[Resource]) -> None:
        self._context = context
        self._resources = resources
        self._reached: set[int] = set()
        self._flavours: set[int] = set()
        self._is_complete = context.settings.emit != "expand"

    def observe(self, machine: Machine) -> None:
        """Remember the presets of *machine*; where one failed, nobody knows which it would have."""
        self._is_complete = self._is_complete and not machine.failed
        self._reached.update(preset.resource.index for preset in machine.merged)
        if machine.flavor is not None and machine.flavor.resource is not None:
            self._flavours.add(machine.flavor.resource.index)

    def diagnostics(self) -> Iterator[Diagnostic]:
        """That presets of the input are deprecated, and which reach none of its machines."""
        for namespace, in_namespace in self._context.presets.items():
            unreached: dict[Era, list[Preset]] = {}
            for preset in in_namespace:
                if preset.resource.index >= len(self._resources):
                    continue  # the cluster has it beside the input
                era = HISTORIC if preset.resource.kind == HISTORIC.kind else MODERN
                index = preset.resource.index
                yield _deprecated(preset, era, is_flavour=index in self._flavours)
                if self._is_complete and index not in self._reached | self._flavours:
                    unreached.setdefault(era, []).append(preset)
            for era, some in unreached.items():
                yield from self._unreached(some, era, namespace)

    def _unreached(
        self, unreached: Sequence[Preset], era: Era, namespace: str
    ) -> Iterator[Diagnostic]:
        if any(map(_has_machines, self._resources)):
            return  # what has machines inside may have any labels
        release = self._context.release
        # One that is invalid is an error of its own.
        valid = [preset for preset in unreached if presets.index([preset], release).invalid is None]
        near = self._near(valid, era, namespace)
        for preset in valid:
            yield PRESET_UNREACHED.at(
                at(preset.resource, ("spec", "selector")),
                f"it reaches no machine of namespace {namespace}",
                *near.get(preset.resource.index, ()),
                help="remove it, or give the machines that are meant the labels where presets look for them",
            )

    def _near(
        self, unreached: Sequence[Preset], era: Era, namespace: str
    ) -> dict[int, list[Related]]:
        """Machines with the labels of presets where those do not look, by the index of the preset."""
        near: dict[int, list[Related]] = {}
        if namespace not in self._machines:
            return near
        selection = presets.index(unreached, self._context.release)
        for resource in self._machines.get(namespace, ()):
            for path, text in _elsewhere(resource, era):
                labels = tree.get(resource.body, *path)
                pairs = labels.items() if isinstance(labels, dict) else ()
                texts = {key: value for key, value in pairs if isinstance(value, str)}
                if not self._context.preset_work.has_room(selection.steps(texts)):
                    return near  # enough for a hint
                for preset in selection.select(texts):
                    hints = near.setdefault(preset.resource.index, [])
                    if len(hints) < _MAX_LISTED:
                        hints.append(Related(f"{resource.ref} {text}", at(resource, path)))
        return near

    @cached_property
    def _machines(self) -> dict[str, list[Resource]]:
        """The machines as they are written, by namespace."""
        machines: dict[str, list[Resource]] = {}
        for resource in filter(definitions.is_machine, self._resources):
            namespace = resource.written.namespace or self._context.settings.namespace
            machines.setdefault(namespace, []).append(resource.written)
        return machines


def _has_machines(resource: Resource) -> bool:
    return resource.kind in HOLDER_GROUPS


def _elsewhere(resource: Resource, era: Era) -> Iterator[tuple[FieldPath, str]]:
    """Labels of *resource* that presets of *era* do not look at, and why."""
    own: FieldPath = ("metadata", "labels")
    if era is MODERN and resource.kind == VM:
        yield own, "has the labels itself, and presets look at those of its template"
    elif era is HISTORIC and resource.version != "v1alpha1":
        path = (*TEMPLATE, *own) if resource.kind == VM else own
        yield path, f"has the labels, and {era.kind}s reach VMs of {era.version} only"


def _deprecated(preset: Preset, era: Era, *, is_flavour: bool) -> Diagnostic:
    name = preset.resource.name
    instancetype, preference, left = replacement(preset.domain)
    parts = [
        f"{kind} {name} {compact(spec)}"
        for kind, spec in (
            (INSTANCETYPE.namespaced, instancetype),
            (PREFERENCE.namespaced, preference),
        )
        if spec
    ]
    cures = [f"use {' and '.join(parts)} instead"] if parts else []
    if left:
        cures.append(f"no instancetype and no preference can say {', '.join(left)}")
    if is_flavour:
        cures = ["name an instancetype as the flavour in its place"]
    cure = "; ".join(cures) or "nothing of it needs a replacement"
    message = f"{era.version} {era.kind}s {era.fate}"
    return PRESET_DEPRECATED.at(at(preset.resource), message, help=cure)
