"""Rendering backwards, for repositories that nobody wrote."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from render import Settings, render
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.release import VERSIONS, Version, tag
from tests.differential.test_factor import machine, rewritten, same, vmis
from tests.support.generated import repositories

Json = dict[str, Any]


@given(repositories(), st.sampled_from(VERSIONS))
def test_the_vmis_and_the_errors_stay_what_they_are(objects: list[Json], release: Version) -> None:
    settings = Settings(kubevirt=tag(release), annotations=False)
    after = rewritten(objects, settings)
    event("rewritten" if after != objects else "as it is")
    if after == objects:
        return
    before, now = vmis(objects, settings), vmis(after, settings)
    assert same(before[0], now[0])
    assert now[1] <= before[1]
    assert rewritten(after, settings) == after


@given(repositories(), st.sampled_from(VERSIONS))
def test_vms_that_were_written_out_start_the_same_with_what_is_found(
    objects: list[Json], release: Version
) -> None:

    settings = Settings(kubevirt=tag(release), annotations=False, preset_conflicts="override")
    plain = render(objects, settings).resources
    after = rewritten(plain, settings)
    before, now = vmis(plain, settings), vmis(after, settings)
    assert same(before[0], now[0])
    assert now[1] <= before[1]


def leaves(value: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Where single values stand below *value*."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from leaves(item, (*path, key))
    elif value is not None:
        yield path


@cache
def plain_machines() -> list[Json]:
    """VMs that write out what definitions of the catalogue bring."""
    pairs = [
        ("u1.medium", "fedora"), ("u1.small", "windows.11.virtio"), ("cx1.xlarge", "rhel.9"),
        ("o1.small", "ubuntu"), ("u1.large", "legacy"), ("", "debian"),
    ]  # fmt: skip
    settings = Settings(annotations=False)
    return [body for pair in pairs for body in render([machine(*pair)], settings).resources]


@st.composite
def templated(draw: st.DrawFn) -> tuple[Json, tuple[tuple[str, str], ...]]:
    """A template of such a VM, some values of which are parameters, and values for these."""
    body = tree.copy(draw(st.sampled_from(plain_machines())))
    body["metadata"].pop("namespace", None)
    spec: FieldPath = ("spec", "template", "spec")
    places = [(*spec, *path) for path in leaves(tree.get(body, *spec))]
    values: list[tuple[str, str]] = []
    parameters: list[Json] = []
    for path in draw(st.lists(st.sampled_from(places), max_size=3, unique=True)):
        value = tree.get(body, *path)
        name = f"P{len(values)}"
        text = value if isinstance(value, str) else json.dumps(value)
        is_given = draw(st.booleans())
        parameters.append({"name": name, **({"value": text} if is_given else {})})
        # What nobody requires may also be left empty.
        values.append((name, draw(st.sampled_from([text, ""])) if isinstance(value, str) else text))
        tree.put(body, path, f"${{{name}}}" if isinstance(value, str) else f"${{{{{name}}}}}")
    template = {
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {"name": "made"},
        "objects": [body],
        "parameters": parameters,
    }
    return template, tuple(values)


@given(templated(), st.sampled_from(VERSIONS))
def test_vms_of_a_template_start_the_same_with_other_values_than_those_that_were_tried(
    made: tuple[Json, tuple[tuple[str, str], ...]], release: Version
) -> None:
    template, values = made
    objects = [template]
    settings = Settings(kubevirt=tag(release), annotations=False)
    after = rewritten(objects, settings)
    event("rewritten" if after != objects else "as it is")
    filled = settings._replace(parameters=values)
    if after == objects:
        return
    before, now = vmis(objects, filled), vmis(after, filled)
    # With values that KubeVirt refuses there is no VM.
    assert before[1] or (same(before[0], now[0]) and not now[1])
    assert rewritten(after, settings) == after
