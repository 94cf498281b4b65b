"""What Kubernetes accepts as a label.

Upstream: k8s.io/apimachinery/pkg/util/validation/validation.go (IsQualifiedName, IsValidLabelValue).
"""

import re
from collections.abc import Iterator

_LONGEST = 63
_LONGEST_PREFIX = 253
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"
_WORD = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_WORD}(\.{_WORD})*"
_ENDS = "must start and end with an alphanumeric character"
_NAME_FAULT = (
    f"must consist of alphanumeric characters, '-', '_' or '.', and {_ENDS} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_VALUE_FAULT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    f"and {_ENDS} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)
_PREFIX_FAULT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    f"and {_ENDS} (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)


def key_faults(key: str) -> str:
    """Why *key* is no key of a label, in Kubernetes' words; ``""`` if it is one."""
    return "; ".join(_key_faults(key))


def _key_faults(key: str) -> Iterator[str]:
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        hint = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        yield f"a qualified name {_NAME_FAULT} {hint}"
        return
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif slash:
        if _size(prefix) > _LONGEST_PREFIX:
            yield f"prefix part must be no more than {_LONGEST_PREFIX} characters"
        if not re.fullmatch(_SUBDOMAIN, prefix):
            yield f"prefix part {_PREFIX_FAULT}"
    if not name:
        yield "name part must be non-empty"
    elif _size(name) > _LONGEST:
        yield f"name part must be no more than {_LONGEST} characters"
    if not re.fullmatch(_NAME, name):
        yield f"name part {_NAME_FAULT}"


def value_faults(value: str) -> str:
    """Why *value* is no value of a label, in Kubernetes' words; ``""`` if it is one."""
    long = f"must be no more than {_LONGEST} characters" if _size(value) > _LONGEST else ""
    wrong = "" if re.fullmatch(_VALUE, value) else _VALUE_FAULT
    return "; ".join(filter(None, (long, wrong)))


def _size(text: str) -> int:
    return len(text.encode())  # Go counts bytes
