"""What all VMs of an input share: definitions, revisions, presets and cluster settings."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from render.diagnostics.codes import BUNDLED_DIFFERS
from render.diagnostics.diagnostic import Diagnostic, at
from render.model.catalogue import Catalogue
from render.model.release import Version, tag
from render.model.resource import Resource
from render.model.tree import Tree
from render.pipeline.input import cluster_settings, controller_revisions, elsewhere, pinned
from render.pipeline.input.definitions import Definitions
from render.pipeline.input.elsewhere import Surroundings
from render.pipeline.machine import Context
from render.resolve import bundled
from render.settings import Settings

if TYPE_CHECKING:
    from render.presets import Preset


def shared(
    resources: Sequence[Resource],
    loaded: Definitions,
    settings: Settings,
    start: int,
    *,
    traced: bool,
) -> Context:
    """What every VM of the input shares; what the cluster has beside it counts from *start* on."""
    around = elsewhere.load(settings._replace(kubevirt=tag(loaded.release)), start)
    loaded.diagnostics += around.diagnostics
    after = start + around.size
    config, source = cluster_settings.load(loaded, around.clusters, settings, after)
    shipped = _shipped(around, settings, loaded.release)
    loaded.diagnostics += _differing(loaded, shipped)
    locked = pinned.find(resources, settings, loaded.release)
    loaded.diagnostics += locked.diagnostics
    if locked.is_faulty:  # which pins are missing cannot be said then
        settings = settings._replace(pins="auto")
    revisions, outdated = controller_revisions.revisions(resources, settings, loaded.release)
    loaded.diagnostics += outdated
    return Context(
        settings=settings,
        release=loaded.release,
        release_is_assumed=loaded.release_is_assumed,
        catalogue=Catalogue(
            resources,
            loaded.definitions,
            revisions,
            around.objects._replace(bundled=shipped),
            settings.namespace,
        ),
        config=config,
        config_source=source,
        presets=_presets(loaded, around),
        lock=locked.lock,
        contents=locked.contents,
        hashes={},
        contradictions={},
        selections={},
        traced=traced,
        start=start,
    )


def _presets(loaded: Definitions, around: Surroundings) -> dict[str, tuple["Preset", ...]]:
    """The presets by namespace, sorted: those of the input, and others that the cluster has."""
    found = {}
    for namespace in {**loaded.presets, **around.presets}:
        by_name = {
            (one.resource.name, one.resource.kind): one
            for source in (around.presets, loaded.presets)
            for one in source.get(namespace, ())
        }
        found[namespace] = tuple(by_name[key] for key in sorted(by_name))
    return found


def _shipped(
    around: Surroundings, settings: Settings, release: Version
) -> dict[tuple[str, str], Tree]:
    """The specs of definitions of cluster scope that are there beside the input: KubeVirt's own, and others'."""
    own = bundled.definitions(release) if elsewhere.has_bundled(settings) else {}
    others = around.objects.definitions.items()
    return own | {(key.kind, key.name): one.spec for key, one in others if not key.namespace}


def _differing(loaded: Definitions, shipped: dict[tuple[str, str], Tree]) -> Iterable[Diagnostic]:
    for key, definition in loaded.definitions.items():
        other = shipped.get((key.kind, key.name))
        if other is not None and definition.resource is not None and definition.spec != other:
            yield BUNDLED_DIFFERS.at(
                at(definition.resource, ("spec",)),
                f"{key.kind} {key.name} differs from the one in the catalogue; the input wins",
            )
