"""What CDI refuses of the objects that it reads, and of the disks that KubeVirt asks it for.

Upstream: of the containerized data importer pkg/apiserver/webhooks and pkg/operator/resources/crds_generated.go;
pkg/virt-controller/watch/vm/vm.go.
"""

from collections.abc import Callable, Iterator
from functools import cache

from render import schemas
from render.admission import metadata as api_server
from render.admission.cdi import datavolume, order, templates, versions
from render.admission.cdi.datavolume import Existing
from render.diagnostics.cause import Cause
from render.diagnostics.codes import (
    CONTENT_DROPPED,
    DATA_VOLUME_TEMPLATES,
    IMPORT_REFUSED,
    UNKNOWN_FIELD,
)
from render.diagnostics.diagnostic import Diagnostic, Severity, at
from render.machine import Context, Machine
from render.model import fieldpath, tree
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.nearest import did_you_mean
from render.model.release import Version, minor
from render.model.resource import CDI, Resource
from render.model.tree import Tree

_NEVER_MADE = "the VM is admitted, but its disk is never made"
_GATE = "the feature gate DataVolumeClaimAdoption of CDI decides, and nothing in the input says what it is"
_CRON = "cdi.kubevirt.io/dataImportCron"
_HYPERCONVERGED = "HyperConverged"
_NAMESPACE: FieldPath = ("metadata", "namespace")
_MODES, _BY_PROFILE = ("Block", "Filesystem"), "FromStorageProfile"
_SCHEMA, _UNKNOWN = "cdi/schema", "cdi/unknown-field"


class _ImporterAnswer(NamedTuple):
    """What one version of CDI says of an object: why it refuses it, and the fields that it drops."""

    refused: tuple[Cause, ...]
    dropped: tuple[Cause, ...]


Ask = Callable[[Version], _ImporterAnswer]


def check(resource: Resource, context: Context) -> list[Diagnostic]:
    """What is wrong with an object of CDI's, if it is of a kind that CDI judges."""
    if resource.kind not in order.KINDS:
        return []
    namespace = resource.namespace or context.settings.namespace
    existing = _existing(resource, namespace, context)

    @cache
    def ask(version: Version) -> _ImporterAnswer:
        decoded, answer = _read(resource.kind, resource.body, version)
        if answer.refused:
            return answer
        metadata = {**decoded["metadata"], "namespace": namespace}
        taken = tuple(datavolume.claim_causes(metadata, existing))
        return answer._replace(refused=taken or order.causes(resource.kind, decoded, version))

    candidates = _candidates(context)
    refused = _refused(ask, candidates)
    if refused is not None and existing.claim is not None:
        refused = _doubted(refused, existing, context)
    findings = _unclaimed(resource) if refused is None else _findings(resource, refused)
    return [*findings, *_dropped(resource, ask, candidates)]


def _unclaimed(resource: Resource) -> Iterator[Diagnostic]:
    """That the API server refuses the claim which CDI makes of *resource*, whose volume mode CDI copies unseen."""
    template = ("template", "spec") if resource.kind == "DataImportCron" else ()
    for target in ("pvc", "storage"):
        path: FieldPath = ("spec", *template, target, "volumeMode")
        mode = tree.get(resource.body, *path)
        if mode and mode not in (*_MODES, _BY_PROFILE):
            from render.room.refusal import unsupported

            text = f"the API server refuses its claim: {unsupported(('spec', 'volumeMode'), mode, _MODES)}"
            cure = did_you_mean(mode, _MODES, f"write {' or '.join(_MODES)}")
            yield IMPORT_REFUSED.at(at(resource, path), text, help=cure, severity=Severity.WARNING)


def check_templates(machine: Machine) -> None:
    """What is wrong with the DataVolumes that KubeVirt makes of the templates of an admitted VM."""
    refused_before = {
        (diagnostic.position or diagnostic.location).path[:3]
        for diagnostic in machine.diagnostics
        if diagnostic.code == DATA_VOLUME_TEMPLATES.number
    }
    for index, template in enumerate(machine.spec.get("dataVolumeTemplates") or ()):
        place: FieldPath = ("spec", "dataVolumeTemplates", index)
        if place not in refused_before:
            _check_template(machine, template, place)


