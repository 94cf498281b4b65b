"""SARIF is what the standard allows: our own schema of the parts that we write, and the rules that no schema states."""

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.execute import execute
from render.frontends.request.request import Call
from render.report import sarif
from render.report.findings import find
from render.report.places import Sources
from render.report.summary import Tally
from tests.support.asking import Ask
from tests.support.cases import CASES, ROOT
from tests.support.manifests import instancetype, put, vm

SCHEMA = json.loads((ROOT / "tests" / "support" / "sarif.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
FOLDERS = sorted(path.parent for path in CASES.glob("*/*/case.yaml"))


def checked(text: str) -> Any:
    """The parsed log, once it is known to keep the rules."""
    log = json.loads(text)
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    return run


def report(*diagnostics: Diagnostic) -> Any:
    return checked(sarif.report(find(diagnostics, Sources()), Tally()))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_without_findings() -> None:
    run = report()
    assert run["results"] == []
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_a_run_that_could_not_read_all_of_its_input_is_no_success() -> None:
    """It ends with another status than that of findings."""
    cannot = (
        codes.UNREADABLE,
        codes.KUSTOMIZE_FAILED,
        codes.LIMIT_EXCEEDED,
        codes.KUSTOMIZE_MISSING,
    )
    for code in (*cannot, codes.YAML_SYNTAX, codes.REQUIREMENT_UNMET):
        (invocation,) = report(code.at(Location(file="prod"), "so"))["invocations"]
        assert invocation["executionSuccessful"] is (code not in cannot)


def test_what_has_no_file_is_a_notification() -> None:
    run = report(codes.NO_OBJECTS.at(Location(), "nothing there"))
    assert run["results"] == []
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [
        toolexecutionnotification["descriptor"]["id"]
        for toolexecutionnotification in invocation["toolExecutionNotifications"]
    ] == ["VR112"]


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b.yaml", "a%20b.yaml"),
        ("../base/vm.yaml", "../base/vm.yaml"),
        ("50%/ü#?.yaml", "50%25/%C3%BC%23%3F.yaml"),
        ("a:b.yaml", "a%3Ab.yaml"),
    ],
)
def test_files_are_relative_references(file: str, uri: str) -> None:
    run = report(codes.YAML_SYNTAX.at(Location(file=file, line=1, column=1), "odd"))
    (result,) = run["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical == {
        "artifactLocation": {"uri": uri},
        "region": {"startLine": 1, "startColumn": 1},
    }


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(CASES)))
def test_every_case(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """In a repository of its own: what a case misses would be looked for in all of ours, file by file."""
    shutil.copytree(folder / "input", tmp_path / "input", symlinks=True)
    put(tmp_path / ".git" / "HEAD", "ref: refs/heads/main\n")
    monkeypatch.chdir(tmp_path)
    execute(Call("check", ("input",), {"--format": "sarif"}), {})
    assert checked(capfdbinary.readouterr().out.decode())["results"] is not None


def test_what_a_folder_misses_and_the_repository_has(ask: Ask) -> None:
    """The help of a result names it; what is wrong elsewhere is none of the results."""
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "platform/small.yaml": instancetype("small"),
        "platform/bad.yaml": vm("bad", instancetype="gone"),
        "prod/kustomization.yaml": "resources: [web.yaml]\n",
        "prod/web.yaml": vm("web", instancetype="smal"),
    }
    run = checked(ask("check", "prod", "--format", "sarif", files=files).out)
    (result,) = run["results"]
    assert result["ruleId"] == "VR201"
    assert "platform/small.yaml" in result["message"]["text"]


def test_a_check_is_a_property_below_the_rule() -> None:
    place = Location(file="vm.yaml", line=1, column=1)
    disks = codes.DISKS.at(place, "odd")._replace(check="disks/volume")
    run = report(disks)
    (result,) = run["results"]
    assert (result["ruleId"], result["properties"]) == ("VR420", {"check": "disks/volume"})
    (other,) = report(codes.YAML_SYNTAX.at(place, "odd"))["results"]
    assert "properties" not in other
