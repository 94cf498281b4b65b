"""Stages that ask what the validating webhooks would say of a VM, and of the VMI that it starts.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/vms-admitter.go, vmi-create-admitter.go.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property

from render.admission import metadata as api_server
from render.admission import order
from render.admission.checks import Check, Subject
from render.admission.order import CheckScope
from render.diagnostics.cause import Cause
from render.diagnostics.codes import METADATA_REFUSED, of_check
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity, at
from render.kubevirt.instancetype import applied_template, fill_zeros
from render.machine import (
    CONFIGURATION,
    Context,
    Decided,
    Machine,
    SettingsSource,
    ref_of,
    setting,
)
from render.model import tree
from render.model.catalogue import Definition
from render.model.cluster_config import builtin
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.release import VERSIONS, Version, minor
from render.model.resource import TEMPLATE, VM, VMI, Resource
from render.model.tree import Tree
from render.rules import Edit

#: The metadata of an object that come from the template that it is made of.
_COPIED = ("labels", "annotations")
_OBJECT_META = Check(METADATA_REFUSED.slug, lambda _: ())
_NEVER_STARTS = "the VM is admitted, but KubeVirt refuses its VMI at every start"


def _subject(machine: Machine, kind: str, template: Tree, root: FieldPath) -> Subject:
    context = machine.context
    spec, metadata = template.get("spec") or {}, template.get("metadata") or {}
    vm, vm_root = (machine.spec, ("spec",)) if kind == VM else ({}, ())
    # By position: names take twice as long.
    return Subject(
        kind, spec, metadata, root, context.config, context.release, vm, vm_root, machine.namespace
    )


def admit_vm(machine: Machine) -> None:
    """What the VM's own webhook refuses; nothing where it gets no further than definitions and defaults."""
    checked = applied_template(machine)
    if checked is None:
        return
    subject = _subject(machine, VM, checked.vmi, (*TEMPLATE, "spec"))
    metadata = machine.vm.get("metadata") if machine.resource.holders else None
    causes = [*_refused_metadata(metadata), *order.causes(subject)]
    if causes:
        _report(machine, subject, checked.decided, causes)


def _refused_metadata(metadata: Tree | None) -> Iterator[tuple[Check, Cause]]:
    """What the API server refuses of an object that a controller creates, whose name it chooses."""
    copied = {key: metadata[key] for key in _COPIED if metadata.get(key)} if metadata else {}
    if copied:
        yield from ((_OBJECT_META, cause) for cause in api_server.refusals(copied))


def check_schema(machine: Machine) -> None:
    """What the schema refuses beyond what decoding has refused already."""
    if machine.template:
        subject = _subject(machine, VM, machine.spec.get("template") or {}, machine.vmi_path)
    else:
        subject = _subject(machine, VMI, machine.vm, machine.vmi_path)
    _report(machine, subject, (), order.causes(subject, "schema"))


def admit_vmi(machine: Machine) -> None:
    """What the webhook of the VMI refuses: of a bare one with its presets, or of the one that a VM would start."""
    checked = None if machine.merged or not machine.template else applied_template(machine)
    scope: CheckScope = "all" if not checked else _started(machine)
    if checked and scope == "started" and _is_plain(checked.vmi["spec"]):
        subject = _subject(machine, VMI, checked.vmi, ("spec",))
        scope = "unchanged"
    else:
        from render.defaults.vmi import fill_vmi

        draft = Draft(machine.vmi)
        if not fill_zeros(machine, draft, len(machine.template)):
            return
        error = fill_vmi(draft, machine.context.config, machine.context.release)
        if error:
            machine.refuse_network(error)
            return
        subject = _subject(machine, VMI, draft.tree, ("spec",))
    # One that is sent as it is was looked at when it was read.
    is_made = bool(machine.template or machine.resource.holders)
    metadata = subject.metadata if is_made else None
    causes = [*_refused_metadata(metadata), *order.causes(subject, scope)]
    if causes:
        _report(machine, subject, machine.decided, causes)


def _started(machine: Machine) -> CheckScope:
    """The concerns to ask again of a VMI whose VM has been asked."""
    added = machine.additions
    if machine.preference is None or not any(added):
        return "started"
    # What is added to a VMI before its preference is applied is added to a VM after that.
    return "all"


#: What the defaults of a VMI, or its own rules, have a say in.
_DEVICES = frozenset({"watchdog", "video", "sound"})
_FEATURES = frozenset({"hyperv", "hypervPassthrough"})
_DISK = frozenset({"cdrom", "lun", "blockSize", "dedicatedIOThread"})
_VOLUME = frozenset({"containerPath", "downwardMetrics"})


