"""Reports into files, beside the one that is printed."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.frontends import dispatch
from tests.support.manifests import vm

VM = vm(instancetype="u1.nano")
CONFLICT = vm(instancetype="u1.nano", memory="4Gi")
FILES = {"sarif": "out.sarif", "junit": "out.xml", "github": "out.txt", "json": "out.json"}
FLAGS = [word for name, file in FILES.items() for word in (f"--{name}-file", file)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["build", "check"])
def test_several_at_once(command: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("vm.yaml").write_text(CONFLICT)
    assert dispatch.invoke([command, "vm.yaml", *FLAGS]) is Exit.FINDINGS
    printed = capfdbinary.readouterr()
    text = (printed.err if command == "build" else printed.out).decode()
    assert "vm.yaml:14:11: error VR301 " in text
    results = json.loads(Path("out.sarif").read_text())["runs"][0]["results"]
    assert "VR301" in {result["ruleId"] for result in results}
    assert ET.parse("out.xml").getroot().find(".//failure") is not None  # noqa: S314 - ours
    assert "::error file=vm.yaml,line=14,col=11," in Path("out.txt").read_text()
    codes = {
        diagnostic["code"] for diagnostic in json.loads(Path("out.json").read_text())["diagnostics"]
    }
    assert codes == {"VR301", "VR209"}


@pytest.mark.parametrize("command", ["build", "check"])
def test_without_findings_they_are_valid_and_empty(command: str) -> None:
    Path("vm.yaml").write_text(vm(memory="1Gi"))
    assert dispatch.invoke([command, "vm.yaml", *FLAGS]) is Exit.OK
    assert json.loads(Path("out.sarif").read_text())["runs"][0]["results"] == []
    assert json.loads(Path("out.json").read_text())["diagnostics"] == []
    assert not Path("out.txt").read_text()
    assert ET.parse("out.xml").getroot().get("failures", "0") == "0"  # noqa: S314 - ours


def test_a_wrong_setting_is_reported_there_too() -> None:
    assert dispatch.invoke(["check", "--emit", "vmx", "--json-file", "out.json"]) is Exit.USAGE
    (found,) = json.loads(Path("out.json").read_text())["diagnostics"]
    assert found["code"] == "VR801"


def test_what_cannot_be_written_is_an_error(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("vm.yaml").write_text(VM)
    flags = ["--json-file", "no/such/out.json", "--sarif-file", "out.sarif"]
    assert dispatch.invoke(["build", "vm.yaml", *flags]) is Exit.UNREADABLE
    printed = capfdbinary.readouterr()
    assert printed.out == b""
    assert b"error VR121 unwritable: cannot write no/such/out.json: " in printed.err
    assert Path("out.sarif").exists()


def test_skipped_files_are_told_with_v_only(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("vm.yaml").write_text(VM)
    Path("values.yaml").write_text("a: 1\n")
    files = {"sarif": "out.sarif", "junit": "out.xml", "github": "out.txt"}
    flags = [word for name, file in files.items() for word in (f"--{name}-file", file)]
    for words, told in ((flags, False), ([*flags, "-v"], True)):
        assert dispatch.invoke(["check", ".", *words]) is Exit.OK
        for file in files.values():
            assert ("VR118" in Path(file).read_text()) is told, file
    capfdbinary.readouterr()
    for name in files:
        assert dispatch.invoke(["check", "--format", name, "."]) is Exit.OK
        assert b"VR118" not in capfdbinary.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sarif-file", "a", "--junit-file", "./a"], "--sarif-file and --junit-file both name"),
        (["-o", "out.yaml", "--json-file", "out.yaml"], "--output and --json-file both name"),
        (["--sarif-file", "-"], "--sarif-file -: standard output is taken"),
        (["-o", "out.yaml", "--json-file=-", "--sarif-file=-"], "--json-file and --sarif-file"),
    ],
)
def test_reports_do_not_overwrite_each_other(
    words: list[str], message: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    Path("vm.yaml").write_text(VM)
    assert dispatch.invoke(["build", "vm.yaml", *words]) is Exit.USAGE
    printed = capfdbinary.readouterr()
    assert message in printed.err.decode()
    assert printed.out == b""
    assert [path.name for path in Path().iterdir()] == ["vm.yaml"]


def test_a_report_may_have_standard_output_to_itself(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    Path("vm.yaml").write_text(VM)
    assert dispatch.invoke(["build", "vm.yaml", "-o", "out.yaml", "--sarif-file", "-"]) is Exit.OK
    assert json.loads(capfdbinary.readouterr().out)["version"] == "2.1.0"
    assert sorted(path.name for path in Path().iterdir()) == ["out.yaml", "vm.yaml"]


@pytest.mark.parametrize("command", ["build", "check", "pin"])
@pytest.mark.parametrize("text", [vm(memory="1Gi"), CONFLICT, "kind: [ # kubevirt.io\n"])
def test_a_report_does_not_replace_a_manifest(
    command: str, text: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    Path("sub").mkdir()
    Path("sub/vm.yaml").write_text(text)
    argv = [command, "--json-file", "sub/vm.yaml", "sub"]
    assert dispatch.invoke(argv) is Exit.USAGE
    printed = capfdbinary.readouterr()
    assert b"--json-file sub/vm.yaml: this manifest is read" in printed.out + printed.err
    assert Path("sub/vm.yaml").read_text() == text
    assert list(Path("sub").iterdir()) == [Path("sub/vm.yaml")]


def test_a_report_replaces_the_one_before() -> None:
    Path("vm.yaml").write_text(CONFLICT)
    for _ in range(2):
        assert dispatch.invoke(["check", "--json-file", "report.json", "."]) is Exit.FINDINGS
