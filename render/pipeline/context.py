"""What all VMs of an input share: definitions, revisions, presets and cluster settings."""

from collections.abc import Iterable, Sequence

from render import schemas
from render.diagnostics.codes import BUNDLED_DIFFERS, CLUSTER_SETTINGS, INVALID_CLUSTER_CONFIG
from render.diagnostics.diagnostic import Diagnostic, Location, Related, at
from render.manifests import sources
from render.manifests.reader import Limits
from render.manifests.sources import Reading
from render.model import cluster_config, tree
from render.model.catalogue import Catalogue
from render.model.cluster_config import ClusterConfig
from render.model.resource import INSTANCETYPE, Resource, from_body
from render.model.tree import Tree
from render.pipeline import pins, stored
from render.pipeline.load import Loaded
from render.pipeline.machine import Context
from render.resolve import bundled
from render.settings import Settings


def context(
    resources: Sequence[Resource], loaded: Loaded, settings: Settings, *, traced: bool
) -> Context:
    """What every VM of the input shares."""
    shipped = _shipped(loaded, settings)
    loaded.diagnostics += _differing(loaded, shipped)
    pinned = pins.find(resources, settings)
    loaded.diagnostics += pinned.diagnostics
    if pinned.is_faulty:  # which pins are missing cannot be said then
        settings = settings._replace(pins="auto")
    major, minor, *_ = settings.kubevirt.removeprefix("v").split(".")
    revisions, outdated = stored.revisions(resources, settings)
    loaded.diagnostics += outdated
    return Context(
        settings=settings,
        release=(int(major), int(minor)),
        catalogue=Catalogue(
            resources,
            loaded.definitions,
            revisions,
            shipped,
            settings.namespace,
        ),
        config=_cluster_config(loaded, settings),
        presets={
            namespace: tuple(sorted(found, key=lambda preset: preset.resource.name))
            for namespace, found in loaded.presets.items()
        },
        lock=pinned.lock,
        contents=pinned.contents,
        hashes={},
        contradictions={},
        selections={},
        traced=traced,
    )


def _shipped(loaded: Loaded, settings: Settings) -> dict[tuple[str, str], Tree]:
    """Cluster objects that are not in the input: KubeVirt's own, those of a file or folder, or none."""
    if settings.catalog == "none":
        return {}
    if settings.catalog == "bundled":
        return bundled.definitions(settings.kubevirt)
    read = sources.load([settings.catalog], Reading(Limits(), kustomize="never"))
    loaded.diagnostics += [found for found in read.diagnostics if found.is_error]
    shipped = {}
    for document in read.documents:
        resource = from_body(document.body, 0)
        if resource.group == INSTANCETYPE and resource.kind in bundled.KINDS:
            decoded, problems = schemas.decode_resource(resource)
            shipped[resource.kind, resource.name] = decoded.get("spec") or {}
            place = Location(file=document.origin.file, line=document.origin.line)
            loaded.diagnostics += [
                found._replace(location=place, message=f"{resource.ref}: {found.message}")
                for found in problems
            ]
    return shipped


def _differing(loaded: Loaded, shipped: dict[tuple[str, str], Tree]) -> Iterable[Diagnostic]:
    for key, definition in loaded.definitions.items():
        other = shipped.get((key.kind, key.name))
        if other is not None and definition.resource is not None and definition.spec != other:
            yield BUNDLED_DIFFERS.at(
                at(definition.resource, ("spec",)),
                f"{key.kind} {key.name} differs from the one in the catalogue; the input wins",
            )


def _cluster_config(loaded: Loaded, settings: Settings) -> ClusterConfig:
    if not loaded.clusters:
        body = settings.cluster_config
        if body is None:
            return ClusterConfig()
        text = f"cluster settings come from KubeVirt {tree.get(body, 'metadata', 'name') or ''}"
        loaded.diagnostics.append(
            CLUSTER_SETTINGS.at(Location(), f"{text.rstrip()} of the configuration")
        )
        return cluster_config.from_kubevirt(_valid(loaded, body, None))
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
    loaded.diagnostics.append(
        CLUSTER_SETTINGS.at(at(first), f"cluster settings come from {first.ref}")
    )
    decoded, diagnostics = schemas.decode_resource(first)
    loaded.report(first, diagnostics)
    decoded = _valid(loaded, decoded, first)
    # What the operator reports is not part of the typed tree.
    return cluster_config.from_kubevirt({**decoded, "status": first.body.get("status")})


def _valid(loaded: Loaded, body: Tree, resource: Resource | None) -> Tree:
    """*body*, or nothing where KubeVirt would keep its own defaults instead of this configuration."""
    fault = cluster_config.invalid(body)
    if fault is None:
        return body
    path, text = fault
    place = at(resource, ("spec", "configuration", *path)) if resource else Location()
    loaded.diagnostics.append(
        INVALID_CLUSTER_CONFIG.at(
            place, f"{text}: KubeVirt keeps its own defaults instead of this configuration"
        )
    )
    return {}
