"""From input objects to what the stages work on: decoded, validated, indexed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from render import requirements, schemas
from render.diagnostics.codes import (
    BUNDLED_DIFFERS,
    CODES,
    DEPRECATED_FIELD,
    DEPRECATED_VERSION,
    DUPLICATE_OBJECT,
    INVALID_CLUSTER_CONFIG,
    INVALID_INSTANCETYPE,
    INVALID_PREFERENCE,
    INVALID_PRESET,
    MISSING_FIELD,
    NOT_AN_OBJECT,
    Code,
)
from render.diagnostics.diagnostic import Diagnostic, Related, at
from render.model import cluster_config, topology, tree
from render.model.catalogue import Catalogue, Definition, Key, Unfit
from render.model.cluster_config import ClusterConfig
from render.model.resource import INSTANCETYPE, KUBEVIRT, OWN, Resource
from render.model.tree import Tree
from render.pipeline.machine import Context
from render.presets import Preset
from render.resolve import bundled
from render.settings import Settings

#: Kinds that a front end consumes and never emits, by group.
CONSUMED = frozenset({OWN, "kustomize.config.k8s.io"})
INSTANCETYPES = frozenset({"VirtualMachineInstancetype", "VirtualMachineClusterInstancetype"})
PREFERENCES = frozenset({"VirtualMachinePreference", "VirtualMachineClusterPreference"})
PRESET = "VirtualMachineInstancePreset"
VM = "VirtualMachine"
VMI = "VirtualMachineInstance"
_SERVED = {KUBEVIRT: ("v1", "v1alpha3"), INSTANCETYPE: ("v1beta1",)}


@dataclass(slots=True)
class Loaded:
    """The decoded objects of an input, by what they are for."""

    decoded: dict[int, Tree] = field(default_factory=dict)
    definitions: dict[Key, Definition] = field(default_factory=dict)
    presets: dict[str, list[Preset]] = field(default_factory=dict)
    clusters: list[Resource] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)

    def report(self, resource: Resource, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep findings about one object; some keep the object out of the result."""
        for diagnostic in diagnostics:
            self.diagnostics.append(diagnostic)
            if _withholds(diagnostic):
                self.refused.add(resource.index)


def _withholds(diagnostic: Diagnostic) -> bool:
    # KubeVirt's own code reads a missing field of a list entry as its zero value: the VM is still worth showing.
    in_list = any(isinstance(step, int) for step in diagnostic.location.path)
    lenient = diagnostic.code == MISSING_FIELD.number and in_list
    return diagnostic.is_error and CODES[diagnostic.code].withholds and not lenient


def load(resources: Sequence[Resource], settings: Settings) -> Loaded:
    """Decode every object of ours once, and check what its own webhook checks."""
    loaded = Loaded()
    _check_identity(resources, loaded, settings)
    for resource in resources:
        if resource.index in loaded.refused:
            continue
        if resource.group == KUBEVIRT and resource.kind in (VM, VMI, PRESET):
            _decode(resource, loaded)
            if resource.kind == PRESET:
                _load_preset(resource, loaded, settings)
        elif resource.group == KUBEVIRT and resource.kind == "KubeVirt":
            loaded.clusters.append(resource)
        elif resource.group == INSTANCETYPE and resource.kind in INSTANCETYPES | PREFERENCES:
            _decode(resource, loaded)
            _load_definition(resource, loaded, settings)
    return loaded


def _check_identity(resources: Sequence[Resource], loaded: Loaded, settings: Settings) -> None:
    seen: dict[tuple[str, str, str, str], Resource] = {}
    for resource in resources:
        if not resource.kind or not (resource.name or _generates_name(resource)):
            lacks = "kind" if not resource.kind else "metadata.name"
            loaded.report(
                resource,
                [NOT_AN_OBJECT.at(at(resource), f"the object has no {lacks}", help=f"add {lacks}")],
            )
            continue
        if not resource.name or resource.group in CONSUMED:
            continue
        ours = resource.group in (KUBEVIRT, INSTANCETYPE)
        namespace = resource.namespace or (settings.namespace if ours else "")
        key = (resource.group, resource.kind, namespace, resource.name)
        first = seen.setdefault(key, resource)
        if first is not resource:
            loaded.report(
                resource,
                [
                    DUPLICATE_OBJECT.at(
                        at(resource, ("metadata", "name")),
                        f"{resource.ref} is there twice",
                        Related("the other one", at(first, ("metadata", "name"))),
                        help="remove or rename one of the two",
                    )
                ],
            )


