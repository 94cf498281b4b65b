"""``virt-render test``: files with expectations beside VMs."""

import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from render.diagnostics.exits import Exit
from render.frontends.dispatch import invoke
from tests.support.manifests import instancetype, put, vm
from tests.support.repository import Repository

HEAD = "apiVersion: virt-render.dev/v1alpha1\nkind: Test\n"


def expecting(text: str, stated: str = "") -> str:
    before = f"  given: {stated}\n" if stated else ""
    return f"{HEAD}spec:\n{before}  expect:\n    - {text}\n"


@pytest.fixture
def messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> "pytest.CaptureFixture[str]":
    monkeypatch.chdir(tmp_path)
    put("vms/small.yaml", instancetype(cpus=2))
    put("vms/web.yaml", vm("web", namespace="prod", instancetype="small"))
    put("vms/db.yaml", vm("db", namespace="prod", instancetype="small", memory="1Gi"))
    put("vms/job.yaml", vm("job", namespace="test", memory="1Gi"))
    return capfd


MET = [
    "{vms: web, vmi: {spec: {domain: {cpu: {sockets: 2}}}}}",
    "{vms: prod/web, vm: {spec: {runStrategy: Always, instancetype: null}}, findings: []}",
    "{vms: 'test/*', vmi: {spec: {domain: {memory: {guest: 1024Mi}}}}}",
    "{vms: [web, test/], pod: {spec: {containers: [{name: compute}]}}}",
    "{vms: db, findings: [VR301]}",
]
UNMET = [
    ("{vms: web, vmi: {spec: {domain: {cpu: {sockets: 3}}}}}", "sockets is 2, and not 3", "explain prod/web"),
    ('{vms: web, vmi: {spec: {domain: {cpu: {sockets: "2"}}}}}', 'sockets is 2, and not the text "2"', ""),
    ("{vms: web, vmi: {spec: {domain: {chassis: {sku: a}}}}}", "vmi.spec.domain.chassis is not there", ""),
    ("{vms: web, vmi: {spec: {domain: {cpu: {sokets: 2}}}}}", "cpu.sokets is not there", "did you mean sockets?"),
    ("{vms: wbe, findings: []}", "no VM wbe in what is given", "did you mean web?"),
    ("{vms: 'dev/*', findings: []}", "no VM dev/* in what is given", ""),
    ("{vms: web, findings: [VR301]}", "prod/web: no VR301 instancetype-conflict", ""),
    ("{vms: db, findings: []}", "prod/db: VR301: ", "remove spec.template"),
    ("{vms: db, vmi: {spec: {}}, findings: [VR301]}", "prod/db: there is no vmi of it: VR301: ", "remove spec"),
    ("{vms: test/, pod: {spec: {containers: []}}}", "pod.spec.containers has 1 item, and not 0", ""),
]  # fmt: skip


def test_the_command_that_explains_finds_what_stands_around_the_input(
    messages: "pytest.CaptureFixture[str]",
) -> None:
    """It looks around the folder, as the test did."""
    Path(".git").mkdir()
    put("defs/large.yaml", instancetype("large", cpus=4))
    put("more/far.yaml", vm("far", namespace="prod", instancetype="large"))
    put(
        "more/prod.virt-test.yaml",
        expecting("{vms: far, vmi: {spec: {domain: {cpu: {sockets: 3}}}}}"),
    )
    assert invoke(["test", "more"]) == Exit.FINDINGS
    command = messages.readouterr().out.partition("see: virt-render ")[2].strip().split(" ")
    assert command == ["explain", "prod/far", "spec.domain.cpu.sockets", "more"]
    assert invoke(command) == Exit.OK


@pytest.mark.parametrize("text", MET)
def test_what_is_as_expected_says_nothing(
    text: str, messages: "pytest.CaptureFixture[str]"
) -> None:
    put("vms/prod.virt-test.yaml", expecting(text))
    assert invoke(["test"]) == Exit.OK
    printed = messages.readouterr()
    assert (printed.out, printed.err.partition(":")[2]) == ("", " all met\n")


