"""Reading objects of older APIs: decoded into today's types, with what has to be said about their age."""

from collections.abc import Iterable, Iterator

from render import schemas
from render.convert import flavors, instancetypes, successors
from render.convert.presets import compact
from render.diagnostics.codes import (
    CONTENT_DROPPED,
    DEPRECATED_FIELD,
    DEPRECATED_VERSION,
    MISSING_FIELD,
    NOT_CONVERTIBLE,
    REVISION_NUMBERS,
    UNKNOWN_FIELD,
    WRONG_TYPE,
)
from render.diagnostics.diagnostic import Diagnostic, at
from render.legacy import machines
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.kinds import FLAVOR
from render.model.named_tuple import NamedTuple
from render.model.release import NEWEST, Version, served
from render.model.resource import (
    FLAVOR_GROUP,
    INSTANCETYPE_GROUP,
    KUBEVIRT,
    VMI,
    Resource,
    from_body,
)
from render.model.tree import Tree
from render.model.types import VM_TYPE, VMI_TYPE
from render.presets import MODERN

_PRESET = "kubevirt.VirtualMachineInstancePreset"
_CPU = "kubevirt.CPU"
_SPECS = {
    False: "instancetype.VirtualMachineInstancetypeSpec",
    True: "instancetype.VirtualMachinePreferenceSpec",
}


class Decoded(NamedTuple):
    """An object in today's shape, and the findings about it."""

    tree: Tree
    diagnostics: list[Diagnostic]


def decode(resource: Resource, release: Version) -> Decoded:
    """Decode *resource*, of whatever API version, for KubeVirt *release*."""
    if resource.group == INSTANCETYPE_GROUP and resource.version in instancetypes.OLDER:
        return _older_definition(resource, release)
    if resource.group == FLAVOR_GROUP:
        if resource.kind in flavors.KINDS:
            return _flavor(resource, release)
        return _flavor_preference(resource, release)
    if resource.older:
        return _machine(resource, release)
    if resource.group == KUBEVIRT and resource.kind == machines.PRESET:
        body = machines.as_instance(resource.body)
        return _historic(resource, body, _PRESET, MODERN.kind, release)
    if resource.kind == "VirtualMachine" and "flavor" in resource.spec:
        return _with_flavor(resource, release)
    return Decoded(*schemas.decode_resource(resource, release))


#: QUIRK(pkg/virt-operator/resource/generate/components/crds.go): kinds whose plural its warning spells otherwise.
_MISSPELT = {"VirtualMachineClusterInstancetype": "VirtualMachineClusterInstanceTypes"}


def _older_definition(resource: Resource, release: Version) -> Decoded:
    """An object of instancetype.kubevirt.io before v1beta1."""
    decoded, diagnostics = schemas.decode_resource(resource, release)
    spec = decoded.get("spec") or {}
    newer: list[FieldPath] = []
    if resource.version not in served(resource.group, release):
        # A release that serves both prunes both by the schema of v1beta1.
        newer = instancetypes.newer_fields(resource.kind, resource.version, spec)
    diagnostics += _unknown(resource, newer)
    kinds = _MISSPELT.get(resource.kind) or f"{resource.kind}s"
    diagnostics.append(
        DEPRECATED_VERSION.at(
            at(resource, ("apiVersion",)),
            f"{INSTANCETYPE_GROUP}/{resource.version} {kinds} is now deprecated and will be removed "
            "in v1. KubeVirt >= 1.6 does not serve it",
            help=f"write apiVersion: {INSTANCETYPE_GROUP}/v1beta1, or let `virt-render migrate` do it",
            fixes=successors.fixes(resource, release, ("apiVersion",)),
        )
    )
    return Decoded({**decoded, "spec": instancetypes.without(spec, newer)}, diagnostics)


def _unknown(resource: Resource, paths: Iterable[FieldPath]) -> Iterator[Diagnostic]:
    for path in paths:
        dotted = ".".join(map(str, ("spec", *path)))
        yield UNKNOWN_FIELD.at(
            at(resource, ("spec", *path)),
            f'unknown field "{path[-1]}": {dotted} in body is a forbidden property of '
            f"{resource.group}/{resource.version}",
            help=f"only {INSTANCETYPE_GROUP}/v1beta1 has it",
        )


def _flavor_preference(resource: Resource, release: Version) -> Decoded:
    body, causes = schemas.decode(resource.body, "instancetype.VirtualMachinePreference", release)
    spec = body.get("spec") or {}
    newer = instancetypes.newer_fields(resource.kind, "v1alpha1", spec)
    if tree.get(spec, "devices", "preferredAutoattachInputDevice") is not None:
        newer.append(("devices", "preferredAutoattachInputDevice"))
    spec = flavors.preference(instancetypes.without(spec, newer))
    gone = DEPRECATED_VERSION.at(
        at(resource, ("apiVersion",)),
        flavors.gone(resource.kind),
        help=f"write apiVersion: {INSTANCETYPE_GROUP}/v1beta1",
    )
    diagnostics = [*schemas.located(resource, causes), *_unknown(resource, newer), gone]
    return Decoded({**body, "spec": spec}, diagnostics)


