"""What the operator's own webhooks change, refuse, and warn about when a HyperConverged is created.

Upstream: pkg/webhooks/mutator and pkg/webhooks/validator of the hyperconverged-cluster-operator.
"""

import json
from collections.abc import Callable, Iterator

from render.convert.hyperconverged import fields, gates
from render.convert.hyperconverged.conversion import REPLACED
from render.convert.hyperconverged.desired import Desired, Setting
from render.diagnostics.cause import Cause
from render.model import fieldpath, tree
from render.model.apimachinery.duration import nanoseconds
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.model.release import Windowed, in_force, since, until
from render.model.tree import Tree


class Validated(NamedTuple):
    """What the validating webhook says: why it refuses, if it does, and its warnings.

    *stopped*: at a warning; what would have come after was not looked at.
    """

    cause: Cause | None
    warnings: tuple[str, ...]
    stopped: bool = False


def mutated(desired: Desired) -> Desired | Cause:
    """*desired* as the mutating webhook leaves it, or why it cannot."""
    desired = desired._replace(spec=tree.copy(desired.spec))
    for change in in_force(_CHANGES[desired.api_version], desired.release):
        cause = change(desired)
        if cause is not None:
            return cause
    return desired


def _fill_ksm(desired: Desired) -> None:
    path = fields.KSM.of(desired.api_version)
    if path is not None and desired.get(fields.KSM) is None:
        tree.put(desired.spec, path, {})


def _rename_types(desired: Desired) -> None:
    """``mediatedDevicesTypes`` is the old name of ``mediatedDeviceTypes``."""
    devices = desired.get(fields.MEDIATED) or {}
    for each in (devices, *(devices.get("nodeMediatedDeviceTypes") or ())):
        if each and each.get("mediatedDevicesTypes") and not each.get("mediatedDeviceTypes"):
            each["mediatedDeviceTypes"] = list(each["mediatedDevicesTypes"])


def _drop_high_burst(desired: Desired) -> None:
    if desired.get(fields.TUNING) == "highBurst":
        tree.remove(desired.spec, *(fields.TUNING.of(desired.api_version) or ()))


def _fill_from_gates(desired: Desired) -> Cause | None:
    for gate, setting, equal in REPLACED:
        enabled, path = gates.explicit(desired, gate), setting.v1
        if enabled is None or path is None:
            continue
        field = fieldpath.text(("spec", *path))
        value = desired.get(setting)
        if value is not None and (value is enabled) is not equal:
            rest = "the field" if equal else "the negative value of the field"
            text = (
                f"the deprecated {gate} feature gate, and {field} field contradict each other; "
                f"the feature gate must not be set, or should be equal to {rest}"
            )
            return _cause("gate-contradicts", ("spec", *path), text, f"take the gate {gate} out")
        if value is None:
            # QUIRK(pkg/webhooks/mutator/fg_to_fields.go): it adds the parents of the other two fields.
            if setting is fields.MULTI_ARCHITECTURE and path[0] not in desired.spec:
                text = f"add operation does not apply: doc is missing path: {path[0]}"
                help_text = f"set {field}, and take the gate {gate} out"
                return _cause("gate-without-parent", ("spec", "featureGates"), text, help_text)
            tree.put(desired.spec, path, enabled is equal)
    return None


Change = Callable[[Desired], Cause | None]
_CHANGES: dict[str, tuple[Change | Windowed[Change], ...]] = {
    "v1beta1": (since("1.7", _fill_ksm), _rename_types),
    "v1": (_fill_ksm, _drop_high_burst, since("1.9", _fill_from_gates)),
}


def _cause(check: str, path: FieldPath, message: str, help_text: str) -> Cause:
    return Cause(f"hyperconverged/{check}", path, message, help_text)


# QUIRK(pkg/webhooks/validator/validator.go): a warning is handed on like an error, and nothing else is looked at.
_STOPS_AT_WARNINGS: tuple[bool | Windowed[bool], ...] = (
    until("1.9", item=True),
    since("1.9", item=False),
)


def validated(desired: Desired) -> Validated:
    """What the validating webhook says about *desired* before it tries to write a KubeVirt resource."""
    stops = in_force(_STOPS_AT_WARNINGS, desired.release)[0]
    warnings: list[str] = []
    refused: Cause | None = None
    for check in in_force(_CHECKS[desired.api_version], desired.release):
        if refused is not None and check not in (_gate_warnings, _v1_gate_warnings):
            continue
        for finding in check(desired):
            if isinstance(finding, str):
                warnings.append(finding)
            else:
                refused = finding
                break
        if stops and (warnings or refused is not None):
            return Validated(refused, tuple(warnings), stopped=refused is None)
    return Validated(refused, tuple(warnings))


_CERTIFICATE = ("ca", "server")
_LEAST = 10 * 60 * 10**9


