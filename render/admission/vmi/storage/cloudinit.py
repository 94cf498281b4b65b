"""Cloud-init data of volumes: one source each, base64, at most 2 KiB.

No message holds any of the data. Upstream: validateVolumes in vmi-create-admitter.go.
"""

import re
from collections.abc import Iterator
from functools import cache

from render.admission.checks import EACH, Check, Subject
from render.diagnostics.cause import Cause
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.release import Windowed
from render.model.tree import Tree

_VOLUMES = ("volumes",)
_KINDS = ("cloudInitNoCloud", "cloudInitConfigDrive")
_LONGEST = 2048
_QUANTUM, _BYTES = 4, 3
_LINE_BREAKS = str.maketrans("", "", "\r\n")


class _Data(NamedTuple):
    """One of the two documents: its keys, and KubeVirt's words for it."""

    reference: str
    encoded: str
    plain: str
    word: str
    several: str
    secret: str


_DATA = (
    _Data(
        "secretRef",
        "userDataBase64",
        "userData",
        "userdata",
        "userdatasource",
        "UserDataSecretRef",
    ),
    _Data(
        "networkDataSecretRef",
        "networkDataBase64",
        "networkData",
        "networkdata",
        "networkdata source",
        "NetworkDataSecretRef",
    ),
)
_PLAIN = frozenset(data.plain for data in _DATA)


@cache
def _pattern() -> re.Pattern[str]:
    """What Go decodes, and the end that it wants after whole groups of four; compiled where base64 is met."""
    return re.compile(
        r"(?P<whole>(?:[A-Za-z0-9+/]{4})*+)(?P<end>(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?+\Z)?"
    )


def _decoded_size(text: str) -> tuple[int, bool]:
    """How many bytes Go gets out of base64 before it stops, and whether it gets to the end."""
    text = text.translate(_LINE_BREAKS)
    match = _pattern().match(text)
    whole, end = match.group("whole", "end") if match else ("", None)
    size = len(whole) // _QUANTUM * _BYTES
    return size + len((end or "").rstrip("=")) * _BYTES // _QUANTUM, end is not None


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _cloud_init(subject: Subject) -> Iterator[Cause]:
    for index, volume in enumerate(subject.spec["volumes"]):
        for kind in _KINDS:
            source = volume.get(kind)
            if source is not None:
                yield from _documents(subject, (*_VOLUMES, index, kind), source)
                break  # of a volume with both kinds, KubeVirt looks at the first


def _sources(source: Tree, data: _Data) -> int:
    """How many ways *source* has to one of the two documents."""
    reference = source.get(data.reference) or {}
    return sum(map(bool, (reference.get("name"), source.get(data.encoded), source.get(data.plain))))


def _document(
    subject: Subject, place: FieldPath, source: Tree, data: _Data, sources: int
) -> Iterator[Cause]:
    """What is wrong with one of the two documents, which *source* has in so many ways."""
    encoded, plain = source.get(data.encoded), source.get(data.plain)
    size, is_whole = _decoded_size(encoded) if encoded else (0, True)
    if not is_whole:
        field = subject.text(*place, data.encoded)
        yield Cause(
            "cloud-init/base64",
            subject.at(*place, data.encoded),
            f"{field}.{place[-1]}.{data.encoded} is not a valid base64 value.",
            f"encode it with `base64`, or write it as {data.plain}",
        )
    if sources > 1:
        yield Cause(
            "cloud-init/one-source",
            subject.at(*place),
            f"{subject.text(*place)} must have only one {data.several} set.",
            f"keep one of {data.plain}, {data.encoded} and {data.reference}",
        )
    if (_size(plain) if plain else size) > _LONGEST:
        yield Cause(
            "cloud-init/size",
            subject.at(*place),
            f"{subject.text(*place)} {data.word} exceeds {_LONGEST} byte limit. Should use {data.secret} for "
            "larger data.",
            f"move it into a Secret, and name that in {data.reference}",
            place=subject.at(*place, data.plain if plain else data.encoded),
        )


def _is_plain(source: Tree) -> bool:
    """Whether *source* has nothing but documents as they are, neither of them empty or too long."""
    if not source or not _PLAIN.issuperset(source):
        return False
    return all(text and _size(text) <= _LONGEST for text in source.values())


def _documents(subject: Subject, place: FieldPath, source: Tree) -> Iterator[Cause]:
    if _is_plain(source):
        return
    every = [_sources(source, data) for data in _DATA]
    for data, sources in zip(_DATA, every, strict=True):
        yield from _document(subject, place, source, data, sources)
    if not any(every):
        yield Cause(
            "cloud-init/no-source",
            subject.at(*place),
            f"{subject.text(*place)} must have at least one userdatasource or one networkdatasource set.",
            "write userData, or name a Secret in secretRef",
        )


_FIRST, _SECOND = ((*_VOLUMES, EACH, kind) for kind in _KINDS)
CHECKS: tuple[Check | Windowed[Check], ...] = (
    Check("cloud-init", _cloud_init, where=_FIRST, also=(_SECOND,)),
)
