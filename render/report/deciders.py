"""Who decided a field, and who lost, with file and line: what explain, the comments of build and the report say."""

import json
from collections.abc import Callable, Mapping, Sequence

from render.diagnostics.diagnostic import Location
from render.manifests.blame import patches
from render.manifests.documents import Documents
from render.model import fieldpath, tree
from render.model.hints import TYPE_CHECKING, Any
from render.model.named_tuple import NamedTuple
from render.model.provenance import HIDDEN, Contender, Decision
from render.model.regex import pattern
from render.model.resource import LOCK_KIND, from_body
from render.model.tree import Tree
from render.report.places import Place, Sources
from render.report.text import printable
from render.yaml.budget import Limits
from render.yaml.reader import Document

if TYPE_CHECKING:
    from render.yaml.positions import Outline

#: Of the JSON that explain prints.
FORMAT_VERSION = 1
_LONGEST = 100
_DEFAULT = "KubeVirt's default"
_BUNDLED = frozenset({"instancetype", "preference"})
_OWN = frozenset({"vm", "patch"})
_ITEM = pattern(r"\[[^\]]*\]")
#: Where VMs, pools and replica sets have what is a field of the VMI.
_TEMPLATE = pattern(r"^(spec\.(virtualMachineTemplate\.spec\.)?)?template\.")


_NOWHERE = Place(), False


class Evidence(NamedTuple):
    """A *contender*, and the *place* where it says so."""

    contender: Contender
    place: Place


class Input:
    """The input of which contenders were: where its objects stand, what they are, and were before patches.

    *is_blamed*: whether another than the object at an index may have written fields of it.
    """

    __slots__ = ("_is_blamed", "_shared", "before", "bodies", "places")

    def __init__(
        self,
        places: Sources,
        bodies: Sequence[Tree],
        before: Mapping[int, Tree],
        is_blamed: Callable[[int], bool],
    ) -> None:
        self._is_blamed = is_blamed
        self.places = places
        self.bodies = bodies
        self.before = before
        self._shared: dict[Location, Place] = {}

    def outline(self, index: int) -> "Outline | None":
        """What is alike for objects whose own fields stand alike; None where that is not known."""
        return None if self._is_blamed(index) else self.places.outline(index)

    def written(self, contender: Contender) -> tuple[Place, bool]:
        """Where *contender* says so, and whether a patch of the VM does; what many machines share is looked up once."""
        if contender.source is None:
            return _NOWHERE
        location = Location(contender.source, contender.source_field, contender.position)
        if contender.decider == "vm":
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
    before = {index: document.before for index, document in enumerate(documents) if document.before}
    return Input(places, [document.body for document in documents], before, loaded.is_blamed)


def trace(decision: Decision, manifests: Input) -> list[Evidence]:
    """Who decided, and then who lost, with the patches of a kustomization and what they are put over."""
    all_evidence: list[Evidence] = []
    for contender in (decision.winner, *decision.losers):
        place, is_patched = manifests.written(contender)
        if contender.content and not place.file:
            place = _in_lock(contender, manifests)
        evidence = Evidence(contender, place)
        if not is_patched:
            all_evidence.append(evidence)
            continue
        all_evidence.append(evidence._replace(contender=contender._replace(decider="patch")))
        all_evidence += _patched(contender, manifests)
    return all_evidence


def _in_lock(contender: Contender, manifests: Input) -> Place:
    """Where the lock has what counts of a pinned definition; no place where it is not in the input."""
    for index, body in enumerate(manifests.bodies):
        entry = tree.get(body, "revisions", contender.content)
        if body.get("kind") == LOCK_KIND and isinstance(entry, dict) and entry:
            path = ("revisions", contender.content, next(iter(entry)), *contender.source_field[1:])
            return manifests.places.place(Location(from_body(body, index).ref, path, index))
    return Place()


def _patched(contender: Contender, manifests: Input) -> list[Evidence]:
    """What the VM had before it was patched, if that is anything else."""
    index = contender.position
    before = manifests.before.get(index) if index is not None else None
    if index is None or before is None:
        return []
    path = patches.formerly(before, manifests.bodies[index], contender.source_field)
    value = tree.get(before, *path) if path else None
    if path is None or value is None or value == contender.value:
        return []
    value = HIDDEN if contender.value == HIDDEN else value
    former = contender._replace(value=value, source_field=path)
    return [Evidence(former, manifests.places.unpatched(Location(contender.source, path, index)))]


def words(evidence: Evidence, field: str = "") -> str:
    """Who a contender is: file and line, object, field.

    Of the machine itself, whose *field* is told of, the line is enough where the field is called the same there.
    """
    contender = evidence.contender
    if contender.source is None:
        return _DEFAULT
    is_in_the_lock_alone = contender.pinned and contender.position is None
    held_by = " as the lock has it" if is_in_the_lock_alone else ""
    if _is_bundled(evidence):
        held_by = " of KubeVirt itself"
    place = str(evidence.place) if evidence.place.file else ""
    written = fieldpath.text(contender.source_field)
    if field and place and contender.decider in _OWN:
        return place if is_called_alike(written, field) else f"{place} {written}"
    return " ".join(filter(None, (place, f"{contender.source}{held_by}", written)))


def is_called_alike(written: str, field: str) -> bool:
    """Whether what is *written* in a VM is the *field* of its VMI, but for the template and how items are called."""
    return _ITEM.sub("", of_vmi(written)) == _ITEM.sub("", field)


def of_vmi(field: str) -> str:
    """*field* of a VM, a pool or a replica set as the VMI has it, without the template."""
    return _TEMPLATE.sub("", field)


def comment(decision: Decision, manifests: Input) -> str:
    """Who decided a field and who lost, in a line that can stand behind it."""
    winner, *losers = trace(decision, manifests)
    field = decision.text
    losses = (f"lost: {brief(loser.contender.value)}, {words(loser, field)}" for loser in losers)
    return printable("; ".join((words(winner, field), *losses)))


def _is_bundled(evidence: Evidence) -> bool:
    """Whether KubeVirt deploys the object of a contender."""
    contender = evidence.contender
    is_elsewhere = contender.position is None and not contender.pinned
    return contender.decider in _BUNDLED and is_elsewhere and not evidence.place.file


def brief(value: Any) -> str:
    """*value* in a line; of a long one the beginning."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def document(decision: Decision, manifests: Input) -> dict[str, Any]:
    """A field as `schemas/explain.schema.json` has it."""
    winner, *losers = trace(decision, manifests)
    return {
        "field": decision.text,
        **({"sum": decision.sum} if decision.sum else {}),
        **_tree(winner),
        "losers": [_tree(loser) for loser in losers],
    }


def _tree(evidence: Evidence) -> dict[str, Any]:
    contender, place = evidence
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
