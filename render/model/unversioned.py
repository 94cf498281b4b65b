"""Objects of KubeVirt's kinds without an API version, which nothing else tells from other texts."""

import re

from render.model.kinds import INSTANCETYPES, PREFERENCES
from render.model.misspelt import KIND
from render.model.release import NEWEST, served
from render.model.resource import INSTANCETYPE_GROUP, KUBEVIRT, VM, VMI

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
_SEPARATOR = rb"(?m)^---"
_TEMPLATED = b"{{"
#: In blocks the keys of the object stand at the margin; in braces before what is nested, as everyone prints them.
_BLOCK_KIND = rb"""(?m)^["']?kind["']?[ \t]*:[ \t]*["']?(?:%b)\b["']?[ \t]*(?:#|\r?$)""" % _KINDS
_BLOCK_VERSION = rb"""(?m)^["']?apiVersion["']?[ \t]*:[ \t]*["']?[^\s"'#]"""
_BRACED_KIND = rb"""\s*\{[^{}\[\]]*?\bkind["']?\s*:\s*["']?(?:%b)["']?\s*[,}]""" % _KINDS


def may_be_unversioned(text: bytes) -> bool:
    """Whether *text* may hold an object of one of KubeVirt's kinds that has no API version."""
    return KIND.encode() in text and any(map(_is_unversioned, re.split(_SEPARATOR, text)))


def _is_unversioned(document: bytes) -> bool:
    if (
        KIND.encode() not in document or _TEMPLATED in document
    ):  # what fills it in may bring a version
        return False
    if re.match(_BRACED_KIND, document):
        return b"apiVersion" not in document
    return bool(re.search(_BLOCK_KIND, document)) and not re.search(_BLOCK_VERSION, document)


def version_to_write(kind: str) -> str:
    """The API version of today for an object of *kind* that has none; ``""`` for a kind that is not KubeVirt's."""
    group = _GROUPS.get(kind)
    return f"{group}/{served(group, NEWEST)[0]}" if group else ""
