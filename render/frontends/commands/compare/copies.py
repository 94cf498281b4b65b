"""Rendered VMs that a change edits by themselves: they are compared, though their sources are read too."""

from collections.abc import Iterable

from render.frontends.inputs.copies import RenderedCopy
from render.model import tree
from render.model.resource import VM, from_body
from render.model.tree import Tree
from render.revisions import stamps


def edited(
    before: Iterable[tuple[str, Tree]], after: Iterable[tuple[str, Tree]]
) -> frozenset[RenderedCopy]:
    """The rendered VMs that are not what they were, while that of which they were made is: by file and name.

    *before* and *after*: the objects of both states, each with its file. A VM whose source changed speaks for its
    rendering; any other edit of that one is what those get who apply it, whether its stamp is true or not.
    """
    sides = [[pair for pair in side if pair[1].get("kind") == VM] for side in (before, after)]
    if not any(stamps.is_rendered(body) for side in sides for _, body in side):
        return frozenset()
    old, new = ({(file, from_body(body, 0).ref): body for file, body in side} for side in sides)
    sources = [_sources(side) for side in sides]
    return frozenset(
        copy
        for copy in old.keys() & new.keys()
        if old[copy] != new[copy]
        and (stamps.is_rendered(old[copy]) or stamps.is_rendered(new[copy]))
        and not _has_followed(old[copy], new[copy], *(known.get(copy[1].name) for known in sources))
    )


def _has_followed(
    before: Tree, after: Tree, made_of: list[Tree] | None, now_of: list[Tree] | None
) -> bool:
    """Whether a rendered VM was rendered anew, and of something else than *before*: of other VMs or definitions.

    Not where it was rendered of a definition that no VM names of which it may be made.
    """
    if not (stamps.is_genuine(before) and stamps.is_genuine(after)):
        return False
    if now_of and not any(_names_the_same(source, after) for source in now_of):
        return False
    definitions, others = ({**stamps.read(vm), stamps.RENDERED: ""} for vm in (before, after))
    return definitions != others or made_of != now_of


def _names_the_same(source: Tree, rendered: Tree) -> bool:
    """Whether the VM *source* names what the stamps of the *rendered* one tell, as far as it names any."""
    stamped = stamps.read(rendered)
    return all(
        tree.get(source, "spec", matcher, "name") in (None, _name_in(stamped[key]))
        for matcher in stamps.matchers(source)
        if (key := f"{stamps.PREFIX}{matcher}") in stamped
    )


def _name_in(stamp: object) -> str:
    """The name of the definition that *stamp* tells: of ``Kind/name@hash``, and what follows that."""
    return str(stamp).partition("@")[0].rpartition("/")[2]


def _sources(side: Iterable[tuple[str, Tree]]) -> dict[str, list[Tree]]:
    """The VMs of *side* that are not rendered, of which others may be, by name."""
    found: dict[str, list[Tree]] = {}
    for _, body in side:
        if not stamps.is_rendered(body):
            found.setdefault(from_body(body, 0).name, []).append(body)
    return found
