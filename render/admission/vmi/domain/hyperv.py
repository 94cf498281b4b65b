"""Hyper-V enlightenments (upstream: pkg/virt-api/webhooks/hyperv.go)."""

from collections.abc import Iterator

from render.admission.checks import Check, Subject, Violation
from render.diagnostics.cause import Cause
from render.model import fieldpath
from render.model.tree import Tree

_KINDS = ("VirtualMachineInstance",)
_HYPERV = ("domain", "features", "hyperv")
#: A feature, and what it requires, in the order of KubeVirt's messages.
_REQUIRES = (
    ("evmcs", "vapic"),
    ("ipi", "vpindex"),
    ("tlbflush", "vpindex"),
    ("synictimer", "synic"),
    ("synic", "vpindex"),
)
_EVMCS_FEATURE, _EVMCS_POLICY = "vmx", "require"
#: Of a VMI, the only kind of object that is asked (`_KINDS`).
_CPU_FEATURES = ("spec", "domain", "cpu", "features")


def _enabled(hyperv: Tree, name: str) -> bool:
    return bool((hyperv.get(name) or {}).get("enabled"))


def _requirements(subject: Subject) -> Iterator[Cause]:
    hyperv = subject.get(*_HYPERV)
    for name, needed in _REQUIRES:
        if _enabled(hyperv, name) and not _enabled(hyperv, needed):
            # QUIRK(hyperv.go): the path of the features stands twice in the field that is named.
            reported_path, other = (subject.at(*_HYPERV, *_HYPERV, key) for key in (name, needed))
            yield Cause(
                "hyperv/requires",
                reported_path,
                f"'{fieldpath.text(reported_path)}' requires '{fieldpath.text(other)}', which was disabled.",
                f"enable {needed}, or leave it out: KubeVirt enables it",
                place=subject.at(*_HYPERV, name),
            )
    evmcs = hyperv.get("evmcs")
    if evmcs is not None and evmcs.get("enabled", True):
        yield from _cpu_feature(subject)


def _cpu_feature(subject: Subject) -> Iterator[Cause]:
    features = subject.get("domain", "cpu", "features")
    if not features:
        message = f"{_EVMCS_FEATURE} cpu feature is required when evmcs is set"
        cure = f"add {{name: {_EVMCS_FEATURE}, policy: {_EVMCS_POLICY}}} to domain.cpu.features"
        yield Cause("hyperv/vmx", _CPU_FEATURES, message, cure)
    for index, feature in enumerate(features or ()):
        if feature.get("name") == _EVMCS_FEATURE and feature.get("policy", "") != _EVMCS_POLICY:
            message = f"{_EVMCS_FEATURE} cpu feature has to be set to {_EVMCS_POLICY} policy"
            path = (*_CPU_FEATURES, index, "policy")
            yield Cause("hyperv/vmx-policy", path, message, f"set policy: {_EVMCS_POLICY}")


def _passthrough(subject: Subject) -> Iterator[Violation]:
    if subject.get("domain", "features", "hypervPassthrough") is not None:
        yield Violation(
            subject.at(*_HYPERV),
            "Cannot explicitly set hyperV features if HypervPassthrough is being used. "
            "Please use either HyperV or HypervPassthrough.",
            "leave one of hyperv and hypervPassthrough",
        )


CHECKS: tuple[Check, ...] = (
    Check("hyperv", _requirements, where=_HYPERV, only=_KINDS),
    Check("hyperv/passthrough", _passthrough, where=_HYPERV, only=_KINDS),
)
