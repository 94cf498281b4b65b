"""The same content in an older API version gives the same VMI as in v1beta1, apart from what is documented.

The differences have cases of their own: fixtures/cases/legacy/converted-revision-claims-the-model, fields-of-a-later-
version, flavor-faults.
"""

import base64
import json
from collections.abc import Callable, Collection
from functools import cache

import pytest

from render import Rendered, Settings, render
from render.model.edits import edited
from render.model.resource import Resource, from_body
from render.pipeline.migration.migrate import migrate
from tests.support import answers
from tests.support.answers import Json
from tests.support.goldens import cases
from tests.support.older import OLDER_FIELDS

GROUP = "instancetype.kubevirt.io"
FLAVOR = "flavor.kubevirt.io"
KINDS = ("Instancetype", "Preference")
VMIS = Settings(emit="vmi", catalog="none")
#: What instancetypes have had since v1alpha1, and flavors never.
NO_FLAVOR_HAS = {"devices.preferredAutoattachInputDevice", "volumes.preferredStorageClassName"}


def kind_of(body: Json) -> str:
    """``Instancetype`` or ``Preference``, ``""`` for other objects."""
    if not body["apiVersion"].startswith(GROUP):
        return ""
    return next(kind for kind in KINDS if body["kind"].endswith(kind))


def _known(node: Json, fields: Collection[str], above: str = "") -> Json:
    """What of *node*, whose own path is *above*, is one of the dotted *fields*."""
    known: Json = {}
    for key, value in node.items():
        path = f"{above}{key}"
        if path in fields:
            known[key] = value
        elif any(field.startswith(f"{path}.") for field in fields):
            inner = isinstance(value, dict)
            known[key] = _known(value, fields, f"{path}.") if inner else value
    return known


def plain(body: Json) -> Json:
    """A definition with only what all versions know."""
    fields = OLDER_FIELDS[f"VirtualMachine{kind_of(body)}"] - NO_FLAVOR_HAS
    return {**body, "spec": _known(body["spec"], fields)}


def claims_pointers(body: Json) -> bool:
    """Whether a VM sets what a converted revision always claims."""
    cpu = body["spec"]["template"]["spec"]["domain"].get("cpu") or {}
    return any(key in cpu for key in ("model", "dedicatedCpuPlacement", "isolateEmulatorThread"))


def as_version(version: str) -> Callable[[list[Json]], list[Json]]:
    def rewrite(objects: list[Json]) -> list[Json]:
        return [
            {**body, "apiVersion": f"{GROUP}/{version}"} if kind_of(body) else body
            for body in objects
        ]

    return rewrite


def as_revisions(payload: Callable[[Json], Json]) -> Callable[[list[Json]], list[Json]]:
    """Store every definition in a ControllerRevision of each namespace, and let the VMs use it."""

    def rewrite(objects: list[Json]) -> list[Json]:
        namespaces = {body["metadata"].get("namespace") for body in objects} - {None}
        made: list[Json] = []
        for body in objects:
            if kind_of(body):
                home = body["metadata"].get("namespace")
                made += (
                    {
                        "apiVersion": "apps/v1",
                        "kind": "ControllerRevision",
                        "metadata": {"name": stored_name(body), "namespace": namespace},
                        "data": payload(body),
                        "revision": 0,
                    }
                    for namespace in ([home] if home else sorted(namespaces))
                )
            elif body["kind"] == "VirtualMachine":
                made.append(with_revisions(body, objects))
            else:
                made.append(body)
        return made

    return rewrite


def stored_name(body: Json) -> str:
    return f"{body['kind'].lower()}-{body['metadata']['name']}"


def with_revisions(vm: Json, objects: list[Json]) -> Json:
    spec = dict(vm["spec"])
    for kind in KINDS:
        matcher = spec.get(kind.lower())
        found = definition_of(matcher, kind, vm, objects) if matcher else None
        if matcher and found:
            spec[kind.lower()] = {**matcher, "revisionName": stored_name(found)}
    return {**vm, "spec": spec}


