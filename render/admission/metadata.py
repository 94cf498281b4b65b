"""What the API server refuses of the metadata of any object, before a webhook sees it.

Upstream: k8s.io/apimachinery/pkg/api/validation/objectmeta.go (ValidateObjectMetaAccessor, for custom resources with
NameIsDNSSubdomain).
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from render.diagnostics.cause import Cause
from render.diagnostics.codes import METADATA_REFUSED
from render.diagnostics.fix import Fix, choice, remove, rename, set_to
from render.model.apimachinery import labels
from render.model.apimachinery.dns1123 import as_label, label_faults, subdomain_faults
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.tree import Tree

_BYTES = 4  # of a character, at most
_CHECK = METADATA_REFUSED.slug
#: What Helm, Jinja, envsubst and Flux fill in before an API server sees it. An opening inside of another ends the
#: search for its closing, lest a text of nothing else takes ages. Backstage's has a ``$`` before it.
PLACEHOLDER = (
    r"\$?\{\{(?:(?!\{\{|\}\}).)*+\}\}|\$\{([A-Za-z_][A-Za-z0-9_]*+)(?::[=-](?:(?!\$\{)[^}])*+)?\}"
)
#: What others fill in where a name stands, in which no API server takes such characters.
PLACEHOLDER_OF_NAME = (
    rf"{PLACEHOLDER}|\$\([A-Za-z_][\w.-]*+\)|@[A-Za-z_][\w.-]*+@|__[A-Za-z][A-Za-z0-9]*+(?:_[A-Za-z0-9]++)*+__"
    r"|<[A-Za-z_][\w. -]*+>|\$[A-Z_][A-Z0-9_]*+"
)
#: One of these begins each of them: most names have none, and the expression is compiled for others.
_MARKS = "${@_<"
_TEXT = frozenset({str})
#: Whether longer ones are keys is not kept: a process may read many of any length.
_LONGEST_KEPT = 1000
_NAMED = "use lower case letters, digits, '-' and '.', at most 253 of them"
_SPACED = "use lower case letters, digits and '-', at most 63 of them, no dot"
_LABELED = "use letters, digits, '-', '_' and '.', at most 63 of them; a key may have a domain and '/' before that"
_QUALIFIED = "use letters, digits, '-', '_' and '.', after a domain and '/'"
_ANNOTATED = "use letters, digits, '-', '_' and '.', at most 63 of them, after a domain and '/'"


def refusals(metadata: Any) -> Iterator[Cause]:
    """What speaks against *metadata*, of whatever type it and what it holds are: wrong ones are found elsewhere."""
    if not isinstance(metadata, dict):
        return
    for key, check, cure in _NAMES:
        value = metadata.get(key)
        if isinstance(value, str) and value and (faults := check(value)):
            yield from _refusals((key,), value, faults, cure, _renamed)
    labelled = _texts(metadata, "labels")
    if not _are_keys(labelled) or any(map(labels.value_faults, labelled.values())):
        yield from _labels(labelled)
    if "finalizers" in metadata:
        yield from _finalizers(metadata["finalizers"])
    annotations = _texts(metadata, "annotations")
    if not _are_keys(annotations):
        for key in annotations:
            if faults := labels.key_faults(key.lower()):  # their case does not matter
                yield from _refusals(("annotations", key), key, faults, _ANNOTATED, _renamed_key)
    if annotations and _size(annotations) > labels.MOST_ANNOTATIONS:
        text = (
            f"metadata.annotations: Too long: may not be more than {labels.MOST_ANNOTATIONS} bytes"
        )
        yield Cause(_CHECK, ("metadata", "annotations"), text, "keep large texts in a ConfigMap")


def _size(annotations: dict[str, str]) -> int:
    """The bytes of *annotations*, or more where there are few."""
    texts = (*annotations, *annotations.values())
    most = _BYTES * sum(map(len, texts))
    if most <= labels.MOST_ANNOTATIONS:
        return most
    return sum(len(text.encode(errors="replace")) for text in texts)


def _are_keys(entries: dict[str, str]) -> bool:
    """Whether all keys of *entries* are keys of labels: those of a fleet are the same in all objects."""
    keys = tuple(entries)
    return (_known_keys if len("".join(keys)) <= _LONGEST_KEPT else _all_keys)(keys)


def _all_keys(keys: tuple[str, ...]) -> bool:
    return not any(map(labels.key_faults, keys))


_known_keys = lru_cache(maxsize=1024)(_all_keys)


def _labels(entries: dict[str, str]) -> Iterator[Cause]:
    for key, value in entries.items():
        place = ("labels", key)
        if faults := labels.key_faults(key):
            yield from _refusals(place, key, faults, _LABELED, _renamed_key)
        if faults := labels.value_faults(value):
            yield from _refusals(place, value, faults, _LABELED, _respelled)


def _renamed(place: FieldPath, name: str) -> tuple[Fix, ...]:
    """The object with a *name* at *place* that is none: whoever names it has to follow."""
    key = place[-1]
    meant = as_label(name, dots=key != "namespace")
    if key == "generateName" and meant and name.endswith("-"):
        meant += "-"
    return choice((f"write {meant}", set_to(place, meant))) if meant else ()


def _respelled(place: FieldPath, value: str) -> tuple[Fix, ...]:
    """The label at *place* with what *value* was meant to be, or without it: who looks for it only its author knows."""
    meant = labels.as_value(value)
    if not meant:
        return ()
    return choice((f"write {meant}", set_to(place, meant)), ("drop the label", remove(place)))


def _renamed_key(place: FieldPath, key: str) -> tuple[Fix, ...]:
    """The label or annotation at *place* under what its *key* was meant to be, or without it."""
    meant = labels.as_key(key)
    if not meant:
        return ()
    what = str(place[-2]).removesuffix("s")
    return choice((f"call it {meant}", rename(place, meant)), (f"drop the {what}", remove(place)))


def _prefix_faults(text: str) -> tuple[str, ...]:
    """What is wrong with the beginning of a name, whose last dash the generated end follows."""
    return subdomain_faults(f"{text[:-2]}a" if text[1:].endswith("-") else text)


#: What is a name, what finds its faults, and what to do about them.
_NAMES = (
    ("name", subdomain_faults, _NAMED),
    ("generateName", _prefix_faults, _NAMED),
    ("namespace", label_faults, _SPACED),
)


def _finalizers(finalizers: Any) -> Iterator[Cause]:
    entries = finalizers if isinstance(finalizers, list) else []
    for index, value in enumerate(entries):
        if isinstance(value, str) and (faults := labels.key_faults(value)):
            yield from _refusals(("finalizers", index), value, faults, _QUALIFIED)
    if {"orphan", "foregroundDeletion"}.issubset(
        entry for entry in entries if isinstance(entry, str)
    ):
        text = "metadata.finalizers: Invalid value: finalizer orphan and foregroundDeletion cannot be both set"
        yield Cause(_CHECK, ("metadata", "finalizers"), text, "keep one of the two")


def open_names(metadata: Any) -> Iterator[tuple[FieldPath, str]]:
    """The texts of *metadata* that an API server checks and that may hold a `PLACEHOLDER_OF_NAME`.

    Each with its place there; keys stand at their values.
    """
    if not isinstance(metadata, dict):
        return
    names = {key: metadata[key] for key, _, _ in _NAMES if isinstance(metadata.get(key), str)}
    labelled, annotations = _texts(metadata, "labels"), _texts(metadata, "annotations")
    texts = (*names.values(), *labelled, *labelled.values(), *annotations)
    if not _has_mark("".join(texts)):  # most objects
        return
    for key, value in names.items():
        if _has_mark(value):
            yield (key,), value
    for key, value in labelled.items():
        for text in (key, value):
            if _has_mark(text):
                yield ("labels", key), text
    for key in annotations:
        if _has_mark(key):
            yield ("annotations", key), key


def _has_mark(text: str) -> bool:
    """Whether a `PLACEHOLDER_OF_NAME` may begin in *text*."""
    return any(map(text.__contains__, _MARKS))


def _texts(metadata: Tree, key: str) -> dict[str, str]:
    entries: Any = metadata.get(key)
    if not isinstance(entries, dict):
        return {}
    if _TEXT.issuperset(map(type, entries.values())):
        return entries
    return {name: value for name, value in entries.items() if isinstance(value, str)}


def _refusals(
    place: FieldPath,
    value: str,
    faults: tuple[str, ...],
    cure: str,
    mend: Callable[[FieldPath, str], tuple[Fix, ...]] | None = None,
) -> Iterator[Cause]:
    """The *faults* of *value* at *place*, and how to *mend* that, unless somebody fills it in."""
    if _has_mark(value) and re.search(PLACEHOLDER_OF_NAME, value):
        return
    from render.model.apimachinery.go import quoted

    field, path = f"metadata.{place[0]}", ("metadata", *place)
    fixes = mend(path, value) if mend else ()
    for fault in faults:
        text = f"{field}: Invalid value: {quoted(value)}: {fault}"
        yield Cause(_CHECK, path, text, cure, fixes=fixes)
