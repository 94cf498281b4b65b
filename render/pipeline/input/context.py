"""What all VMs of an input share: definitions, revisions, presets and cluster settings."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

from render.diagnostics.codes import BUNDLED_DIFFERS
from render.diagnostics.diagnostic import Diagnostic, at
from render.machine import Context, PresetWork, SettingsSource
from render.model.catalogue import Catalogue, Definition, Elsewhere, Unfit
from render.model.cluster_config import ClusterConfig, builtin
from render.model.hints import TYPE_CHECKING
from render.model.release import Version, tag
from render.model.resource import LOCK_KIND, OWN, Resource, is_revision
from render.model.tree import Tree
from render.pipeline.input import releases
from render.pipeline.input.definitions import Definitions, is_machine
from render.resolve import bundled
from render.resolve.references import References
from render.settings import Settings

if TYPE_CHECKING:
    from render.model.shape import Verdicts
    from render.presets import Preset
    from render.revisions.lockfile import Pin

_SEVERAL = 2


def shared(
    resources: Sequence[Resource],
    loaded: Definitions,
    settings: Settings,
    start: int,
    *,
    traced: bool,
) -> Context:
    """What every VM of the input shares; what the cluster has beside it counts from *start* on."""
    objects, clusters, presets, after = _around(loaded, settings, start)
    config, source = _config(loaded, clusters, settings, after)
    shipped = _shipped(objects, settings, loaded.release)
    loaded.diagnostics += _differing(loaded, shipped)
    pins, contents, settings = _pinned(resources, loaded, settings)
    return Context(
        settings=settings,
        release=loaded.release,
        release_is_assumed=loaded.release_is_assumed,
        catalogue=Catalogue(
            resources,
            loaded.definitions,
            _revisions(resources, loaded, settings),
            _known(objects, shipped, settings),
            settings.namespace,
        ),
        config=config,
        config_source=source,
        presets=_presets(loaded.presets, presets),
        pins=pins,
        contents=contents,
        hashes={},
        contradictions={},
        guest={},
        references=References(resources),
        selections={},
        traced=traced,
        start=start,
        clusters=[],
        preset_work=PresetWork(),
    )


def verdicts(context: Context, resources: Sequence[Resource]) -> "Verdicts | None":
    """Where verdicts on shapes are remembered; None where they are not alike for machines of one shape, or few."""
    # What a preset merges, or an expansion writes, hangs on more than definitions.
    is_open = context.presets or context.config.reference_policy != "reference"
    if is_open or context.settings.admission == "off" or not _are_several(resources):
        return None
    from render.model.shape import Verdicts

    return Verdicts(context.settings, context.config, context.catalogue, context.release_is_assumed)


def _are_several(resources: Sequence[Resource]) -> bool:
    """Whether there are machines of which one may be of the shape of another."""
    return len(list(islice(filter(is_machine, resources), _SEVERAL))) == _SEVERAL


def _around(
    loaded: Definitions, settings: Settings, start: int
) -> tuple[Elsewhere, Sequence[Resource], Mapping[str, Sequence["Preset"]], int]:
    """What the cluster has beside the input: objects, what holds its settings, presets, and where it ends."""
    if isinstance(settings.catalog, str):
        return Elsewhere(), (), {}, start
    from render.pipeline.input import elsewhere

    around = elsewhere.load(settings._replace(kubevirt=tag(loaded.release)), start)
    loaded.diagnostics += around.diagnostics
    return around.objects, around.clusters, around.presets, start + around.size


def _config(
    loaded: Definitions, elsewhere: Sequence[Resource], settings: Settings, start: int
) -> tuple[ClusterConfig, SettingsSource | None]:
    """The settings of the cluster, and where they come from if anything says any."""
    if not loaded.clusters and not elsewhere and settings.cluster_config is None:
        return builtin(loaded.release), None
    from render.pipeline.input import cluster_settings

    return cluster_settings.load(loaded, elsewhere, settings, start)


def _pinned(
    resources: Sequence[Resource], loaded: Definitions, settings: Settings
) -> tuple[Mapping[str, "Pin"], dict[str, Tree], Settings]:
    """The pins in force, the contents that they need, and *settings* for what they leave open."""
    if settings.lock is None and not any(
        (resource.group, resource.kind) == (OWN, LOCK_KIND) for resource in resources
    ):
        return {}, {}, settings
    from render.pipeline.input import lock_in_force

    locked = lock_in_force.find(resources, settings, loaded.release)
    loaded.diagnostics += locked.diagnostics
    if locked.is_faulty:  # which pins are missing cannot be said then
        settings = settings._replace(pins="auto")
    return locked.lock.pins, locked.contents, settings


def _revisions(
    resources: Sequence[Resource], loaded: Definitions, settings: Settings
) -> dict[tuple[str, str], Definition | Unfit]:
    """The ControllerRevisions of the input by namespace and name."""
    objects = [resource for resource in resources if is_revision(resource)]
    if not objects:
        return {}
    from render.kubevirt import controller_revisions

    revisions, outdated = controller_revisions.revisions(objects, settings, loaded.release)
    loaded.diagnostics += outdated
    return revisions


def _presets(
    own: Mapping[str, Sequence["Preset"]], others: Mapping[str, Sequence["Preset"]]
) -> dict[str, tuple["Preset", ...]]:
    """The presets by namespace, sorted: those of the input, and others that the cluster has."""
    presets = {}
    for namespace in {**own, **others}:
        by_name = {
            (preset.resource.name, preset.resource.kind): preset
            for source in (others, own)
            for preset in source.get(namespace, ())
        }
        presets[namespace] = tuple(by_name[key] for key in sorted(by_name))
    return presets


def _shipped(
    around: Elsewhere, settings: Settings, release: Version
) -> Mapping[tuple[str, str], Tree]:
    """The specs of definitions of cluster scope that are there beside the input: KubeVirt's own, and others'."""
    own: Mapping[tuple[str, str], Tree] = (
        bundled.definitions(release) if has_bundled(settings) else {}
    )
    others = around.definitions.items()
    return (
        own
        if not others
        else {
            **own,
            **{
                (key.kind, key.name): definition.spec
                for key, definition in others
                if not key.namespace
            },
        }
    )


def _known(
    around: Elsewhere, shipped: Mapping[tuple[str, str], Tree], settings: Settings
) -> Elsewhere:
    """*around* with what is *shipped*, but for what may be another one in what cannot be read."""
    unclear = {key: words for key, words in settings.unclear if key in shipped}
    if unclear:
        shipped = {key: spec for key, spec in shipped.items() if key not in unclear}
    return around._replace(bundled=shipped, unclear=unclear)


def _differing(
    loaded: Definitions, shipped: Mapping[tuple[str, str], Tree]
) -> Iterable[Diagnostic]:
    for key, definition in loaded.definitions.items():
        other = shipped.get((key.kind, key.name))
        if other is not None and definition.resource is not None and definition.spec != other:
            yield BUNDLED_DIFFERS.at(
                at(definition.resource, ("spec",)),
                f"{key.kind} {key.name} differs from the one in the catalogue; the input wins",
            )


def has_bundled(settings: Settings) -> bool:
    """Whether what KubeVirt deploys by itself is there."""
    return (
        "none" not in settings.catalog
        if isinstance(settings.catalog, list | tuple)
        else settings.catalog != "none"
    )


def bundled_names(resources: Sequence[Resource], settings: Settings) -> Collection[tuple[str, str]]:
    """Kind and name of what KubeVirt deploys by itself in the release that *resources* are for, if that is there."""
    if not has_bundled(settings):
        return ()
    return bundled.definitions(releases.target(resources, settings).release).keys()
