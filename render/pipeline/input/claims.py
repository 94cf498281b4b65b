"""PersistentVolumeClaims beside VMs: what the API server cannot read of them, and what it leaves out.

Upstream: staging/src/k8s.io/api/core/v1/types.go (PersistentVolumeClaim, PersistentVolumeClaimSpec).
"""

from collections.abc import Iterator

from render import schemas
from render.diagnostics.codes import CONTENT_DROPPED, UNKNOWN_FIELD
from render.diagnostics.diagnostic import Diagnostic, Severity, at
from render.model import fieldpath
from render.model.nearest import did_you_mean
from render.model.release import NEWEST
from render.model.resource import Resource
from render.schemas import refusals

_TYPE = "core.PersistentVolumeClaimSpec"
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
    _, causes = schemas.decode(spec, _TYPE, NEWEST)
    kept = (cause for cause in causes if cause.check != CONTENT_DROPPED.slug)
    for found in schemas.located(resource, kept, ("spec",)):
        if found.code == UNKNOWN_FIELD.number:
            text = _text(fieldpath.text(found.location.path))
            yield found._replace(message=text, severity=Severity.WARNING)
        else:
            yield found


def _text(field: str) -> str:
    return f'unknown field "{field}": kubectl refuses it, and the API server leaves it out'
