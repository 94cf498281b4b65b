"""The fields that we tell Argo CD to ignore are exactly those that KubeVirt's webhook seeds."""

import re
from typing import Any

import pytest

from render.frontends.argocd.ignore_differences import differences
from render.model.release import NEWEST
from render.model.resource import from_body
from render.model.tree import Tree, copy
from render.schemas import decode, encode
from tests.support.goldens import FAMILIES, cases, is_refused_by_schema

VM = "kubevirt.VirtualMachine"


def without(body: Any, steps: list[str]) -> None:
    """Remove what *steps* lead to; ``[]`` is every item of a list, and nothing may be there."""
    first, *rest = steps
    if first == "[]":
        for item in body if isinstance(body, list) else ():
            without(item, rest)
    elif isinstance(body, dict) and first in body:
        if rest:
            without(body[first], rest)
        else:
            del body[first]


def paths(entry: Tree) -> list[list[str]]:
    pointers = [
        [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
        for pointer in entry["jsonPointers"]
    ]
    expressions = [
        re.findall(r"\[\]|[^.\[\]?]+", path) for path in entry.get("jqPathExpressions", ())
    ]
    return pointers + expressions


def pruned(value: Any) -> Any:
    """*value* without the empty mappings that are left where something was removed."""
    if isinstance(value, dict):
        inner = {key: pruned(item) for key, item in value.items()}
        return {key: item for key, item in inner.items() if item != {}}
    return [pruned(item) for item in value] if isinstance(value, list) else value


def compared(body: Tree, removed: list[list[str]]) -> Any:
    found = copy(encode(decode(body, VM, NEWEST)[0], VM, NEWEST))
    for steps in removed:
        without(found, steps)
    return pruned(found["spec"])


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_else_differs_between_a_vm_and_what_the_webhook_makes_of_it(family: str) -> None:
    needed: set[tuple[str, ...]] = set()
    for case in cases(family):
        bodies = [body for body in case["objects"] if body["kind"].startswith("VirtualMachine")]
        bodies = [b for b in bodies if b["kind"] in ("VirtualMachine", "VirtualMachineInstance")]
        for body, entry in zip(bodies, case["want"], strict=True):
            if "mutated" not in entry or is_refused_by_schema(case, entry):
                continue
            resource = from_body(body, 0)
            removed = [path for difference in differences([resource]) for path in paths(difference)]
            mutated = {**body, "spec": entry["mutated"]["spec"]}
            assert compared(body, removed) == compared(mutated, removed), case["id"]
            for left_in in removed:
                rest = [path for path in removed if path != left_in]
                if compared(body, rest) != compared(mutated, rest):
                    needed.add(tuple(left_in))
    if family == "infer":
        assert ("spec", "instancetype", "inferFromVolume") in needed
    if family in ("apply", "defaults"):
        assert ("spec", "template", "spec", "domain", "machine") in needed


def test_vms_of_one_name_have_an_entry_together() -> None:
    body = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web"},
        "spec": {"preference": {"inferFromVolume": "root"}},
    }
    entries = differences([from_body(body, 0), from_body(body, 1)])
    assert [entry.get("name") for entry in entries] == [None, "web"]
