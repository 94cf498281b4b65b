"""Who lost a field has it as soon as the VM says nothing of it, or of a block around it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from render import Settings, render
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.release import VERSIONS, Version, tag
from render.model.resource import from_body
from render.pipeline.provenance import deciders
from render.pipeline.provenance.deciders import Explained
from tests.support.generated import MACHINES, repositories

Json = dict[str, Any]
_SPEC = ("spec", "template", "spec")
_ANNOTATIONS = ("metadata", "annotations")
_CONSIDERED = ("preference", "cluster")


@given(repositories(), st.sampled_from(VERSIONS))
def test_the_first_of_the_losers_is_the_next_to_decide(
    objects: list[Json], release: Version
) -> None:
    settings = Settings(
        emit="vmi", kubevirt=tag(release), preset_conflicts="override", admission="off"
    )
    resources = [from_body(body, index) for index, body in enumerate(objects)]
    explained = deciders.explain(resources, settings)
    assert explained
    for found in explained:
        if found.resource.name not in MACHINES or found.resource.kind != "VirtualMachine":
            continue
        for field, _, winner, losers, _ in found.decisions:
            first = next(iter(losers), None)
            if (
                first is None
                or winner.decider != "vm"
                or first.decider not in _CONSIDERED
                or isinstance(first.value, dict)
                or winner.position is None
            ):
                continue
            place = winner.source_field
            blocks = [place[:end] for end in range(len(place), len(_SPEC), -1)]
            values = [
                tree.get(_started(objects, winner.position, block, found, settings), *field)
                for block in blocks
            ]
            if field[:2] == _ANNOTATIONS and values[0] == winner.value:
                continue  # the instancetype agrees with the VM, and comes before all others
            assert first.value in values, (field, winner, losers)


def _started(
    objects: list[Json], position: int, block: FieldPath, found: Explained, settings: Settings
) -> Json:
    """The VMI of the VM that was *found*, without *block* in its manifest."""
    without = tree.copy(objects)
    tree.remove(without[position], *block)
    for body in render(without, settings).resources:
        metadata = body["metadata"]
        if body["kind"] == "VirtualMachineInstance" and (
            found.resource.name,
            found.resource.namespace,
        ) == (metadata["name"], metadata.get("namespace", "")):
            return body
    return {}
