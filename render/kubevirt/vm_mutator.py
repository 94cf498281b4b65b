"""Stages of the VM mutating webhook: matchers, inference, defaults on creation.

Upstream: pkg/virt-api/webhooks/mutating-webhook/mutators/vm-mutator.go, pkg/instancetype/webhooks/vm.
"""

from render.admission import matchers
from render.defaults.vm import (
    architecture_of_sources,
    fill_storage_class,
    fill_template,
    stable_identity,
)
from render.diagnostics.codes import (
    DEPRECATED_FIELD,
    INFERENCE_FAILED,
    INFERENCE_IGNORED,
    INVALID_MATCHER,
    NO_STABLE_IDENTITY,
)
from render.diagnostics.diagnostic import Related, at
from render.kubevirt.instancetype import definition_of
from render.machine import Machine, place_in, ref_of
from render.model import tree
from render.model.catalogue import Catalogue, Definition
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING
from render.model.kinds import INSTANCETYPE, KIND_CLASSES, PREFERENCE, KindClass
from render.model.resource import CDI, TEMPLATE
from render.model.tree import Tree

if TYPE_CHECKING:
    from render.resolve.infer import Failed

#: Among so many objects it is not looked for one of nearly a name.
_MANY = 1000


def check_running(machine: Machine) -> None:
    """Warn of ``running``, which ``runStrategy`` replaces."""
    running = machine.spec.get("running")
    if running is not None:
        from render.convert import successors

        cure = f"write runStrategy: {'Always' if running else 'Halted'}"
        machine.report(
            DEPRECATED_FIELD,
            ("spec", "running"),
            "spec.running is deprecated, please use spec.runStrategy instead.",
            help=cure if machine.spec.get("runStrategy") is None else "drop spec.running",
            fixes=successors.fixes(machine.resource, machine.context.release, ("spec", "running")),
        )


def check_matchers(machine: Machine) -> None:
    """Refuse malformed matchers; the webhook answers with all causes in one text."""
    causes = matchers.causes(machine.spec, machine.context.release)
    if causes:
        machine.report(
            INVALID_MATCHER,
            causes[0].path,
            ", ".join(cause.message for cause in causes),
            *(Related(cause.message, at(machine.resource, cause.path)) for cause in causes[1:]),
            help="write Reject or Ignore"
            if causes[0].path[-1] == "inferFromVolumeFailurePolicy"
            else "a matcher has a name (and perhaps a kind), or inferFromVolume alone",
        )


def infer_matchers(machine: Machine) -> None:
    """Replace ``inferFromVolume`` by what the labels of the volume's source name."""
    for kind_class in KIND_CLASSES:
        matcher = machine.spec.get(kind_class.word)
        if matcher and matcher.get("inferFromVolume") and not machine.failed:
            _infer(machine, kind_class, matcher)


def _infer(machine: Machine, kind_class: KindClass, declared: Tree) -> None:
    volume = declared["inferFromVolume"]
    path = ("spec", kind_class.word, "inferFromVolume")
    from render.resolve import infer

    result = infer.infer(
        kind_class,
        volume,
        machine.spec,
        machine.namespace,
        machine.context.catalogue,
        machine.context.release,
    )
    draft = Draft(machine.vm)
    ignore = declared.get("inferFromVolumeFailurePolicy") == "Ignore"
    if isinstance(result, infer.Inferred):
        if ignore and kind_class is INSTANCETYPE:
            # The whole block goes, hugepages included.
            draft.remove((*TEMPLATE, "spec", "domain", "memory"))
        matcher = {"name": result.name, "kind": result.kind}
        draft.put(("spec", kind_class.word), {key: text for key, text in matcher.items() if text})
    elif result.ignorable and ignore:
        draft.remove(("spec", kind_class.word))
        machine.report(
            INFERENCE_IGNORED,
            path,
            f"{result.message}; the failure policy is Ignore, so the VM has no {kind_class.word}",
        )
    else:
        machine.report(
            INFERENCE_FAILED, path, result.message, help=_inference_help(machine, volume, result)
        )
    machine.vm = draft.tree


