"""What is synced is what the cluster stores: Argo CD compares text, and server-side apply takes no null."""

from collections.abc import Iterator
from typing import Any

import pytest

from render import Settings, load, render
from render.model import tree
from tests.support.cases import ROOT

CONTENTS = ROOT / "fixtures/cases/contents"
_STORAGE_CLASS = ("spec", "dataVolumeTemplates", 0, "spec", "storage", "storageClassName")
_GUEST = ("spec", "template", "spec", "domain", "memory", "guest")


def rendered(case: str, emit: Any) -> list[dict[str, Any]]:
    """The objects of *case* in the mode *emit*."""
    return list(render(load(CONTENTS / case / "input"), Settings(emit=emit)).resources)


def nulls(value: Any) -> Iterator[str]:
    """The keys in *value* that have none."""
    if isinstance(value, dict):
        yield from (key for key, item in value.items() if item is None)
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from nulls(item)


@pytest.mark.parametrize("emit", ["vm", "vmi", "pod", "expand", "hashed", "revisions"])
def test_no_object_of_kubevirt_holds_a_null(emit: str) -> None:
    bodies = rendered("null-is-printed-by-no-rendering", emit)
    assert any([*nulls(body)] for body in bodies if body["kind"] == "ConfigMap")  # as it is
    ours = [body for body in bodies if body["kind"] != "ConfigMap"]
    assert ours
    assert [body["kind"] for body in ours if [*nulls(body)]] == []


@pytest.mark.parametrize("emit", ["hashed", "revisions"])
def test_vms_that_keep_their_matchers_are_printed_as_stored(emit: str) -> None:
    bodies = rendered("hashed-stores-a-plain-vm-canonically", emit)
    vms = {body["metadata"]["name"]: body for body in bodies if body["kind"] == "VirtualMachine"}
    assert tree.get(vms["plain"], *_GUEST) == "1Gi"
    assert tree.get(vms["seeded"], *_STORAGE_CLASS) == "fast"
