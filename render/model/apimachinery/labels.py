"""What Kubernetes accepts as a label, and how much as annotations.

Upstream: k8s.io/apimachinery/pkg/util/validation/validation.go (IsQualifiedName, IsValidLabelValue),
pkg/api/validation/objectmeta.go (TotalAnnotationSizeLimitB).
"""

from collections.abc import Iterator
from functools import lru_cache

from render.model.apimachinery.dns1123 import (
    LONGEST_SUBDOMAIN,
    as_label,
    subdomain_faults,
    too_long,
)

MOST_ANNOTATIONS = 256 << 10
"""Bytes that all annotations of an object may have, keys and values."""
_LONGEST = 63
_LONGEST_KEY = LONGEST_SUBDOMAIN + len("/") + _LONGEST
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"
_ENDS = "must start and end with an alphanumeric character"
_NAME_FAULT = (
    f"must consist of alphanumeric characters, '-', '_' or '.', and {_ENDS} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_VALUE_FAULT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    f"and {_ENDS} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)
_INSIDE = frozenset("-_.")
_OF_NAME = _INSIDE.union("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")


def key_faults(key: str) -> tuple[str, ...]:
    """Why *key* is no key of a label, in Kubernetes' words; nothing if it is one."""
    return _known_key_faults(key) if len(key) <= _LONGEST_KEY else tuple(_key_faults(key))


@lru_cache(maxsize=1024)
def _known_key_faults(key: str) -> tuple[str, ...]:
    return tuple(_key_faults(key))


def _key_faults(key: str) -> Iterator[str]:
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        hint = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        yield f"a qualified name {_NAME_FAULT} {hint}"
        return
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif slash:
        yield from (f"prefix part {fault}" for fault in subdomain_faults(prefix))
    if not name:
        yield "name part must be non-empty"
    else:
        yield from (f"name part {fault}" for fault in too_long(name, _LONGEST))
    if not _is_name(name):
        yield f"name part {_NAME_FAULT}"


def value_faults(value: str) -> tuple[str, ...]:
    """Why *value* is no value of a label, in Kubernetes' words; nothing if it is one."""
    return _known_value_faults(value) if len(value) <= _LONGEST else _value_faults(value)


def _value_faults(value: str) -> tuple[str, ...]:
    faults = too_long(value, _LONGEST)
    return faults if not value or _is_name(value) else (*faults, _VALUE_FAULT)


_known_value_faults = lru_cache(maxsize=4096)(_value_faults)


def as_value(text: str) -> str:
    """What *text* was meant to be as the value of a label; ``""`` where nothing is left of it."""
    meant = "".join(character if character in _OF_NAME else " " for character in text)
    return "-".join(meant.split())[:_LONGEST].strip("-_.")


def as_key(text: str) -> str:
    """What *text* was meant to be as the key of a label; ``""`` where nothing is left of a part of it."""
    prefix, slash, name = text.rpartition("/")
    meant = f"{as_label(prefix, dots=True)}{slash}{as_value(name)}"
    return "" if key_faults(meant) else meant


def _is_name(text: str) -> bool:
    return text != "" and _OF_NAME.issuperset(text) and _INSIDE.isdisjoint((text[0], text[-1]))
