"""The JSON Schemas for editors are valid, current, and accept what KubeVirt accepts."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from render.model.release import PREVIEW, RELEASES, tag
from tests.support.goldens import cases, is_refused_by_schema

TOP = Path(__file__).parents[2]
FILES = sorted(path.name for path in (TOP / "schemas").glob("virtualmachine*.schema.json"))


def schema(file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((TOP / "schemas" / file).read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_types", TOP / "scripts" / "make_types.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_schema_a_kind() -> None:
    assert len(FILES) == 7


@pytest.mark.parametrize("file", FILES)
def test_schemas_are_valid(file: str) -> None:
    Draft202012Validator.check_schema(schema(file))


@pytest.mark.parametrize("file", FILES)
def test_schemas_are_made_from_the_table(file: str, maker: ModuleType) -> None:
    name = file.removesuffix(".schema.json")
    root = (maker.ROOTS | maker.CLUSTER_KINDS)[name]
    kind = maker.KINDS.get(name) or root.partition(".")[2]
    assert schema(file) == maker.document(
        maker.table(maker.types_of(maker.RELEASES[-1])), kind, root
    )


def test_each_release_has_its_row_and_its_data(maker: ModuleType) -> None:
    known = (*RELEASES, PREVIEW)
    assert [tag(release.version) for release in known] == [
        maker.folder(release).name for release in maker.ALL
    ]
    gates = json.loads((TOP / "schemas" / "gates.json").read_text(encoding="utf-8"))
    assert gates == {release: maker.gates(release) for release in maker.ALL}
    catalogues = sorted(path.name for path in (TOP / "schemas" / "catalog").iterdir())
    assert catalogues == sorted(release.catalogue for release in known)


def test_what_kubevirt_runs_is_valid() -> None:
    validators = {
        schema(file)["properties"]["kind"]["const"]: Draft202012Validator(schema(file))
        for file in FILES
    }
    errors = []
    checked = 0
    for case in cases("schema") + cases("preset") + cases("matcher")[::10]:
        refused = any(is_refused_by_schema(case, entry) for entry in case["want"])
        unreadable = any(not answer["allowed"] for answer in case.get("resources", ()))
        if refused or unreadable or any("mutate_error" in entry for entry in case["want"]):
            continue
        for body in case["objects"]:
            if body["kind"] in validators:
                checked += 1
                found = validators[body["kind"]].iter_errors(body)
                errors += [(case["id"], error.message) for error in found]
    assert checked > 100
    assert errors == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"template": {"spec": {"domain": {"devices": {}, "memry": {}}}}}, "'memry' was unexpected"),
        ({"template": {"spec": {"domain": {}}}}, "'devices' is a required property"),
        ({"template": {"spec": {"domain": {"devices": {}, "cpu": {"cores": "2"}}}}}, "is not of type 'integer'"),
    ],
)  # fmt: skip
def test_flaws_are_refused(spec: dict[str, Any], message: str) -> None:
    body = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "spec": spec}
    validator = Draft202012Validator(schema("virtualmachine.schema.json"))
    assert any(message in error.message for error in validator.iter_errors(body))