@pytest.mark.parametrize(("text", "message", "cure"), UNMET)
def test_what_is_not_is_named_with_its_line(
    text: str, message: str, cure: str, messages: "pytest.CaptureFixture[str]"
) -> None:
    put("vms/prod.virt-test.yaml", expecting(text))
    assert invoke(["test", "."]) == Exit.FINDINGS
    printed = messages.readouterr()
    assert printed.out.startswith("vms/prod.virt-test.yaml:5:")
    assert " error VR804 unmet-expectation: " in printed.out
    assert message in printed.out
    assert cure in printed.out
    assert printed.err.endswith(": 1 failed\n")


def test_the_whole_repository_fails_for_what_only_one_vm_has(
    messages: "pytest.CaptureFixture[str]",
) -> None:
    put("prod.virt-test.yaml", expecting("{vmi: {spec: {domain: {cpu: {sockets: 2}}}}}"))
    assert invoke(["test"]) == Exit.FINDINGS
    lines = [line for line in messages.readouterr().out.splitlines() if "VR804" in line]
    assert len(lines) == 2
    assert "prod/db: VR301: " in lines[0]
    assert "test/job: vmi.spec.domain.cpu.sockets is 1, and not 2" in lines[1]


def test_a_change_without_a_state_before_stands_where_it_is_expected(
    messages: "pytest.CaptureFixture[str]",
) -> None:
    put(
        "prod.virt-test.yaml",
        expecting("{vms: web, findings: []}\n    - {vms: web, change: [same]}"),
    )
    assert invoke(["test"]) is Exit.USAGE
    line = Path("prod.virt-test.yaml").read_text().split("change")[0].count("\n") + 1
    assert f"prod.virt-test.yaml:{line}:" in messages.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD, "spec:"),
        (HEAD.replace("Test", "Tset"), "should have apiVersion"),
        (f"{HEAD}spec: {{}}", "expect should be a list"),
        (f"{HEAD}spec: {{expect: []}}", "expect should be a list"),
        (expecting("{vms: web}"), "expects nothing"),
        (expecting("{vms: web, vmii: {}}"), "did you mean vmi?"),
        (expecting("{vms: 3, findings: []}"), "should name VMs"),
        (expecting("{vmi: []}"), "should be fields of the vmi"),
        (expecting("{vms: web, vmis: {}}"), "did you mean vmi?"),
        (expecting("{findings: [VR31]}"), "did you mean VR301?"),
        (expecting("{change: restrat}", "{before: HEAD}"), "did you mean restart?"),
        (expecting("{change: same}"), "given.before does not say of what"),
        (expecting("{findings: []}", "{paths: ../..}"), "leads out of the repository"),
        (expecting("{findings: []}", "{settings: {clusterConfig: /etc/passwd}}"), "leads out of"),
        (expecting("{findings: []}", "{settings: {kubvirt: '1.8'}}"), "did you mean kubevirt?"),
        (expecting("{findings: []}", "{settings: {kubevirt: '0.1'}}"), "'0.1' is not one of"),
        (expecting("{findings: []}", "{settings: {jobs: 1}}"), "jobs"),
        (expecting("{change: same}", "{before: --output=x}"), "should be a revision"),
        (
            expecting("{change: same}", "{before: 'HEAD@{1 second ago}'}"),
            "clock, reflog or settings",
        ),
        (expecting("{change: same}", "{before: 'main@{u}'}"), "clock, reflog or settings"),
        ("a: [", "prod.virt-test.yaml:1:"),
        ("a: b\n---\nc: d\n", "holds 2 documents and should hold one Test"),
    ],
)
def test_a_file_that_says_nothing_sound_is_refused(
    text: str, message: str, messages: "pytest.CaptureFixture[str]"
) -> None:
    put("prod.virt-test.yaml", text)
    assert invoke(["test"]) in {Exit.USAGE, Exit.FINDINGS}
    printed = messages.readouterr()
    assert message in printed.out, printed


def test_a_misspelt_subject_is_said_once(messages: "pytest.CaptureFixture[str]") -> None:
    put("prod.virt-test.yaml", expecting("{vms: web, chnage: same}"))
    assert invoke(["test"]) == Exit.USAGE
    printed = messages.readouterr().out
    assert "did you mean change?" in printed
    assert "expects nothing" not in printed