def _is_plain(spec: Tree) -> bool:
    """Whether the VMI of a VM with this *spec* has nothing that its defaults could spoil."""
    if spec.get("architecture") != "amd64":
        return False
    domain = spec["domain"]
    devices = domain["devices"]
    if not _DEVICES.isdisjoint(devices) or not _FEATURES.isdisjoint(domain.get("features") or ()):
        return False
    for disk in devices.get("disks") or ():
        if not _DISK.isdisjoint(disk) or (disk.get("disk") or {}).get("readonly"):
            return False
    return all(map(_VOLUME.isdisjoint, spec.get("volumes") or ()))


def _report(
    machine: Machine,
    subject: Subject,
    decided: tuple[Decided, ...],
    causes: Iterable[tuple[Check, Cause]],
) -> None:
    """One finding a cause, where it stands in the object that was written."""
    is_started = subject.kind == VMI and machine.template
    above = TEMPLATE if is_started else ()
    known = {(diagnostic.check, diagnostic.location.path) for diagnostic in machine.diagnostics}
    alternatives = Alternatives(subject, machine.context)
    refused = _RefusedPlaces(machine)
    printed = _refused_as_printed(machine) if is_started else frozenset()
    for check, cause in causes:
        path = (*above, *cause.path) if cause.path else ()
        place = (*above, *cause.place) if cause.place else path
        # A VMI has the faults of its VM too, in other words.
        if (cause.check, path) not in known and not refused.explains(check, place):
            diagnostic = finding(
                machine.resource,
                alternatives,
                check,
                cause._replace(
                    path=path, place=place, fixes=tuple(fix.below(above) for fix in cause.fixes)
                ),
                tuple(_writers(machine, subject, decided, place)),
            )
            is_printed = cause.check in printed and _touching(decided, _inner(machine, place))
            lead = _NEVER_STARTS if is_started and not is_printed else ""
            cure = "; ".join(filter(None, (lead, diagnostic.help)))
            machine.diagnostics.append(diagnostic._replace(help=cure))
            refused.add(machine.diagnostics[-1])


