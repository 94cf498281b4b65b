"""What a chart has helm load by its schema of values: an address, or a file from anywhere."""

import json
from pathlib import Path

import pytest

from render.manifests.discover import HelmRelease
from render.manifests.sources import Reading, load
from render.yaml.budget import Limits
from tests.support.loopback import Loopback
from tests.support.manifests import put, vm

DRAFT = '"$schema": "http://json-schema.org/draft-07/schema#"'
#: Each is the whole schema, or stands deeper in one.
REFERENCES = (
    '{"$ref": "URL/a"}',
    '{"$ref": "file://FOLDER/outside.json"}',
    '{"$schema": "URL/a"}',
    '{"$schema": "http://json-schema.org@127.0.0.1/draft-07/schema"}',
    '{"$id": "URL/a", "$ref": "other.json"}',
    '{"\\u0024ref": "URL/a"}',
    '{"$dynamicRef": "URL/a#b"}',
    '{DRAFT, "properties": {"a": {"allOf": [{"$ref": "file://FOLDER/outside.json#/properties/a"}]}}}',
)


def chart(folder: Path, schema: str) -> None:
    put(folder / "Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    put(folder / "templates/vm.yaml", vm(memory="1Gi"))
    put(folder / "values.yaml", "a: 5\n")
    put(folder / "values.schema.json", schema)


@pytest.fixture(autouse=True)
def _no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the kernel forbids them."""
    monkeypatch.setattr("render.system.box._leaving", lambda _: None)


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_schema_loads_nothing(
    tmp_path: Path, helm: str, loopback: Loopback, reference: str
) -> None:
    put(tmp_path / "outside.json", json.dumps({"properties": {"a": {"const": "outside-canary"}}}))
    text = reference.replace("URL", loopback.url).replace("FOLDER", str(tmp_path))
    for number, place in enumerate(("chart", "chart/charts/sub")):
        repository = tmp_path / f"repository-{number}"
        (repository / ".git").mkdir(parents=True)
        chart(repository / "chart", "{}")
        chart(repository / place, text.replace("DRAFT", DRAFT))
        found = load([str(repository / "chart")], Reading(Limits(), helm=helm, chart=HelmRelease()))
        assert found.diagnostics == []
        assert found.documents


def test_a_schema_of_its_own_is_asked(tmp_path: Path, helm: str) -> None:
    (tmp_path / ".git").mkdir()
    own = {"properties": {"a": {"$ref": "#/definitions/a"}}, "definitions": {"a": {"const": 4}}}
    chart(tmp_path, json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **own}))
    (found,) = load([str(tmp_path)], Reading(Limits(), helm=helm, chart=HelmRelease())).diagnostics
    assert found.code == "VR127"
    assert "value must be 4" in found.message


def test_a_template_says_of_no_file_elsewhere_that_it_came_from_there(
    tmp_path: Path, helm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "chart/.git/HEAD", "")
    chart(tmp_path / "chart", "{}")
    put(
        tmp_path / "chart/templates/vm.yaml",
        f"# Source: c/../../elsewhere.yaml\n{vm(memory='1Gi')}",
    )
    found = load(["chart"], Reading(Limits(), helm=helm, chart=HelmRelease()))
    assert [one.origin.file for one in found.documents] == ["chart/templates/vm.yaml"]
