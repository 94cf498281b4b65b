"""Names that DNS allows, as Kubernetes checks them.

Upstream: k8s.io/apimachinery/pkg/util/validation/validation.go (IsDNS1123Label, IsDNS1123Subdomain).
"""

from functools import lru_cache

_LONGEST_LABEL = 63
LONGEST_SUBDOMAIN = 253
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_ENDS = "must start and end with an alphanumeric character"
_LABEL_FAULT = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {_ENDS} "
    f"(e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_SUBDOMAIN_FAULT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    f"and {_ENDS} (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
# Sets of letters, and no expression: few processes check more names than compiling one costs.
_OF_LABEL = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def too_long(text: str, most: int) -> tuple[str, ...]:
    """The fault of a *text* of more than *most* bytes, which Kubernetes calls characters."""
    if len(text) <= most and (text.isascii() or len(text.encode()) <= most):
        return ()
    return (f"must be no more than {most} characters",)


def label_faults(name: str) -> tuple[str, ...]:
    """Why *name* is no DNS label, in Kubernetes' words; nothing if it is one."""
    return _known_label_faults(name) if len(name) <= _LONGEST_LABEL else _label_faults(name)


def _label_faults(name: str) -> tuple[str, ...]:
    faults = too_long(name, _LONGEST_LABEL)
    if _is_label(name):
        return faults
    return (*faults, "must not contain dots" if _is_subdomain(name) else _LABEL_FAULT)


# What is too long for a name is not kept: a process may read many texts of any length.
_known_label_faults = lru_cache(maxsize=4096)(_label_faults)


def subdomain_faults(name: str) -> tuple[str, ...]:
    """Why *name* is no DNS subdomain, in Kubernetes' words; nothing if it is one."""
    faults = too_long(name, LONGEST_SUBDOMAIN)
    return faults if _is_subdomain(name) else (*faults, _SUBDOMAIN_FAULT)


def _is_label(name: str) -> bool:
    return name != "" and _OF_LABEL.issuperset(name) and "-" not in (name[0], name[-1])


def _is_subdomain(name: str) -> bool:
    return _is_label(name) or ("." in name and all(map(_is_label, name.split("."))))


def as_label(text: str, *, dots: bool = False) -> str:
    """What *text* was meant to be as a label, or with *dots* as a subdomain; ``""`` where nothing is left of it."""
    most = LONGEST_SUBDOMAIN if dots else _LONGEST_LABEL
    allowed = _OF_LABEL | {"."} if dots else _OF_LABEL
    meant = "".join(character if character in allowed else " " for character in text.lower())
    label = "-".join(meant.split())[:most].strip("-.")
    return "" if (subdomain_faults if dots else label_faults)(label) else label
