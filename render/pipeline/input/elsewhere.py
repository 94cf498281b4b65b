"""What the cluster has beside the input: objects that are looked up, and neither rendered nor judged."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from render.diagnostics.diagnostic import Diagnostic
from render.model.catalogue import Elsewhere
from render.model.hints import TYPE_CHECKING
from render.model.named_tuple import NamedTuple
from render.model.resource import Resource, from_body, is_revision
from render.pipeline.input import definitions, releases
from render.settings import Settings

if TYPE_CHECKING:
    from render.presets import Preset


class Surroundings(NamedTuple):
    """The objects, decoded; what holds the settings of the cluster among them, and the errors of definitions.

    *presets*: by namespace, since KubeVirt merges those of the cluster too.
    *size*: how many objects there are, decoded or not.
    """

    objects: Elsewhere
    clusters: tuple[Resource, ...]
    diagnostics: tuple[Diagnostic, ...]
    presets: Mapping[str, Sequence["Preset"]] = MappingProxyType({})
    size: int = 0


def load(settings: Settings, start: int) -> Surroundings:
    """What the catalogue of *settings* holds, if that is a list of objects; they count from *start* on."""
    if isinstance(settings.catalog, str):
        return Surroundings(Elsewhere(), (), ())
    bodies = [body for body in settings.catalog if isinstance(body, dict)]
    resources = [from_body(body, start + index) for index, body in enumerate(bodies)]
    wanted = [
        resource
        for resource in resources
        if definitions.is_definition(resource) or definitions.is_preset(resource)
    ]
    loaded = definitions.load(wanted, settings)
    return Surroundings(
        Elsewhere(
            tuple(_others(resources)),
            {
                key: definition._replace(resource=None, elsewhere=definition.resource)
                for key, definition in loaded.definitions.items()
            },
        ),
        tuple(resource for resource in resources if releases.holds_settings(resource)),
        tuple(diagnostic for diagnostic in loaded.diagnostics if diagnostic.is_error),
        loaded.presets,
        len(resources),
    )


def _others(resources: Sequence[Resource]) -> list[Resource]:
    """What leads from a volume to a definition."""
    return [
        resource
        for resource in resources
        if not (
            definitions.is_definition(resource)
            or definitions.is_preset(resource)
            or definitions.is_machine(resource)
            or is_revision(resource)
        )
    ]
