"""DataVolumeTemplates: one target, one source, used by a volume.

Upstream: pkg/storage/admitters/data-volume-template.go.
"""

from collections.abc import Iterator
from functools import partial

from render.admission import faults
from render.admission.checks import Check, Subject, Violation
from render.diagnostics.cause import Cause
from render.model import fieldpath, tree
from render.model.fieldpath import FieldPath
from render.model.release import since, until
from render.model.tree import Tree

_HOLDERS = ("VirtualMachine", "VirtualMachinePool")


def _fault(
    template: Tree, field: FieldPath, *, populators: bool
) -> tuple[str, FieldPath, str, str] | None:
    """The rule that *template* breaks, the field below it, KubeVirt's text, and what to do.

    *populators*: whether a target that something else fills needs no source.
    """
    spec = template.get("spec") or {}
    if not tree.get(template, "metadata", "name"):
        entry = fieldpath.text((*field, "name"))
        text = f"'name' field must not be empty for DataVolumeTemplate entry {entry}."
        return "name", ("name",), text, "give the template a metadata.name"
    pvc, storage = spec.get("pvc"), spec.get("storage")
    if pvc is None and storage is None:
        text = "Missing Data volume PVC or Storage"
        return "target", ("PVC", "Storage"), text, "say how large it is under spec.storage"
    if pvc is not None and storage is not None:
        text = "Duplicate storage definition, both target storage and target pvc defined"
        return "target", ("PVC", "Storage"), text, "keep spec.storage and drop spec.pvc"
    target = storage or pvc or {}
    populated = target.get("dataSource") is not None or target.get("dataSourceRef") is not None
    source, reference = spec.get("source"), spec.get("sourceRef")
    if populated and not (source is None and reference is None):
        text = "External population is incompatible with Source and SourceRef"
        return "source", ("source",), text, "drop the dataSource of the target, or the source"
    if not (populated and populators) and source is None and reference is None:
        text = "Data volume should have either Source, SourceRef, or be externally populated"
        return (
            "source",
            ("source", "sourceRef"),
            text,
            "add a source (`blank: {}` for an empty disk)",
        )
    if source is None or len(source) == 1:
        return None
    text = "Multiple dataVolume sources" if source else "Missing dataVolume valid source"
    return "source", ("source",), text, "name exactly one source"


def _templates(subject: Subject, *, populators: bool) -> Iterator[Cause]:
    templates = subject.vm.get("dataVolumeTemplates")
    if not templates:
        return
    used = {
        name: None
        for volume in subject.spec.get("volumes") or ()
        for source, key in (("dataVolume", "name"), ("persistentVolumeClaim", "claimName"))
        if (name := (volume.get(source) or {}).get(key))
    }
    made = {tree.get(template, "metadata", "name") for template in templates}
    unmade = [name for name in used if name not in made]
    for index, template in enumerate(templates):
        field = (*subject.vm_root, "dataVolumeTemplate", index)
        place = (*subject.vm_root, "dataVolumeTemplates", index)
        fault = _fault(template, field, populators=populators)
        if fault is not None:
            rule, below, text, cure = fault
            name = f"data-volume-templates/{rule}"
            yield Cause(name, (*field, *below), text, cure, place=place)
        elif template["metadata"]["name"] not in used:
            text = (
                f"DataVolumeTemplate entry {fieldpath.text(field)} must be referenced in the VMI template's"
                " 'volumes' list"
            )
            name = template["metadata"]["name"]
            cure = faults.meant(name, unmade, f"add a volume with dataVolume.name: {name}")
            yield Cause("data-volume-templates/used", field, text, cure, place=place)


def _namespaces(subject: Subject) -> Iterator[Violation]:
    for index, template in enumerate(subject.vm.get("dataVolumeTemplates") or ()):
        namespace = (template.get("metadata") or {}).get("namespace")
        if namespace and namespace != subject.namespace:
            yield Violation(
                (*subject.vm_root, "dataVolumeTemplates", index),
                f"Embedded DataVolume namespace {namespace} differs from VM namespace {subject.namespace}",
                help="leave the namespace out: a template makes its DataVolume beside the VM",
            )


def _groups(subject: Subject) -> Iterator[Violation]:
    """References without a group, of which the mutating webhook makes ``apiGroup: null``."""
    for index, template in enumerate(subject.vm.get("dataVolumeTemplates") or ()):
        spec = template.get("spec") or {}
        for kind, key in _REFERENCES:
            reference = (spec.get(kind) or {}).get(key)
            if reference is not None and reference.get("apiGroup") is None:
                yield Violation(
                    (),
                    f'spec.dataVolumeTemplates.spec.{kind}.{key}.apiGroup in body must be of type string: "null"',
                    help='write the group, `apiGroup: ""` for a claim',
                    place=(*subject.vm_root, "dataVolumeTemplates", index, "spec", kind, key),
                )


_REFERENCES = tuple(
    (kind, key) for kind in ("pvc", "storage") for key in ("dataSource", "dataSourceRef")
)

CHECKS = (
    until(
        "1.5",
        Check("data-volume-templates", partial(_templates, populators=False), only=_HOLDERS),
    ),
    since(
        "1.5",
        Check("data-volume-templates", partial(_templates, populators=True), only=_HOLDERS),
    ),
    Check("data-volume-templates/namespace", _namespaces, only=("VirtualMachine",)),
    Check("data-volume-templates/group", _groups, only=("VirtualMachine",)),
)
