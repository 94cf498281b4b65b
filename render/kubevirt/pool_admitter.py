"""What the schemas and the webhooks of pools and replica sets refuse, and what of a refusal is said of what they make.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/vmpool-admitter.go, vmirs-admitter.go.
"""

from collections.abc import Iterable, Iterator

from render import schemas
from render.admission import order
from render.admission.checks import Subject
from render.diagnostics.cause import Cause
from render.diagnostics.codes import (
    CONTENT_DROPPED,
    GUEST,
    INVALID_VALUE,
    MISSING_FIELD,
    NOT_CONVERTIBLE,
    NOT_EXPANDED,
    PIN_ENDED,
    PIN_MISSING,
    POOL_UNUSABLE,
    REVISION_EDITED,
    UNKNOWN_FIELD,
    WRONG_TYPE,
)
from render.diagnostics.diagnostic import Diagnostic, Related, at
from render.kubevirt.admitters import Alternatives, finding
from render.kubevirt.replicas import HOLDERS
from render.machine import Context
from render.model import tree
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.release import Version
from render.model.resource import POOL, Resource
from render.model.tree import Tree

#: Of a pool only the CRD is asked, which knows no other enumerations.
_ENUMERATIONS = frozenset(
    {"rebootPolicy", "memLock", "contentType", "statePreservation", "sortPolicy", "basePolicy"}
)
_TYPES = {
    (POOL, "v1beta1"): "pool.VirtualMachinePool",
    (POOL, "v1alpha1"): "poolv1alpha1.VirtualMachinePool",
}
_REPLICA_SET_TYPE = "kubevirt.VirtualMachineInstanceReplicaSet"


#: The stages write it out, or refuse it.
_FLAVOR = "flavor"
#: What we refuse and KubeVirt does not: a cluster would drop ``spec.flavor`` from the template, say.
_OURS = frozenset(
    code.number
    for code in (GUEST, PIN_MISSING, PIN_ENDED, REVISION_EDITED, UNKNOWN_FIELD, NOT_CONVERTIBLE)
)


def unexpanded(resource: Resource) -> Diagnostic:
    """That the mode ``expand`` leaves a pool or a replica set as it is."""
    return NOT_EXPANDED.at(
        at(resource),
        f"{resource.ref} stays as it is: KubeVirt's expand-vm-spec takes VirtualMachines only",
        help="--emit vm renders what it makes in place",
    )


def check(resource: Resource, context: Context) -> list[Diagnostic]:
    """What the schema and the webhook of a pool or a replica set refuse."""
    holder = HOLDERS[resource.kind]
    spec, diagnostics = _decode(resource, context.release)
    if any(diagnostic.is_error for diagnostic in diagnostics):
        return diagnostics
    body = {"spec": spec}
    is_pool = resource.kind == POOL
    vmi = tree.get(body, *holder.vmi) or {}
    subject = Subject(
        kind=resource.kind,
        spec=vmi.get("spec") or {},
        metadata=vmi.get("metadata") or {},
        root=(*holder.vmi, "spec"),
        config=context.config,
        release=context.release,
        vm=tree.get(body, *holder.template, "spec") if is_pool else {},
        vm_root=(*holder.template, "spec") if is_pool else (),
        namespace=resource.namespace or context.settings.namespace,
        holder=spec,
    )
    alternatives = Alternatives(subject, context)
    return [
        *diagnostics,
        *(finding(resource, alternatives, *refusal) for refusal in order.causes(subject)),
    ]


def _decode(resource: Resource, release: Version) -> tuple[Tree, list[Diagnostic]]:
    """The spec of a pool or a replica set as it was sent, and what its schema refuses.

    Nothing has filled in anything yet, and nothing was left out.
    """
    holder = HOLDERS[resource.kind]
    is_pool = resource.kind == POOL
    type_name = _TYPES.get((resource.kind, resource.version), _REPLICA_SET_TYPE)
    body = {"metadata": _texts_of(resource), "spec": resource.body["spec"]}
    decoded, causes = schemas.decode(body, type_name, release)
    draft = Draft(decoded)
    diagnostics = []
    for cause in causes:
        is_dropped_template_field = (
            cause.check == CONTENT_DROPPED.slug
            and cause.path[: len(holder.template)] == holder.template
        )
        if is_dropped_template_field or cause.path == (*holder.template, "spec", _FLAVOR):
            continue
        value = tree.get(body, *cause.path)
        if is_pool and _is_open(cause, value):
            if value is not None:
                draft.put(cause.path, value)
            continue
        diagnostics += schemas.located(resource, [cause])
    for place in _empty_lists(tree.get(body, *holder.vmi, "spec")):
        draft.put((*holder.vmi, "spec", *place), [])
    return draft.tree["spec"], diagnostics


def _empty_lists(spec: Any) -> Iterator[FieldPath]:
    """The lists without items that count in a VMI *spec*, unless a mutating webhook has dropped them."""
    devices = ("domain", "devices")
    interfaces = tree.get(spec, *devices, "interfaces")
    count = len(interfaces) if isinstance(interfaces, list) else 0
    places: list[FieldPath] = [("utilityVolumes",), (*devices, "hostDevices")]
    places += (
        (*devices, "interfaces", index, key)
        for index in range(count)
        for key in ("ports", "portRanges")
    )
    return (place for place in places if tree.get(spec, *place) == [])


def _texts_of(resource: Resource) -> Tree:
    """The labels and annotations of *resource* itself, which must be text; null is dropped."""
    metadata = resource.body.get("metadata")
    fields = metadata if isinstance(metadata, dict) else {}
    return {key: fields[key] for key in ("labels", "annotations") if fields.get(key) is not None}


def _is_open(cause: Cause, value: object) -> bool:
    """Whether the CRD of pools leaves open what the webhook of VMs refuses: Go reads it.

    These are values of enumerations, and in metadata, of which the CRD knows nothing, missing fields and null.
    """
    if cause.check == INVALID_VALUE.slug:
        return isinstance(value, str) and cause.path[-1] not in _ENUMERATIONS
    missing = cause.check in (MISSING_FIELD.slug, WRONG_TYPE.slug)
    return value is None and missing and "metadata" in cause.path[1:]


def unusable(resource: Resource, errors: Iterable[Diagnostic]) -> list[Diagnostic]:
    """One finding for all *errors* about what an admitted pool or replica set makes; those of ours stay alone."""
    holder = HOLDERS[resource.kind]
    all_errors = list(errors)
    ours = [error for error in all_errors if error.code in _OURS]
    refusals = [error for error in all_errors if error.code not in _OURS]
    if not refusals:
        return ours
    first, *others = refusals
    related = [*first.related]
    for refusal in others:
        related += [
            Related(refusal.message, refusal.position or refusal.location),
            *refusal.related,
        ]
    what = "VMs" if holder.kind == "VirtualMachine" else "VMIs"
    return [
        *ours,
        POOL_UNUSABLE.at(
            first.location,
            f"KubeVirt takes the {resource.kind}, but its {what} are refused or never start: {first.message}",
            *related,
            help=first.help,
        )._replace(position=first.position),
    ]
