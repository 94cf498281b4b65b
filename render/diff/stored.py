"""What the API server stores when a manifest is applied over an object that is there (server-side apply)."""

from render.model.hints import Any
from render.model.tree import Tree


def apply(before: Tree, after: Tree, stored: Tree) -> Tree:
    """*stored*, made of the manifest *before* and of what the cluster added, once the manifest *after* is applied.

    A field that leaves the manifest goes; what the cluster added stays. Lists are replaced whole.
    """
    applied: Tree = {}
    for key, value in stored.items():
        if key in after:
            wanted = after[key]
            if isinstance(wanted, dict) and isinstance(value, dict):
                former = before.get(key)
                wanted = apply(former if isinstance(former, dict) else {}, wanted, value)
            applied[key] = wanted
        elif key not in before:
            applied[key] = value
        else:
            added = _added(before[key], value)
            if added:
                applied[key] = added
    applied.update((key, value) for key, value in after.items() if key not in stored)
    return applied


def _added(written: Any, stored: Any) -> Any:
    """What of the mapping *stored* was not *written*; nothing of a list or a scalar."""
    if not isinstance(written, dict) or not isinstance(stored, dict):
        return None
    additions = {key: value for key, value in stored.items() if key not in written}
    for key in written.keys() & stored.keys():
        added = _added(written[key], stored[key])
        if added:
            additions[key] = added
    return additions