def _inference_help(machine: Machine, volume: str, failed: "Failed") -> str:
    from render.model.nearest import did_you_mean

    if failed.missing is None:
        volumes = tree.get(machine.spec, *TEMPLATE[1:], "spec", "volumes") or ()
        names = [each.get("name") or "" for each in volumes]
        cure = "name the object instead, or label the volume's source"
        return cure if volume in names else did_you_mean(volume, names, cure)
    _, kind, namespace, name = failed.missing
    where = f"{namespace}/{name}" if namespace else name
    meant = _meant(machine.context.catalogue, failed.missing)
    return f"did you mean {meant}? " * bool(meant) + (
        f"{'else ' if meant else ''}add the {kind} {where} to the input (its labels are enough), or name the object"
        " instead of inferFromVolume"
    )


def _meant(catalogue: Catalogue, missing: tuple[str, str, str, str]) -> str:
    """The object that is there and that *missing* is but for a slip, or for its namespace alone; ``""`` for none."""
    from render.model.nearest import is_slip

    group, kind, namespace, name = missing
    kinds = [(group, kind)]
    if kind == "PersistentVolumeClaim":
        kinds.append((CDI, "DataVolume"))
    known = {identity for each in kinds for identity in catalogue.names(*each)}
    if len(known) > _MANY:
        return ""
    near = [other for scope, other in known if scope == namespace and is_slip(name, other)]
    if len(near) == 1:
        return near[0]
    elsewhere = [scope for scope, other in known if other == name]
    return f"{elsewhere[0]}/{name}" if len(elsewhere) == 1 else ""


def set_defaults(machine: Machine) -> None:
    """What the mutating webhook writes into a new VM; a preference that is not found counts as none."""
    preference = definition_of(machine, PREFERENCE)
    wanted = preference.spec if isinstance(preference, Definition) else None
    draft = Draft(machine.vm)
    templates = machine.spec.get("dataVolumeTemplates")
    catalogue, release = machine.context.catalogue, machine.context.release

    def data_source(namespace: str, name: str) -> Tree | None:
        resource = catalogue.find(CDI, "DataSource", namespace, name)
        return resource.body if resource else None

    architecture = ""
    if templates:
        filled = fill_storage_class(templates, wanted)
        if filled is not templates:
            draft.put(("spec", "dataVolumeTemplates"), filled)
        architecture = architecture_of_sources(templates, machine.namespace, data_source, release)
    template = machine.draft(machine.spec.get("template") or {})
    if machine.context.settings.firmware_uuid == "stable":
        _identify(machine, template)
    fill_template(template, wanted, machine.context.config, architecture, release)
    machine.record_defaults(template)
    if isinstance(preference, Definition) and machine.context.traced:
        _record_preferred(machine, preference)
    draft.put(TEMPLATE, template.tree)
    machine.vm = draft.tree


#: What the webhook takes from a preference before the rules do: field of the template, and of the preference.
PREFERRED: tuple[tuple[FieldPath, FieldPath], ...] = (
    (("spec", "architecture"), ("preferredArchitecture",)),
    (("spec", "domain", "machine", "type"), ("machine", "preferredMachineType")),
)


def _record_preferred(machine: Machine, preference: Definition) -> None:
    """Remember which defaults the *preference* gave instead of KubeVirt."""
    for index, provenance in enumerate(machine.provenance):
        for field, source in PREFERRED:
            if provenance.field == (*TEMPLATE, *field) and tree.get(preference.spec, *source):
                place = place_in(preference, source)
                machine.provenance[index] = provenance._replace(
                    source=ref_of(preference), source_field=source, position=place.index, decider=""
                )


def _identify(machine: Machine, template: Draft) -> None:
    if machine.resource.holder is not None and machine.context.settings.emit not in ("vmi", "pod"):
        machine.report(
            NO_STABLE_IDENTITY,
            ("spec", "template"),
            "each VM of a pool has a name of its own, so no firmware uuid and serial stand in their template",
            help="KubeVirt gives each VM its own; leave out --firmware-uuid stable where there are only pools",
        )
        return
    if machine.resource.name:
        stable_identity(template, machine.namespace, machine.resource.name)
        return
    machine.report(
        NO_STABLE_IDENTITY,
        ("metadata", "generateName"),
        "the cluster makes up the name, so no firmware uuid and serial follow from it",
        help="name the VM, or leave out --firmware-uuid stable",
    )
