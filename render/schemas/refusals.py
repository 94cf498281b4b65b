"""What `render.schemas.decode` refuses, with the text of KubeVirt's webhooks: causes named by the slugs of codes.

Upstream: pkg/util/openapi/openapi.go, which leaves list indexes out of its paths.
"""

from collections.abc import Collection

from render.diagnostics.cause import Cause
from render.diagnostics.codes import (
    CONTENT_DROPPED,
    INVALID_QUANTITY,
    INVALID_VALUE,
    MISSING_FIELD,
    UNKNOWN_FIELD,
    WRONG_TYPE,
)
from render.diagnostics.fix import (
    Fix,
    misnamed,
    remove,
    rename,
    respelled,
    retyped,
    set_to,
)
from render.model import types
from render.model.cluster import gates
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.release import NEWEST

Link = tuple[()] | tuple["Link", str | int]
"""The way to a value, innermost step last: cheap to extend, written out for findings only."""

_JSON_NAMES = {
    bool: "boolean",
    dict: "object",
    float: "number",
    int: "number",
    list: "array",
    str: "string",
    type(None): "null",
}
_WORDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "a string",
    "string,integer": "a string or a whole number",
    "string,integer,number": "a quantity",
}
_LONGEST = 60


def path(link: Link) -> FieldPath:
    """The steps of *link*."""
    steps: list[str | int] = []
    while link:
        link, step = link
        steps.append(step)
    return tuple(reversed(steps))


def link_to(place: FieldPath) -> Link:
    """The way to *place*."""
    link: Link = ()
    for step in place:
        link = (link, step)
    return link


def unknown(key: Any, link: Link, known: Collection[str], type_name: str) -> Cause:
    """A field that the type at *link*, which has the *known* ones, has not."""
    text = f'unknown field "{key}": {_dotted(link)}.{key} in body is a forbidden property'
    place = path((link, str(key)))
    lost = not_known_here(type_name, key)
    called = OTHERWISE_CALLED.get((type_name, key), "") if isinstance(key, str) else ""
    if called in known:
        fixes: tuple[Fix, ...] = (Fix(f"call it {called}", (rename(place, called),)),)
        return Cause(UNKNOWN_FIELD.slug, place, text, _meant(called), fixes=fixes)
    if key == "namespace":  # no slip for a name: what is named so is in the namespace of the VM
        known = [name for name in known if name != "name"]
    near, fixes = misnamed(place, () if lost else known)
    return Cause(UNKNOWN_FIELD.slug, place, text, lost or _meant(near), fixes=fixes)


#: What a type calls otherwise than its neighbours do, or Kubernetes: no letters tell that.
OTHERWISE_CALLED = {
    ("instancetype.CPUInstancetype", "cores"): "guest",
    ("kubevirt.AccessCredentialSecretSource", "name"): "secretName",
    ("kubevirt.ContainerDiskSource", "url"): "image",
    ("kubevirt.DataVolumeSource", "claimName"): "name",
    ("kubevirt.EmptyDiskSource", "size"): "capacity",
    ("kubevirt.HostDisk", "size"): "capacity",
    ("kubevirt.MultusNetwork", "name"): "networkName",
    ("kubevirt.PersistentVolumeClaimVolumeSource", "name"): "claimName",
    ("kubevirt.SecretVolumeSource", "name"): "secretName",
    ("kubevirt.ServiceAccountVolumeSource", "name"): "serviceAccountName",
    ("kubevirt.Volume", "pvc"): "persistentVolumeClaim",
}


def not_known_here(type_name: str, key: Any) -> str:
    """What to do about a field of a type that only later releases know there, or only others; ``""`` of any other."""
    since = types.came_with(type_name, key) if isinstance(key, str) else ""
    later = f"remove it: {types.owner(type_name)} has it from {since} on{_gate(type_name, key)}"
    return _LOST.get((type_name, key), later if since else "")


