"""Names in a VM that lead nowhere, though an object of nearly that name, or of it elsewhere, is in the input.

That an object is not in the input says nothing: much is rightly not in Git. What is said is what only a slip explains:
a name one letter away, the hash that a generator of kustomize put behind it, a Secret without the key that KubeVirt
reads, an object in another namespace. Upstream: pkg/cloud-init/cloud-init.go (resolveNoCloudSecrets), for the keys.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from render.model import tree
from render.model.apimachinery import dns1123
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.nearest import is_slip
from render.model.resource import CDI, KUBEVIRT, Resource, former
from render.model.tree import Tree

_NAD = "k8s.cni.cncf.io"
_EACH = "[]"
#: Machines and what makes them: nothing is named after them that a VM refers to.
_MACHINES = frozenset({KUBEVIRT, f"pool.{KUBEVIRT}"})


class Referent(NamedTuple):
    """What a field names: objects of these groups and kinds, and the first word for them."""

    kinds: frozenset[tuple[str, str]]
    word: str
    has_namespace: bool = True


_SECRET = Referent(frozenset({("", "Secret")}), "Secret")
_CONFIG_MAP = Referent(frozenset({("", "ConfigMap")}), "ConfigMap")
#: What VMs name besides for their pods: service accounts, networks and priority classes.
ACCOUNT = Referent(frozenset({("", "ServiceAccount")}), "ServiceAccount")
#: What disks are made of, by group and kind.
CLAIMS = frozenset({("", "PersistentVolumeClaim"), (CDI, "DataVolume")})
_CLAIM = Referent(CLAIMS, "PersistentVolumeClaim")
_DATA_VOLUME = _CLAIM._replace(word="DataVolume")
NETWORK = Referent(
    frozenset({(_NAD, "NetworkAttachmentDefinition")}), "NetworkAttachmentDefinition"
)
PRIORITY = Referent(
    frozenset({("scheduling.k8s.io", "PriorityClass")}), "PriorityClass", has_namespace=False
)
#: What stands in names that nobody has filled in: ``${NAME}``, ``{{ name }}``, ``@name@``, ``<name>``, ``__NAME__``.
_OPEN = ("$", "{", "@", "<", "__")
_USER_DATA = ("userdata", "userData")
_NETWORK_DATA = ("networkdata", "networkData")


class NamingField(NamedTuple):
    """A field of a VMI spec that names a *target*; *keys*: of which the object has to have one."""

    path: FieldPath
    target: Referent
    keys: tuple[str, ...] = ()


#: `_EACH` is each item of a list. Those of volumes are below one of them, by its source.
_OF_VOLUMES: Mapping[str, tuple[NamingField, ...]] = {
    "secret": (NamingField(("secretName",), _SECRET),),
    "configMap": (NamingField(("name",), _CONFIG_MAP),),
    "serviceAccount": (NamingField(("serviceAccountName",), ACCOUNT),),
    "persistentVolumeClaim": (NamingField(("claimName",), _CLAIM),),
    "ephemeral": (NamingField(("persistentVolumeClaim", "claimName"), _CLAIM),),
    "dataVolume": (NamingField(("name",), _DATA_VOLUME),),
    "memoryDump": (NamingField(("claimName",), _CLAIM),),
    "containerDisk": (NamingField(("imagePullSecret",), _SECRET),),
    "sysprep": (
        NamingField(("secret", "name"), _SECRET),
        NamingField(("configMap", "name"), _CONFIG_MAP),
    ),
    **dict.fromkeys(
        ("cloudInitNoCloud", "cloudInitConfigDrive"),
        (
            NamingField(("secretRef", "name"), _SECRET, _USER_DATA),
            NamingField(("networkDataSecretRef", "name"), _SECRET, _NETWORK_DATA),
        ),
    ),
}
_OTHERS: tuple[NamingField, ...] = (
    NamingField(("networks", _EACH, "multus", "networkName"), NETWORK),
    NamingField(
        ("accessCredentials", _EACH, "sshPublicKey", "source", "secret", "secretName"), _SECRET
    ),
    NamingField(
        ("accessCredentials", _EACH, "userPassword", "source", "secret", "secretName"), _SECRET
    ),
    NamingField(("domain", "firmware", "kernelBoot", "container", "imagePullSecret"), _SECRET),
    NamingField(("priorityClassName",), PRIORITY),
)


class Dangling(NamedTuple):
    """A name at *path* of a VMI spec that leads nowhere.

    *check* says how; *name* stands there, and *wanted* is that in words; *other* is the object that may be meant,
    *keys* what that one lacks.
    """

    check: str
    path: FieldPath
    name: str
    wanted: str
    other: Resource
    keys: tuple[str, ...] = ()


class References:
    """The objects of an input by name, looked through once somebody asks for one."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._resources = resources

    def holding(self, kind: str, *path: str) -> Resource | None:
        """The first object of *kind* that says something at *path*."""
        objects = (resource for resource in self._resources if resource.kind == kind)
        return next((found for found in objects if tree.get(found.body, *path) is not None), None)

    def named(self, spec: Tree) -> Sequence["Named"]:
        """The names in a VMI *spec*, with their places; none where there is no object that one may lead to."""
        return [*named_in(spec)] if self._by_scope else ()

    def dangling(self, named: Sequence["Named"], namespace: str) -> Iterator[Dangling]:
        """Those of the names in a VMI spec in *namespace* (``""``: where nobody says) that lead nowhere."""
        own = {name for _, name, _ in named}
        for path, name, field in named:
            space, _, bare = name.rpartition("/") if field.target is NETWORK else ("", "", name)
            found = self._look_up(field, bare, space or namespace, own)
            if found is not None:
                check, other = found
                word = f"{field.target.word} {name}"
                yield Dangling(check, path, name, word, other, field.keys)

    def unreadable(
        self, named: Sequence["Named"], namespace: str
    ) -> Iterator[tuple[Resource, str]]:
        """The Secrets *named* by a VMI in *namespace*, with the keys of their ``data`` that are no base64."""
        names = {name for _, name, field in named if field.target is _SECRET}
        if not names or not self._by_scope.get(_SECRET.kinds):
            return
        from render.resolve import encoding

        for name in sorted(names):
            for resource in self._by_name.get(name, ()):
                if _is(resource, _SECRET) and _may_share(resource.namespace, namespace):
                    keys = self._refused.get(id(resource))
                    if keys is None:
                        keys = tuple(encoding.refused_keys(resource.body))
                        self._refused[id(resource)] = keys
                    yield from ((resource, key) for key in keys)

    def _look_up(
        self, field: NamingField, name: str, namespace: str, own: set[str]
    ) -> tuple[str, Resource] | None:
        """How *name* leads nowhere, and to what instead; None where it leads somewhere, or nobody knows."""
        objects = self._by_name.get(name, ())
        scope = namespace if field.target.has_namespace else ""
        nearby = [
            resource for resource in objects if _may_share(_scope(resource, field.target), scope)
        ]
        if nearby:
            held = next((resource for resource in nearby if _is(resource, field.target)), None)
            lacks = held is not None and field.keys and _scope(held, field.target) == scope
            return ("reference/key", held) if lacks and held and _lacks(held, field.keys) else None
        meant = self._misspelt(field.target, scope, name, own)
        if meant is not None:
            return meant
        elsewhere = [
            resource for resource in objects if _is(resource, field.target) and resource.namespace
        ]
        return ("reference/namespace", elsewhere[0]) if namespace and elsewhere else None

    def _misspelt(
        self, target: Referent, scope: str, name: str, own: set[str]
    ) -> tuple[str, Resource] | None:
        """The one object of the same namespace that *name* was to be, as far as that is clear."""
        known = self._by_scope.get(target.kinds, {}).get(scope, {})
        if len(known) == 0:
            return None
        hashed = [resource for other, resource in known.items() if _is_hashed(other, name)]
        if len(hashed) == 1:
            return "reference/hash", hashed[0]
        slips = self._slips(target, scope)
        near = {other for part in _parts(name) for other in slips.get(part, ())}
        meant = [
            candidate
            for candidate in sorted(near)
            if candidate not in own
            and is_slip(name, candidate)
            and not dns1123.subdomain_faults(candidate)  # that one is misspelt itself
        ]
        return ("reference/slip", known[meant[0]]) if len(meant) == 1 else None

    def _slips(self, target: Referent, scope: str) -> dict[str, list[str]]:
        """The names of a scope by what is left of each without one of its letters."""
        key = target.kinds, scope
        if key not in self._left:
            left: dict[str, list[str]] = {}
            for name in self._by_scope[target.kinds][scope]:
                for part in _parts(name):
                    left.setdefault(part, []).append(name)
            self._left[key] = left
        return self._left[key]

    @cached_property
    def _refused(self) -> dict[int, tuple[str, ...]]:
        """What `unreadable` found of a Secret, which many machines may share."""
        return {}

    @cached_property
    def _left(self) -> dict[tuple[frozenset[tuple[str, str]], str], dict[str, list[str]]]:
        return {}

    @cached_property
    def _by_name(self) -> dict[str, list[Resource]]:
        """Every object that may be meant, by its name, by those that it had before, and those that it makes."""
        by_name: dict[str, list[Resource]] = {}
        for resource in self._resources:
            if resource.group in _MACHINES:
                for name in claims_of(resource):
                    by_name.setdefault(name, []).append(resource)
                continue
            names = {resource.name, *(name for _, _, name in former(resource))}
            for name in (*names, *_makes(resource)):
                by_name.setdefault(name, []).append(resource)
        return by_name

    @cached_property
    def _by_scope(self) -> dict[frozenset[tuple[str, str]], dict[str, dict[str, Resource]]]:
        """The objects of each target, by namespace and name."""
        targets = (_SECRET, _CONFIG_MAP, ACCOUNT, _CLAIM, NETWORK, PRIORITY)
        scopes: dict[frozenset[tuple[str, str]], dict[str, dict[str, Resource]]] = {}
        for resource in self._resources:
            for target in targets:
                if _is(resource, target):
                    scope = scopes.setdefault(target.kinds, {})
                    names = scope.setdefault(_scope(resource, target), {})
                    names[resource.name] = resource
        return scopes