def _generates_name(resource: Resource) -> bool:
    return bool(tree.get(resource.body, "metadata", "generateName"))


def _decode(resource: Resource, loaded: Loaded) -> None:
    decoded, diagnostics = schemas.decode_resource(resource)
    loaded.decoded[resource.index] = decoded
    loaded.report(resource, diagnostics)
    served = _SERVED[resource.group]
    if resource.version != served[0] and resource.version in served:
        loaded.report(
            resource,
            [
                DEPRECATED_VERSION.at(
                    at(resource, ("apiVersion",)),
                    f"{resource.group}/{resource.version} is now deprecated and will be removed in "
                    "a future release.",
                    help=f"write apiVersion: {resource.group}/{served[0]}",
                )
            ],
        )


def _load_preset(resource: Resource, loaded: Loaded, settings: Settings) -> None:
    spec = loaded.decoded[resource.index].get("spec") or {}
    if spec.get("domain") is None:
        loaded.report(
            resource,
            [INVALID_PRESET.at(at(resource, ("spec",)), "missing domain.", help="add spec.domain")],
        )
        return
    # Quantities are compared as they are written.
    requests = tree.get(resource.body, "spec", "domain", "resources", "requests")
    written = {key: str(value) for key, value in requests.items()} if requests else {}
    namespace = resource.namespace or settings.namespace
    loaded.presets.setdefault(namespace, []).append(Preset(resource, spec, written))


def _load_definition(resource: Resource, loaded: Loaded, settings: Settings) -> None:
    spec = loaded.decoded[resource.index].get("spec") or {}
    selector = resource.spec.get("nodeSelector")
    if resource.kind in INSTANCETYPES and selector == {}:
        # QUIRK(pkg/instancetype/apply/nodeselector.go): an empty selector, read from the live object, conflicts too.
        spec = {**spec, "nodeSelector": {}}
    namespaced = "Cluster" not in resource.kind
    scope = (resource.namespace or settings.namespace) if namespaced else ""
    key = Key(resource.kind, scope, resource.name)
    loaded.definitions[key] = Definition(resource.kind, resource.name, spec, resource)
    if resource.kind in INSTANCETYPES:
        findings = requirements.validate_instancetype(spec)
        loaded.report(resource, _invalid(resource, INVALID_INSTANCETYPE, findings))
        loaded.report(resource, _deprecated_launch_security(resource, spec))
    else:
        findings = requirements.validate_preference(spec)
        loaded.report(resource, _invalid(resource, INVALID_PREFERENCE, findings))
        loaded.report(resource, _deprecated_topology(resource, spec))


def _invalid(
    resource: Resource, code: Code, findings: Iterable[requirements.Finding]
) -> Iterable[Diagnostic]:
    return [code.at(at(resource, finding.path), finding.message) for finding in findings]


def _deprecated_launch_security(resource: Resource, spec: Tree) -> Iterable[Diagnostic]:
    if spec.get("launchSecurity") is not None:
        yield DEPRECATED_FIELD.at(
            at(resource, ("spec", "launchSecurity")),
            "launchSecurity is deprecated and will be removed in a future release. Use preference "
            "instead.",
            help="use spec.preferredLaunchSecurity of a preference",
        )


