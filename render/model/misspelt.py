"""API groups that are KubeVirt's but for a slip of the pen, at kinds that are called as KubeVirt's are."""

import re
from functools import lru_cache

from render.model.resource import FLAVOR_GROUP, INSTANCETYPE_GROUP, KUBEVIRT

KIND = "VirtualMachine"
"""What the kinds begin with that are looked at."""
_GROUPS = (
    KUBEVIRT,
    INSTANCETYPE_GROUP,
    FLAVOR_GROUP,
    f"pool.{KUBEVIRT}",
    f"clone.{KUBEVIRT}",
    f"snapshot.{KUBEVIRT}",
)
_SHORT, _ENDING = "kubevirt", ".io"
#: So many letters are left out, added, replaced, or exchanged with the next.
_SLIPS = 2
_API_VERSION = rb"""apiVersion["']?[ \t]*:[ \t]*["']?([a-zA-Z0-9.-]{1,40})/"""


def may_be_misspelt(text: bytes) -> bool:
    """Whether *text* may hold an object of a group that is misspelt."""
    if KIND.encode() not in text:
        return False
    return any(meant(group.decode()) for group in set(re.findall(_API_VERSION, text)))


@lru_cache(maxsize=256)
def meant(group: str) -> str:
    """The group of KubeVirt's that *group* is but for a slip, ``""`` for one of others or one that is right.

    What ends in KubeVirt's own name is somebody's who builds on it. No definition of a resource has a group without a
    dot.
    """
    if group.endswith(f".{KUBEVIRT}") or group == KUBEVIRT:
        return ""
    group = group.lower()  # which all groups are written in
    if "." not in group and is_near(group, _SHORT):
        return KUBEVIRT
    return next((own for own in _GROUPS if is_near(group, own) or own == f"{group}{_ENDING}"), "")


def is_near(text: str, other: str) -> bool:
    """Whether *text* becomes *other* by two slips at most (the restricted distance of Damerau and Levenshtein)."""
    if abs(len(text) - len(other)) > _SLIPS:
        return False
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(text, 1):
        older, before, row = before, row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(row[-1] + 1, before[j] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and text[i - 2] == wanted:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1] <= _SLIPS
