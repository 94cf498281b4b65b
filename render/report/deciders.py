"""Who decided a field, and who lost, with file and line: what explain, the comments of build and the report say."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from render.diagnostics.diagnostic import Location
from render.manifests import patches
from render.manifests.documents import Documents
from render.model import fieldpath, tree
from render.model.provenance import HIDDEN, Contender, Decision
from render.model.resource import LOCK_KIND, from_body
from render.model.tree import Tree
from render.report.places import Place, Sources
from render.report.text import printable
from render.yaml.budget import Limits
from render.yaml.reader import Document

#: Of the JSON that explain prints.
FORMAT_VERSION = 1
_SHOWN = 100
_DEFAULT = "KubeVirt's default"
_BUNDLED = frozenset({"instancetype", "preference"})


_NOWHERE = Place(), False


class Evidence(NamedTuple):
    """A *contender*, and the *place* where it says so."""

    contender: Contender
    place: Place


class Input:
    """The input of which contenders were: where its objects stand, what they are, and were before patches."""

    __slots__ = ("_shared", "before", "bodies", "places")

    def __init__(self, places: Sources, bodies: Sequence[Tree], before: Mapping[int, Tree]) -> None:
        self.places = places
        self.bodies = bodies
        self.before = before
        self._shared: dict[Location, Place] = {}

    def written(self, one: Contender) -> tuple[Place, bool]:
        """Where *one* says so, and whether a patch of the VM does; what many machines share is looked up once."""
        if one.source is None:
            return _NOWHERE
        location = Location(one.source, one.source_field, one.position)
        if one.decider == "vm":
            return self.places.written(location)
        place = self._shared.get(location)
        if place is None:
            place = self._shared[location] = self.places.place(location)
        return place, False


def input_of(loaded: Documents, around: Sequence[Document], limits: Limits) -> Input:
    """*loaded*, with the documents *around* it that a rendering was given too, whose files are read within *limits*."""
    for document in around:
        loaded.data.add_file(document.origin.file, limits.file_bytes)
    origins = [document.origin for document in (*loaded.documents, *around)]
    places = Sources(origins, loaded.data, loaded.blame, quotes=False)
    documents = loaded.documents
    before = {index: one.before for index, one in enumerate(documents) if one.before}
    return Input(places, [document.body for document in documents], before)


def trace(decision: Decision, given: Input) -> list[Evidence]:
    """Who decided, and then who lost, with the patches of a kustomization and what they are put over."""
    all_evidence: list[Evidence] = []
    for one in (decision.winner, *decision.losers):
        place, is_patched = given.written(one)
        if one.content and not place.file:
            place = _in_lock(one, given)
        evidence = Evidence(one, place)
        if not is_patched:
            all_evidence.append(evidence)
            continue
        all_evidence.append(evidence._replace(contender=one._replace(decider="patch")))
        all_evidence += _patched(one, given)
    return all_evidence


def _in_lock(one: Contender, given: Input) -> Place:
    """Where the lock has what counts of a pinned definition; no place where it is not in the input."""
    for index, body in enumerate(given.bodies):
        entry = tree.get(body, "revisions", one.content)
        if body.get("kind") == LOCK_KIND and isinstance(entry, dict) and entry:
            path = ("revisions", one.content, next(iter(entry)), *one.source_field[1:])
            return given.places.place(Location(from_body(body, index).ref, path, index))
    return Place()


def _patched(one: Contender, given: Input) -> list[Evidence]:
    """What the VM had before it was patched, if that is anything else."""
    index = one.position
    before = given.before.get(index) if index is not None else None
    if index is None or before is None:
        return []
    path = patches.formerly(before, given.bodies[index], one.source_field)
    value = tree.get(before, *path) if path else None
    if path is None or value is None or value == one.value:
        return []
    value = HIDDEN if one.value == HIDDEN else value
    former = one._replace(value=value, source_field=path)
    return [Evidence(former, given.places.unpatched(Location(one.source, path, index)))]


def words(one: Evidence) -> str:
    """Who a contender is: file and line, object, field."""
    contender = one.contender
    if contender.source is None:
        return _DEFAULT
    is_in_the_lock_alone = contender.pinned and contender.position is None
    held_by = " as the lock has it" if is_in_the_lock_alone else ""
    if _is_bundled(one):
        held_by = " of KubeVirt itself"
    field = fieldpath.text(contender.source_field)
    return " ".join(
        filter(None, (str(one.place) if one.place.file else "", f"{contender.source}{held_by}", field))
    )  # fmt: skip


def comment(decision: Decision, given: Input) -> str:
    """Who decided a field and who lost, in a line that can stand behind it."""
    winner, *losers = trace(decision, given)
    said = (f"lost: {brief(one.contender.value)}, {words(one)}" for one in losers)
    return printable("; ".join((words(winner), *said)))


def _is_bundled(one: Evidence) -> bool:
    """Whether KubeVirt deploys the object of a contender."""
    contender = one.contender
    is_elsewhere = contender.position is None and not contender.pinned
    return contender.decider in _BUNDLED and is_elsewhere and not one.place.file


def brief(value: Any) -> str:
    """*value* in a line; of a long one the beginning."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def document(decision: Decision, given: Input) -> dict[str, Any]:
    """A field as `schemas/explain.schema.json` has it."""
    winner, *losers = trace(decision, given)
    return {
        "field": decision.text,
        **({"sum": decision.sum} if decision.sum else {}),
        **_tree(winner),
        "losers": [_tree(one) for one in losers],
    }


def _tree(one: Evidence) -> dict[str, Any]:
    contender, place = one
    source = contender.source
    return {
        "value": contender.value,
        "decider": contender.decider,
        "pinned": contender.pinned,
        "source": source
        and {
            "resource": source._asdict(),
            "field": fieldpath.text(contender.source_field),
            "file": place.file or None,
            "line": place.line or None,
            "column": place.column or None,
        },
    }
