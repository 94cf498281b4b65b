import json
import os
import re
import xml.etree.ElementTree as ET
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import pytest

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity, at
from render.manifests.sources import loading
from render.manifests.sources.reading import Reading
from render.model.resource import from_body
from render.report import formats
from render.report.findings import Finding, find, merge
from render.report.places import Sources
from render.report.style import Style
from render.yaml.budget import Limits

ROOT = Path(__file__).parents[3]
#: What chooses among them.
APART = {"render.report.formats", "render.report.impact.formats"}
REPORTS = ROOT / "fixtures" / "reports"
MEMORY = ("spec", "template", "spec", "domain", "memory", "guest")
USER_DATA = ("spec", "template", "spec", "volumes", 0, "cloudInitNoCloud", "userData")


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """One of each kind: with and without a file, an object, a field, another party, several lines."""
    monkeypatch.chdir(REPORTS)
    loaded = loading.load(["input"], Reading(Limits()))
    assert not loaded.diagnostics
    small, web, db = (from_body(d.body, i, d.origin) for i, d in enumerate(loaded.documents))
    diagnostics: list[Diagnostic] = [
        codes.INSTANCETYPE_CONFLICT.at(
            at(web, MEMORY),
            "VM field(s) spec.template.spec.domain.memory.guest conflicts with selected instance type",
            Related(
                "VirtualMachineInstancetype prod/small sets memory.guest: 1Gi",
                at(small, ("spec", "memory", "guest")),
            ),
            help="remove the field from the VM",
        ),
        codes.WRONG_TYPE.at(at(web, USER_DATA), "must be a string"),
        codes.WRONG_TYPE.at(at(db, USER_DATA), "must be a string"),
        codes.DEPRECATED_FIELD.at(
            at(db, ("metadata", "annotations", "note")), "100 %: deprecated,\nor <so> it is said"
        ),
        codes.BUNDLED_USED.at(
            at(db),
            "VirtualMachineClusterPreference fedora comes from KubeVirt v1.9.0",
            Related("there", Location()),
        ),
        codes.YAML_SYNTAX.at(Location(file="input/vms.yaml", line=22, column=13), "odd"),
        codes.INVALID_SETTING.at(Location(), "--emit: 'vmx' is not one of vm, vmi", help="choose"),
    ]
    return merge(find(diagnostics, Sources([d.origin for d in loaded.documents], loaded.data)))


@pytest.mark.parametrize("name", formats.FORMATS)
def test_every_format_shows_the_same_findings(
    name: str, findings: list[Finding], request: pytest.FixtureRequest
) -> None:
    written = formats.report(name, findings)
    expected = REPORTS / f"expected.{name}"
    if request.config.getoption("--update"):
        expected.write_text(written, encoding="utf-8")
    assert expected.exists(), f"{expected.relative_to(ROOT)}: this test with --update writes it"
    assert written == expected.read_text(encoding="utf-8")


def test_no_file_is_left_over() -> None:
    found = {path.name for path in REPORTS.glob("expected.*")}
    known = {f"expected.{name}" for name in formats.FORMATS}
    assert found == known, "a row of FORMATS in render/report/formats.py for each, and no other"


@pytest.mark.parametrize("table", [formats.FORMATS, formats.IMPACT_FORMATS, formats.FLEET_FORMATS])
def test_each_format_has_its_function(table: dict[str, formats.Format]) -> None:
    for row in table.values():
        assert find_spec(row.module), f"no {row.module}, which render/report/formats.py names"
        assert callable(getattr(import_module(row.module), row.function, None)), (
            f"{row.module} has no {row.function}, which its row in render/report/formats.py names"
        )


