"""What an import, an upload or a clone says of where its data come from.

Upstream: of the containerized data importer pkg/apiserver/webhooks/util.go, pkg/util/checksum/checksum.go.
"""

from collections.abc import Callable, Iterator

from render.diagnostics.cause import Cause
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.release import Items, Version, in_force, since, until, variant
from render.model.tree import Tree

_SCHEMES = ("http", "https", "gs")
_REGISTRY_SCHEMES = ("docker", "oci-archive")
_PULL_METHODS = ("pod", "node")
#: How many hexadecimal digits the hash of an algorithm has.
_HASHES = {"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}
_KUBEVIRT, _ARCHIVE = "kubevirt", "archive"
_DELETE, _LATIN_1 = 0x7F, 0xA0


class SpecPlace(tuple[FieldPath, FieldPath]):
    """Where a spec is: in the words of CDI, and where it is written."""

    __slots__ = ()

    def cause(
        self,
        check: str,
        named: FieldPath,
        message: str,
        cure: str,
        written: FieldPath | None = None,
    ) -> Cause:
        """A refusal of *named* below the spec, which is *written* elsewhere if that is given."""
        place = (*self[1], *(named if written is None else written))
        return Cause(f"cdi/{check}", (*self[0], *named), message, cure, place=place)


def count(source: Tree | None, what: str, place: SpecPlace) -> Iterator[Cause]:
    """No source at all, or several."""
    if source is not None and len(source) == 1:
        return
    text = f"Multiple {what} sources" if source else f"Missing {what} source"
    yield place.cause("one-source", ("source",), text, "name exactly one source")


def content_type(value: str | None, place: SpecPlace) -> Iterator[Cause]:
    """A content type that CDI does not know."""
    if value not in (None, "", _KUBEVIRT, _ARCHIVE):
        text = f"ContentType not one of: {_KUBEVIRT}, {_ARCHIVE}"
        yield place.cause("content-type", ("contentType",), text, "use kubevirt or archive")


def causes(spec: Tree, place: SpecPlace, version: Version) -> Iterator[Cause]:
    """What the rules of the one source of *spec* refuse."""
    source = spec["source"]
    for key, judge in _SOURCES.items():
        if source.get(key) is not None:
            yield from judge(spec, place, version)


def _http(spec: Tree, place: SpecPlace, version: Version) -> Iterator[Cause]:
    yield from _url("http", "HTTP", spec, place)
    for fault in in_force(_CHECKSUM, version):
        yield from fault(spec["source"]["http"].get("checksum") or "", place)


def _located(key: str, name: str) -> "_Judge":
    def judge(spec: Tree, place: SpecPlace, _version: Version) -> Iterator[Cause]:
        yield from _url(key, name, spec, place)

    return judge


def _url(key: str, name: str, spec: Tree, place: SpecPlace) -> Iterator[Cause]:
    text = spec["source"][key].get("url") or ""
    fault = _url_fault(text)
    if fault:
        named = ".".join((*map(str, place[0]), "source"))
        written = ("source", key, "url")
        cure = "write a whole URL: https://HOST/PATH"
        yield place.cause("url", ("source", name, "url"), f"{named} {fault}", cure, written)


def _url_fault(text: str) -> str:
    if not text:
        return "source URL is empty"
    from render.model.apimachinery import urls

    try:
        url = urls.parse_request(text)
    except urls.URLError:
        return f"Invalid source URL: {text}"
    return "" if url.scheme in _SCHEMES else f"Invalid source URL scheme: {text}"


def _checksum(text: str, place: SpecPlace) -> Iterator[Cause]:
    fault = _checksum_fault(text) if text else ""
    if fault:
        yield place.cause(
            "checksum",
            ("source", "HTTP", "checksum"),
            f"Invalid checksum format: {fault}",
            "write ALGORITHM:HASH, such as sha256: and 64 hexadecimal digits",
            ("source", "http", "checksum"),
        )


_CHECKSUM = (since("1.65", _checksum),)


def _checksum_fault(text: str) -> str:
    name, colon, value = text.partition(":")
    if not colon:
        return f"invalid checksum format: expected 'algorithm:hash', got '{text}'"
    name, value = name.strip().lower(), value.strip().lower()
    if not value:
        return "checksum hash value cannot be empty"
    if name not in _HASHES:
        return (
            f"unsupported hash algorithm '{name}': supported algorithms are: {', '.join(_HASHES)}"
        )
    digits = value.encode()
    if len(digits) != _HASHES[name]:
        return f"invalid {name} hash length: expected {_HASHES[name]} hex characters, got {len(digits)}"
    odd = next((byte for byte in digits if byte not in b"0123456789abcdef"), None)
    if odd is None:
        return ""
    glyph = (
        ""
        if odd < ord(" ") or _DELETE <= odd <= _LATIN_1 or odd == _SOFT_HYPHEN
        else f" '{chr(odd)}'"
    )
    return f"checksum hash is not valid hexadecimal: encoding/hex: invalid byte: U+{odd:04X}{glyph}"


_SOFT_HYPHEN = 0xAD


def _blank(spec: Tree, place: SpecPlace, _version: Version) -> Iterator[Cause]:
    if spec.get("contentType") == _ARCHIVE:
        text = "SourceType cannot be blank and the contentType be archive"
        cure = "leave contentType out: an empty disk is no archive"
        yield place.cause("content-type", ("contentType",), text, cure)


def _registry(spec: Tree, place: SpecPlace, _version: Version) -> Iterator[Cause]:
    if spec.get("contentType") not in (None, "", _KUBEVIRT):
        text = f"ContentType must be {_KUBEVIRT} when Source is Registry"
        cure = "leave contentType out: a registry holds images of disks"
        yield place.cause("content-type", ("contentType",), text, cure)
        return
    registry = spec["source"]["registry"]
    named, written = ("source", "Registry"), ("source", "registry")
    url, stream, method = (registry.get(key) for key in ("url", "imageStream", "pullMethod"))
    if (url is None) == (stream is None):
        text = "Source registry should have either URL or ImageStream"
        yield place.cause("registry", named, text, "keep url or imageStream", written)
        return
    fault = "" if url is None else _registry_fault(url)
    if fault:
        cure = "write docker://HOST/IMAGE"
        yield place.cause("url", (*named, "URL"), fault, cure, (*written, "url"))
        return
    fault, cure, key = _pull_fault(method, stream)
    if fault:
        yield place.cause("registry", (*named, "importMethod"), fault, cure, (*written, key))


def _registry_fault(text: str) -> str:
    from render.model.apimachinery import urls

    try:
        url = urls.parse(text)
    except urls.URLError:
        return f"Illegal registry source URL {text}"
    return "" if url.scheme in _REGISTRY_SCHEMES else f"Illegal registry source URL scheme {url}"


def _pull_fault(method: str | None, stream: str | None) -> tuple[str, str, str]:
    """What is wrong with how an image is pulled, what to do, and the key at fault."""
    if method is not None and method not in _PULL_METHODS:
        text = f'ImportMethod {method} is neither pod, node or ""'
        return text, "use pod or node, or leave it out", "pullMethod"
    if stream == "":
        return "Source registry ImageStream is not valid", "name the image stream", "imageStream"
    if stream is not None and method != "node":
        text = "Source registry ImageStream is supported only with node pull import method"
        return text, "add pullMethod: node", "imageStream"
    return "", "", ""


def _imageio(spec: Tree, place: SpecPlace, version: Version) -> Iterator[Cause]:
    source = spec["source"]["imageio"]
    fault = variant(_IMAGEIO, version)(source)
    if fault:
        cure = "give it secretRef, diskId and certConfigMap"
        yield _unfit("imageio", "Imageio", f"Imageio {fault}", cure, place)
        return
    yield from _url("imageio", "ImageIO", spec, place)


def _imageio_with_certificate(source: Tree) -> str:
    is_whole = all(source.get(key) for key in ("secretRef", "diskId", "certConfigMap"))
    return "" if is_whole else "is not valid"


def _imageio_fault(source: Tree) -> str:
    if not source.get("secretRef") or not source.get("diskId"):
        return "is not valid"
    if not source.get("certConfigMap") and source.get("insecureSkipVerify") is not True:
        return "requires CertConfigMap or InsecureSkipVerify"
    return ""


_IMAGEIO: Items[Callable[[Tree], str]] = (
    until("1.64", _imageio_with_certificate),
    _imageio_fault,
)


def _vddk(spec: Tree, place: SpecPlace, _version: Version) -> Iterator[Cause]:
    keys = ("secretRef", "uuid", "backingFile", "thumbprint")
    if not all(spec["source"]["vddk"].get(key) for key in keys):
        cure = "give it secretRef, uuid, backingFile and thumbprint"
        yield _unfit("vddk", "VDDK", "VDDK is not valid", cure, place)
        return
    yield from _url("vddk", "VDDK", spec, place)


def _clone(key: str, name: str, what: str) -> "_Judge":
    def judge(spec: Tree, place: SpecPlace, _version: Version) -> Iterator[Cause]:
        if not all(tree.get(spec, "source", key, step) for step in ("namespace", "name")):
            cure = "give it a namespace and a name"
            yield _unfit(key, name, f"{what} is not valid", cure, place, "clone")

    return judge


def _unfit(  # noqa: PLR0913, PLR0917 - the words of a refusal
    key: str, name: str, fault: str, cure: str, place: SpecPlace, check: str = ""
) -> Cause:
    """That the source under *key*, which CDI calls *name*, has a *fault*."""
    field = ".".join((*map(str, place[0]), "source", name))
    text = f"{field} source {fault}"
    return place.cause(check or key, ("source", name), text, cure, ("source", key))


_Judge = Callable[[Tree, SpecPlace, Version], Iterator[Cause]]
#: In upstream's order.
_SOURCES: dict[str, _Judge] = {
    "http": _http,
    "s3": _located("s3", "S3"),
    "gcs": _located("gcs", "GCS"),
    "blank": _blank,
    "registry": _registry,
    "imageio": _imageio,
    "vddk": _vddk,
    "pvc": _clone("pvc", "PVC", "PVC"),
    "snapshot": _clone("snapshot", "Snapshot", "snapshot"),
}