def test_a_vm_is_counted_once(messages: "pytest.CaptureFixture[str]") -> None:
    """However many expectations, and files, look at it."""
    spec = expecting("{vms: web, findings: []}\n    - {vms: [web, db], findings: []}")
    for name in ("prod", "more"):
        put(f"{name}.virt-test.yaml", spec)
    invoke(["test"])
    assert messages.readouterr().err.startswith("4 expectations in 2 files, 2 VMs looked at: ")


def test_without_a_file_nothing_passes(messages: "pytest.CaptureFixture[str]") -> None:
    assert invoke(["test", "vms"]) == Exit.FINDINGS
    printed = messages.readouterr().out
    assert "no file *.virt-test.yaml in vms\n  help: write one beside the VMs" in printed


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("vms/prod.virt-test.yml", "vms/prod.virt-test.yaml"),
        ("prod-virt-test.yaml", "prod.virt-test.yaml"),
        ("virt-tests.yaml", "vms.virt-test.yaml"),
    ],
)
def test_expectations_under_another_name_are_told(
    name: str, right: str, messages: "pytest.CaptureFixture[str]"
) -> None:
    """Nobody would know that they are not looked at."""
    put("met.virt-test.yaml", expecting("{vms: web, findings: []}"))
    put("notes-virt-test.yaml", "kind: Test\n")
    put(name, expecting("{vms: web, findings: []}"))
    assert invoke(["test"]) == Exit.USAGE
    printed = messages.readouterr().out
    assert f"{name}:1:1: error VR801 invalid-setting: {name} is not read: " in printed
    assert f"  help: call it {right}\n" in printed
    assert "notes" not in printed
    assert invoke(["test", name]) == Exit.OK


def test_settings_are_those_of_the_file_and_options_win(
    messages: "pytest.CaptureFixture[str]",
) -> None:
    inputs = "{settings: {catalog: [none, vms/x]}}"
    put("prod.virt-test.yaml", expecting("{vms: web, findings: []}", inputs))
    assert invoke(["test"]) != Exit.OK
    assert invoke(["test", "--catalog", "none"]) == Exit.OK
    messages.readouterr()


