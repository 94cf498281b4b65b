"""The settings of the cluster: those of a HyperConverged or of a KubeVirt custom resource, else KubeVirt's defaults."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from render import schemas
from render.admission import configuration
from render.diagnostics.cause import Cause
from render.diagnostics.codes import (
    CLUSTER_CONFIG_REFUSED,
    CLUSTER_SETTINGS,
    INVALID_CLUSTER_CONFIG,
    UNKNOWN_FIELD,
)
from render.diagnostics.diagnostic import Diagnostic, Related, at
from render.machine import SettingsSource
from render.model import fieldpath
from render.model.cluster_config import ClusterConfig, builtin, from_kubevirt
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING
from render.model.release import Version
from render.model.resource import Resource, from_body
from render.model.tree import Tree
from render.pipeline.input import releases
from render.pipeline.input.definitions import Definitions
from render.settings import Settings

if TYPE_CHECKING:
    from render.convert.hyperconverged import Translation


def load(
    loaded: Definitions, elsewhere: Sequence[Resource], settings: Settings, start: int
) -> tuple[ClusterConfig, SettingsSource | None]:
    """The settings, and where they come from; None where KubeVirt's defaults hold.

    Resources of the input come first, then the one of *settings*, which gets the position *start*, then those
    *elsewhere*.
    """
    in_input: list[Resource] = [*loaded.clusters]
    if not in_input and settings.cluster_config is not None:
        in_input = [from_body(settings.cluster_config, start)]
    candidates = sorted(in_input or elsewhere, key=releases.precedence)
    if not candidates:
        return builtin(loaded.release), None
    first, *others = candidates
    loaded.diagnostics += _unused(first, others)
    is_configured = first not in loaded.clusters and first in in_input
    if first.kind == "KubeVirt":
        config, source = _of_kubevirt(first, loaded, is_reported=not is_configured)
    else:
        for other in others:
            if other.kind == "KubeVirt":  # applied all the same
                loaded.report(other, schemas.decode_resource(other, loaded.release)[1])
        config, source = _of_hyperconverged(first, loaded)
    if source is not None:
        text = f"cluster settings come from {first.ref}{' of the configuration' if is_configured else ''}"
        loaded.diagnostics.append(CLUSTER_SETTINGS.at(at(first), text))
    return config, source


def _unused(first: Resource, others: Sequence[Resource]) -> Iterator[Diagnostic]:
    in_use = Related("the one in use", at(first))
    for other in others:
        if other.kind == first.kind:
            text = f"a cluster has one {first.kind} resource, and {first.ref} comes first"
            yield INVALID_CLUSTER_CONFIG.at(at(other), f"{other.ref} is not used: {text}", in_use)
        else:
            text = f"the operator of {first.ref} writes the KubeVirt resource of its cluster"
            yield CLUSTER_SETTINGS.at(at(other), f"{other.ref} is not used: {text}", in_use)


def _of_kubevirt(
    resource: Resource, loaded: Definitions, *, is_reported: bool
) -> tuple[ClusterConfig, SettingsSource | None]:
    decoded, diagnostics = schemas.decode_resource(resource, loaded.release)
    if is_reported:
        loaded.report(resource, diagnostics)
    cause = configuration.refusal(decoded)
    if cause is not None:
        loaded.diagnostics.append(_ignored(resource, cause.path, cause))
    loaded.diagnostics += (
        INVALID_CLUSTER_CONFIG.at(at(resource, unknown.path), unknown.message, help=unknown.help)
        for unknown in configuration.unknown_methods(decoded)
    )
    source = SettingsSource(resource, decoded, lambda path: path, _kubevirt_in(resource))
    return _config(decoded, resource.body, loaded.release), source


def _kubevirt_in(resource: Resource) -> Callable[[Version], ClusterConfig]:
    """The settings of *resource* by release, each read once for all machines that are refused."""

    @cache
    def config(release: Version) -> ClusterConfig:
        return _config(schemas.decode_resource(resource, release)[0], resource.body, release)

    return config


def _config(decoded: Tree, body: Tree, release: Version) -> ClusterConfig:
    """The settings that KubeVirt takes from *decoded*: its own defaults where something in there is invalid."""
    used = decoded if configuration.is_used(decoded, body) else {}
    # What the operator reports is not part of the typed tree.
    return from_kubevirt({**used, "status": body.get("status")}, release)


def _ignored(resource: Resource, path: FieldPath, cause: Cause) -> Diagnostic:
    consequence = "KubeVirt keeps its own defaults instead of this configuration"
    return INVALID_CLUSTER_CONFIG.at(at(resource, path), f"{cause.message}: {consequence}")


def _of_hyperconverged(
    resource: Resource, loaded: Definitions
) -> tuple[ClusterConfig, SettingsSource | None]:
    from render.convert import hyperconverged

    translation = hyperconverged.kubevirt_of(resource.body, loaded.release)
    loaded.diagnostics += _of_translation(resource, translation)
    if translation.kubevirt is None:
        return builtin(loaded.release), None
    decoded, _ = schemas.decode(translation.kubevirt, "kubevirt.KubeVirt", loaded.release)
    cause = configuration.refusal(decoded)
    if cause is not None:
        place = translation.origin(cause.path) or ()
        loaded.diagnostics.append(_ignored(resource, place, cause))
    source = SettingsSource(resource, decoded, translation.origin, _hyperconverged_in(resource))
    return _config(decoded, translation.kubevirt, loaded.release), source


def _of_translation(resource: Resource, translation: "Translation") -> Iterator[Diagnostic]:
    """What the operator says of the HyperConverged *resource*, and what is assumed where that says nothing."""
    yield from (
        UNKNOWN_FIELD.at(
            at(resource, pruned.path),
            f"unknown field {fieldpath.text(pruned.path)}: {resource.version} of {resource.kind} has none of that name",
            help=pruned.help,
            fixes=pruned.fixes,
        )
        for pruned in translation.pruned
    )
    yield from (
        INVALID_CLUSTER_CONFIG.at(at(resource, _field_of(text)), text)
        for text in translation.warnings
    )
    if translation.refusal is not None:
        yield from (
            CLUSTER_CONFIG_REFUSED.at(
                at(resource, cause.path),
                f"{cause.message}: refused by the {translation.refusal.stage}; KubeVirt's defaults are used instead",
                help=cause.help,
                fixes=cause.fixes,
            )
            for cause in translation.refusal.causes
        )
    if translation.kubevirt is not None and translation.assumptions:
        values = "; ".join(
            f"{fieldpath.text(assumption.path[2:])} {assumption.text}"
            for assumption in translation.assumptions
        )
        message = f"assumed, where {resource.ref} says nothing: {values}"
        yield CLUSTER_SETTINGS.at(at(resource), message)


def _hyperconverged_in(resource: Resource) -> Callable[[Version], ClusterConfig]:
    from render.convert import hyperconverged

    @cache
    def config(release: Version) -> ClusterConfig:
        body = hyperconverged.kubevirt_of(resource.body, release).kubevirt
        if body is None:
            return builtin(release)
        return _config(schemas.decode(body, "kubevirt.KubeVirt", release)[0], body, release)

    return config


def _field_of(warning: str) -> FieldPath:
    """The field that a warning of the operator begins with, else the gates, which the others are about."""
    field = warning.partition(" ")[0].rstrip(":")
    return fieldpath.parse(field) if field.startswith("spec.") else ("spec", "featureGates")
