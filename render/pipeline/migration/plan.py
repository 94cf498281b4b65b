"""The changes that a migration may make: each whole, with everything that refers to the object."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from render import presets
from render.convert import flavors, successors
from render.diagnostics.codes import NOT_CONVERTIBLE
from render.diagnostics.diagnostic import Diagnostic, Severity, at
from render.kubevirt import controller_revisions
from render.legacy import decoding, machines
from render.model import fieldpath, tree
from render.model.edits import Operation, Put
from render.model.fieldpath import FieldPath
from render.model.kinds import FLAVOR, PREFERENCE
from render.model.named_tuple import NamedTuple
from render.model.resource import (
    FLAVOR_GROUP,
    INSTANCETYPE_GROUP,
    KUBEVIRT,
    VM,
    Resource,
    is_revision,
)
from render.model.tree import Tree
from render.pipeline.input import releases
from render.pipeline.migration.selection import is_selected, labels_of
from render.presets import HISTORIC, MODERN
from render.settings import Settings


class Unit(NamedTuple):
    """A change that is made whole or not at all: *words* about *resource*, and the edits of each object by index.

    *gone* and *safe*: see `successors.Step`.
    """

    resource: Resource
    words: str
    edits: dict[int, tuple[Operation, ...]]
    gone: tuple[str, ...]
    safe: bool = False


def stays(resource: Resource, why: str) -> Diagnostic:
    """The warning that *resource* is not migrated: a preset gets no successor, but may get a newer apiVersion."""
    is_preset = (resource.group, resource.kind) == (KUBEVIRT, MODERN.kind)
    how = "a preset" if is_preset else "as it is"
    return NOT_CONVERTIBLE.at(
        at(resource), f"{resource.ref} stays {how}: {why}", severity=Severity.WARNING
    )


def plan(
    resources: Sequence[Resource], settings: Settings, left: list[Diagnostic]
) -> Iterator[Unit]:
    """Every change that may be made; reasons against one go to *left*."""
    yield from _Planner(resources, settings, left).units()


class _Planner:
    """The objects of a migration, and the names that are *taken* by now; why something stays goes to *left*."""

    def __init__(
        self, resources: Sequence[Resource], settings: Settings, left: list[Diagnostic]
    ) -> None:
        self.resources = resources
        self.settings = settings
        self.release = releases.target(resources, settings).release
        self.left = left
        self.taken = {
            (resource.kind, _scope(resource, settings), resource.name)
            for resource in resources
            if resource.group == INSTANCETYPE_GROUP
        }

    def units(self) -> Iterator[Unit]:
        """What may be changed about each object in turn."""
        for resource in self.resources:
            if resource.group == FLAVOR_GROUP and resource.kind in flavors.KINDS:
                yield from self._flavor(resource)
                continue
            if resource.group == FLAVOR_GROUP and self._is_taken(resource, resource.kind):
                continue
            if machines.age(resource) or resource.kind == HISTORIC.kind:
                self._leave(resource, f"{KUBEVIRT}/{machines.VERSION} is rendered, not rewritten")
                continue
            if (
                is_revision(resource)
                and controller_revisions.read(resource, self.settings, self.release)[1]
            ):
                why = "it is what KubeVirt stored, of an older version; store it again, or drop revisionName"
                self._leave(resource, why)
            for step in successors.steps(resource, self.release):
                edits = {resource.index: step.edits}
                yield Unit(resource, step.words, edits, step.gone, safe=step.safe)
            if (resource.group, resource.kind) == (KUBEVIRT, MODERN.kind):
                yield from self._preset(resource)

    @cached_property
    def _labels(self) -> dict[str, list[tuple[Resource, dict[str, str]]]]:
        """By namespace, what presets may select, and the labels by which they do."""
        by_namespace: dict[str, list[tuple[Resource, dict[str, str]]]] = {}
        for resource in self.resources:
            labels = labels_of(resource)
            if labels is not None:
                by_namespace.setdefault(_scope(resource, self.settings), []).append(
                    (resource, labels)
                )
        return by_namespace

    def _leave(self, resource: Resource, why: str) -> None:
        self.left.append(stays(resource, why))

    def _is_taken(self, resource: Resource, kind: str) -> bool:
        key = (kind, _scope(resource, self.settings), resource.name)
        if key in self.taken:
            self._leave(resource, f"there is a {kind} of this name")
            return True
        self.taken.add(key)
        return False

    def _flavor(self, resource: Resource) -> Iterator[Unit]:
        changes = successors.flavor(resource)
        if isinstance(changes, str):
            self._leave(resource, changes)
            return
        kind = flavors.SUCCESSORS[resource.kind]
        if self._is_taken(resource, kind):
            return
        edits: dict[int, tuple[Operation, ...]] = {resource.index: changes}
        scope = _scope(resource, self.settings)
        for vm in self.resources:
            flavor = vm.spec.get("flavor")
            if vm.kind != VM or vm.group != KUBEVIRT or not isinstance(flavor, dict):
                continue
            same = FLAVOR.kind_of(str(flavor.get("kind") or "")) == resource.kind
            near = "Cluster" in kind or _scope(vm, self.settings) == scope
            if same and near and flavor.get("name") == resource.name:
                edits[vm.index] = successors.flavor_matcher(flavor)
        yield Unit(resource, f"{kind} of {successors.BETA}", edits, ("flavor", resource.kind))

    def _preset(self, resource: Resource) -> Iterator[Unit]:
        decoded, findings = decoding.decode(resource, self.release)
        idle = _idle(tree.get(decoded, "spec", "domain") or {})
        changes = successors.preset(resource, idle)
        if isinstance(changes, str):
            self._leave(resource, changes)
            return
        faults = [
            diagnostic
            for diagnostic in findings
            if diagnostic.location.path[:2] == ("spec", "selector")
        ]
        if faults:
            self._leave(resource, faults[0].message)
            return
        selector = tree.get(decoded, "spec", "selector") or {}
        near = self._labels.get(_scope(resource, self.settings), ())
        selected = [vm for vm, labels in near if is_selected(labels, selector, self.release)]
        if not selected:
            self._leave(resource, "it selects no VM here, so that nothing tells what it is for")
            return
        for vm in selected:
            if vm.kind != VM:
                self._leave(resource, f"{vm.ref} is no VM, and can have no preference")
                return
            if PREFERENCE.word in vm.spec:
                self._leave(resource, f"{vm.ref} has another preference")
                return
        if self._is_taken(resource, PREFERENCE.namespaced):
            return
        matcher = {"name": resource.name, "kind": PREFERENCE.namespaced}
        added = {vm.index: (Put(("spec", PREFERENCE.word), matcher),) for vm in selected}
        yield Unit(
            resource,
            f"{PREFERENCE.namespaced} of {successors.BETA}{_without(idle)}",
            {resource.index: changes, **added},
            (resource.kind,),
        )


def _idle(domain: Tree) -> list[FieldPath]:
    """What of the *domain* of a preset reaches no VM: what is never merged, and firmware, which each VM has itself."""
    own = [("firmware",)] if domain.get("firmware") else []
    return [path for path in (*presets.never_merged(domain), *own) if tree.get(domain, *path)]


def _without(idle: Sequence[FieldPath]) -> str:
    if not idle:
        return ""
    return f", without {', '.join(map(fieldpath.text, idle))}, which reached no VM"


def _scope(resource: Resource, settings: Settings) -> str:
    return "" if "Cluster" in resource.kind else resource.namespace or settings.namespace
