"""The promises of the design, for repositories that nobody wrote."""

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from render import Rendered, Settings, render
from render.manifests import writer
from render.manifests.reader import read
from render.model import tree
from tests.differential.test_goldens import seeded
from tests.support import answers
from tests.support.generated import repositories

Json = dict[str, Any]


def has_errors(rendered: Rendered) -> bool:
    return any(found.is_error for found in rendered.diagnostics)


@given(repositories())
def test_the_promises(objects: list[Json]) -> None:
    given = tree.copy(objects)
    first = render(objects)
    assert objects == given, "the input is not changed"
    vms = [one for one in objects if one["kind"] == "VirtualMachine"]
    for vm in vms:  # 3: rendered, or an error says why not
        assert answers.result_for(first, vm) or has_errors(first)
    for index, source in enumerate(first.sources):  # 5: untouched stays untouched
        if source is not None:
            assert first.resources[index] == objects[source]
    assert [s for s in first.sources if s is not None][-3:] == [2, 3, 4] or has_errors(first)
    event("errors" if has_errors(first) else "rendered")
    if has_errors(first):
        return
    assert len(first.resources) == len(objects)
    assert render(objects) == first, "4: the same again"
    again = render(first.resources)
    assert again.resources == first.resources, "4: rendering the output again changes nothing"
    direct, through = (render(given, Settings(emit="vmi")) for given in (objects, first.resources))
    stored = render(first.resources, Settings(emit="expand", stored=True))
    for vm in vms:
        expected = answers.result_for(direct, vm)
        assert expected is not None
        assert answers.result_for(through, vm) == expected, "1: the same VMI"
        sent, mutated = answers.result_for(first, vm), answers.result_for(stored, vm)
        assert sent is not None
        assert mutated is not None
        assert seeded(mutated, sent) == sent, "2: nothing drifts"


def outcome(objects: list[Json]) -> tuple[list[Json], list[tuple[str, str]]]:
    """What comes out, in an order of its own, and what is said."""
    rendered = render(objects)
    bodies = sorted(rendered.resources, key=lambda body: (body["kind"], body["metadata"]["name"]))
    return bodies, sorted((found.code, found.message) for found in rendered.diagnostics)


@given(repositories(), st.data())
def test_the_order_of_objects_does_not_matter(objects: list[Json], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(objects))
    assert outcome(shuffled) == outcome(objects)


@given(repositories())
def test_names_do_not_matter(objects: list[Json]) -> None:
    """Another name for the definitions, in them and in the matchers, gives the same template."""
    named = tree.copy(objects)
    for body in named:
        if "stancetype" in body["kind"] or "Preference" in body["kind"]:
            body["metadata"]["name"] += "-renamed"
        elif body["kind"] == "VirtualMachine":
            for matcher in ("instancetype", "preference"):
                body["spec"][matcher]["name"] += "-renamed"
    first, second = render(objects), render(named)
    assert [found.code for found in first.diagnostics] == [
        found.code for found in second.diagnostics
    ]
    if not has_errors(first):
        for one, other in zip(first.resources[:2], second.resources[:2], strict=True):
            wanted = tree.copy(one["spec"]["template"])
            found = tree.copy(other["spec"]["template"])
            for template in (wanted, found):
                for kind in ("instancetype", "preference"):
                    template["metadata"]["annotations"].pop(f"kubevirt.io/{kind}-name")
            assert found == wanted


@given(repositories())
def test_the_notation_does_not_matter(objects: list[Json]) -> None:
    """As YAML, as JSON, as items of a List, one document each or all in one: the same objects, the same outcome."""
    import json

    wanted = outcome(objects)
    whole = {"apiVersion": "v1", "kind": "List", "items": objects}
    for text in (
        writer.write(objects),
        "\n".join(json.dumps(body) for body in objects),
        writer.dump(whole),
        json.dumps(whole, indent=1),
        "---\n" + "\n---\n".join(json.dumps(body, indent=2) for body in objects),
    ):
        found = read(text.encode(), "f")
        assert found.diagnostics == []
        assert outcome([document.body for document in found.documents]) == wanted