def _flavor(resource: Resource, release: Version) -> Decoded:
    """A flavor, with its profiles (if it has any) as the ``profiles`` of its spec."""
    body = resource.body
    diagnostics: list[Diagnostic] = []
    spec: Tree = {}
    if body.get("spec") is not None:
        if not isinstance(body["spec"], dict):
            diagnostics.append(WRONG_TYPE.at(at(resource, ("spec",)), "expected a mapping at spec"))
        if body.get("profiles") is not None:
            message = "the profiles have no effect: the flavor has a spec, which is what counts"
            cure = (
                "remove one of the two: a flavor has profiles (to v0.52) or a spec (from v0.53 on)"
            )
            place = at(resource, ("profiles",))
            diagnostics.append(CONTENT_DROPPED.at(place, message, help=cure))
        spec = _flavor_spec(resource, diagnostics, release)
    else:
        spec = {"profiles": list(_profiles(resource, diagnostics, release))}
    diagnostics += (
        NOT_CONVERTIBLE.at(at(resource, ("profiles",)), fault) for fault in flavors.faults(spec)
    )
    diagnostics.append(
        DEPRECATED_VERSION.at(
            at(resource, ("apiVersion",)),
            flavors.gone(resource.kind),
            help=_successor(resource, spec),
        )
    )
    kept: Tree = {key: body[key] for key in ("apiVersion", "kind", "metadata") if key in body}
    return Decoded({**kept, "spec": spec}, diagnostics)


def flavor_content(spec: Tree) -> Tree:
    """The decoded spec of a flavor whose content is *spec*, of which ``profiles`` may be a part."""
    profiles = spec.get("profiles")
    body = {"spec": spec} if profiles is None else {"profiles": profiles}
    kind = {"apiVersion": f"{FLAVOR_GROUP}/v1alpha1", "kind": FLAVOR.namespaced}
    decoded: Tree = _flavor(from_body({**kind, "metadata": {"name": "x"}, **body}, 0), NEWEST).tree[
        "spec"
    ]
    return decoded


def _flavor_spec(resource: Resource, diagnostics: list[Diagnostic], release: Version) -> Tree:
    spec = resource.spec
    cpu = spec.get("cpu")
    if isinstance(cpu, dict) and not flavors.lists_vcpus(cpu):
        whole, causes = schemas.decode(cpu, _CPU, release)
        rest, others = schemas.decode(
            {k: v for k, v in spec.items() if k != "cpu"}, _SPECS[False], release
        )
        diagnostics += schemas.located(resource, causes, ("spec", "cpu"))
        decoded = {"cpu": whole, **rest}
    else:
        decoded, others = schemas.decode(spec, _SPECS[False], release)
    optional = (("cpu",), ("memory",), ("memory", "guest"))
    diagnostics += schemas.located(
        resource,
        (p for p in others if p.check != MISSING_FIELD.slug or p.path not in optional),
        ("spec",),
    )
    newer = instancetypes.newer_fields(resource.kind, "v1alpha1", decoded)
    diagnostics += _unknown(resource, (path for path in newer if path[0] != "cpu"))
    return instancetypes.without(decoded, (path for path in newer if path[0] != "cpu"))


def _profiles(
    resource: Resource, diagnostics: list[Diagnostic], release: Version
) -> Iterator[Tree]:
    profiles = resource.body.get("profiles") or []
    for index, profile in enumerate(profiles if isinstance(profiles, list) else []):
        place: FieldPath = ("profiles", index)
        if not isinstance(profile, dict):
            diagnostics.append(WRONG_TYPE.at(at(resource, place), "a profile is a mapping"))
            continue
        diagnostics += (
            UNKNOWN_FIELD.at(at(resource, (*place, key)), f'unknown field "{key}" of a profile')
            for key in profile
            if key not in flavors.PROFILE
        )
        cpu = profile.get("cpu")
        if isinstance(cpu, dict):
            cpu, causes = schemas.decode(cpu, _CPU, release)
            diagnostics += schemas.located(resource, causes, (*place, "cpu"))
        elif cpu is not None:
            diagnostics.append(WRONG_TYPE.at(at(resource, (*place, "cpu")), "expected a mapping"))
            cpu = None
        for key, kind, words in (("name", str, "a string"), ("default", bool, "true or false")):
            if not isinstance(profile.get(key), kind | None):
                message = f"expected {words} at {key} of a profile, not {compact(profile[key])}"
                diagnostics.append(WRONG_TYPE.at(at(resource, (*place, key)), message))
        rest = {key: value for key, value in profile.items() if key != "cpu"}
        yield {**rest, "cpu": cpu} if cpu is not None else rest


