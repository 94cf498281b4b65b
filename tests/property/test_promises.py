"""The promises of the design, for repositories that nobody wrote."""

import json
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from render import Rendered, Settings, render
from render.diagnostics import codes
from render.model.release import VERSIONS, Version, tag
from render.model.release import served as known_versions
from render.yaml import writer
from tests.differential.test_contents import is_live, nameless
from tests.differential.test_goldens import seeded
from tests.support import answers
from tests.support.generated import INSTANCETYPES, MACHINES, PREFERENCES, identity, repositories

Json = dict[str, Any]
USED_TWICE = codes.USED_TWICE.number
OVERRIDE: dict[str, Any] = {"preset_conflicts": "override"}


def has_errors(rendered: Rendered) -> bool:
    return any(found.is_error for found in rendered.diagnostics)


def machines(objects: list[Json]) -> list[Json]:
    return [body for body in objects if body["metadata"]["name"] in MACHINES]


def exactly(value: Any) -> str:
    """*value* with its types and the order of its keys, which ``==`` does not look at."""
    return json.dumps(value)


def served(body: Json, release: Version = VERSIONS[-1]) -> Json:
    """*body* as it is printed where it is no machine: in a version that the cluster serves."""
    group, _, version = body["apiVersion"].rpartition("/")
    versions = known_versions(group, release)
    return (
        body
        if not versions or version in versions
        else {**body, "apiVersion": f"{group}/{versions[0]}"}
    )


@given(repositories(), st.sampled_from(VERSIONS))
def test_the_promises(objects: list[Json], release: Version) -> None:
    requested = {**OVERRIDE, "kubevirt": tag(release)}
    before = exactly(objects)
    first = render(objects, Settings(**requested))
    assert exactly(objects) == before, "the input is not changed"
    for vm in machines(objects):  # 3: rendered, or an error says why not
        assert answers.result_for(first, vm) or answers.errors_of(first, vm)
    for index, source in enumerate(first.sources):  # 5: untouched stays untouched
        if source is not None:
            assert exactly(first.resources[index]) == exactly(objects[source])
    kept = [source for source in first.sources if source is not None]
    untouched = [
        body for body in objects if body not in machines(objects) and served(body, release) is body
    ]
    # What an older release asks for, and today's types do not, is missing there.
    refused = {found.location.index for found in first.diagnostics if found.code == "VR107"}
    meant = [i for i, body in enumerate(objects) if body in untouched]
    assert [i for i in kept if i not in refused] == [i for i in meant if i not in refused]
    assert not any(found.code.startswith("VR2") and found.is_error for found in first.diagnostics)
    event("errors" if has_errors(first) else "rendered")
    if has_errors(first):
        return
    assert list(map(identity, first.resources)) == list(map(identity, objects))
    assert render(objects, Settings(**requested)) == first, "4: the same again"
    again = render(first.resources, Settings(**requested))
    assert not has_errors(again), "1: what was admitted is admitted"
    assert writer.write(again.resources) == writer.write(first.resources), "4: again, no change"
    direct, through = (
        render(item, Settings(emit="vmi", **requested)) for item in (objects, first.resources)
    )
    stored = render(first.resources, Settings(emit="expand", stored=True, kubevirt=tag(release)))
    for vm in machines(objects):
        expected = answers.result_for(direct, vm)
        assert expected is not None
        assert answers.result_for(through, vm) == expected, "1: the same VMI"
        sent, mutated = answers.result_for(first, vm), answers.result_for(stored, vm)
        assert sent is not None
        assert mutated is not None
        assert seeded(mutated, sent) == sent, "2: nothing drifts"
        assert foreign(vm).items() <= sent["metadata"].get("annotations", {}).items()
    for vm, body in zip(objects, first.resources, strict=True):
        if vm in machines(objects):
            check_what_is_named(vm, body)


def foreign(vm: Json) -> dict[str, str]:
    """The annotations that an author gave the VM."""
    return vm["metadata"].get("annotations") or {}


def check_what_is_named(vm: Json, body: Json) -> None:
    """The stamps name the kind that a matcher names, that of the cluster if it names none."""
    for word in ("instancetype", "preference"):
        matcher = vm["spec"].get(word, {})
        stamp = body["metadata"].get("annotations", {}).get(f"{answers.OURS}{word}", "")
        if "name" in matcher:
            kind = matcher.get("kind") or f"VirtualMachineCluster{word}"
            named, _, _ = stamp.partition("@")
            assert named.lower() == f"{kind.lower().removesuffix('s')}/{matcher['name']}"
        else:
            assert bool(stamp) == bool(matcher)


