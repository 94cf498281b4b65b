"""The texts that a guest boots with: in the volumes of its VM, and in the Secrets and ConfigMaps that these name.

Of several cloud-init volumes KubeVirt reads the first. Upstream: pkg/cloud-init/cloud-init.go
(ReadCloudInitVolumeDataSource), pkg/config/sysprep.go, pkg/ignition/ignition.go.
"""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping

from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any, Literal
from render.model.named_tuple import NamedTuple
from render.model.resource import Resource
from render.model.tree import Tree

CLOUD_INIT = ("cloudInitNoCloud", "cloudInitConfigDrive")
#: Which method hands the keys of an access credential to which of them.
METHODS = dict(zip(CLOUD_INIT, ("noCloud", "configDrive"), strict=True))
IGNITION = "kubevirt.io/ignitiondata"
#: How what gzip compressed begins, where each byte is a character.
GZIP = "\x1f\x8b"
ANSWER_FILES = frozenset({"autounattend.xml", "unattend.xml"})
Kind = Literal["user", "network", "ignition", "answer"]
#: Finds an object of the input in the namespace of the VM, by kind and name.
Find = Callable[[str, str], Resource | None]


class Text(NamedTuple):
    """A text of this *kind*, which the VMI has at *path* or refers to there.

    *source* is the object that holds it, at *place*, if another one does. *has_lines*: it is written as it is read, so
    that a line of it has a place.
    """

    kind: Kind
    text: str
    path: FieldPath
    source: Resource | None = None
    place: FieldPath = ()
    has_lines: bool = True


class _DataField(NamedTuple):
    """*reference* names a Secret, of whose *keys* KubeVirt reads the first that is there."""

    kind: Kind
    plain: str
    encoded: str
    reference: str
    keys: tuple[str, ...]


_FIELDS = (
    _DataField("user", "userData", "userDataBase64", "secretRef", ("userdata", "userData")),
    _DataField(
        "network", "networkData", "networkDataBase64", "networkDataSecretRef", ("networkdata", "networkData")
    ),
)  # fmt: skip
#: The fields of a cloud-init volume that name a Secret, and the keys of which KubeVirt reads the first.
SECRET_KEYS = {field.reference: field.keys for field in _FIELDS}


def cloud_init(spec: Tree) -> tuple[FieldPath, Tree] | None:
    """The source of the cloud-init volume of a VMI *spec* that KubeVirt reads, and its place below the spec."""
    for index, volume in enumerate(spec.get("volumes") or ()):
        for kind in CLOUD_INIT:
            source = volume.get(kind)
            if source is not None:
                return ("volumes", index, kind), source
    return None


def texts(vmi: Tree, find: Find) -> Iterator[Text]:
    """The texts that the guest of *vmi*, metadata and spec, boots with, as far as they are in the input."""
    annotation = tree.get(vmi, "metadata", "annotations", IGNITION)
    if isinstance(annotation, str) and "ignition" in annotation:
        yield Text("ignition", annotation, ("metadata", "annotations", IGNITION))
    spec = vmi.get("spec") or {}
    chosen = cloud_init(spec)
    if chosen is not None:
        place, source = chosen
        for field in _FIELDS:
            text = _of_field(field, ("spec", *place), source, find)
            if text is not None:
                yield text
    for place, held in answer_sources(spec, find):
        for name in held.body.keys() & {"data", "stringData", "binaryData"}:
            for key in _texts_by_key(held, name):
                if key.lower() in ANSWER_FILES:
                    yield from _held("answer", ("spec", *place), held, name, key)


def answer_sources(spec: Tree, find: Find) -> Iterator[tuple[FieldPath, Resource]]:
    """The objects of the input from which *spec* takes answer files, with the places where they are named."""
    for index, volume in enumerate(spec.get("volumes") or ()):
        source = volume.get("sysprep") or {}
        for field, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
            name = tree.get(source, field, "name")
            held = find(kind, name) if isinstance(name, str) else None
            if held is not None:
                yield ("volumes", index, "sysprep", field), held


def keys_of(resource: Resource) -> set[str]:
    """The keys of a Secret or a ConfigMap."""
    return {
        key
        for name in ("data", "stringData", "binaryData")
        for key in _texts_by_key(resource, name)
    }


def _texts_by_key(resource: Resource, name: str) -> Mapping[str, Any]:
    values = resource.body.get(name)
    return values if isinstance(values, dict) else {}


def _of_field(field: _DataField, place: FieldPath, source: Tree, find: Find) -> Text | None:
    """What *field* of a cloud-init volume comes to: a Secret counts before what is written in the VM."""
    name = tree.get(source, field.reference, "name")
    secret = find("Secret", name) if isinstance(name, str) and name else None
    if secret is not None:
        for key in field.keys:
            for holder in ("stringData", "data"):
                if key in _texts_by_key(secret, holder):
                    return next(
                        _held(field.kind, (*place, field.reference), secret, holder, key), None
                    )
    plain, encoded = source.get(field.plain), source.get(field.encoded)
    if isinstance(plain, str) and plain:
        return Text(field.kind, plain, (*place, field.plain))
    text = _decoded(encoded)
    if text is None:
        return None
    return Text(field.kind, text, (*place, field.encoded), has_lines=False)


def _held(kind: Kind, path: FieldPath, source: Resource, holder: str, key: str) -> Iterator[Text]:
    """The text at *key* of *source*, if it is one; what is encrypted in Git is no base64."""
    value = _texts_by_key(source, holder).get(key)
    is_plain = holder == "stringData" or (holder == "data" and source.kind == "ConfigMap")
    text = value if is_plain else _decoded(value)
    if isinstance(text, str):
        yield Text(kind, text, path, source, (holder, key), has_lines=is_plain)


def _decoded(value: Any) -> str | None:
    """The text of base64 as Go reads it; None for what is none, and for bytes. gzip's are characters each."""
    if not isinstance(value, str) or not value:
        return None
    try:
        content = base64.b64decode("".join(value.split()), validate=True)
        return content.decode("latin-1" if content.startswith(GZIP.encode("latin-1")) else "utf-8")
    except (binascii.Error, ValueError):
        return None
