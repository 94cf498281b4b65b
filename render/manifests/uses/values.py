"""Values of charts that stand in objects: helm's parameters as trees, and which text of an object is which value.

Upstream: helm pkg/strvals/parser.go; argo-cd util/helm/cmd.go (cleanSetParameters).
"""

import json
import re
from collections.abc import Iterable

from render.manifests import relevance
from render.manifests.uses.use import UnevaluatedError
from render.model.hints import Any
from render.model.regex import pattern
from render.model.resource import SETTINGS_HOLDERS
from render.model.tree import Tree, leaves

_KEYS = pattern(r"[A-Za-z0-9_/-]+(\.[A-Za-z0-9_/-]+)*")
_INTEGER = pattern(r"0|-?[1-9][0-9]*")
_WORDS = {"true": True, "false": False, "null": None}
_MOST_INTEGER = 1 << 63
_DEEPEST = 64
_SETTINGS = pattern(r"^[ \t-]*+kind:[ \t]*+(?:KubeVirt|HyperConverged)[ \t]*+$", re.MULTILINE)


def put_parameter(values: Tree, name: str, value: str, *, is_text: bool) -> None:
    """Set the parameter *name* in *values*, as ``helm --set`` does, or ``--set-string`` if it *is_text*.

    Raises UnevaluatedError for what of helm's syntax is more than keys with dots between them.
    """
    if not _KEYS.fullmatch(name) or "\\" in value or name.count(".") > _DEEPEST:
        raise UnevaluatedError("parameter in helm's own syntax", f"the parameter {name!r}")
    *above, last = name.split(".")
    for key in above:
        below = values.setdefault(key, {})
        if not isinstance(below, dict):
            below = values[key] = {}
        values = below
    if value.startswith("{") and value.endswith("}"):
        items = value[1:-1].split(",") if value != "{}" else []
        values[last] = [_typed(item, is_text=is_text) for item in items]
    else:
        values[last] = _typed(value, is_text=is_text)


def _typed(value: str, *, is_text: bool) -> Any:
    """*value* as helm takes it: numbers and a few words for what they say."""
    if is_text:
        return value
    if value in _WORDS:
        return _WORDS[value]
    if _INTEGER.fullmatch(value) and -_MOST_INTEGER <= int(value[:20]) < _MOST_INTEGER:
        return int(value)
    return value


def merge_patch(tree: Tree, patch: Tree) -> Tree:
    """*tree* after the JSON merge patch *patch* (RFC 7386): null takes a key away, lists are replaced."""
    changed = dict(tree)
    for key, value in patch.items():
        known = changed.get(key)
        if value is None:
            changed.pop(key, None)
        elif isinstance(value, dict):
            changed[key] = merge_patch(known if isinstance(known, dict) else {}, value)
        else:
            changed[key] = value
    return changed


def merged(trees: Iterable[Tree]) -> Tree:
    """*trees* as one: of what several have, the last one wins, in mappings key by key."""
    whole: Tree = {}
    for tree in trees:
        _merge(whole, tree)
    return whole


def _merge(whole: Tree, tree: Tree) -> None:
    for key, value in tree.items():
        known = whole.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            whole[key] = merged((known, value))
        else:
            whole[key] = value


def may_hold(tree: Any) -> bool:
    """Whether an object of KubeVirt's may stand in *tree*, or in a text in it."""
    return bool(tree) and relevance.may_hold(_as_texts(tree))


def may_hold_machines(tree: Any) -> bool:
    """Whether VMs, or what makes some, may stand in the values *tree*, in a text in it or in parameters."""
    text = _as_texts(tree) if tree else b""
    return relevance.may_hold(text) and (
        relevance.may_be_of_machine(text)
        or any(re.fullmatch(relevance.KIND_OF_MACHINE, text) for text in leaves(tree))
    )


def may_hold_settings(tree: Any) -> bool:
    """Whether an object with the cluster's settings may stand in the values *tree*, or in a text in it."""
    kinds = {kind for _, kind in SETTINGS_HOLDERS}
    stated = tree if isinstance(tree, dict) else {}
    return any(_SETTINGS.search(text) or text in kinds for text in leaves(stated)) and (
        relevance.may_hold(_as_texts(stated))
    )


def _as_texts(tree: Any) -> bytes:
    """*tree* as one text, and each text in it as it is read by itself."""
    return b"\n".join((as_text(tree), *(text.encode("utf-8", "replace") for text in leaves(tree))))


def as_text(tree: Any) -> bytes:
    """*tree* as a file of values."""
    return json.dumps(tree, ensure_ascii=False).encode("utf-8", "replace")
