"""Hashes of contents: the same for the same meaning, on every machine and in every release.

The algorithm is frozen by ``fixtures/revision-hashes.yaml``: stamps and locks in repositories depend on it.
"""

import itertools
import json
import re

from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree

try:
    from _sha256 import sha256  # type: ignore[import-not-found] # hashlib loads OpenSSL first: 2 ms
except ImportError:
    from hashlib import sha256

_MANY = 250  # digests, from which on OpenSSL, which is ten times as fast, has paid for its loading
PREFIX = "sha256:"
#: Decides which content a hash is of, so that an empty instancetype is no empty preference.
KIND_CLASSES = ("instancetype", "preference", "flavor", "preset")
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False).encode
_HASH = "sha256:[0-9a-f]{64}"
_REF = rf"([A-Za-z]+)/([^@/\s]+)@({_HASH})"
_SUFFIX = 10
#: Kustomize's: no vowels and nothing that looks like one, so that no suffix spells a word.
_ALPHABET = str.maketrans("013ae", "ghkmt")
#: Labels hold 63 characters, and KubeVirt labels its revisions with the names of objects.
_LABEL = 63
_NAME = 253


class Ref(NamedTuple):
    """An object with one certain content, written ``KIND/NAME@sha256:...``."""

    kind: str
    name: str
    hash: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}@{self.hash}"


def canonical(value: Any) -> str:
    """*value* as JSON with sorted keys, without blanks, in ASCII."""
    return _encode(value)


def digest(value: Any) -> str:
    """``sha256:`` and 64 hexadecimal digits over the canonical JSON of *value*."""
    return f"{PREFIX}{_quickest()(canonical(value).encode()).hexdigest()}"


_digests = itertools.count()  # counting is one step of the interpreter: threads share it safely


def _quickest() -> Any:
    """The function to hash with."""
    if next(_digests) < _MANY:
        return sha256
    from hashlib import sha256 as of_openssl

    return of_openssl


def content_hash(kind_class: str, spec: Tree) -> str:
    """The revision hash of a decoded v1beta1 *spec* (see `render.schemas`) of one of KIND_CLASSES.

    Decoding has made quantities canonical and dropped what Go drops; what is left has a meaning.
    """
    return digest({"kind": kind_class, "spec": content(spec)})


def content(spec: Tree) -> Tree:
    """*spec* as Go writes it: an empty ``nodeSelector``, kept on the live object for a quirk of its own, goes."""
    if spec.get("nodeSelector") != {}:
        return spec
    return {key: value for key, value in spec.items() if key != "nodeSelector"}


def rendered_hash(spec: Tree) -> str:
    """The hash of the *spec* of a rendered VM.

    Whether it runs is not part of it, nor is the template's metadata: label and namespace transformers that come
    later are no edits.
    """
    kept = {key: value for key, value in spec.items() if key not in ("running", "runStrategy")}
    template = kept.get("template")
    if isinstance(template, dict):
        kept["template"] = {key: value for key, value in template.items() if key != "metadata"}
    return digest(kept)


def is_hash(text: Any) -> bool:
    """Whether *text* is written as `digest` writes."""
    return isinstance(text, str) and re.fullmatch(_HASH, text) is not None


def read_ref(text: Any) -> Ref | None:
    """The reference that *text* spells, None if it spells none."""
    match = re.fullmatch(_REF, text) if isinstance(text, str) else None
    return Ref(*match.groups()) if match else None


def suffix(hash_: str) -> str:
    """The first digits of a hash in kustomize's alphabet, for names."""
    return hash_.removeprefix(PREFIX)[:_SUFFIX].translate(_ALPHABET)


def hashed_name(name: str, hash_: str) -> str:
    """``NAME-HASH``, cut to what a label holds; a name that ends in this hash already stays."""
    tail = f"-{suffix(hash_)}"
    return name if name.endswith(tail) else _cut(name, _LABEL - len(tail)) + tail


def revision_name(name: str, hash_: str) -> str:
    """``OBJECT-v1beta1-HASH``, the name of the ControllerRevision that holds a content."""
    tail = f"-v1beta1-{suffix(hash_)}"
    return _cut(name, _NAME - len(tail)) + tail


def _cut(name: str, length: int) -> str:
    return name[:length].rstrip("-.")