def _deprecated_topology(resource: Resource, spec: Tree) -> Iterable[Diagnostic]:
    preferred = tree.get(spec, "cpu", "preferredCPUTopology")
    if preferred in topology.SUCCESSORS:
        yield DEPRECATED_FIELD.at(
            at(resource, ("spec", "cpu", "preferredCPUTopology")),
            f"PreferredCPUTopology {preferred} is deprecated for removal in a future release, "
            f"please use {topology.SUCCESSORS[preferred]} instead",
        )


def context(resources: Sequence[Resource], loaded: Loaded, settings: Settings) -> Context:
    """What every VM of the input shares."""
    shipped = bundled.definitions(settings.kubevirt) if settings.catalog == "bundled" else {}
    loaded.diagnostics += _differing(loaded, shipped)
    major, minor, *_ = settings.kubevirt.removeprefix("v").split(".")
    return Context(
        settings=settings,
        release=(int(major), int(minor)),
        catalogue=Catalogue(
            resources,
            loaded.definitions,
            dict(_revisions(resources, settings)),
            shipped,
            settings.namespace,
        ),
        config=_cluster_config(loaded, settings),
        presets={
            namespace: tuple(sorted(found, key=lambda preset: preset.resource.name))
            for namespace, found in loaded.presets.items()
        },
    )


def _differing(loaded: Loaded, shipped: dict[tuple[str, str], Tree]) -> Iterable[Diagnostic]:
    for key, definition in loaded.definitions.items():
        other = shipped.get((key.kind, key.name))
        if other is not None and definition.resource is not None and definition.spec != other:
            yield BUNDLED_DIFFERS.at(
                at(definition.resource, ("spec",)),
                f"{key.kind} {key.name} differs from the one that KubeVirt deploys; the input wins",
            )


def _cluster_config(loaded: Loaded, settings: Settings) -> ClusterConfig:
    if not loaded.clusters:
        body = settings.cluster_config
        return ClusterConfig() if body is None else cluster_config.from_kubevirt(body)
    first, *others = sorted(
        loaded.clusters, key=lambda resource: (resource.namespace, resource.name)
    )
    for other in others:
        loaded.diagnostics.append(
            INVALID_CLUSTER_CONFIG.at(
                at(other),
                f"{other.ref} is not used: a cluster has one KubeVirt resource, and {first.ref} "
                "comes first",
                Related("the one in use", at(first)),
            )
        )
    decoded, diagnostics = schemas.decode_resource(first)
    loaded.report(first, diagnostics)
    # What the operator reports is not part of the typed tree.
    return cluster_config.from_kubevirt({**decoded, "status": first.body.get("status")})


def _revisions(
    resources: Iterable[Resource], settings: Settings
) -> Iterable[tuple[tuple[str, str], Definition | Unfit]]:
    for resource in resources:
        if resource.group == "apps" and resource.kind == "ControllerRevision":
            namespace = resource.namespace or settings.namespace
            yield (namespace, resource.name), _revision(resource)


def _revision(resource: Resource) -> Definition | Unfit:
    """What a ControllerRevision holds (upstream: pkg/instancetype/compatibility/compatibility.go)."""
    data = resource.body.get("data")
    if not isinstance(data, dict) or not data:
        return Unfit("unexpected type in ControllerRevision: <nil>")
    kind, version = data.get("kind"), data.get("apiVersion", "")
    if not kind:
        return Unfit(
            "failed to decode object in ControllerRevision: Object 'Kind' is missing in the data"
        )
    if version == f"{INSTANCETYPE}/v1beta1" and kind in INSTANCETYPES | PREFERENCES:
        word = "Instancetype" if kind in INSTANCETYPES else "Preference"
        spec, _ = schemas.decode(data.get("spec") or {}, f"instancetype.VirtualMachine{word}Spec")
        name = tree.get(data, "metadata", "name") or resource.name
        return Definition(kind, name, spec, resource)
    if version in (f"{KUBEVIRT}/v1", f"{KUBEVIRT}/v1alpha3"):
        return Unfit(f"unexpected type in ControllerRevision: *v1.{kind}")
    return Unfit(
        f'failed to decode object in ControllerRevision: no kind "{kind}" is registered for '
        f'version "{version}"'
    )