class _RefusedPlaces:
    """Where the findings of a *machine* are that others may only follow from."""

    __slots__ = ("_above", "_at", "_has_template")

    def __init__(self, machine: Machine) -> None:
        self._has_template = bool(machine.template)
        self._at: dict[str, set[FieldPath]] = {}
        self._above: dict[str, set[FieldPath]] = {}
        for diagnostic in machine.diagnostics:
            self.add(diagnostic)

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep where *diagnostic* is."""
        if self._has_template and diagnostic.check:
            path = (diagnostic.position or diagnostic.location).path
            self._at.setdefault(diagnostic.check, set()).add(path)
            above = (path[:size] for size in range(len(path) + 1))
            self._above.setdefault(diagnostic.check, set()).update(above)

    def explains(self, check: Check, place: FieldPath) -> bool:
        """Whether what *check* says of *place* only follows from an earlier finding: one place holds the other."""
        return any(
            place in self._above[followed]
            or any(place[:size] in self._at[followed] for size in range(len(place) + 1))
            for followed in check.follows
            if followed in self._at
        )


class Alternatives:
    """What other releases and settings would make of a *subject*, as far as it is unknown which are in force."""

    def __init__(self, subject: Subject, context: Context) -> None:
        self.subject = subject
        is_full = context.settings.admission == "full"
        self.settings_are_assumed = is_full and context.config.is_assumed
        self.release_is_assumed = is_full and context.release_is_assumed
        source = context.config_source
        self._in_release = source.in_release if source else builtin
        self._source = source
        self._refusing: dict[str, tuple[Version, ...]] = {}

    @cached_property
    def _in_releases(self) -> dict[Version, Subject]:
        """The subject in each release, with the settings that hold there."""
        return {
            release: self.subject._replace(release=release, config=self._in_release(release))
            for release in VERSIONS
        }

    def setting(self, needs: str) -> Related | None:
        """What the cluster says of the setting that a check *needs*; None where nobody sets anything."""
        source = self._source
        if source is None or not needs:
            return None
        gate = needs.removeprefix("gate ")
        if gate != needs:
            return _gate(source, gate)
        architecture = (
            self.subject.spec.get("architecture") or self.subject.config.default_architecture
        )
        return source.says((needs,)) or source.says(
            ("architectureConfiguration", architecture, needs)
        )

    def cure(self, text: str) -> str:
        """*text*, the cure of a cause, as it is to be done in this cluster."""
        if self._source is None or self._source.resource.kind != "HyperConverged":
            return text
        from render.convert.hyperconverged.cures import in_hyperconverged

        return in_hyperconverged(text, self.subject.release)

    def refusing(self, check: Check, name: str) -> tuple[Version, ...]:
        """The releases that refuse the subject by the check of that *name*, where it is unknown which one runs.

        *check* has found it in one. Nothing where they all do.
        """
        if not self.release_is_assumed:
            return ()
        if name not in self._refusing:
            releases = tuple(
                release
                for release, subject in self._in_releases.items()
                if order.refuses(subject, check, name)
            )
            self._refusing[name] = () if len(releases) == len(VERSIONS) else releases
        return self._refusing[name]


_DEVELOPER = ("developerConfiguration",)


def _gate(source: SettingsSource, gate: str) -> Related:
    """Where the cluster says whether a feature gate is on."""
    for key, verb in (("featureGates", "enables"), ("disabledFeatureGates", "disables")):
        names = tree.get(source.kubevirt, *CONFIGURATION, *_DEVELOPER, key) or []
        if gate in names:
            place = source.place((*_DEVELOPER, key, names.index(gate)))
            return Related(f"{source.resource.ref} {verb} the feature gate {gate}", place)
    place = source.place((*_DEVELOPER, "featureGates"))
    return Related(f"{source.resource.ref} does not enable the feature gate {gate}", place)


def finding(
    resource: Resource,
    alternatives: Alternatives,
    check: Check,
    cause: Cause,
    writers: tuple[Related, ...] = (),
) -> Diagnostic:
    """What is said of *cause*; its position is that of the first of *writers*, who wrote the value, if any."""
    code = of_check(cause.check)
    place = cause.place or cause.path
    position = at(resource, place) if place != cause.path else None
    if writers:
        position = writers[0].location
    message, severity = cause.message, code.severity
    setting = alternatives.setting(check.needs)
    related = writers if setting is None or setting in writers else (*writers, setting)
    releases = alternatives.refusing(check, cause.check)
    if check.needs and alternatives.settings_are_assumed:
        severity = Severity.WARNING
        message = f"{message} ({check.needs} decides, and nothing in the input says what it is)"
    elif releases:
        severity = Severity.WARNING
        release_names = ", ".join(map(minor, releases))
        message = (
            f"{message} (by KubeVirt {release_names} alone, and nothing says which release runs)"
        )
    # What another object brought is not mended in this one; what only some cluster refuses was a VMI elsewhere.
    is_certain = severity is code.severity
    fixes = () if writers else cause.fixes
    return Diagnostic(
        code.number,
        severity,
        message,
        at(resource, cause.path),
        related,
        alternatives.cure(cause.help),
        cause.check,
        position,
        tuple(fix._replace(safe=fix.safe and is_certain) for fix in fixes),
    )


def _writers(
    machine: Machine, subject: Subject, decided: tuple[Decided, ...], path: FieldPath
) -> Iterator[Related]:
    """Who wrote the value at *path* of the VM, if not its author."""
    if not path or tree.get(machine.raw, *path) is not None:
        return
    inner = _inner(machine, path)
    touching = _touching(decided, inner)
    if touching:
        # A structure may come from one field, and what is in it from another.
        definition, edit = max(touching, key=lambda pair: min(len(pair[1].path), len(inner)))
        yield setting(definition, edit.source)
        return
    for provenance in machine.provenance:
        is_of_preset = provenance.source and provenance.position is not None
        if is_of_preset and _touches(provenance.field, path):
            for definition in filter(None, (machine.instancetype, machine.preference)):
                if ref_of(definition) == provenance.source:
                    yield setting(definition, provenance.source_field)
                    return
            place = Location(
                resource=provenance.source, path=provenance.source_field, index=provenance.position
            )
            field = ".".join(map(str, provenance.source_field))
            yield Related(f"{provenance.source} sets {field}", place)
            return
    source = machine.context.config_source
    if source is not None and inner and not _is_of_list(machine, path):
        value, architecture = subject.get(*inner[1:]), subject.spec.get("architecture") or ""
        decided_by = source.deciding(inner, value, architecture)
        related = source.says(decided_by) if decided_by else None
        if value is not None and related is not None:
            yield related


def _inner(machine: Machine, path: FieldPath) -> FieldPath:
    """*path* in the VMI; nothing of what is in the VM around it."""
    size = len(machine.template)
    return path[size:] if path[:size] == machine.template else ()


def _touching(decided: Iterable[Decided], path: FieldPath) -> list[tuple[Definition, Edit]]:
    """The edits that wrote *path* of the VMI, each with its definition."""
    return [
        (definition, edit)
        for definition, edits in decided
        for edit in edits
        if path and _touches(edit.path, path)
    ]


def _refused_as_printed(machine: Machine) -> frozenset[str]:
    """The checks that refuse the VM itself, where it is printed with what its definitions say."""
    if machine.context.settings.emit != "vm":
        return frozenset()
    printed = _subject(machine, VM, machine.vmi, (*TEMPLATE, "spec"))
    return frozenset(cause.check for _, cause in order.causes(printed))


def _is_of_list(machine: Machine, path: FieldPath) -> bool:
    """Whether *path* is in a list of the author's, so that only entries of it lack something."""
    lists = (path[:end] for end, step in enumerate(path) if isinstance(step, int))
    return any(tree.get(machine.raw, *list_path) for list_path in lists)


def _touches(written: FieldPath, path: FieldPath) -> bool:
    """Whether one of two places holds the other."""
    size = min(len(written), len(path))
    return written[:size] == path[:size]