def _certificates(desired: Desired) -> Iterator[Cause]:
    config = desired.get(fields.CERTIFICATES) or {}
    start = ("spec", *(fields.CERTIFICATES.of(desired.api_version) or ()))
    length: dict[tuple[str, str], int] = {}
    for name in _CERTIFICATE:
        for key in ("duration", "renewBefore"):
            length[name, key] = nanoseconds(tree.get(config, name, key) or "0")
            if length[name, key] < _LEAST:
                text = f"spec.certConfig.{name}.{key}: value is too small"
                yield _cause("certificates", (*start, name, key), text, "give 10m or more")
    for name in _CERTIFICATE:
        if length[name, "duration"] < length[name, "renewBefore"]:
            text = f"spec.certConfig.{name}: duration is smaller than renewBefore"
            yield _cause("certificates", (*start, name), text, "renew before the certificate ends")
    if length["ca", "duration"] < length["server", "duration"]:
        text = "spec.certConfig: ca.duration is smaller than server.duration"
        yield _cause("certificates", start, text, "let the authority live longer than the server")


_ENABLED = "dataimportcrontemplate.kubevirt.io/enable"


def _image_templates(desired: Desired) -> Iterator[Cause]:
    start = ("spec", *(fields.IMAGE_TEMPLATES.of(desired.api_version) or ()))
    for index, template in enumerate(desired.get(fields.IMAGE_TEMPLATES) or ()):
        annotation = tree.get(template, "metadata", "annotations", _ENABLED)
        if annotation is not None and annotation.lower() not in ("true", "false"):
            text = f'the {_ENABLED} annotation of a dataImportCronTemplate must be either "true" or "false"'
            yield _cause("image-templates", (*start, index), text, "write true or false, in quotes")
        elif (annotation or "true").lower() == "true" and template.get("spec") is None:
            text = "dataImportCronTemplate spec is empty for an enabled DataImportCronTemplate"
            yield _cause("image-templates", (*start, index), text, "add the spec")


_HTTP2 = {"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"}
_HTTP2_TEXT = (
    "http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher (need at least "
    "one of ECDHE-RSA-AES128-GCM-SHA256 or ECDHE-ECDSA-AES128-GCM-SHA256)"
)


def _tls_path(desired: Desired) -> FieldPath:
    return ("spec", *(fields.TLS_PROFILE.of(desired.api_version) or ()), "custom")


def _tls_custom(desired: Desired) -> Iterator[Cause]:
    profile = desired.get(fields.TLS_PROFILE) or {}
    if profile.get("type") == "Custom" and profile.get("custom") is None:
        text = "missing required field spec.tlsSecurityProfile.custom when type is Custom"
        yield _cause("tls-profile", _tls_path(desired), text, "add custom, or take another type")


def _tls(desired: Desired) -> Iterator[Cause]:
    custom = desired.get(fields.TLS_PROFILE, "custom")
    if custom is None:
        return
    path = _tls_path(desired)
    least, ciphers = custom.get("minTLSVersion"), custom.get("ciphers") or []
    if least is None:
        text = "invalid value for spec.tlsSecurityProfile.custom.minTLSVersion"
        message = f'{text}: ""' if desired.api_version == "v1" else text
        yield _cause("tls-profile", path, message, "add minTLSVersion")
    elif least != "VersionTLS13" and not _HTTP2 & set(ciphers):
        yield _cause("tls-profile", path, _HTTP2_TEXT, "add one of the two")
    elif least == "VersionTLS13" and ciphers:
        text = "custom ciphers cannot be selected when minTLSVersion is VersionTLS13"
        yield _cause("tls-profile", path, text, "take the ciphers out")


def _mediated_types(desired: Desired) -> Iterator[Cause]:
    config = desired.get(fields.MEDIATED) or {}
    start: FieldPath = ("spec", "mediatedDevicesConfiguration")
    nodes = enumerate(config.get("nodeMediatedDeviceTypes") or ())
    each = [(start, config), *(((*start, "nodeMediatedDeviceTypes", i), node) for i, node in nodes)]
    for path, configured in each:
        old, new = configured.get("mediatedDevicesTypes"), configured.get("mediatedDeviceTypes")
        if old and new and old != new:
            text = "mediatedDevicesTypes is deprecated, please use mediatedDeviceTypes instead"
            yield _cause("mediated-types", path, text, "take mediatedDevicesTypes out")


def _high_burst(desired: Desired) -> Iterator[str]:
    if desired.get(fields.TUNING) == "highBurst":
        yield (
            "spec.tuningPolicy: the highBurst profile is deprecated as of v1.16.0 and will be removed in a "
            "future release"
        )


class GateWarning(NamedTuple):
    """What the webhook says where a gate of v1beta1 is there, on or off."""

    gate: str
    text: str