#: What each mode adds to as many objects as went in.
ADDED: dict[Any, tuple[str, ...]] = {
    "vm": (),
    "vmi": (),
    "expand": (),
    "source": (),
    "hashed": ("VirtualMachineInstancetype", "VirtualMachinePreference",
               "VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference"),
    "revisions": ("ControllerRevision",),
}  # fmt: skip


@given(repositories(), st.sampled_from(VERSIONS))
def test_objects_out_are_objects_in(objects: list[Json], release: Version) -> None:
    """Promise 3, in every mode; and 5, where a mode leaves an object alone."""
    for emit in ADDED:
        rendered = render(objects, Settings(emit=emit, kubevirt=tag(release), **OVERRIDE))
        if not has_errors(rendered):
            check_count(objects, rendered.resources, emit, release)


def check_count(objects: list[Json], found: list[Json], emit: str, release: Version) -> None:
    names = list(map(identity, found))
    wanted = list(map(identity, objects))
    if emit == "vmi":
        wanted = [
            (group, f"{kind}Instance" if name in MACHINES else kind, namespace, name)
            for group, kind, namespace, name in wanted
        ]
    assert names[: len(wanted)] == wanted
    assert {kind for _, kind, _, _ in names[len(wanted) :]} <= {*ADDED[emit]}
    assert len({*names}) == len(names)
    for body, given_body in zip(found, objects, strict=False):
        if emit == "source" or given_body not in machines(objects):
            assert exactly(body) == exactly(served(given_body, release))


#: Where matchers are kept, and with the cluster's defaults written out. What is bundled keeps its name in `hashed`.
WITHOUT_THE_DEFINITIONS: tuple[dict[str, Any], ...] = (
    {"emit": "vm", "defaults": "cluster", "catalog": "none"},
    {"emit": "hashed"},
    {"emit": "revisions", "catalog": "none"},
)


@given(repositories(), st.sampled_from(VERSIONS))
def test_every_output_starts_the_same_vmi(objects: list[Json], release: Version) -> None:
    """Promise 1, from what a mode writes alone; and 4."""
    requested = {**OVERRIDE, "kubevirt": tag(release)}
    direct = render(objects, Settings(emit="vmi", **requested))
    for mode in WITHOUT_THE_DEFINITIONS:
        out = render(objects, Settings(**{**mode, "catalog": "bundled"}, **requested))
        if has_errors(out):
            return
        originals = set(map(identity, filter(is_live, objects)))
        left = [resource for resource in out.resources if identity(resource) not in originals]
        started = render(
            left, Settings(**{**mode, "emit": "vmi", "defaults": "manifest"}, **requested)
        )
        hashed = mode["emit"] == "hashed"
        for vm in machines(objects):
            want, found = answers.result_for(direct, vm), answers.result_for(started, vm)
            assert (nameless(found) if hashed else found) == (nameless(want) if hashed else want)
        again = render(left, Settings(**mode, **requested))
        assert machines(again.resources) == machines(out.resources)


def outcome(objects: list[Json], release: Version) -> tuple[list[str], list[tuple[str, str, str]]]:
    """What comes out, in an order of its own, and what is said about which field."""
    rendered = render(objects, Settings(kubevirt=tag(release)))
    bodies = sorted(map(exactly, rendered.resources))
    return bodies, sorted(
        (found.code, found.message, f"{found.resource} {found.field}")
        for found in rendered.diagnostics
    )


@given(repositories(), st.sampled_from(VERSIONS), st.data())
def test_the_order_of_objects_does_not_matter(
    objects: list[Json], release: Version, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(objects))
    assert outcome(shuffled, release) == outcome(objects, release)


#: Another length and another order.
NEW_NAMES = dict(
    zip(
        (*INSTANCETYPES, *PREFERENCES, *MACHINES),
        ("zz-tiny", "zz-giant-9", "x.other", "w.other", "y1", "aa.two"),
        strict=True,
    )
)


def named_anew(value: Any) -> Any:
    """*value* with every name changed, wherever it stands."""
    text = exactly(value)
    for old, new in NEW_NAMES.items():
        text = text.replace(old, new)
    return json.loads(text)


@given(repositories(), st.sampled_from(VERSIONS))
def test_names_do_not_matter(objects: list[Json], release: Version) -> None:
    """With other names for VMs, instancetypes and preferences the same comes out, with those names.

    Which of two VMs is blamed for what both use is a matter of their names.
    """
    settings = Settings(kubevirt=tag(release))
    first, second = render(objects, settings), render(named_anew(objects), settings)
    assert exactly(second.resources) == exactly(named_anew(first.resources))
    codes = [
        [(d.code, d.resource, d.field, d.message) for d in item.diagnostics if d.code != USED_TWICE]
        for item in (first, second)
    ]
    assert named_anew(codes[0]) == json.loads(exactly(codes[1]))
