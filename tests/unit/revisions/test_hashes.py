"""Revision hashes: frozen, equal for equal meaning, different for any other."""

import random
from pathlib import Path
from typing import Any

import pytest

from render import Settings, render, schemas
from render.legacy import decoding
from render.model import types
from render.model.release import NEWEST
from render.revisions import hashes
from render.yaml.reader import read
from tests.support.goldens import cases

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "fixtures" / "revision-hashes.yaml"
TYPES = {
    "instancetype": "instancetype.VirtualMachineInstancetypeSpec",
    "preference": "instancetype.VirtualMachinePreferenceSpec",
}


def rows() -> list[Any]:
    (document,) = read(TABLE.read_bytes(), "table").documents
    found: list[Any] = document.body["hashes"]
    return found


def hash_of(kind_class: str, spec: Any) -> str:
    if kind_class == "flavor":
        return hashes.content_hash(kind_class, decoding.flavor_content(spec))
    decoded, problems = schemas.decode(spec, TYPES[kind_class], NEWEST)
    assert not problems
    return hashes.content_hash(kind_class, decoded)


def hash_of_text(text: str) -> str:
    (document,) = read(text.encode(), "text").documents
    return hash_of("instancetype", document.body["spec"])


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["why"])
def test_algorithm_is_frozen(row: Any) -> None:
    assert hash_of(row["kindClass"], row["spec"]) == row["hash"]
    assert hashes.suffix(row["hash"]) == row["suffix"]


def test_key_order_comments_and_notation_change_nothing() -> None:
    head = "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineInstancetype\n"
    plain = head + "metadata: {name: a}\nspec: {cpu: {guest: 2}, memory: {guest: 1Gi}}\n"
    other = head + (
        "metadata: {name: b, labels: {x: y}}\nspec:\n"
        "  memory: # much\n    guest: 1024Mi\n  cpu:\n    guest: 0x2\n"
    )
    assert hash_of_text(plain) == hash_of_text(other)


def test_every_key_order_has_one_hash() -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            items = list(value.items())
            random.Random(1).shuffle(items)  # noqa: S311 - no secret
            return {key: shuffled(item) for key, item in items}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    compared = 0
    for case in cases("apply")[:300]:
        for body in case["objects"]:
            kind_class = "preference" if "Preference" in body["kind"] else "instancetype"
            if body["apiVersion"].startswith("instancetype."):
                compared += 1
                text, _ = schemas.decode(body["spec"], TYPES[kind_class], NEWEST)
                other, _ = schemas.decode(shuffled(body["spec"]), TYPES[kind_class], NEWEST)
                assert hashes.content_hash(kind_class, text) == hashes.content_hash(
                    kind_class, other
                )
    assert compared > 100


def test_every_change_of_meaning_has_another_hash() -> None:
    """Each leaf of recorded specs, changed or dropped."""
    changed = 0
    for case in cases("apply")[:150]:
        for body in case["objects"]:
            if not body["apiVersion"].startswith("instancetype."):
                continue
            kind_class = "preference" if "Preference" in body["kind"] else "instancetype"
            decoded, _ = schemas.decode(body["spec"], TYPES[kind_class], NEWEST)
            first = hashes.content_hash(kind_class, decoded)
            for key in decoded:
                without = {k: v for k, v in decoded.items() if k != key}
                changed += 1
                assert hashes.content_hash(kind_class, without) != first
    assert changed > 300


def test_empty_struct_behind_a_pointer_is_content() -> None:
    assert hash_of("preference", {"firmware": {}}) != hash_of("preference", {})
    assert hash_of("preference", {}) != hashes.content_hash("instancetype", {})


def test_decoding_leaves_only_what_has_a_meaning() -> None:
    """What Go writes although it is empty is required: it cannot be absent from one of two equal specs."""
    seen: set[str] = set()
    waiting = list(TYPES.values())
    while waiting:
        name = waiting.pop().lstrip("*[]").removeprefix("map[string]").lstrip("*[]")
        if name in seen or not types.is_struct(name):
            continue
        seen.add(name)
        for field in types.fields(name, NEWEST).values():
            waiting.append(field.type)
            assert field.omitempty or field.required, name
    assert len(seen) > 20


@pytest.mark.parametrize(("length", "suffix"), [(5, 11), (52, 11), (53, 11), (253, 11)])
def test_names_stay_within_limits(length: int, suffix: int) -> None:
    hash_ = hashes.content_hash("preference", {})
    name = hashes.hashed_name("n" * length, hash_)
    assert len(name) == min(length, 63 - suffix) + suffix
    assert hashes.hashed_name(name, hash_) == name
    assert len(hashes.revision_name("n" * length, hash_)) == min(length + 19, 253)


def test_cut_names_end_well() -> None:
    hash_ = hashes.content_hash("preference", {})
    assert hashes.hashed_name("a" * 50 + "--b", hash_) == "a" * 50 + f"-{hashes.suffix(hash_)}"


def test_references_are_read_as_they_are_written() -> None:
    ref = hashes.Ref("VirtualMachinePreference", "fedora.40", hashes.content_hash("preference", {}))
    assert hashes.read_ref(str(ref)) == ref
    for text in ("", None, 3, str(ref) + "0", str(ref)[:-1], f"x{ref}@{ref.hash}", "a/b@sha256:"):
        assert hashes.read_ref(text) is None
    assert hashes.is_hash(ref.hash)
    assert not hashes.is_hash(ref.hash + "\n")


def test_running_and_template_metadata_are_no_part_of_what_was_rendered() -> None:
    spec = {"runStrategy": "Always", "template": {"metadata": {"labels": {}}, "spec": {"a": 1}}}
    first = hashes.rendered_hash(spec)
    assert first == hashes.rendered_hash({"running": False, "template": {"spec": {"a": 1}}})
    assert first != hashes.rendered_hash({"template": {"spec": {"a": 2}}})


VM: dict[str, Any] = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "prod"},
    "spec": {
        "runStrategy": "Always",
        "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
        "template": {"spec": {"domain": {"devices": {}}}},
    },
}


def stamp(version: str, spec: Any, **matcher: str) -> str:
    """The stamp of a VM whose instancetype is written in an older *version*, or stored in one."""
    vm = {**VM, "spec": {**VM["spec"], "instancetype": {**VM["spec"]["instancetype"], **matcher}}}
    body = {
        "apiVersion": f"instancetype.kubevirt.io/{version}",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "small", "namespace": "prod"},
        "spec": spec,
    }
    revision = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": "stored", "namespace": "prod"},
        "data": body,
        "revision": 0,
    }
    rendered = render([revision if matcher else body, vm], Settings())
    assert not any(found.is_error for found in rendered.diagnostics)
    (text,) = (
        resource["metadata"]["annotations"]["virt-render.dev/instancetype"]
        for resource in rendered.resources
        if resource["kind"] == "VirtualMachine"
    )
    assert isinstance(text, str)
    return text


def test_versions_of_one_content_have_one_hash() -> None:
    spec = {"cpu": {"guest": 2}, "memory": {"guest": "1024Mi"}, "ioThreadsPolicy": "auto"}
    versions = ("v1alpha1", "v1alpha2", "v1beta1")
    found = {stamp(version, spec) for version in versions}
    found |= {stamp(version, spec, revisionName="stored") for version in versions}
    assert len(found) == 1
    other = {**spec, "cpu": {"guest": 2, "model": ""}}
    # A pointer in v1beta1, where it has a meaning; a plain value in what older releases stored.
    assert {stamp("v1alpha2", other, revisionName="stored")} == found
    assert {stamp("v1beta1", other)} != found