def test_the_function_of_a_row_writes_the_report(
    findings: list[Finding], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = formats.Format("own", "operator", function="contains")
    monkeypatch.setitem(formats.FORMATS, "own", row)
    # It is given the findings, and how many are not among them.
    assert not formats.report("own", findings)


def test_each_module_that_reports_is_a_format() -> None:
    rows = {row.module for row in (*formats.FORMATS.values(), *formats.IMPACT_FORMATS.values())}
    for path in (ROOT / "render/report").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if module.count(".") == 2 or ".impact." in module:
            text = path.read_text(encoding="utf-8")
            reports = re.search(r"^def report\(", text, re.MULTILINE)
            assert not reports or module in rows | APART, (
                f"no row of render/report/formats.py has {module}"
            )


@pytest.mark.parametrize("name", formats.FORMATS)
def test_no_secret_is_shown(name: str, findings: list[Finding]) -> None:
    written = formats.report(name, findings)
    assert "horse" not in written
    assert "staple" not in written


def test_json_follows_its_schema(findings: list[Finding]) -> None:
    schema = json.loads((ROOT / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for some in (findings, []):
        jsonschema.validate(json.loads(formats.report("json", some)), schema)


def test_sarif_has_what_services_demand(findings: list[Finding]) -> None:
    for some in (findings, []):
        document = json.loads(formats.report("sarif", some))
        (run,) = document["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert document["version"] == "2.1.0"
        assert len(rules) == len(set(rules))
        told = run["invocations"][0]["toolExecutionNotifications"]
        assert len(run["results"]) + len(told) == len(some)
        for result in run["results"]:
            assert rules[result["ruleIndex"]] == result["ruleId"]
            assert result["level"] in ("error", "warning", "note")
            (location,) = result["locations"]
            assert not os.path.isabs(location["physicalLocation"]["artifactLocation"]["uri"])
            assert location["physicalLocation"]["region"]["startLine"] > 0


def test_junit_counts_errors_as_failures(findings: list[Finding]) -> None:
    suite = ET.fromstring(formats.report("junit", findings))[0]  # noqa: S314 - our own
    assert suite.get("tests") == str(len(suite)) == str(len(findings))
    assert suite.get("failures") == str(len(suite.findall("*/failure"))) == "5"
    (passed,) = ET.fromstring(formats.report("junit", []))[0]  # noqa: S314 - our own
    assert len(passed) == 0


def test_github_keeps_each_finding_on_one_line(findings: list[Finding]) -> None:
    lines = formats.report("github", findings).splitlines()
    assert len(lines) == len(findings)
    levels = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
    for line, found in zip(lines, findings, strict=True):
        assert line.startswith(f"::{levels[found.diagnostic.severity]} ")


def test_text_without_findings_is_empty() -> None:
    assert formats.report("text", []) == ""


def test_colours_change_nothing_but_colours(findings: list[Finding]) -> None:
    import re

    coloured = formats.report("text", findings, style=Style(colour=True))
    assert "\x1b[1;31merror\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == formats.report("text", findings)


def test_manifests_cannot_drive_the_terminal() -> None:
    diagnostic = codes.NOT_AN_OBJECT.at(Location(file="a\x1b]0;x\x07.yaml"), "a \x1b[2J\u202e name")
    written = formats.report("text", find([diagnostic], Sources()))
    assert not set(written) & {"\x1b", "\x07", "\u202e"}
    for name in formats.FORMATS:
        assert "\x1b" not in formats.report(name, find([diagnostic], Sources())), (
            f"{formats.FORMATS[name].module}: `printable` of render/report/text.py, or `dumps` of escaping.py beside it"
        )


def test_long_line_is_shown_around_its_column() -> None:
    data = b"k: [" + b"aaaa, " * 100 + b"bad, " + b"aaaa, " * 100 + b"]\n"
    column = data.index(b"bad") + 1
    place = Sources([], {"f": data}).place(Location(file="f", line=1, column=column))
    diagnostic = codes.YAML_SYNTAX.at(Location(file="f", line=1, column=column), "odd")
    _, excerpt, caret = formats.report("text", [Finding(diagnostic, place)]).splitlines()
    assert len(excerpt) < 140
    assert excerpt[caret.index("^") :].startswith("bad")


def test_what_holds_for_several_releases_is_one_finding() -> None:
    (found,) = find([codes.UNKNOWN_KIND.at(Location(), "no such kind")], Sources())
    other = found._replace(diagnostic=found.diagnostic._replace(message="another"))
    by_release = [
        found._replace(releases=("1.6",)),
        other._replace(releases=("1.6",)),
        found._replace(releases=("1.9",)),
    ]
    merged = merge(by_release)
    assert [item.releases for item in merged] == [("1.6", "1.9"), ("1.6",)]
    assert merged[0].text == "no such kind (KubeVirt 1.6, 1.9)"
    document = json.loads(formats.report("json", merged))
    assert [diagnostic["releases"] for diagnostic in document["diagnostics"]] == [
        ["1.6", "1.9"],
        ["1.6"],
    ]