def _successor(resource: Resource, spec: Tree) -> str:
    """The instancetypes to write instead of a flavor."""
    kind = flavors.SUCCESSORS[resource.kind]
    profiles = spec.get("profiles")
    named: list[tuple[str, Any]] = [(resource.name, spec)]
    if profiles is not None:
        named = [
            (f"{resource.name}-{p.get('name')}", {"cpu": p.get("cpu") or {}}) for p in profiles
        ]
    parts = []
    for name, part in named:
        instancetype, preference, left = flavors.successor(part)
        words = f"{kind} {name} {compact(instancetype)}"
        if preference:
            words += f" with the preference {compact(preference)}"
        parts.append(words + (f" (it cannot say {', '.join(left)})" if left else ""))
    return f"write {INSTANCETYPE_GROUP}/v1beta1 {'; '.join(parts) or kind}"


def _with_flavor(resource: Resource, release: Version) -> Decoded:
    """A VM with ``spec.flavor``, which stays in the decoded spec."""
    flavor = resource.spec["flavor"]
    place: FieldPath = ("spec", "flavor")
    spec = {key: value for key, value in resource.spec.items() if key != "flavor"}
    body, causes = schemas.decode({**resource.body, "spec": spec}, VM_TYPE, release)
    diagnostics = schemas.located(resource, causes)
    if not isinstance(flavor, dict):
        diagnostics.append(WRONG_TYPE.at(at(resource, place), "expected a mapping at spec.flavor"))
        return Decoded(body, diagnostics)
    for key, value in flavor.items():
        if key not in flavors.MATCHER:
            message = f'unknown field "{key}": spec.flavor.{key} in body is a forbidden property'
            diagnostics.append(UNKNOWN_FIELD.at(at(resource, (*place, key)), message))
        elif not isinstance(value, str):
            message = f"expected a string at spec.flavor.{key}"
            diagnostics.append(WRONG_TYPE.at(at(resource, (*place, key)), message))
    kind = flavors.SUCCESSORS.get(FLAVOR.kind_of(str(flavor.get("kind") or "")))
    name, profile = (flavor.get(key) or "" for key in ("name", "profile"))
    matcher = {"name": f"{name}-{profile}" if profile else name, **({"kind": kind} if kind else {})}
    cure = "write an instancetype for the flavor, and name it in spec.instancetype"
    if name:
        cure = f"write an instancetype for the flavor, and spec.instancetype: {compact(matcher)}"
    if name and not profile:
        cure += f" ({name}-PROFILE, if the flavor has profiles)"
    diagnostics.append(
        DEPRECATED_FIELD.at(
            at(resource, place),
            "spec.flavor was renamed in KubeVirt v0.56, and no release converts it",
            help=cure,
        )
    )
    kept = {key: value for key, value in flavor.items() if isinstance(value, str)}
    return Decoded({**body, "spec": {**(body.get("spec") or {}), "flavor": kept}}, diagnostics)


def _misnumbered(resource: Resource) -> Iterator[Diagnostic]:
    """That the number of a stored VM's edit revision is none."""
    path: FieldPath = ("metadata", "annotations", machines.REVISION)
    revision = tree.get(resource.body, *path)
    if revision is not None and not machines.stored_revision(resource):
        yield REVISION_NUMBERS.at(
            at(resource, path),
            f"{machines.REVISION} is no number from 1: a lock begins to count at 1",
            help=f'write a number, like {machines.REVISION}: "15", or remove it',
        )


def _machine(resource: Resource, release: Version) -> Decoded:
    """A machine that was of kubevirt.io/v1alpha1, whose ``version`` at the top is tolerated; places are as written."""
    (older,) = resource.older
    if resource.kind == VMI:
        return _historic(older, resource.body, VMI_TYPE, resource.kind, release)
    instance = machines.as_instance(older.body)
    decoded, diagnostics = _historic(older, instance, VMI_TYPE, resource.kind, release)
    diagnostics += (
        NOT_CONVERTIBLE.at(at(older, path), message, help=cure)
        for path, message, cure in machines.store_faults(older.body)
    )
    return Decoded(machines.from_store(older.body, decoded), [*diagnostics, *_misnumbered(older)])


def _historic(
    resource: Resource, body: Tree, type_name: str, successor: str, release: Version
) -> Decoded:
    """*body*, which *resource* of kubevirt.io/v1alpha1 is in the shape of its *successor* of today."""
    decoded, causes = schemas.decode(body, type_name, release)
    gone = DEPRECATED_VERSION.at(
        at(resource, ("apiVersion",)),
        f"{KUBEVIRT}/v1alpha1 {resource.kind} is not served since KubeVirt v0.7",
        help=f"write a {successor} of {KUBEVIRT}/v1",
    )
    return Decoded(decoded, [*schemas.located(resource, causes), gone])
