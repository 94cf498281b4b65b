"""Which KubeVirt release is rendered for: the one that is asked for, the one that the input runs, or the newest."""

from collections.abc import Iterable, Sequence

from render.diagnostics.codes import RELEASE
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.model.named_tuple import NamedTuple
from render.model.release import NEWEST, VERSIONS, Version, minor, newest_patch, release_named, tag
from render.model.resource import SETTINGS_HOLDERS, Resource, from_body, tells_release, text_at
from render.model.tree import Tree
from render.settings import Settings

#: Kinds of what may tell a release, among objects of which nothing else is known yet.
_TELLING = frozenset({*(kind for _, kind in SETTINGS_HOLDERS), "Deployment"})


#: Why it is the newest release, where nothing tells any.
UNKNOWN = "nothing says which release runs"


class Target(NamedTuple):
    """The *release*, and what is to be said about the choice, if anything; *is_assumed*: nobody names it.

    *reason* says why it is this one, unless it was asked for.
    """

    release: Version
    diagnostics: tuple[Diagnostic, ...] = ()
    is_assumed: bool = True
    reason: str = ""


def holds_settings(resource: Resource) -> bool:
    """Whether *resource* holds the settings of a cluster."""
    return (resource.group, resource.kind) in SETTINGS_HOLDERS


def precedence(resource: Resource) -> tuple[int, str, str]:
    """The order in which such resources count, if there are several."""
    rank = {"HyperConverged": 0, "KubeVirt": 1}.get(resource.kind, 2)
    return rank, resource.namespace, resource.name


def target_of(bodies: Iterable[Tree], settings: Settings) -> Target:
    """As `target`, of objects as they are written."""
    return target(
        [from_body(body, 0) for body in bodies if text_at(body, "kind") in _TELLING], settings
    )


def target(resources: Sequence[Resource], settings: Settings) -> Target:
    """The release that *settings* ask for, else the one that the cluster's own resources tell, else the newest."""
    release = release_named(settings.kubevirt)
    if release is not None:
        return Target(release, tuple(_between(release, Location())), is_assumed=False)
    around = settings.catalog if isinstance(settings.catalog, list | tuple) else ()
    bodies = [body for body in around if isinstance(body, dict)]
    elsewhere = (from_body(body, len(resources) + n) for n, body in enumerate(bodies))
    in_input = sorted(filter(tells_release, resources), key=precedence)
    has_settings = any(map(holds_settings, in_input))
    around_it = [
        resource
        for resource in sorted(filter(tells_release, elsewhere), key=precedence)
        if not (has_settings and holds_settings(resource))
    ]
    for resource in sorted((*in_input, *around_it), key=lambda known: precedence(known)[0]):
        stated = _stated_by(resource.body, str(resource.ref), resource)
        if stated is not None:
            return stated
    if settings.cluster_config is not None:
        stated = _stated_by(settings.cluster_config, "the configuration", None)
        if stated is not None:
            return stated
    return Target(NEWEST, reason=UNKNOWN)


def _stated_by(body: Tree, name: str, resource: Resource | None) -> Target | None:
    from render.model.cluster_release import release_of

    evidence = release_of(body)
    if evidence is None:
        return None
    place = at(resource, evidence.path) if resource else Location()
    release = release_named(evidence.release)
    if evidence.at_least:
        reason = f"{name} says that it is {evidence.release} or later"
        release = NEWEST
    else:
        reason = f"{name} says that it is {evidence.release}"
    if release is None:
        known = f"{minor(VERSIONS[0])} to {minor(NEWEST)}"
        reason += f", which is none of {known}"
        cure = "name the release with --kubevirt, where another one is nearer"
        diagnostic = RELEASE.at(
            place, f"rendered for KubeVirt {minor(NEWEST)}: {reason}", help=cure
        )
        return Target(NEWEST, (diagnostic,), reason=reason)
    diagnostic = RELEASE.at(place, f"rendered for KubeVirt {minor(release)}: {reason}")
    is_assumed = evidence.at_least
    return Target(release, (diagnostic, *_between(release, place)), is_assumed, reason)


def _between(release: Version, place: Location) -> list[Diagnostic]:
    """That *release* is not the patch whose every rule is known."""
    newest = newest_patch(release)
    if release == newest:
        return []
    message = (
        f"KubeVirt {tag(release)} is rendered as {tag(newest)}, but for what is known to differ"
    )
    return [RELEASE.at(place, message)]
