"""Objects of KubeVirt's kinds without the API version that they were meant to have.

They have none, one that has none of them (``v1``, ``apps/v1``), or one of a group that is KubeVirt's but for a slip.
"""

import re
from functools import lru_cache

from render.model.kinds import INSTANCETYPES, PREFERENCES
from render.model.nearest import is_near
from render.model.release import NEWEST, served
from render.model.resource import FLAVOR_GROUP, INSTANCETYPE_GROUP, KUBEVIRT, VM, VMI, text_at
from render.model.tree import Tree

_GROUPS = {
    VM: KUBEVIRT,
    VMI: KUBEVIRT,
    f"{VMI}Migration": KUBEVIRT,
    f"{VMI}Preset": KUBEVIRT,
    f"{VMI}ReplicaSet": KUBEVIRT,
    **dict.fromkeys(INSTANCETYPES | PREFERENCES, INSTANCETYPE_GROUP),
    f"{VM}Pool": f"pool.{KUBEVIRT}",
}
_KINDS = "|".join(_GROUPS).encode()
_EVERY_GROUP = (
    KUBEVIRT,
    INSTANCETYPE_GROUP,
    FLAVOR_GROUP,
    *(f"{name}.{KUBEVIRT}" for name in ("pool", "clone", "snapshot")),
)
_SHORT, _ENDING = "kubevirt", ".io"
_API_VERSION = rb"""apiVersion["']?[ \t]*:[ \t]*["']?([a-zA-Z0-9.-]{1,40})/"""
_SEPARATOR = rb"(?m)^---"
_TEMPLATED = b"{{"
#: In blocks the keys of the object stand at the margin; in braces before what is nested, as everyone prints them.
_BLOCK_KIND = rb"""(?m)^["']?kind["']?[ \t]*:[ \t]*["']?(?:%b)\b["']?[ \t]*(?:#|\r?$)""" % _KINDS
_BLOCK_VERSION = rb"""(?m)^["']?apiVersion["']?[ \t]*:[ \t]*["']?[^\s"'#]"""
#: No definition of a resource has a group without a dot: those are Kubernetes's own.
_DOTLESS = rb"""["']?(?:[a-z0-9-]*/)?v[0-9][a-z0-9]*["']?"""
_BLOCK_DOTLESS = rb"""(?m)^["']?apiVersion["']?[ \t]*:[ \t]*%b[ \t]*(?:#|\r?$)""" % _DOTLESS
_BRACED_DOTLESS = rb"""apiVersion["']?\s*:\s*%b\s*[,}]""" % _DOTLESS
#: What other systems have in the spec of what they call a VM too is none of these, by the type that each has here: an
#: image is called a template, and a size an instance type.
_OWN_FIELDS = {
    "dataVolumeTemplates": list,
    "instancetype": dict,
    "runStrategy": str,
    "running": bool,
    "template": dict,
}
_DOTTED = r"(.+)\.(v[0-9][a-z0-9]*)"
_BRACED_KIND = rb"""\s*\{[^{}\[\]]*?\bkind["']?\s*:\s*["']?(?:%b)["']?\s*[,}]""" % _KINDS


def may_be_meant(text: bytes) -> bool:
    """Whether *text* may hold an object of one of KubeVirt's kinds that has no API version, or not the one it needs."""
    if VM.encode() not in text:
        return False
    groups = {group.decode() for group in re.findall(_API_VERSION, text)}
    return any(map(group_meant, groups)) or any(map(_is_unversioned, re.split(_SEPARATOR, text)))


def _is_unversioned(document: bytes) -> bool:
    # What fills it in may bring a version.
    if VM.encode() not in document or _TEMPLATED in document:
        return False
    if re.match(_BRACED_KIND, document):
        return b"apiVersion" not in document or bool(re.search(_BRACED_DOTLESS, document))
    return bool(re.search(_BLOCK_KIND, document)) and (
        not re.search(_BLOCK_VERSION, document) or bool(re.search(_BLOCK_DOTLESS, document))
    )


def version_meant(body: Tree) -> str:
    """The API version that the object *body* was meant to have, whose own no cluster has with such a kind.

    ``""`` where it is right, has none, or may be that of others: a group with a dot that is not near to KubeVirt's.
    """
    kind, (group, _, version) = text_at(body, "kind"), text_at(body, "apiVersion").rpartition("/")
    if not kind.startswith(VM) or not version:
        return ""
    near = group_meant(group) or _near_to_own(kind, group)
    if near:
        return f"{near}/{version}"
    if "." in version and not group:
        return _without_slash(version)
    if "." in group or "." in version or not is_own(body):
        return ""
    return version_to_write(kind)


def is_own(body: Tree) -> bool:
    """Whether the object *body* can be nobody else's, whatever group it has: so says its kind, of a VM its spec."""
    kind, spec = text_at(body, "kind"), body.get("spec")
    if kind == VM:
        return isinstance(spec, dict) and any(
            isinstance(spec.get(name), its_type) for name, its_type in _OWN_FIELDS.items()
        )
    return kind in _GROUPS


def _near_to_own(kind: str, group: str) -> str:
    """The group of *kind*, below KubeVirt's, if *group* is that but for a slip: ``instancetypes.kubevirt.io``."""
    first, _, around = group.partition(".")
    own = _GROUPS.get(kind, "")
    is_slip = around == KUBEVIRT and own != group and own.endswith(f".{KUBEVIRT}")
    return own if is_slip and is_near(first, own.partition(".")[0]) else ""


def _without_slash(text: str) -> str:
    """The API version that *text* was meant to be: a group alone, or with a dot before the version."""
    group, version = match.groups() if (match := re.fullmatch(_DOTTED, text)) else (text, "")
    if group not in _GROUPS.values():
        return ""
    return f"{group}/{version or served(group, NEWEST)[0]}"


@lru_cache(maxsize=256)
def group_meant(group: str) -> str:
    """The group of KubeVirt's that *group* is but for a slip, ``""`` for one of others or one that is right.

    What ends in KubeVirt's own name is somebody's who builds on it. No definition of a resource has a group without a
    dot.
    """
    if group.endswith(f".{KUBEVIRT}") or group == KUBEVIRT:
        return ""
    group = group.lower()  # which all groups are written in
    if "." not in group and is_near(group, _SHORT):
        return KUBEVIRT
    return next(
        (own for own in _EVERY_GROUP if is_near(group, own) or own == f"{group}{_ENDING}"), ""
    )


def version_to_write(kind: str) -> str:
    """The API version of today for an object of *kind* that has none; ``""`` for a kind that is not KubeVirt's."""
    group = _GROUPS.get(kind)
    return f"{group}/{served(group, NEWEST)[0]}" if group else ""