def is_impossible(name: str, field: NamingField) -> bool:
    """Whether no object can be called *name*, which stands in *field*; not where it is to be filled in yet.

    Of service accounts and priority classes the API server says that itself.
    """
    space, slash, bare = name.partition("/")
    if field.target is NETWORK and slash:
        is_right = not (dns1123.label_faults(space) or dns1123.subdomain_faults(bare))
    else:
        is_right = not dns1123.subdomain_faults(name)
    if is_right or field.target in (ACCOUNT, PRIORITY):  # right are nearly all
        return False
    return not any(mark in name for mark in _OPEN)


def names_in(spec: Tree) -> set[str]:
    """The names of what a VMI *spec* refers to."""
    return {name for _, name, _ in named_in(spec)}


#: A name, and where it stands.
Named = tuple[FieldPath, str, NamingField]


def named_in(spec: Tree) -> Iterator[Named]:
    """The names in *spec*, with their places."""
    for index, volume in enumerate(spec.get("volumes") or ()):
        for source, value in volume.items():
            for field in _OF_VOLUMES.get(source, ()):
                name = tree.get(value, *field.path)
                if isinstance(name, str) and name:
                    yield ("volumes", index, source, *field.path), name, field
    for field in _OTHERS:
        first, *rest = field.path
        value = spec.get(str(first))
        if value is None:
            continue
        items = (
            [((first, index), item) for index, item in enumerate(value)]
            if rest[:1] == [_EACH]
            else [((first,), value)]
        )
        steps = tuple(rest[1:] if rest[:1] == [_EACH] else rest)
        for place, item in items:
            name = tree.get(item, *steps)
            if isinstance(name, str) and name:
                yield (*place, *steps), name, field