def _ignored(gate: str) -> GateWarning:
    rest = "is deprecated and ignored. It will be removed in a future version;"
    return GateWarning(gate, f"spec.featureGates.{gate} {rest}")


def _moved(gate: str) -> GateWarning:
    rest = (
        f"is deprecated and ignored. It will removed in a future version; use spec.{gate} instead"
    )
    return GateWarning(gate, f"spec.featureGates.{gate} {rest}")


def _replaced(gate: str, setting: Setting) -> GateWarning:
    field = fieldpath.text(("spec", *(setting.v1 or ())))
    rest = (
        f"is deprecated. Use {field} in the v1 API instead; it will be removed in a future version."
    )
    return GateWarning(gate, f"spec.featureGates.{gate} {rest}")


_MOVED = ("enableApplicationAwareQuota", "enableCommonBootImageImport", "deployVmConsoleProxy")
_GATE_WARNINGS: tuple[GateWarning | Windowed[GateWarning], ...] = (
    _ignored("withHostPassthroughCPU"),
    _ignored("deployTektonTaskResources"),
    _ignored("nonRoot"),
    _ignored("enableManagedTenantQuota"),
    *(since("1.9", _replaced(gate, setting)) for gate, setting, _ in REPLACED),
    *(since("1.5", _moved(gate)) for gate in _MOVED),
)


def _gate_warnings(desired: Desired) -> Iterator[str]:
    feature_gates = desired.spec.get("featureGates") or {}
    rows: tuple[GateWarning, ...] = in_force(_GATE_WARNINGS, desired.release)
    yield from (text for gate, text in rows if gate in feature_gates)


def _v1_gate_warnings(desired: Desired) -> Iterator[str]:
    feature_gates = desired.spec.get("featureGates") or []
    for name in sorted({gate["name"] for gate in feature_gates}):
        phase = gates.phase_of(name, desired.release)
        if phase is None:
            yield f"the {name} featureGate is unknown and ignored."
        elif phase == "deprecated":
            yield f"the {name} featureGate is deprecated and will be removed in a future release."
        elif phase == "ignored" and name in _MOVED:
            yield f"the {name} featureGate is deprecated and ignored. use spec.{name} field instead"
        elif phase == "ignored":
            yield f"the {name} featureGate deprecated and ignored."


_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def _affinity(desired: Desired) -> Iterator[Cause]:
    for name, setting in (("workloads", fields.WORKLOADS), ("infra", fields.INFRA)):
        steps = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
        start = ("spec", *(setting.of(desired.api_version) or ()), *steps)
        terms = desired.get(setting, *steps, "nodeSelectorTerms")
        problems = [
            problem
            for index, term in enumerate(terms or ())
            for kind in ("matchExpressions", "matchFields")
            for number, requirement in enumerate(term.get(kind) or ())
            for problem in _requirement(f"nodeSelectorTerms[{index}].{kind}[{number}]", requirement)
        ]
        if problems:
            detail = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
            text = f"invalid {name} node placement affinity: {detail}"
            yield _cause("affinity", start, text, "correct the requirement")


def _requirement(path: str, requirement: Tree) -> Iterator[str]:
    """What is wrong with one requirement of a node selector term."""
    operator = requirement.get("operator")
    values: list[Any] = requirement.get("values") or []
    literal = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    wrong = f"{path}.values: Invalid value: {literal}:"
    if operator not in _OPERATORS:
        listed = ", ".join(f'"{each}"' for each in _OPERATORS)
        yield f'{path}.operator: Unsupported value: "{operator}": supported values: {listed}'
    elif operator in ("In", "NotIn") and not values:
        yield f"{wrong} for 'in', 'notin' operators, values set can't be empty"
    elif operator in ("Exists", "DoesNotExist") and values:
        yield f"{wrong} values set must be empty for exists and does not exist"
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield f"{wrong} for 'Gt', 'Lt' operators, exactly one value is required"
        elif not _INTEGER.fullmatch(values[0]):
            text = "for 'Gt', 'Lt' operators, the value must be an integer"
            yield f'{path}.values[0]: Invalid value: "{values[0]}": {text}'


_INTEGER = pattern(r"[+-]?\d{1,19}")

Check = Callable[[Desired], Iterator[Cause | str]]
_BOTH: tuple[Check | Windowed[Check], ...] = (
    _certificates,
    _image_templates,
    since("1.8", _tls_custom),
    _tls,
)
_CHECKS: dict[str, tuple[Check | Windowed[Check], ...]] = {
    "v1beta1": (
        *_BOTH,
        _mediated_types,
        until("1.9", _gate_warnings),
        since("1.7", until("1.9", _high_burst)),
        since("1.6", _affinity),
        since("1.9", _high_burst),
        since("1.9", _gate_warnings),
    ),
    "v1": (*_BOTH, _affinity, _v1_gate_warnings),
}
