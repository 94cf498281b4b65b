"""Of every field of a VMI it is known who decided it."""

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from render import Settings, render
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.release import VERSIONS, Version, tag
from tests.support.generated import MACHINES, repositories

Json = dict[str, Any]
_TEMPLATE = ("spec", "template")


def leaves(value: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """The places in *value* that hold no other ones."""
    children: Any = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    if not children or value in ({}, []):
        yield path
    for step, child in children:
        yield from leaves(child, (*path, step))


def touches(item: FieldPath, other: FieldPath) -> bool:
    size = min(len(item), len(other))
    return item[:size] == other[:size]


@given(repositories(), st.sampled_from(VERSIONS))
def test_every_field_that_the_author_did_not_write_has_a_decider(
    objects: list[Json], release: Version
) -> None:
    settings = Settings(emit="vmi", kubevirt=tag(release), preset_conflicts="override")
    rendered = render(objects, settings)
    given_as = {body["metadata"]["name"]: body for body in objects}
    for body in rendered.resources:
        if body["kind"] != "VirtualMachineInstance" or body["metadata"]["name"] not in MACHINES:
            continue
        source = given_as[body["metadata"]["name"]]
        is_bare = source["kind"] == "VirtualMachineInstance"
        above = () if is_bare else _TEMPLATE
        name = source["metadata"].get("namespace", ""), source["metadata"]["name"]
        decided = [
            item.field[len(above) :]
            for item in rendered.provenance
            if item.resource == (source["kind"], *name)
        ]
        for path in leaves({"spec": body["spec"]}):
            if tree.get(source, *above, *path) is None:
                assert any(touches(field, path) for field in decided), path