def test_what_cannot_be_read_is_said_and_fails(messages: "pytest.CaptureFixture[str]") -> None:
    put("vms/broken.yaml", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\na: [\n")
    put("prod.virt-test.yaml", expecting("{vms: web, findings: []}"))
    assert invoke(["test"]) == Exit.FINDINGS
    assert "vms/broken.yaml:3" in messages.readouterr().out


def test_a_path_that_is_not_there_is_told_at_its_line(
    messages: "pytest.CaptureFixture[str]",
) -> None:
    put("tests/prod.virt-test.yaml", expecting("{findings: []}", "{paths: [.., ../vmz]}"))
    assert invoke(["test"]) == Exit.UNREADABLE
    printed = messages.readouterr().out
    assert printed.startswith("tests/prod.virt-test.yaml:4:23: error VR110")
    assert "did you mean ../vms?" in printed


def test_a_secret_is_not_shown(messages: "pytest.CaptureFixture[str]") -> None:
    text = vm("web", memory="1Gi").replace(
        "      domain:",
        "      volumes: [{name: seed, cloudInitNoCloud: {userData: hunter2}}]\n      domain:",
    )
    put("vms/web.yaml", text)
    seed = "{name: seed, cloudInitNoCloud: {userData: x}}"
    put("prod.virt-test.yaml", expecting(f"{{vms: web, vmi: {{spec: {{volumes: [{seed}]}}}}}}"))
    assert invoke(["test"]) == Exit.FINDINGS
    out = messages.readouterr().out
    assert "userData is another one" in out
    assert "hunter2" not in out


def git(*words: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *names, *words], check=True, capture_output=True)


def test_a_change_is_compared_with_a_commit_and_with_a_folder(
    messages: "pytest.CaptureFixture[str]",
) -> None:
    git("init", "-q", "-b", "main")
    put("vms/prod.virt-test.yaml", expecting("{vms: web, change: [same, none]}", "{before: main}"))
    git("add", ".")
    git("commit", "-qm", "a")
    assert invoke(["test"]) == Exit.OK
    put(
        "vms/web.yaml",
        vm("web", namespace="prod", instancetype="small").replace("Always", "Halted"),
    )
    assert invoke(["test"]) == Exit.FINDINGS
    assert "prod/web: stop, and not same or none" in messages.readouterr().out
    put("old/web.yaml", vm("web", namespace="prod", memory="1Gi"))
    put("new/web.yaml", vm("web", namespace="prod", memory="1Gi").replace("Always", "Halted"))
    put("stop.virt-test.yaml", expecting("{vms: web, change: stop}", "{paths: new, before: old}"))
    assert invoke(["test", "stop.virt-test.yaml"]) == Exit.OK
    put("stop.virt-test.yaml", expecting("{vms: web, change: stop}", "{before: no-such}"))
    assert invoke(["test", "stop.virt-test.yaml"]) != Exit.OK
    printed = messages.readouterr().out
    assert "stop.virt-test.yaml:4" in printed
    assert "help: name a commit" in printed


@pytest.mark.parametrize(
    ("stated", "change", "status"),
    [
        ("", "", Exit.OK),
        ("{before: HEAD, settings: {emit: vm}}", "migrate", Exit.OK),
        ("{before: HEAD, settings: {emit: vm}}", "same", Exit.FINDINGS),
    ],
)
def test_definitions_of_another_folder_are_found(
    stated: str, change: str, status: Exit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `check` finds what a file refers to: in all of its repository."""
    repository = Repository(tmp_path / "repository")
    repository.write("platform/small.yaml", instancetype())
    repository.write("vms/web.yaml", vm("web", namespace="prod", instancetype="small"))
    repository.commit("As it was")
    repository.write("platform/small.yaml", instancetype(cpus=2))
    effect = f", change: {change}" if change else ""
    text = f"{{vms: web, vmi: {{spec: {{domain: {{cpu: {{sockets: 2}}}}}}}}{effect}}}"
    repository.write("vms/web.virt-test.yaml", expecting(text, stated))
    monkeypatch.chdir(repository.folder)
    assert invoke(["test"]) == status


def test_junit_has_a_case_an_expectation(messages: "pytest.CaptureFixture[str]") -> None:
    items = [
        MET[0],
        UNMET[0][0],
        "{name: two faults, vms: web, vmi: {spec: {domain: {cpu: {sockets: 1, cores: 4}}}}}",
    ]
    put("prod.virt-test.yaml", expecting("\n    - ".join([*items, MET[0]])))
    assert invoke(["test", "--format", "junit"]) == Exit.FINDINGS
    suite = ET.fromstring(messages.readouterr().out)[0]  # noqa: S314 - our own
    assert {key: suite.get(key) for key in ("tests", "failures")} == {"tests": "4", "failures": "2"}
    cases = [(item.get("name"), item.get("classname"), len(item)) for item in suite]
    file = "prod.virt-test.yaml"
    assert cases == [("web", file, 0), ("web (2)", file, 1), ("two faults", file, 1), ("web (3)", file, 0)]  # fmt: skip
    assert "sockets is 2" in str(suite[2][0].get("message"))
    assert "cores is 1" in str(suite[2][0].get("message"))


@pytest.mark.parametrize("words", [["check", "."], ["check", "vms/prod.virt-test.yaml"], ["build", "vms"]])  # fmt: skip
def test_no_other_command_reads_it(
    words: list[str], messages: "pytest.CaptureFixture[str]"
) -> None:
    put("vms/db.yaml", "")
    put("vms/prod.virt-test.yaml", "a: [")
    assert invoke(words) == Exit.OK
    assert "virt-test" not in "".join(messages.readouterr())


def test_folders_that_are_built_and_a_file_that_could_not_be_read_before(
    messages: "pytest.CaptureFixture[str]",
) -> None:
    for name in ("a", "b"):
        put(f"{name}/kustomization.yaml", f"resources: [../base]\nnamespace: {name}\n")
    put("base/kustomization.yaml", "resources: [vm.yaml]\n")
    put("base/vm.yaml", vm("web", memory="1Gi"))
    for name in ("web", "db", "job", "small"):
        Path(f"vms/{name}.yaml").unlink()
    put("broken.yaml", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\na: [\n")
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "a")
    Path("broken.yaml").unlink()
    text = expecting("{vms: web, vmi: {spec: {domain: {}}}, change: same}", "{before: HEAD}")
    put("all.virt-test.yaml", text)
    assert invoke(["test"]) == Exit.OK
    assert messages.readouterr().err == "1 expectation in 1 file, 2 VMs looked at: all met\n"


BROKEN = instancetype() + "a: [\n"


@pytest.mark.parametrize("place", ["vms/web.virt-test.yaml", "web.virt-test.yaml"])
@pytest.mark.parametrize(
    "text",
    [
        "{vms: web, change: [same, none, unrenderable]}",
        "{vms: web, vm: {spec: {runStrategy: Always}}, change: [unrenderable, same]}",
        "{vms: web, findings: []}",
    ],
)
def test_a_vm_whose_definition_may_stand_in_what_cannot_be_read_fails(
    place: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    """Nobody knows what starts, in the folder of the VM as in the whole repository."""
    repository = Repository(tmp_path / "repository")
    repository.write("platform/small.yaml", instancetype())
    repository.write("vms/web.yaml", vm("web", namespace="prod", instancetype="small"))
    repository.write("vms/db.yaml", vm("db", namespace="prod", memory="1Gi"))
    repository.commit("As it was")
    repository.write("platform/small.yaml", BROKEN)
    repository.write(place, expecting(text, "{before: HEAD}"))
    monkeypatch.chdir(repository.folder)
    assert invoke(["test", place]) == Exit.FINDINGS
    printed = capfd.readouterr()
    assert "prod/web: " in printed.out
    assert "first mend " in printed.out
    assert "platform/small.yaml" in printed.out
    assert "there is no vm of it" not in printed.out
    assert "prod/db" not in printed.out
    assert printed.err == "1 expectation in 1 file, 1 VM looked at: 1 failed\n"


@pytest.mark.parametrize("place", ["vms/web.virt-test.yaml", "web.virt-test.yaml"])
def test_what_the_change_does_is_not_known_where_the_definition_could_not_be_read_before(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    repository = Repository(tmp_path / "repository")
    repository.write("platform/small.yaml", BROKEN)
    repository.write("vms/web.yaml", vm("web", namespace="prod", instancetype="small"))
    repository.write("vms/db.yaml", vm("db", namespace="prod", memory="1Gi"))
    repository.commit("As it was")
    repository.write("platform/small.yaml", instancetype(cpus=2))
    monkeypatch.chdir(repository.folder)
    for name, status in (("web", Exit.FINDINGS), ("db", Exit.OK)):
        repository.write(place, expecting(f"{{vms: {name}, change: same}}", "{before: HEAD}"))
        assert invoke(["test", place]) == status
    assert "prod/web: " in capfd.readouterr().out


@pytest.mark.parametrize(
    ("expected", "steps"),
    [
        ("{vms: 'w*', findings: []}", 2 + 3 + 1),  # itself and its pattern, names, one VM
        ("{vms: web, vm: {spec: {runStrategy: Always}}}", 2 + 4),  # a VM and three values
        ("{vms: web, vm: {spec: {runStrategy: Manual}}}", 2 + 4 + 20),
    ],
)
def test_many_expectations_of_many_machines_end_at_a_limit(
    expected: str,
    steps: int,
    messages: "pytest.CaptureFixture[str]",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put("vms/a.virt-test.yaml", expecting(expected))
    put("vms/b.virt-test.yaml", expecting("{vms: web, findings: []}"))
    limit = "render.frontends.commands.expectations.verdict.MOST_STEPS"
    monkeypatch.setattr(limit, steps + 3)
    invoke(["test"])
    assert "VR111" not in messages.readouterr().out
    for most, file in ((steps + 2, "b"), (steps - 1, "a")):
        monkeypatch.setattr(limit, most)
        assert invoke(["test"]) == Exit.UNREADABLE
        printed = messages.readouterr().out
        assert (
            f"vms/{file}.virt-test.yaml:5:7: error VR111 limit-exceeded: this expectation"
            in printed
        )
        assert printed.count("VR111") == 1
