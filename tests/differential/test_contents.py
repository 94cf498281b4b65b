"""The modes that keep matchers: what stands beside the VMs is enough to start the same VMIs."""

from typing import Any

import pytest

from render import Rendered, Settings, render
from render.diagnostics.diagnostic import Location
from render.model import tree
from render.model.resource import INSTANCETYPE_GROUP, from_body
from render.pipeline import pinning
from render.revisions import lockfile
from render.yaml import writer
from render.yaml.reader import read
from tests.support import answers
from tests.support.goldens import cases

Json = dict[str, Any]
FAMILIES = ("apply", "fleet", "pinned", "infer", "matcher", "catalog")
#: A family after the other, through all tests that compare with the same VMIs.
LIVE = tuple(family for family in FAMILIES if family != "pinned")
NAMES = (
    "kubevirt.io/instancetype-name", "kubevirt.io/cluster-instancetype-name",
    "kubevirt.io/preference-name", "kubevirt.io/cluster-preference-name",
)  # fmt: skip


def is_live(body: Json) -> bool:
    return str(body["apiVersion"]).startswith(INSTANCETYPE_GROUP)


def has_errors(rendered: Any) -> bool:
    return any(found.is_error for found in rendered.diagnostics)


def direct_vmis(case: Json) -> Rendered:
    """What *case* starts as it is."""
    return answers.rendered(case, emit="vmi", admission="off", preset_conflicts="fail")


def through_revisions(objects: list[Json]) -> list[Json] | None:
    """What ``revisions`` makes of *objects*, without the live ones; None if there is nothing to compare."""
    out = render(objects, Settings(emit="revisions", admission="off"))
    return (
        None
        if has_errors(out)
        else [resource for resource in out.resources if not is_live(resource)]
    )


def unpinned(case: Json) -> list[Json]:
    """The objects of a case of family ``pinned`` with live objects in the place of its revisions."""
    objects = [tree.copy(body) for body in case["objects"] if not is_live(body)]
    revisions = {
        (body["metadata"]["namespace"], body["metadata"]["name"]): body["data"]
        for body in objects
        if body["kind"] == "ControllerRevision"
    }
    found = {}
    for machine in answers.machines({"objects": objects}):
        namespace = machine["metadata"]["namespace"]
        for word in ("instancetype", "preference"):
            matcher = machine["spec"].get(word)
            name = matcher and matcher.pop("revisionName", None)
            if name:
                kind = matcher.get("kind") or f"VirtualMachineCluster{word.title()}"
                body = {
                    "apiVersion": f"{INSTANCETYPE_GROUP}/v1beta1",
                    "kind": kind,
                    "metadata": {"name": matcher["name"]},
                    "spec": revisions[namespace, name]["spec"],
                }
                if "Cluster" not in kind:
                    body["metadata"]["namespace"] = namespace
                found[kind, matcher["name"]] = body
    return [*(o for o in objects if o["kind"] != "ControllerRevision"), *found.values()]


def test_pinned_cases_render_the_same_from_their_own_revisions() -> None:
    compared = 0
    for case in cases("pinned"):
        if any("vmi" not in want or "panics" in want for want in case["want"]):
            continue
        for objects in (case["objects"], unpinned(case)):
            pinned = through_revisions(objects)
            if pinned is None:
                continue
            assert any(body["kind"] == "ControllerRevision" for body in pinned), case["id"]
            started = render(pinned, Settings(emit="vmi", catalog="none", admission="off"))
            for machine, want in zip(answers.machines(case), case["want"], strict=True):
                compared += 1
                assert answers.result_for(started, machine) == answers.wanted(
                    case, machine, want["vmi"]
                ), case["id"]
    assert compared > 200


@pytest.mark.parametrize("family", LIVE, scope="module")
def test_revisions_replace_the_live_objects(family: str) -> None:
    compared = 0
    for case in cases(family):
        pinned = through_revisions(case["objects"])
        if pinned is None:
            continue
        direct = direct_vmis(case)
        started = render(pinned, Settings(emit="vmi", catalog="none", admission="off"))
        for machine in answers.machines(case):
            compared += 1
            want = answers.result_for(direct, machine)
            assert answers.result_for(started, machine) == want, case["id"]
    assert compared > 10


def nameless(body: Json | None) -> Json | None:
    """A VMI without the names of its instancetype and preference, which ``hashed`` changes."""
    body = tree.copy(body)
    for name in NAMES:
        tree.remove(body, "metadata", "annotations", name)
    if tree.get(body, "metadata", "annotations") == {}:
        tree.remove(body, "metadata", "annotations")
    return body


@pytest.mark.parametrize("family", LIVE, scope="module")
def test_hashed_objects_replace_the_originals(family: str) -> None:
    compared = 0
    for case in cases(family):
        out = render(case["objects"], Settings(emit="hashed", admission="off"))
        if has_errors(out):
            continue
        originals = {(body["kind"], body["metadata"]["name"]) for body in case["objects"]}
        left = [
            resource
            for resource in out.resources
            if not is_live(resource)
            or (resource["kind"], resource["metadata"]["name"]) not in originals
        ]
        direct = direct_vmis(case)
        started = render(left, Settings(emit="vmi", admission="off"))
        for machine in answers.machines(case):
            compared += 1
            want = nameless(answers.result_for(direct, machine))
            assert nameless(answers.result_for(started, machine)) == want, case["id"]
    assert compared > 10


@pytest.mark.parametrize("emit", ["vm", "hashed", "revisions"])
@pytest.mark.parametrize("family", ["apply", "fleet", "pinned", "infer", "matcher", "preset"])
def test_again_changes_no_byte(family: str, emit: Any) -> None:
    """Stamps included, which hold hashes of what was there before."""
    compared = 0
    for case in cases(family):
        first = answers.rendered(case, emit=emit, admission="off")
        if not has_errors(first):
            compared += 1
            again = render(
                first.resources, Settings(emit=emit, preset_conflicts="override", admission="off")
            )
            assert writer.write(again.resources) == writer.write(first.resources), case["id"]
    assert compared > 10


@pytest.mark.parametrize("family", FAMILIES)
def test_a_pinned_vm_renders_as_it_did(family: str) -> None:
    """A lock that was just written changes nothing but the stamps, and pinning again changes no lock."""
    compared = 0
    for case in cases(family):
        resources = [from_body(body, index) for index, body in enumerate(case["objects"])]
        settings = Settings(preset_conflicts="override", admission="off")
        pinned = pinning.pin(resources, settings)
        if any(found.is_error for found in pinned.diagnostics) or not pinned.lock.pins:
            continue
        compared += 1
        lock = lockfile.document(pinned.lock)
        (document,) = read(writer.dump(lock).encode(), "lock").documents
        assert document.body == lock
        again = pinning.pin(resources, settings._replace(lock=lock))
        assert (again.lock, again.moves) == (lockfile.read(lock, Location())[0], []), case["id"]
        without = answers.rendered(case, admission="off")
        for pins in ("auto", "require"):
            with_lock = render(case["objects"], settings._replace(lock=lock, pins=pins))
            assert not has_errors(with_lock), case["id"]
            for machine in answers.machines(case):
                want = answers.result_for(without, machine)
                assert answers.result_for(with_lock, machine) == want, case["id"]
    assert compared > 10