def _check_template(machine: Machine, template: Tree, place: FieldPath) -> None:
    context = machine.context
    priority = tree.get(machine.spec, "template", "spec", "priorityClassName") or ""

    def find(namespace: str, name: str) -> Tree | None:
        known = context.catalogue.find(CDI, "DataSource", namespace, name)
        if known is None or _is_filled_by_cron(known):
            return None
        return known.spec

    made = templates.datavolume(template, machine.namespace, priority, find)
    machine.diagnostics += _left_out(machine, template, made, place)
    candidates = _candidates(context)
    if isinstance(made, dict) and _is_accepted(made, candidates):
        return

    @cache
    def ask(version: Version) -> _ImporterAnswer:
        return _ImporterAnswer((made,), ()) if isinstance(made, Cause) else _judged(made, version)

    refused = _refused(ask, candidates)
    if refused is None:
        return
    causes = tuple(
        cause._replace(
            path=(*place, *cause.path),
            place=(*place, *(cause.place or cause.path)),
            help="; ".join(filter(None, (_NEVER_MADE, cause.help))),
        )
        for cause in refused.causes
        if cause.path != _NAMESPACE  # it has that of its VM, which is told itself
    )
    machine.diagnostics += _findings(machine.resource, refused._replace(causes=causes))


def _left_out(
    machine: Machine, template: Tree, made: Tree | Cause, place: FieldPath
) -> Iterator[Diagnostic]:
    """That of a source and a sourceRef in one *template* KubeVirt keeps what it clones, and drops the other."""
    spec = template.get("spec") or {}
    if isinstance(made, Cause) or any(spec.get(key) is None for key in ("source", "sourceRef")):
        return
    is_named = tree.get(spec, "sourceRef", "kind") == "DataSource"
    kept, lost = ("sourceRef", "source") if is_named else ("source", "sourceRef")
    text = f"{lost} counts for nothing: KubeVirt makes the disk of what {kept} names"
    cause = Cause("cdi/one-source", (*place, "spec", lost), text, "keep source or sourceRef")
    yield _finding(machine.resource, cause, Severity.WARNING)


def _is_filled_by_cron(source: Resource) -> bool:
    """Whether a DataImportCron writes what the DataSource *source* names (CDI, dataimportcron-controller.go)."""
    if any(tree.get(source.spec, "source", key) for key in ("pvc", "snapshot", "dataSource")):
        return False
    return bool(tree.get(source.body, "metadata", "labels", _CRON))


def _judged(made: Tree, version: Version) -> _ImporterAnswer:
    """What CDI *version* says of a DataVolume that KubeVirt has made."""
    decoded, answer = _read("DataVolume", made, version)
    if answer.refused:
        return answer
    return answer._replace(refused=order.causes("DataVolume", decoded, version))


#: Whether the versions between a first and a last one accept a spec, by its text: the disks of a fleet have few specs.
_accepted: dict[tuple[str, Version, Version], bool] = {}
_ROOM = 1000
_LONGEST = 2000
"""Characters of a spec that is remembered."""


def _is_accepted(made: Tree, candidates: tuple[Version, ...]) -> bool:
    """Whether none of *candidates* refuses *made*: no rule asks its metadata and its spec together."""
    metadata, text = made["metadata"], repr(made["spec"])
    if len(text) > _LONGEST or not metadata.get("name") or any(api_server.refusals(metadata)):
        return False
    key = text, candidates[0], candidates[-1]
    known = _accepted.get(key)
    if known is None:
        if len(_accepted) >= _ROOM:
            _accepted.clear()
        body = {**made, "metadata": {"name": "disk"}}
        refused = _refused(lambda version: _judged(body, version), candidates)
        known = _accepted[key] = refused is None
    return known


class _ImporterRefusal(NamedTuple):
    """Why an object is refused, and what that hangs on: ``""`` where it is refused for certain."""

    causes: tuple[Cause, ...]
    condition: str = ""


def _candidates(context: Context) -> tuple[Version, ...]:
    """The versions of CDI that may run: the one that a HyperConverged brings, the newest, or any."""
    source = context.config_source
    if (
        source is not None
        and source.resource.kind == _HYPERCONVERGED
        and not context.release_is_assumed
    ):
        return (versions.brought_with(context.release),)
    return (versions.NEWEST,) if context.settings.admission == "strict" else versions.VERSIONS