_SILENTLY = (
    "remove it: CDI knows it in a DataVolume, but a cluster drops it from a template without a word"
)
#: Fields of a DataVolume that KubeVirt's own CRD drops from a template of one.
_LOST = {
    ("cdi.DataVolumeSourceHTTP", "checksum"): f"{_SILENTLY}: such a checksum is never verified",
    ("cdi.DataVolumeSourceHTTP", "insecureSkipVerify"): _SILENTLY,
    ("cdi.DataVolumeSourceVDDK", "certConfigMap"): _SILENTLY,
    ("cdi.DataVolumeSpec", "serviceAccountName"): _SILENTLY,
}


#: The feature gate that a field which came with a release needs there as well.
GATED_FIELDS = {
    ("kubevirt.Devices", "panicDevices"): "PanicDevices",
    ("kubevirt.Devices", "video"): "VideoConfig",
    ("kubevirt.DomainSpec", "rebootPolicy"): "RebootPolicy",
    ("kubevirt.GPU", "claimName"): "GPUsWithDRA",
    ("kubevirt.GPU", "requestName"): "GPUsWithDRA",
    ("kubevirt.HostDevice", "claimName"): "HostDevicesWithDRA",
    ("kubevirt.HostDevice", "requestName"): "HostDevicesWithDRA",
    ("kubevirt.Interface", "passtBinding"): "PasstBinding",
    ("kubevirt.Interface", "portRanges"): "PortRangesSpec",
    ("kubevirt.LaunchSecurity", "snp"): "WorkloadEncryptionSEV",
    ("kubevirt.LaunchSecurity", "tdx"): "WorkloadEncryptionTDX",
    ("kubevirt.Memory", "reservedOverhead"): "ReservedOverheadMemlock",
    ("kubevirt.Network", "resourceClaim"): "NetworkDevicesWithDRA",
    ("kubevirt.VirtualMachineInstanceSpec", "utilityVolumes"): "UtilityVolumes",
}


def _gate(type_name: str, key: str) -> str:
    gate = GATED_FIELDS.get((type_name, key))
    if gate is None:
        return ""
    default = gates.default_from(gate)
    return f", with the feature gate {gate}" + (f" (on from {default})" if default else "")


#: How what is often given a value alone is written, by the name of the field.
_FORMS = {
    "cdrom": "{bus: sata}", "containerDisk": "{image: IMAGE}", "cpu": "{cores: 2}",
    "dataVolume": "{name: NAME}", "disk": "{bus: virtio}", "instancetype": "{name: NAME}", "memory": "{guest: 2Gi}",
    "multus": "{networkName: NAME}", "persistentVolumeClaim": "{claimName: NAME}", "pod": "{}",
    "masquerade": "{}", "bridge": "{}", "sriov": "{}", "preference": "{name: NAME}", "rng": "{}",
    "secretRef": "{name: NAME}",
}  # fmt: skip
#: The same by the type of the field, where its name says less; none where no value alone is to be made of it.
_FORMS_OF_TYPES = {
    "instancetype.CPUInstancetype": "{guest: 2}",
    "instancetype.CPUPreferences": "",
    "kubevirt.Bootloader": "{efi: {}}",
    "kubevirt.Machine": "{type: q35}",
    "kubevirt.SSHPublicKeyAccessCredentialPropagationMethod": "{noCloud: {}}",
    "kubevirt.UserPasswordAccessCredentialPropagationMethod": "{qemuGuestAgent: {}}",
}
_EMPTY = "{}"
#: Of which a volume or network has one, with something in it.
_SOURCES = frozenset({"containerDisk", "dataVolume", "multus", "persistentVolumeClaim"})
_RUN_STRATEGY = "runStrategy"
_NOTATIONS = {
    "array": "write a list: each of its items begins with '- '",
    "boolean": "write true or false",
    "integer": "write a whole number",
    "object": "write a mapping: its fields in lines of their own, indented below it",
    "string": "write a text: in quotes, or its lines indented below `|`",
}


