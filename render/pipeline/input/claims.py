"""PersistentVolumeClaims beside VMs: what the API server cannot read of them or refuses, and what it leaves out.

Upstream: staging/src/k8s.io/api/core/v1/types.go (PersistentVolumeClaim, PersistentVolumeClaimSpec),
pkg/apis/core/validation/validation.go (ValidatePersistentVolumeClaimSpec); of the containerized data importer
pkg/apiserver/webhooks/pvc-mutate.go, which fills in claims that have its label before they are judged.
"""

from collections.abc import Iterator

from render import schemas
from render.diagnostics.cause import Cause
from render.diagnostics.codes import CONTENT_DROPPED, INVALID_VALUE, MISSING_FIELD, UNKNOWN_FIELD
from render.diagnostics.diagnostic import Diagnostic, Severity, at
from render.model import fieldpath, tree
from render.model.nearest import did_you_mean
from render.model.release import NEWEST
from render.model.resource import Resource
from render.model.tree import Tree
from render.room.refusal import required, unsupported
from render.schemas import refusals

_TYPE = "core.PersistentVolumeClaimSpec"
_MODE, _MODES, _SIZE = "volumeMode", "accessModes", ("resources", "requests", "storage")
_SUPPORTED = {
    _MODE: ("Block", "Filesystem"),
    _MODES: ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"),
}
#: The mode that CDI chooses, in claims that have this label.
_BY_PROFILE, _FILLED_IN = "FromStorageProfile", "cdi.kubevirt.io/applyStorageProfile"
_FIELDS = ("apiVersion", "kind", "metadata", "spec", "status")


def check(resource: Resource) -> Iterator[Diagnostic]:
    """What is wrong with the fields of the claim *resource*; a field that is unknown is a warning.

    The API server leaves that out, unless it is asked to be strict, as kubectl does.
    """
    for key in resource.body:
        if key not in _FIELDS:
            place = at(resource, (key,))
            yield UNKNOWN_FIELD.at(
                place, _text(key), help=did_you_mean(key, _FIELDS), severity=Severity.WARNING
            )
    spec = resource.body.get("spec")
    if spec is None:
        return
    if not isinstance(spec, dict):
        yield from schemas.located(
            resource, [refusals.mistyped(spec, "object", refusals.link_to(("spec",)))]
        )
        return
    decoded, causes = schemas.decode(spec, _TYPE, NEWEST)
    causes = [_as_it_says(cause, spec) for cause in causes]
    causes += _unchosen(resource, decoded)
    causes += () if causes else _lacking(resource, decoded)
    kept = (cause for cause in causes if cause.check != CONTENT_DROPPED.slug)
    for found in schemas.located(resource, kept, ("spec",)):
        if found.code == UNKNOWN_FIELD.number:
            text = _text(fieldpath.text(found.location.path))
            yield found._replace(message=text, severity=Severity.WARNING)
        elif found.code == MISSING_FIELD.number:
            # Somebody else may own that field of a claim that is applied server-side.
            yield found._replace(severity=Severity.WARNING)
        else:
            yield found


def _as_it_says(cause: Cause, spec: Tree) -> Cause:
    """*cause* in the words of the API server where a value of *spec* is none of those that it supports."""
    supported = _SUPPORTED.get(str(cause.path[0])) if cause.check == INVALID_VALUE.slug else None
    if supported is None:
        return cause
    return cause._replace(message=unsupported((), tree.get(spec, *cause.path), supported).why)


def _lacking(resource: Resource, decoded: Tree) -> Iterator[Cause]:
    """What a claim has to say that CDI does not fill in: how it is opened, and how large it is."""
    if tree.get(resource.body, "metadata", "labels", _FILLED_IN) == "true":
        return
    if not decoded.get(_MODES):
        why = required((), "at least 1 access mode is required").why
        yield Cause(MISSING_FIELD.slug, (_MODES,), why, "add one, as [ReadWriteOnce]")
    if tree.get(decoded, *_SIZE) is None:
        yield Cause(MISSING_FIELD.slug, _SIZE, required(()).why, "add the size, as 10Gi")


def _unchosen(resource: Resource, decoded: Tree) -> Iterator[Cause]:
    """That the mode which has CDI choose one is none, in a claim that CDI does not fill in."""
    label = tree.get(resource.body, "metadata", "labels", _FILLED_IN)
    if decoded.get(_MODE) == _BY_PROFILE and label != "true":
        why = unsupported((), _BY_PROFILE, _SUPPORTED[_MODE]).why
        cure = f'write Block or Filesystem; CDI chooses with the label {_FILLED_IN}: "true"'
        yield Cause(INVALID_VALUE.slug, (_MODE,), why, cure)


def _text(field: str) -> str:
    return f'unknown field "{field}": kubectl refuses it, and the API server leaves it out'