def _is(resource: Resource, target: Referent) -> bool:
    return (resource.group, resource.kind) in target.kinds


def _scope(resource: Resource, target: Referent) -> str:
    return resource.namespace if target.has_namespace else ""


def _may_share(namespace: str, other: str) -> bool:
    """Whether two namespaces may be one: nobody knows where that is which names none."""
    return not namespace or not other or namespace == other


def claims_of(machine: Resource) -> Iterator[str]:
    """The DataVolumes that a VM, or what makes VMs, brings."""
    spec = machine.spec
    inner = tree.get(spec.get("virtualMachineTemplate"), "spec", "dataVolumeTemplates")
    for templates in (spec.get("dataVolumeTemplates"), inner):
        for template in templates if isinstance(templates, list) else ():
            name = tree.get(template, "metadata", "name")
            if isinstance(name, str):
                yield name


def _makes(resource: Resource) -> Iterator[str]:
    """The names of Secrets that an object of an operator makes in the cluster."""
    for path in (
        ("target", "name"),
        ("destination", "name"),
        ("secretName",),
        ("template", "metadata", "name"),
    ):
        name = tree.get(resource.spec, *path)
        if isinstance(name, str):
            yield name


def misspelt_holder(resource: Resource) -> tuple[str, str]:
    """The field of a Secret that is a slip of one with its content, and that; the API server leaves it out."""
    for key in resource.body:
        for holder in ("stringData", "data"):
            if key != holder and (key.lower() == holder.lower() or is_slip(key, holder)):
                return key, holder
    return "", ""


def _lacks(resource: Resource, keys: tuple[str, ...]) -> bool:
    """Whether a Secret has keys, and none of *keys*: of one without any, somebody else writes the content.

    But not where that stands in the Secret, below a field that is misspelt.
    """
    own = {
        key
        for holder in ("data", "stringData")
        for key in (resource.body.get(holder) or ())
        if isinstance(resource.body[holder], dict)
    }
    return own.isdisjoint(keys) and (bool(own) or misspelt_holder(resource) != ("", ""))


_HASH = r"-[bcdfghkm2456789t]{10}"
"""What a generator of kustomize puts behind a name (upstream: kustomize's api/hasher)."""


def _is_hashed(other: str, name: str) -> bool:
    return other.startswith(name) and re.fullmatch(_HASH, other[len(name) :]) is not None


def _parts(name: str) -> Iterator[str]:
    """*name*, and what is left of it without one of its letters: two names that a slip parts share one of these."""
    yield name
    for index in range(len(name)):
        yield name[:index] + name[index + 1 :]