def mistyped(value: Any, expected: str, link: Link, go_type: str = "") -> Cause:
    """A value of another JSON type than *expected* (``object``, ``string,integer``), in a field of *go_type*."""
    json_type = _JSON_NAMES.get(type(value), type(value).__name__)
    got = "a whole number" if type(value) is int else _WORDS.get(json_type, json_type)
    text = (
        f"expected {_WORDS[expected]}, got {got}: "
        f'{_dotted(link)} in body must be of type {expected}: "{json_type}"'
    )
    if value is None:
        return Cause(WRONG_TYPE.slug, path(link), text, "remove the key, or give it a value")
    place, go_type = path(link), go_type.removeprefix("*")
    if type(value) is bool and place[-1:] == (_RUN_STRATEGY,):  # meant for spec.running
        strategy = "Always" if value else "Halted"
        fixes: tuple[Fix, ...] = (Fix(f"write {strategy}", (set_to(place, strategy),)),)
    else:
        fixes = retyped(place, value, expected)
    if fixes:
        return Cause(WRONG_TYPE.slug, place, text, fixes[0].title, fixes=fixes)
    by_name = _FORMS.get(str(place[-1])) if place and expected == "object" else None
    shape = _FORMS_OF_TYPES.get(go_type, by_name)
    cure = f"write `{place[-1]}: {shape}`" if shape else _NOTATIONS.get(expected, "")
    return Cause(WRONG_TYPE.slug, place, text, cure)


def dropped_null(link: Link, go_type: str = "") -> Cause:
    """A null that the API server leaves out before anything looks at it, but where the apply is server-side.

    Upstream: apiextensions-apiserver pkg/apiserver/schema/defaulting/prune.go, which no server-side apply reaches.
    """
    text = f"{_dotted(link)} is null: the API server leaves the field out, but refuses it under server-side apply"
    place = path(link)
    is_struct = types.is_struct(go_type.removeprefix("*"))
    if is_struct and _FORMS.get(str(place[-1])) == _EMPTY:  # to name it is all that there is to say
        cure = f"write `{place[-1]}: {_EMPTY}`"
        fix = Fix(cure, (set_to(place, {}),))
        return Cause(CONTENT_DROPPED.slug, place, text, f"{cure}, or remove the key", fixes=(fix,))
    if (
        is_struct and place[-1] in _SOURCES
    ):  # without it nothing says where the volume or network comes from
        cure = f"write `{place[-1]}: {_FORMS[str(place[-1])]}`, or remove the key"
        return Cause(CONTENT_DROPPED.slug, place, text, cure)
    fix = Fix("remove the key", (remove(place),), safe=True)
    cure = "remove the key, or give it a value"
    return Cause(CONTENT_DROPPED.slug, place, text, cure, fixes=(fix,))


#: The least that KubeVirt takes for a field whose name alone does not tell what belongs in it, by the field's type.
_SHAPES = {
    "kubevirt.VirtualMachineSpec": (
        "{runStrategy: Always, template: {spec: {domain: {memory: {guest: 2Gi}, devices: {}}}}}"
    ),
    "kubevirt.VirtualMachineInstanceTemplateSpec": "{spec: {domain: {devices: {}}}}",
    "kubevirt.VirtualMachineInstanceSpec": "{domain: {memory: {guest: 2Gi}, devices: {}}}",
    "kubevirt.DomainSpec": "{devices: {}}",
    "instancetype.VirtualMachineInstancetypeSpec": "{cpu: {guest: 1}, memory: {guest: 2Gi}}",
}


