"""What KubeVirt's webhook refuses of the labels and annotations of a VMI, or of a template of one.

Upstream: ValidateVirtualMachineInstanceMetadata in admitters/vmi-create-admitter.go. What the API server refuses of any
object's metadata is `render.admission.metadata`.
"""

from collections.abc import Iterable, Iterator

from render.admission.checks import Check, Evaluate, Subject, Violation
from render.model import fieldpath
from render.model.apimachinery.go import atoi, quoted
from render.model.fieldpath import FieldPath
from render.model.release import Windowed, until

_RESERVED = frozenset(
    f"kubevirt.io/{name}"
    for name in (
        "created-by",
        "migrationJobUID",
        "nodeName",
        "migrationTargetNodeName",
        "schedulable",
        "install-strategy",
    )
)
_THREADS = "kubevirt.io/multiThreadedQemuMigration"
#: Of replica sets only the spec is checked.
_KINDS = ("VirtualMachine", "VirtualMachinePool", "VirtualMachineInstance")


def _at(subject: Subject, *path: str) -> FieldPath:
    """The place of *path* in the metadata, which stand beside the VMI spec."""
    return (*subject.root[:-1], "metadata", *path)


def _labels(subject: Subject) -> Iterable[Violation]:
    reserved = _RESERVED & (subject.metadata.get("labels") or {}).keys()
    if not reserved:
        return ()
    message = "creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited"
    cure = f"leave {', '.join(sorted(reserved))} out: KubeVirt sets it"
    place = _at(subject, "labels", min(reserved))
    return (Violation(_at(subject, "labels"), message, cure, place=place),)


def _gated(rule: str, annotation: str, gate: str, message: str) -> Check:
    """An annotation that takes effect only with a feature gate."""

    def evaluate(subject: Subject) -> Iterable[Violation]:
        annotations = subject.metadata.get("annotations")
        if not annotations or not annotations.get(annotation) or subject.has_gate(gate):
            return ()
        reported_path = _at(subject, "annotations")
        text = f"{message}, invalid entry {fieldpath.text(reported_path)}.{annotation}"
        cure = f"enable the feature gate {gate} in the KubeVirt CR, or leave the annotation out"
        return (Violation(reported_path, text, cure, place=(*reported_path, annotation)),)

    return Check(rule, evaluate, needs=f"gate {gate}", only=_KINDS)


def _migration_threads(subject: Subject) -> Iterator[Violation]:
    count = (subject.metadata.get("annotations") or {}).get(_THREADS)
    if count is None:
        return
    reported_path = _at(subject, "annotations")
    entry = f"invalid entry {fieldpath.text(reported_path)}.{_THREADS}"
    number = atoi(count)
    if isinstance(number, str):
        message = (
            f"cannot parse {count} to int: strconv.Atoi: parsing {quoted(count)}: {number}, {entry}"
        )
    elif number <= 1:
        message = f"thread count ({count}) must be larger than 1. {entry}"
    else:
        return
    cure = "name at least two threads, or leave the annotation out"
    yield Violation(reported_path, message, cure, place=(*reported_path, _THREADS))


def _check(rule: str, evaluate: Evaluate) -> Check:
    return Check(rule, evaluate, only=_KINDS)


CHECKS: tuple[Check | Windowed[Check], ...] = (
    _check("metadata/reserved-label", _labels),
    _gated(
        "metadata/ignition",
        "kubevirt.io/ignitiondata",
        "ExperimentalIgnitionSupport",
        "ExperimentalIgnitionSupport feature gate is not enabled in kubevirt-config",
    ),
    _gated(
        "metadata/sidecar",
        "hooks.kubevirt.io/hookSidecars",
        "Sidecar",
        "sidecar feature gate is not enabled in kubevirt-config",
    ),
    until("1.5", _check("metadata/migration-threads", _migration_threads)),
)