def definition_of(matcher: Json, kind: str, vm: Json, objects: list[Json]) -> Json | None:
    requested = (matcher.get("kind") or f"VirtualMachineCluster{kind}").lower().removesuffix("s")
    return next(
        (
            body
            for body in objects
            if body["kind"].lower() == requested
            and body["metadata"]["name"] == matcher.get("name")
            and body["metadata"].get("namespace") in (None, vm["metadata"].get("namespace"))
        ),
        None,
    )


def whole(version: str) -> Callable[[Json], Json]:
    return lambda body: {**body, "apiVersion": f"{GROUP}/{version}"}


def wrapped(body: Json) -> Json:
    spec = base64.b64encode(json.dumps(body["spec"]).encode()).decode()
    return {"apiVersion": "", "spec": spec}


def as_flavors(objects: list[Json]) -> list[Json]:
    made = []
    for body in objects:
        if kind_of(body):
            kind = body["kind"].replace("Instancetype", "Flavor")
            made.append({**body, "apiVersion": f"{FLAVOR}/v1alpha1", "kind": kind})
        elif "instancetype" in body.get("spec", {}):
            spec = {key: value for key, value in body["spec"].items() if key != "instancetype"}
            matcher = dict(body["spec"]["instancetype"])
            if "kind" in matcher:
                matcher["kind"] = matcher["kind"].lower().replace("instancetype", "flavor")
            made.append({**body, "spec": {**spec, "flavor": matcher}})
        else:
            made.append(body)
    return made


VERSIONS = {
    "v1alpha1": as_version("v1alpha1"),
    "v1alpha2": as_version("v1alpha2"),
    "revision of v1alpha1": as_revisions(whole("v1alpha1")),
    "revision of v1alpha2": as_revisions(whole("v1alpha2")),
    "wrapped revision": as_revisions(wrapped),
    "flavor": as_flavors,
}


def fits(version: str, vm: Json) -> bool:
    """Whether *vm* is none for which the version is documented to differ."""
    if "revision" in version:
        return not claims_pointers(vm)
    domain = vm["spec"]["template"]["spec"]["domain"]
    return version != "flavor" or not ("cpu" in domain or "memory" in domain)


@cache
def in_v1beta1() -> list[tuple[Json, list[Json], Rendered]]:
    """Each case with its objects, their fields being those that every version has, and what they render to."""
    made = []
    for case in cases("apply"):
        objects = [plain(body) if kind_of(body) else body for body in case["objects"]]
        made.append((case, objects, render(objects, VMIS)))
    return made


@pytest.mark.parametrize("version", VERSIONS)
def test_same_content_gives_the_same_vmi(version: str) -> None:
    compared = 0
    for case, objects, current in in_v1beta1():
        if version == "flavor" and "false" in json.dumps([b for b in objects if kind_of(b)]):
            continue  # a preference's false had no effect then
        wanted = [
            (vm, want)
            for vm in answers.machines(case)
            if (want := answers.result_for(current, vm)) is not None and fits(version, vm)
        ]
        if not wanted:
            continue
        older = render(VERSIONS[version](objects), VMIS)
        for vm, want in wanted:
            assert answers.result_for(older, vm) == want, case["id"]
            compared += 1
    assert compared > 400


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2", "flavor"])
def test_a_migration_changes_no_vm_and_leaves_nothing_to_do(version: str) -> None:
    migrated = 0
    for case in cases("apply")[:120]:
        objects = [plain(body) if kind_of(body) else body for body in case["objects"]]
        older = VERSIONS[version](objects)
        first = migrate(as_resources(older), Settings(catalog="none"))
        made = [edited(body, first.edits.get(index, ())) for index, body in enumerate(older)]
        migrated += len(first.edits)
        before, after = render(older, VMIS), render(made, VMIS)
        for vm in answers.machines(case):
            want = answers.result_for(before, vm)
            assert want is None or answers.result_for(after, vm) == want, case["id"]
        assert not migrate(as_resources(made), Settings(catalog="none")).edits, case["id"]
    assert migrated > 100


def as_resources(bodies: list[Json]) -> list[Resource]:
    return [from_body(body, index) for index, body in enumerate(bodies)]
