"""The JSON Schemas for editors are valid, current, and accept what KubeVirt accepts."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from render.frontends.dispatch import invoke
from render.model import types
from render.model.release import NEWEST, PREVIEW, RELEASES, VERSIONS, tag, version
from render.pipeline.vocabulary import words
from render.schemas import json_schema
from tests.support import releases
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


def test_what_is_made_of_the_releases_is_up_to_date(maker: ModuleType) -> None:
    made = dict(maker.files())
    assert {TOP / "schemas" / file for file in FILES} < made.keys()
    for path, text in made.items():
        assert path.is_file(), f"{path.relative_to(TOP)}: make generate"
        assert path.read_text(encoding="utf-8") == text, f"{path.relative_to(TOP)}: make generate"


def test_each_release_has_its_row_and_its_data() -> None:
    known = (*RELEASES, PREVIEW)
    described = sorted(path.name for path in (TOP / "scripts/data/kubevirt").iterdir())
    assert sorted(tag(release.version) for release in known) == described, (
        "a row of RELEASES in render/model/release.py for each folder of scripts/data/kubevirt, which make"
        " kubevirt-release writes"
    )
    catalogues = sorted(path.name for path in (TOP / "schemas" / "catalog").iterdir())
    assert catalogues == sorted(release.catalogue for release in known), (
        "make generate writes a file of schemas/catalog for each"
    )


def test_what_kubevirt_runs_is_valid() -> None:
    """The schema asks for types; of the words that texts may be only the webhooks know."""
    validators = {
        kind: Draft202012Validator(json_schema.document(kind, NEWEST, {}))
        for kind in json_schema.ROOTS
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


@pytest.mark.parametrize("kind", json_schema.ROOTS)
def test_a_schema_of_each_release(kind: str) -> None:
    for release in (VERSIONS[0], VERSIONS[-1]):
        document = json_schema.document(kind, release, words(release))
        Draft202012Validator.check_schema(document)
        assert document["properties"]["kind"] == {"const": kind}
        assert document["properties"]["spec"]


@pytest.mark.parametrize("release", releases.RELEASES)
def test_what_an_older_release_admits_is_valid(release: str) -> None:
    of_release = version(release)
    known = {
        kind: Draft202012Validator(json_schema.document(kind, of_release, words(of_release)))
        for kind in ("VirtualMachine", "VirtualMachineInstance")
    }
    errors = []
    checked = 0
    for admission, step in ((False, 13), (True, 61)):
        for case in releases.cases(release, admission=admission)[::step]:
            if not case["want"] or not all(map(is_taken, case["want"])):
                continue
            for body in case["objects"]:
                if body["kind"] in known:
                    checked += 1
                    found = known[body["kind"]].iter_errors(body)
                    errors += [(case["id"], error.message[:200]) for error in found]
    assert checked > 5
    assert errors == []


def is_taken(entry: dict[str, Any]) -> bool:
    """Whether the webhooks, and the schema where it was asked, take a VM and the VMI that it starts."""
    verdicts = [entry[key]["allowed"] for key in ("admit", "vmi_admit") if key in entry]
    return bool(verdicts) and all(verdicts) and not {"mutate_error", "crd"} & entry.keys()


MACHINE: dict[str, Any] = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "labels": {"a": "b"}},
    "spec": {
        "runStrategy": "Always",
        "instancetype": {"name": "small"},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "domain": {
                    "cpu": {"cores": 1},
                    "devices": {
                        "disks": [{"name": "root", "disk": {"bus": "virtio"}}],
                        "interfaces": [{"name": "default", "masquerade": {}}],
                    },
                    "memory": {"guest": "1Gi"},
                },
                "networks": [{"name": "default", "pod": {}}],
                "volumes": [{"name": "root", "containerDisk": {"image": "x"}}],
            },
        },
    },
}


def misspelt(value: Any) -> Iterator[Any]:
    """*value* with one field after the other called otherwise; labels are free."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            for other in misspelt(item):
                yield [*value[:index], other, *value[index + 1 :]]
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "labels":
                continue
            yield {f"{name}x" if name == key else name: item for name, item in value.items()}
            for other in misspelt(item):
                yield value | {key: other}


def test_a_misspelt_field_is_refused_at_every_depth() -> None:
    validator = Draft202012Validator(json_schema.document("VirtualMachine", NEWEST, {}))
    assert not list(validator.iter_errors(MACHINE))
    others = list(misspelt(MACHINE))
    assert len(others) > 30
    for body in others:
        assert list(validator.iter_errors(body)), body


def test_words_of_checks_are_enumerated() -> None:
    document = json_schema.document("VirtualMachine", NEWEST, words(NEWEST))
    definitions = document["$defs"]
    assert definitions["kubevirt.DiskTarget"]["properties"]["bus"]["enum"] == [
        "", "virtio", "scsi", "sata", "usb",
    ]  # fmt: skip
    assert "Once" in definitions["kubevirt.VirtualMachineSpec"]["properties"]["runStrategy"]["enum"]


def test_descriptions_are_of_fields_that_there_are() -> None:
    for type_name, name in json_schema.descriptions():
        fields = {field for release in VERSIONS for field in types.fields(type_name, release)}
        assert name in fields, f"{type_name}.{name}"


def test_the_command_prints_one(capfd: pytest.CaptureFixture[str]) -> None:
    assert invoke(["schema", "virtualmachine", "--kubevirt", "1.4"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["title"] == "VirtualMachine as KubeVirt v1.4.1 reads it"
    assert "panicDevices" not in document["$defs"]["kubevirt.Devices"]["properties"]
    assert invoke(["schema", "VirtualMachin"]) == 2
    assert "did you mean VirtualMachine?" in capfd.readouterr().err
