"""What becomes of an edit of what CDI reads: most of it cannot be edited.

Upstream: of the containerized data importer pkg/apiserver/webhooks (Cannot update DataVolume Spec).
"""

from collections.abc import Iterable, Iterator, Sequence

from render import schemas
from render.admission.cdi import order, versions
from render.diagnostics.codes import CONTENT_DROPPED, UNKNOWN_FIELD
from render.diff.impact import FieldChange, MachineImpact, without_secrets
from render.diff.source import ChangeSource
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.resource import CDI, Resource
from render.model.tree import Tree

_UPDATE = "cdi/update"
_TAKEN = (UNKNOWN_FIELD.slug, CONTENT_DROPPED.slug)
_Key = tuple[str, str, str]


def import_impacts(
    before: Sequence[Resource], after: Sequence[Resource], namespace: str
) -> Iterator[MachineImpact]:
    """Of the objects of CDI's in both states those whose edit is refused; *namespace* is that of others without one."""
    known = dict(_immutable(before, namespace))
    for key, new in _immutable(after, namespace) if known else ():
        old = known.get(key)
        if old is None or old.spec == new.spec:
            continue
        specs = [_typed(resource) for resource in (old, new)]
        if specs[0] is None or specs[1] is None:
            continue  # what the schema refuses is said of the object
        causes = order.update_causes(new.kind, specs[0], specs[1], versions.NEWEST)
        refused = [cause.message for cause in causes if cause.check == _UPDATE]
        if refused:
            changes = field_changes(specs[0]["spec"], specs[1]["spec"], ("spec",), new)
            yield MachineImpact(new.ref, ("refused",), (*refused,), (*changes,))


def _immutable(resources: Iterable[Resource], namespace: str) -> Iterator[tuple[_Key, Resource]]:
    for resource in resources:
        if (
            resource.group == CDI
            and resource.kind in order.KINDS
            and order.KINDS[resource.kind].immutable
        ):
            yield (resource.kind, resource.namespace or namespace, resource.name), resource


def _typed(resource: Resource) -> Tree | None:
    """The object as the schema has it, None where that refuses it."""
    row = order.KINDS[resource.kind]
    decoded, causes = schemas.decode(resource.body, row.type, versions.NEWEST)
    return None if any(cause.check not in _TAKEN for cause in causes) else decoded


def field_changes(old: Any, new: Any, path: FieldPath, resource: Resource) -> Iterator[FieldChange]:
    """Each field of *resource* below *path* in which *old* and *new* differ, refused; a list counts as one."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            if old.get(key) != new.get(key):
                yield from field_changes(old.get(key), new.get(key), (*path, key), resource)
        return
    cause = ChangeSource(resource.ref, path, resource.index, "after")
    route = tuple(map(str, path))
    values = (without_secrets(route, old), without_secrets(route, new))
    yield FieldChange(fieldpath.text(path), *values, "refused", cause)