def _refused(ask: Ask, candidates: tuple[Version, ...]) -> _ImporterRefusal | None:
    """What the newest of *candidates* that refuses the object says; None where none does.

    A rule came with a version or went with one: what the first and the last accept, those between them do.
    """
    if not ask(candidates[-1]).refused and not ask(candidates[0]).refused:
        return None
    refusing = [version for version in candidates if ask(version).refused]
    causes = ask(refusing[-1]).refused
    if len(refusing) == len(candidates):
        return _ImporterRefusal(causes)
    release_names = ", ".join(map(minor, refusing))
    return _ImporterRefusal(
        causes, f"by CDI {release_names} alone, and nothing says which one runs"
    )


def _doubted(refused: _ImporterRefusal, existing: Existing, context: Context) -> _ImporterRefusal:
    """*refused*, with a doubt where the feature gate decides that nobody has set."""
    is_doubted = context.settings.admission != "strict" and existing.adopted is None
    of_claim = refused.causes[0].check == "cdi/claim-exists"
    return refused._replace(condition=_GATE) if is_doubted and of_claim else refused


def _findings(resource: Resource, refused: _ImporterRefusal) -> Iterator[Diagnostic]:
    severity = Severity.WARNING if refused.condition else None
    for cause in refused.causes:
        message = f"{cause.message} ({refused.condition})" if refused.condition else cause.message
        yield _finding(resource, cause._replace(message=message), severity)


def _finding(resource: Resource, cause: Cause, severity: Severity | None = None) -> Diagnostic:
    place = cause.place or cause.path
    found = IMPORT_REFUSED.at(
        at(resource, cause.path), cause.message, help=cause.help, severity=severity
    )
    position = at(resource, place) if place != cause.path else None
    return found._replace(check=cause.check, position=position)


def _dropped(resource: Resource, ask: Ask, candidates: tuple[Version, ...]) -> Iterator[Diagnostic]:
    """Fields that the schema has not: the object is taken without them."""
    newest = {cause.path for cause in ask(candidates[-1]).dropped}
    for cause in ask(candidates[0]).dropped:
        lacking = [
            candidate
            for candidate in candidates
            if cause.path in {lost.path for lost in ask(candidate).dropped}
        ]
        is_certain = cause.path in newest
        which = "CDI" if is_certain else f"CDI {', '.join(map(minor, lacking))}"
        text = f'unknown field "{fieldpath.text(cause.path)}": {which} leaves it out'
        known = Cause(_UNKNOWN, cause.path, text, cause.help if is_certain else "")
        yield _finding(resource, known, Severity.WARNING if is_certain else Severity.INFO)


def _read(kind: str, body: Tree, version: Version) -> tuple[Tree, _ImporterAnswer]:
    """*body* in the types of the schema of *version*, and what these refuse and drop."""
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:
        kept = {key: value for key, value in metadata.items() if key != "managedFields"}
        body = {**body, "metadata": kept}
    decoded, causes = schemas.decode(body, order.KINDS[kind].type, version)
    refused = [
        cause._replace(check=_SCHEMA)
        for cause in causes
        if cause.check not in (UNKNOWN_FIELD.slug, CONTENT_DROPPED.slug)
    ]
    refused += (cause._replace(check=_SCHEMA) for cause in api_server.refusals(metadata))
    dropped = (
        cause
        for cause in causes
        if cause.check == UNKNOWN_FIELD.slug and cause.path[:1] != ("metadata",)
    )
    return decoded, _ImporterAnswer(tuple(refused), tuple(dropped))


def _existing(resource: Resource, namespace: str, context: Context) -> Existing:
    """The claim that a DataVolume would make, if the input has it, and whether CDI adopts such claims."""
    if resource.kind != "DataVolume":
        return Existing()
    claim = context.catalogue.find("", "PersistentVolumeClaim", namespace, resource.name)
    source = context.config_source
    # The operator of a HyperConverged always turns the gate on.
    is_on = source is not None and source.resource.kind == _HYPERCONVERGED
    return Existing(None if claim is None else claim.body, True if is_on else None)