#: What KubeVirt asks for inside where the schema asks for nothing: empty it is refused. Each is one way to write it.
_NEVER_EMPTY = {
    "cdi.DataVolumeSpec": (
        "{source: {registry: {url: URL}}, storage: {resources: {requests: {storage: 10Gi}}}}",
    ),
    "kubevirt.SSHPublicKeyAccessCredentialPropagationMethod": (
        "{noCloud: {}}",
        "{configDrive: {}}",
        "{qemuGuestAgent: {users: [USER]}}",
    ),
    "kubevirt.SSHPublicKeyAccessCredentialSource": ("{secret: {secretName: NAME}}",),
    "kubevirt.UserPasswordAccessCredentialPropagationMethod": ("{qemuGuestAgent: {}}",),
    "kubevirt.UserPasswordAccessCredentialSource": ("{secret: {secretName: NAME}}",),
}


def missing(name: str, link: Link, go_type: str) -> Cause:
    """A required field that is not there."""
    text = f'missing field "{name}": {_dotted((link, name))} in body is required'
    place = path((link, name))
    empty = types.is_struct(go_type) and not any(
        f.required for f in types.fields(go_type, NEWEST).values()
    )
    if not empty:
        shape = _SHAPES.get(go_type.removeprefix("*"))
        cure = f"add `{name}`, at least `{name}: {shape}`" if shape else f"add `{name}`"
        return Cause(MISSING_FIELD.slug, place, text, cure)
    if ways := _NEVER_EMPTY.get(go_type):
        cure = f"add `{name}` as {' or '.join(f'`{way}`' for way in ways)}"
        return Cause(MISSING_FIELD.slug, place, text, cure)
    cure = f"add `{name}: {{}}`"
    fix = Fix(cure, (set_to(place, {}),), safe=True)
    return Cause(MISSING_FIELD.slug, place, text, cure, fixes=(fix,))


#: How kubectl prints what is written otherwise.
_ACCESS_MODES = {
    "ROX": "ReadOnlyMany",
    "RWO": "ReadWriteOnce",
    "RWOP": "ReadWriteOncePod",
    "RWX": "ReadWriteMany",
}


def not_listed(value: str, values: tuple[str, ...], link: Link) -> Cause:
    """A string that is none of *values*."""
    text = f'got "{_short(value)}": {_dotted(link)} in body should be one of [{" ".join(values)}]'
    if (mode := _ACCESS_MODES.get(value)) in values:
        fixes: tuple[Fix, ...] = (Fix(f"write {mode}", (set_to(path(link), mode),)),)
    else:
        fixes = respelled(path(link), value, values)
    cure = _meant(str(fixes[0].edits[0].value) if fixes else "")
    return Cause(INVALID_VALUE.slug, path(link), text, cure, fixes=fixes)


def out_of_range(value: int, least: int, most: int, link: Link) -> Cause:
    """A whole number that the Go type cannot hold."""
    text = f"{_dotted(link)} must be a whole number from {least} to {most}, got {_short(value)}"
    return Cause(INVALID_VALUE.slug, path(link), text)


def too_small(value: int, least: int, link: Link) -> Cause:
    """A number below what the CRD asks for."""
    text = (
        f"got {_short(value)}: {_dotted(link)} in body should be greater than or equal to {least}"
    )
    return Cause(INVALID_VALUE.slug, path(link), text, f"write {least} or more")


def no_quantity(value: str | float, reason: str, link: Link) -> Cause:
    """What is written where a quantity belongs; *reason* is the parser's."""
    from render.schemas import amounts

    text = f'{_dotted(link)} is "{_short(value)}", which is not a quantity: {reason}'
    cure, fixes = amounts.meant(value, path(link))
    return Cause(INVALID_QUANTITY.slug, path(link), text, cure, fixes=fixes)


def _dotted(link: Link) -> str:
    return ".".join(str(step) for step in path(link) if not isinstance(step, int))


def _short(value: str | float) -> str:
    if isinstance(value, int) and abs(value) >= 10**_LONGEST:
        return f"a number of more than {_LONGEST} digits"  # Python refuses to print 4,300 digits
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _meant(near: str) -> str:
    return f'did you mean "{near}"?' if near else ""
