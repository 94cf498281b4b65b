"""What we make of a HyperConverged is what its operator made of it, for every recorded case."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from render import Settings, render
from render.convert.hyperconverged import Cluster, Translation, kubevirt_of
from render.model import fieldpath, tree
from render.model.release import NEWEST, minor
from render.model.tree import Tree
from tests.support.answers import KINDS
from tests.support.clusters import CLUSTERS
from tests.support.goldens import cases

#: The operator's release, and the KubeVirt that it brings.
RELEASES = {
    "1.14": (1, 4, 1),
    "1.15": (1, 5, 3),
    "1.16": (1, 6, 6),
    "1.17": (1, 7, 4),
    "1.18": (1, 8, 4),
    "1.19": (1, 9, 0),
}
#: The image of the operator's own binding goes with its build; no VM holds it.
OWN_IMAGE = "quay.io/kubevirt/network-passt-binding@"


@cache
def lines() -> dict[str, Tree]:
    return {line["id"]: line for line in cases("operator/hyperconverged")}


def recorded(line: Tree) -> Tree:
    """The line that holds input and answer."""
    return recorded(lines()[line["same_as"]]) if "same_as" in line else line


def translated() -> Iterator[tuple[Tree, Tree, Translation]]:
    for line in lines().values():
        held = recorded(line)
        yield line, held, translation(line["release"], held["id"])


@cache
def translation(release: str, held: str) -> Translation:
    line = lines()[held]
    return kubevirt_of(line["hyperconverged"], RELEASES[release], CLUSTERS[line["cluster"]])


def comparable(kubevirt: Tree) -> dict[str, Any]:
    """Spec and annotations; without what is not in the recorded answers."""
    spec = tree.copy(kubevirt["spec"])
    spec.pop("certificateRotateStrategy", None)
    for binding in spec["configuration"]["network"]["binding"].values():
        if binding.get("sidecarImage", "").startswith(OWN_IMAGE):
            del binding["sidecarImage"]
    return {"spec": spec, "annotations": tree.get(kubevirt, "metadata", "annotations") or {}}


@pytest.fixture(scope="module")
def everything() -> list[tuple[Tree, Tree, Translation]]:
    return list(translated())


def test_every_case_is_there(everything: list[tuple[Tree, Tree, Translation]]) -> None:
    assert len(everything) == 1752
    assert {line["release"] for line, _, _ in everything} == set(RELEASES)
    assert {held["cluster"] for _, held, _ in everything} == set(CLUSTERS)


def test_the_whole_kubevirt_resource_is_the_operators(
    everything: list[tuple[Tree, Tree, Translation]],
) -> None:
    wrong = [
        line["id"]
        for line, held, found in everything
        if "kubevirt" in held
        and (found.kubevirt is None or comparable(found.kubevirt) != comparable(held["kubevirt"]))
    ]
    assert not wrong


def test_what_is_refused_and_in_which_words(
    everything: list[tuple[Tree, Tree, Translation]],
) -> None:
    wrong = []
    for line, held, found in everything:
        want = held.get("refused")
        if (found.refusal is None) != (want is None):
            wrong.append(line["id"])
        elif found.refusal is not None and want is not None:
            messages = [f"{fieldpath.text(c.path)}: {c.message}" for c in found.refusal.causes]
            if (
                found.refusal.stage != want["stage"]
                or list(found.refusal.messages) != want["messages"]
                or ("schema" in want and messages != want["schema"])
            ):
                wrong.append(line["id"])
    assert not wrong


def test_what_is_dropped_and_what_is_warned_about(
    everything: list[tuple[Tree, Tree, Translation]],
) -> None:
    wrong = [
        line["id"]
        for line, held, found in everything
        if sorted(fieldpath.text(each.path) for each in found.pruned) != held.get("pruned", [])
        or sorted(found.warnings) != held.get("warnings", [])
    ]
    assert not wrong


def test_every_origin_is_a_field_of_the_manifest(
    everything: list[tuple[Tree, Tree, Translation]],
) -> None:
    wrong = [
        (line["id"], source)
        for line, held, found in everything
        for source in found.origins.values()
        if tree.get(held["hyperconverged"], *source) is None
    ]
    assert not wrong


def test_the_reader_of_the_settings_finds_nothing_wrong_with_what_it_gets(
    everything: list[tuple[Tree, Tree, Translation]],
) -> None:
    from render.schemas import decode

    odd = {
        "affinity-wrong",
        "overcommit-low",
    }  # the operator hands on what KubeVirt's CRD refuses, some up to 1.15
    wrong = [
        (line["id"], problems)
        for line, _, found in everything
        if found.kubevirt is not None and line["case"] not in odd
        for problems in [decode(found.kubevirt, "kubevirt.KubeVirt", NEWEST)[1]]
        if problems
    ]
    assert not wrong


@cache
def fleet() -> tuple[Tree, ...]:
    """VMs and VMIs that settings of the cluster decide something about, each under a name of its own."""
    found = []
    for family in ("admission-gates", "admission-mixed", "admission-devices", "defaults"):
        for case in cases(family)[:: len(cases(family)) // 5]:
            found += [body for body in case["objects"] if body["kind"] in KINDS]
    return tuple(
        {**body, "metadata": {**body["metadata"], "name": f"vm-{number}"}}
        for number, body in enumerate(found)
    )


def answers(settings_holder: Tree, release: str) -> tuple[list[Tree], list[tuple[object, ...]]]:
    """What becomes of the fleet, and what is said of its VMs; the cure names the resource that there is."""
    rendered = render([settings_holder, *fleet()], Settings(emit="vmi", kubevirt=release))
    return (
        [body for body in rendered.resources if body["kind"] in KINDS],
        [
            (found.code, found.severity, found.message, found.check, found.field)
            for found in rendered.diagnostics
            if found.resource and found.resource.kind in KINDS
        ],
    )


def usual() -> list[Tree]:
    """The recorded lines with an answer in the cluster that is assumed of a repository."""
    return [
        held
        for line in lines().values()
        for held in [recorded(line)]
        if held is line
        and "kubevirt" in held
        and CLUSTERS[held["cluster"]].nodes == Cluster().nodes
        and "status" not in held["hyperconverged"]
    ]


@pytest.mark.parametrize("operator", RELEASES)
def test_a_fleet_is_the_same_under_the_kubevirt_resource_of_the_operator(operator: str) -> None:
    wrong, seen = [], set()
    own = [held for held in usual() if held["release"] == operator]
    for held in own[::4]:
        identity = {"name": "kubevirt", "namespace": "openshift-cnv"}
        kubevirt = {
            "apiVersion": "kubevirt.io/v1",
            "kind": "KubeVirt",
            "metadata": {**(tree.get(held, "kubevirt", "metadata") or {}), **identity},
            "spec": held["kubevirt"]["spec"],
        }
        release = minor(RELEASES[operator])
        ours = answers(held["hyperconverged"], release)
        upstream = answers(kubevirt, release)
        if ours != upstream:
            wrong.append(held["id"])
        seen.add(str(ours))
    assert not wrong
    assert len(seen) > 5  # the settings do decide something
