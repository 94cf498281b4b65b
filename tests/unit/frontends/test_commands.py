"""What a caller sees of a command: exit status, standard output, standard error."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from render.diagnostics.codes import CODES
from render.diagnostics.exits import Exit
from render.frontends.commands import build
from render.frontends.request.commands import COMMANDS, Command
from tests.support.asking import Ask
from tests.support.manifests import put, vm

SMALL = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata: {name: small, namespace: prod}
spec:
  cpu: {guest: 1}
  memory: {guest: 1Gi}
"""
VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  instancetype: {name: small, kind: VirtualMachineInstancetype}
  template:
    spec:
      domain:
        devices: {}
"""
CONFLICT = VM + "        memory: {guest: 2Gi}\n"
NOTE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: note}   # kept\n"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["check", "--no-such"], "  help: 'virt-render check --help' lists the options"),
        (["check", "--kubevrt", "1.9"],
         "  help: did you mean --kubevirt? 'virt-render check --help' lists the options"),
        (["chek"], "  help: did you mean check? 'virt-render --help' lists the commands"),
        (["Render"], "  help: did you mean build? 'virt-render --help' lists the commands"),
        (["plan"], "  help: did you mean diff? 'virt-render --help' lists the commands"),
        (["help"], "  help: did you mean --help? 'virt-render --help' lists the commands"),
        (["/"], "  help: did you mean check /? 'virt-render --help' lists the commands"),
        (["unheard"], "  help: 'virt-render --help' lists the commands"),
        (["argocd", "render"], "  help: 'virt-render argocd --help' lists the options"),
        (["lint"], "  help: did you mean check? 'virt-render --help' lists the commands"),
        (["check", "-f"],
         "  help: files and folders stand without an option: virt-render check [PATH...|-]"),
        (["explain", "-k"],
         "  help: files and folders stand without an option: virt-render explain VM [FIELD] [PATH]"),
    ],
)  # fmt: skip
def test_only_what_is_near_an_unknown_name_is_suggested(
    words: list[str], hint: str, ask: Ask
) -> None:
    unknown = next(word for word in reversed(words) if word != "1.9")
    error, help_line = ask(*words).err.splitlines()
    assert error.endswith(f"'{unknown}'")
    assert help_line == hint


def test_a_word_that_is_missing_is_told_with_those_that_there_may_be(ask: Ask) -> None:
    error, help_line = ask("explain").err.splitlines()
    assert error.endswith("missing argument 'VM'")
    assert help_line.startswith("  help: virt-render explain VM [FIELD] [PATH]; ")


def test_rendered_manifests_on_stdout(ask: Ask) -> None:
    answer = ask("build", files={"small.yaml": SMALL, "vm.yaml": VM, "note.yaml": NOTE})
    assert (answer.exit, answer.findings) == (Exit.OK, "")
    assert answer.out.count("---\n") == 3
    assert "\nkind: VirtualMachine\n" in answer.out
    assert "instancetype: {name" not in answer.out
    assert "# kept" in answer.out


def test_standard_input(ask: Ask) -> None:
    answer = ask("build", "-", stdin=f"{SMALL}---\n{VM}")
    assert (answer.exit, answer.findings) == (Exit.OK, "")
    assert "memory:" in answer.out


def test_error_leaves_stdout_empty(ask: Ask) -> None:
    answer = ask("build", files={"small.yaml": SMALL, "vm.yaml": CONFLICT, "note.yaml": NOTE})
    assert (answer.exit, answer.out) == (Exit.FINDINGS, "")
    first = answer.err.splitlines()[0]
    assert first.startswith(
        "vm.yaml:11:18: error VR301 instancetype-conflict: VirtualMachine prod/web: "
    )
    assert "spec.template.spec.domain.memory.guest" in first
    assert "small.yaml:6:12: " in answer.err


def test_findings_of_all_machines_in_one_run(ask: Ask) -> None:
    names = ["a", "b", "c"]
    files = {f"{name}.yaml": CONFLICT.replace("web", name) for name in names}
    answer = ask("build", files={"small.yaml": SMALL, **files})
    lines = [line for line in answer.err.splitlines() if "error VR301" in line]
    assert [line.partition(":")[0] for line in lines] == ["a.yaml", "b.yaml", "c.yaml"]


def test_file_that_is_not_yaml_does_not_make_its_objects_missing(ask: Ask) -> None:
    answer = ask("build", files={"small.yaml": f"{SMALL}  bad: [\n", "vm.yaml": VM})
    assert (answer.exit, answer.out) == (Exit.FINDINGS, "")
    assert "VR101" in answer.err
    assert "VR201" not in answer.err


@pytest.mark.parametrize(
    ("argv", "files", "exit_", "code"),
    [
        (["build"], {}, Exit.FINDINGS, "VR112"),
        (["build", "nowhere"], {}, Exit.UNREADABLE, "VR110"),
        (["build"], {"a.yaml": "apiVersion: v1\nkind: [\n"}, Exit.FINDINGS, "VR101"),
        (["build", "--max-file-bytes", "9"], {"a.yaml": NOTE}, Exit.UNREADABLE, "VR111"),
        (["build", "--emit", "vmx"], {"a.yaml": NOTE}, Exit.USAGE, "VR801"),
        (["build", "--emti", "vm"], {"a.yaml": NOTE}, Exit.USAGE, "VR802"),
        (["build", ""], {"a.yaml": NOTE}, Exit.USAGE, "VR802"),
        (["build", "-o", "no/such/file"], {"a.yaml": NOTE}, Exit.UNREADABLE, "VR121"),
        (
            ["build", "--kustomize", "./none"],
            {"kustomization.yaml": "resources: []\n"},
            Exit.USAGE,
            "VR117",
        ),
        (
            ["build"],
            {"a/kustomization.yaml": "resources: []\n", "b/kustomization.yaml": "resources: []\n"},
            Exit.USAGE,
            "VR119",
        ),
    ],
)
def test_exit_status_and_code(
    ask: Ask, argv: list[str], files: dict[str, str], exit_: Exit, code: str
) -> None:
    answer = ask(*argv, files=files)
    assert (answer.exit, answer.out) == (exit_, "")
    assert f"{code} {CODES[code].slug}: " in answer.err.splitlines()[0]
    assert "Traceback" not in answer.err


def test_why_a_named_file_holds_no_object(ask: Ask) -> None:
    files = {"app/kustomization.yaml": "patches: [{path: patch.yaml}]\n", "app/patch.yaml": VM}
    first = ask("build", "./app/patch.yaml", files=files).err.splitlines()[0]
    assert first == (
        "virt-render: error VR112 no-objects: no Kubernetes object in ./app/patch.yaml; app/patch.yaml skipped:"
        " no resource: app/kustomization.yaml refers to it"
    )


def test_far_fetched_names_are_not_suggested(ask: Ask) -> None:
    assert "did you mean" not in ask("rule", "VR999").err
    assert "did you mean" not in ask("catalog", "show", "windows-server").err


def test_empty_input(ask: Ask) -> None:
    assert ask("build", "--allow-empty", "-q") == (Exit.OK, "", "")
    assert ask("check", "-q") == (Exit.OK, "", "")


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_an_empty_standard_input_is_an_error_of_check(ask: Ask, text: str) -> None:
    """What wrote to the pipe has failed; a folder may well be without VMs."""
    answer = ask("check", "-", stdin=text)
    assert answer.exit == Exit.FINDINGS
    assert "error VR112 no-objects: no Kubernetes object in standard input" in answer.out
    assert "  help: look at what writes to it, which printed nothing" in answer.out
    assert ask("check", "-", "--allow-empty", stdin=text).exit == Exit.OK
    assert ask("check", ".").exit == Exit.OK
    object_ = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    assert ask("check", "-", stdin=object_).exit == Exit.OK


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a\n", "VR104 not-an-object: the document is a list, not a Kubernetes object"),
        ("[]\n", "VR104 not-an-object: the document is a list, not a Kubernetes object"),
        ("5\n", "VR104 not-an-object: the document is a number, not a Kubernetes object"),
        ("a b\n", "VR104 not-an-object: the document is text, not a Kubernetes object"),
        ("a: 'b\n", "VR101 yaml-syntax: this quote is not closed: "),
    ],
)
def test_a_standard_input_of_no_object_is_told_what_it_is(ask: Ask, text: str, told: str) -> None:
    """A file of that kind among others is nobody's business."""
    answer = ask("check", "-", stdin=text)
    assert answer.exit == Exit.FINDINGS
    assert f"error {told}" in answer.out
    assert "printed nothing" not in answer.out
    object_ = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    assert ask("check", "-", stdin=f"{object_}---\n{text}").exit == Exit.OK


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_an_empty_standard_input_is_an_error_of_whoever_looks_at_all_vms(
    text: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words, allowing in (
        (("report", "-"), "--allow-empty"),
        (("used-by", "small", "-"), "--allow-empty"),
        (("factor", "-"), "VIRT_RENDER_ALLOW_EMPTY=true"),
    ):
        answer = ask(*words, stdin=text)
        assert (answer.exit, answer.out) == (Exit.FINDINGS, ""), words
        assert "error VR112 no-objects: no Kubernetes object in standard input" in answer.err
        assert f"printed nothing, or accept an empty input with {allowing}\n" in answer.err
    assert "There are no VMs" in ask("report", "-", "--allow-empty", stdin=text).out
    object_ = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    assert ask("report", "-", stdin=object_).exit == Exit.OK
    monkeypatch.setenv("VIRT_RENDER_ALLOW_EMPTY", "true")
    assert ask("factor", "-", stdin=text).exit == Exit.OK


def test_file_and_folder_output(ask: Ask, tmp_path: Path) -> None:
    printed = ask("build", files={"in/note.yaml": NOTE}).out
    assert ask("build", "in", "-o", "out.yaml", "-q") == (Exit.OK, "", "")
    assert (tmp_path / "out.yaml").read_text() == printed
    assert ask("build", "in", "-o", "-", "-q") == (Exit.OK, printed, "")
    assert ask("build", "in", "-o", "out/", "-q") == (Exit.OK, "", "")
    assert (tmp_path / "out" / "configmap-note.yaml").read_text() == printed


def test_check_reports_on_stdout_and_prints_no_manifest(ask: Ask) -> None:
    answer = ask("check", files={"small.yaml": SMALL, "vm.yaml": CONFLICT})
    assert (answer.exit, answer.findings) == (Exit.FINDINGS, "")
    assert "VR301" in answer.out
    assert ask("check", "-q", files={"vm.yaml": VM}) == (Exit.OK, "", "")


def test_check_of_one_file_finds_what_it_refers_to_below_the_root(ask: Ask, tmp_path: Path) -> None:
    files = {
        "vms/vm.yaml": VM,
        "vms/bad.yaml": CONFLICT.replace("web", "db"),
        "types/s.yaml": SMALL,
    }
    alone = ask("check", "vms/vm.yaml", files=files)
    assert "VR201" in alone.out
    assert ask("check", "vms/vm.yaml", "--root", ".", "-q") == (Exit.OK, "", "")
    (tmp_path / ".git").mkdir()
    assert ask("check", "vms/vm.yaml", "-q") == (Exit.OK, "", "")
    both = ask("check", "vms/vm.yaml", "vms/bad.yaml")
    assert both.exit == Exit.FINDINGS
    assert both.out.startswith("vms/bad.yaml:11:18: error VR301")
    (tmp_path / "types" / "vm.yaml").write_text(CONFLICT.replace("web", "cache"))
    assert ask("check", "vms/vm.yaml", "-q") == (Exit.OK, "", "")
    assert "types/vm.yaml:11:18: error" in ask("check", "vms/vm.yaml", "types").out


def test_the_root_of_a_file_is_its_own_git_repository(ask: Ask) -> None:
    conflict = CONFLICT.replace("web", "db")
    files = {".git/HEAD": "", "s.yaml": SMALL, "vms/vm.yaml": VM, "vms/bad.yaml": conflict}
    both = {f"{name}/{file}": text for name in ("one", "two") for file, text in files.items()}
    assert ask("check", files=both).out.count("VR301") == 2  # the same names, side by side
    assert ask("check", "one/vms/vm.yaml", "two/vms/vm.yaml", "-q") == (Exit.OK, "", "")
    answer = ask("check", "one/vms/vm.yaml", "two/vms/bad.yaml", "one/vms")
    assert [line.split()[0] for line in answer.out.splitlines() if "error" in line] == [
        "one/vms/bad.yaml:11:18:",
        "two/vms/bad.yaml:11:18:",
    ]


def test_check_names_files_as_they_were_given(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask("check", files={".git/HEAD": "", "types/s.yaml": SMALL, "vms/vm.yaml": CONFLICT})
    monkeypatch.chdir(tmp_path / "vms")
    answer = ask("check", "vm.yaml")
    assert answer.out.startswith("vm.yaml:11:18: error VR301")
    assert "../types/s.yaml:6:12: " in answer.out


@pytest.mark.parametrize(
    ("argv", "exit_", "code"),
    [
        (["a.yaml", "--root", "nope"], Exit.UNREADABLE, "VR110"),
        (["a.yaml", "--root", "a.yaml"], Exit.UNREADABLE, "VR110"),
        (["--root", "."], Exit.USAGE, "VR802"),
        ([".", "--root", "."], Exit.USAGE, "VR802"),
        (["-", "--root", "."], Exit.USAGE, "VR802"),
        (["a.yaml", ".", "--root", "."], Exit.OK, ""),
    ],
)
def test_root_must_be_a_folder_and_of_use(
    ask: Ask, argv: list[str], exit_: Exit, code: str
) -> None:
    answer = ask("check", *argv, files={"a.yaml": NOTE})
    assert answer.exit == exit_
    assert code in answer.out.partition("\n")[0]


def test_check_reads_a_named_file_that_the_walk_leaves_out(ask: Ask) -> None:
    files = {".git/HEAD": "", "s.yaml": SMALL, ".hidden/vm.yaml": CONFLICT}
    answer = ask("check", ".hidden/vm.yaml", files=files)
    assert answer.out.startswith(".hidden/vm.yaml:11:18: error VR301")
    assert ask("check", "nowhere.yaml").exit == Exit.UNREADABLE


def test_machine_formats_are_whole_without_findings(ask: Ask) -> None:
    answer = ask("check", "--format", "sarif", files={"note.yaml": NOTE})
    assert (answer.exit, answer.findings) == (Exit.OK, "")
    assert json.loads(answer.out)["runs"][0]["results"] == []
    answer = ask("check", "--format", "json", "--emit", "vmx")
    assert answer.exit == Exit.USAGE
    assert json.loads(answer.out)["summary"]["errors"] == 1


def test_skipped_files_are_said_with_v_only(ask: Ask) -> None:
    files = {"note.yaml": NOTE, "values.yaml": "replicas: 3\n"}
    assert ask("build", files=files).findings == ""
    assert "values.yaml: info VR118 file-skipped: " in ask("build", "-v").err


def test_an_unreadable_catalogue_is_the_only_finding(ask: Ask) -> None:
    vms = {
        "in/vm.yaml": VM.replace("VirtualMachineInstancetype", "VirtualMachineClusterInstancetype")
    }
    answer = ask("check", "in", "--catalog", "nowhere", files=vms)
    assert answer.exit == Exit.UNREADABLE
    assert answer.out == (
        "nowhere: error VR110 unreadable: cannot read nowhere: No such file or directory\n"
        "  help: name a file or folder that is there, or leave it out\n"
    )
    answer = ask("check", "in", "--catalog", "cat", files={"cat/a.yaml": f"{NOTE}  bad: [\n"})
    assert answer.exit == Exit.FINDINGS
    first, source, caret = answer.out.splitlines()[:3]
    assert first.startswith("cat/a.yaml:4:3: error VR101")
    assert (source, caret) == ("  4 |   bad: [", "    |   ^")
    assert "VR201" not in answer.out


def test_lines_of_a_file_elsewhere_are_not_shown(ask: Ask, tmp_path: Path) -> None:
    (tmp_path.parent / "token").write_text("hunter2\n")
    for option in ("--catalog", "--cluster-config", "--lock"):
        answer = ask("check", option, "../token", files={"in/vm.yaml": NOTE})
        assert answer.exit != Exit.OK
        assert "hunter2" not in answer.out


def test_ambiguous_scalar_in_a_machine_is_a_warning(ask: Ask) -> None:
    text = VM.replace("devices: {}", "devices: {autoattachMemBalloon: yes}")
    answer = ask("build", files={"small.yaml": SMALL, "vm.yaml": text, "other.yaml": NOTE})
    assert answer.exit == Exit.OK
    assert answer.err.startswith("vm.yaml:10:19: warning VR113 ambiguous-scalar: ")
    reason = "prod, annotations: {virt-render.dev/ignore.VR113: kubectl applies it}}"
    answer = ask("build", files={"vm.yaml": text.replace("prod}", reason, 1)})
    assert (answer.exit, answer.findings) == (Exit.OK, "")


def test_rule_explains(ask: Ask) -> None:
    answer = ask("rule", "VR301")
    assert answer.exit == Exit.OK
    assert answer.out.startswith("VR301 instancetype-conflict (error, cannot be suppressed)\n")
    assert "kind: VirtualMachineInstancetype" in answer.out
    assert ask("rule", "instancetype-conflict") == answer
    assert ask("rule", "vr301") == answer
    listed = ask("rule", "--list").out.splitlines()
    assert [line.split()[0] for line in listed] == list(CODES)
    answer = ask("rule", "VR9O1")
    assert answer.exit == Exit.USAGE
    assert "did you mean VR901?" in answer.err


def test_rule_has_no_links_of_markdown(ask: Ask) -> None:
    assert "Guest (docs/guest.md) has every check." in " ".join(ask("rule", "VR450").out.split())
    for row in CODES:
        assert "](" not in ask("rule", row).out


def test_a_path_that_is_not_there_is_told_with_the_one_that_is_meant(
    ask: Ask, tmp_path: Path
) -> None:
    for word in ("overlays/pord", str(tmp_path / "overlays/pord")):
        answer = ask("check", word, files={"overlays/prod/vm.yaml": vm("a", memory="1Gi")})
        assert f"help: did you mean {word.replace('pord', 'prod')}?" in answer.out
    assert "did you mean" not in ask("check", "other").out


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("kind", "Kind"), ("apiVersion", "apiversion"), ("apiVersion", "apVersion")],
)
def test_a_key_of_an_object_is_told_by_one_that_is_nearly_called_so(
    right: str, wrong: str, ask: Ask
) -> None:
    text = vm("a", memory="1Gi").replace(f"{right}:", f"{wrong}:", 1)
    answer = ask("check", "vm.yaml", files={"vm.yaml": text})
    line = 1 + text.split("\n").index(next(row for row in text.split("\n") if wrong in row))
    assert answer.out.startswith(f"vm.yaml:{line}:1: error VR104 not-an-object: ")
    assert f"help: write {right} in the place of {wrong}" in answer.out


def test_catalog(ask: Ask) -> None:
    lines = ask("catalog", "list").out.splitlines()
    assert "VirtualMachineClusterInstancetype  u1.medium" in "\n".join(lines)
    assert any(line.split()[:2] == ["VirtualMachineClusterPreference", "fedora"] for line in lines)
    printed = ask("catalog", "show", "u1.medium")
    assert printed.exit == Exit.OK
    assert ask("build", "-", "-q", stdin=printed.out) == (Exit.OK, printed.out, "")
    answer = ask("catalog", "show", "u1.mediun")
    assert (answer.exit, answer.out) == (Exit.USAGE, "")
    assert "did you mean u1.medium?" in answer.err
    assert "is not one of auto, 1.4" in ask("catalog", "list", "--kubevirt", "v0.1").err


def test_a_catalogue_is_that_of_its_release(ask: Ask) -> None:
    assert "d1.medium" not in ask("catalog", "list", "--kubevirt", "1.7").out
    assert "d1.medium" in ask("catalog", "list", "--kubevirt", "openshift-4.22").out


NEWER = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        rebootPolicy: Reboot
        memory: {guest: 1Gi}
        devices: {}
"""


def test_a_check_for_several_releases_says_which_finding_holds_for_which(ask: Ask) -> None:
    both = ask(
        "check",
        "--kubevirt",
        "1.6",
        "--kubevirt=v1.7",
        "--kubevirt",
        "1.9",
        files={"vm.yaml": NEWER},
    )
    assert both.exit == Exit.FINDINGS
    (line,) = (line for line in both.out.splitlines() if "VR105" in line)
    assert line.endswith("(KubeVirt 1.6, 1.7)")
    assert "(KubeVirt" not in ask("check", "--kubevirt", "1.6").out
    assert ask("check", "--kubevirt", "1.9").exit == Exit.OK
    assert "is not one of auto, 1.4" in ask("check", "--kubevirt", "1.6", "--kubevirt", "1.3").out


CONFIG_OF_1_6 = (
    'apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {kubevirt: "1.6"}\n'
)


def test_a_check_obeys_the_release_of_the_environment_and_of_the_file(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask("check", ".", files={"vm.yaml": NEWER}).exit == Exit.OK
    by_file = ask("check", ".", files={".virt-render.yaml": CONFIG_OF_1_6})
    assert by_file.exit == Exit.FINDINGS
    assert "VR105" in by_file.out
    monkeypatch.setenv("VIRT_RENDER_KUBEVIRT", "1.9")
    assert ask("check", ".").exit == Exit.OK
    monkeypatch.setenv("VIRT_RENDER_KUBEVIRT", "1.7")
    assert ask("check", ".").exit == Exit.FINDINGS
    assert ask("check", "--kubevirt", "1.9", ".").exit == Exit.OK


@pytest.mark.parametrize("row", COMMANDS.values(), ids=lambda row: row.name)
def test_help_lists_the_usual_options_and_all_on_request(row: Command, ask: Ask) -> None:
    printed = re.findall("^  --([a-z-]+)", ask(*row.name.split(), "--help").out, re.MULTILINE)
    listed = {option.name for option in row.options}
    usual = [name for name in printed if name in listed]
    assert len(usual) <= 12 or not row.options[12:]
    if len(usual) == len([option for option in row.options if not option.short]):
        return
    every = ask(*row.name.split(), "--help-all")
    assert every.exit == Exit.OK
    assert all(f"--{name}" in every.out for name in listed)


@pytest.mark.parametrize("row", COMMANDS.values(), ids=lambda row: row.name)
def test_help_fits_a_terminal_of_eighty_columns(row: Command, ask: Ask) -> None:
    for option in ("--help", *(["--help-all"] if len(row.usual) < len(row.options) else [])):
        assert not [
            line for line in ask(*row.name.split(), option).out.splitlines() if len(line) > 80
        ]


def test_help_of_diff_names_its_own_defaults(ask: Ask) -> None:
    help_ = " ".join(ask("diff", "--help").out.split())
    assert "[default: what settings of the repository say, vm with a lock, else source]" in help_
    assert "one file a resource" not in help_
    assert "[default: warning]" in " ".join(ask("check", "--help-all").out.split())


def test_help_and_version(ask: Ask) -> None:
    assert ask("--help").exit == Exit.OK
    assert "--emit vm|vmi|" in ask("build", "--help").out
    assert "..." not in ask("--help").out.replace("[ARGS]...", "")
    titles = ["Options:", "Rendering:", "Reading:", "Findings:"]
    assert re.findall("^[A-Z].*:$", ask("check", "--help-all").out, re.MULTILINE) == titles
    assert re.findall("^[A-Z].*:$", ask("check", "--help").out, re.MULTILINE) == titles[:1]
    assert re.findall("^[A-Z].*:$", ask("rule", "--help").out, re.MULTILINE) == titles[:1]
    assert ask("--version").out.startswith("virt-render ")
    assert ask().exit == Exit.USAGE


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("bui", "build"),
        ("rule VR11", " ".join(f"VR11{digit}" for digit in range(10))),
        ("rule instancetype-not", "instancetype-not-found"),
        ("catalog show u1.med", "u1.medium"),
        ("show ", "prod/web"),
        ("history prod", "prod/web"),
        ("history prod/web vm", "file vm"),
        ("pin --upgrade ", "prod/web"),
    ],
)
def test_a_shell_completes_words(tmp_path: Path, typed: str, wanted: str) -> None:
    put(tmp_path / "vm.yaml", vm(namespace="prod"))
    asking = {
        "_VIRT_RENDER_COMPLETE": "bash_complete",
        "COMP_WORDS": f"virt-render {typed}",
        "COMP_CWORD": str(typed.count(" ") + 1),
    }
    done = subprocess.run(
        start(tmp_path),
        cwd=tmp_path,
        env={**os.environ, **asking},
        capture_output=True,
        check=True,
        text=True,
    )
    kind, words = ("file", wanted[5:]) if wanted.startswith("file ") else ("plain", wanted)
    assert done.stdout.split() == [f"{kind},{word}" for word in words.split()]


@pytest.mark.parametrize(
    ("api_version", "kind", "wanted"),
    [
        ("kubevirt.io/v1", "VirtualMachines", "did you mean VirtualMachine?"),
        ("kubevirt.io/v1alpha1", "KubeVirt", "write apiVersion: kubevirt.io/v1"),
        ("kubevirt.io/v1alpha1", "Zebra", "kubevirt.io/v1 has KubeVirt, VirtualMachine, "),
        ("kubevirt.io/v1alpha1", "VMs", "did you mean VM?"),
    ],
)
def test_kinds_are_proposed_that_are_served(
    ask: Ask, api_version: str, kind: str, wanted: str
) -> None:
    text = f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n"
    assert f"help: {wanted}" in ask("check", files={"a.yaml": text}).out


def test_our_own_fault_shows_no_manifest(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("hunter2")

    monkeypatch.setattr(build, "build", fail)
    answer = ask("build")
    assert (answer.exit, answer.out) == (Exit.INTERNAL, "")
    assert answer.err.startswith(
        "virt-render: error VR901 internal-error: KeyError in frontends/execute.py:"
    )
    assert "hunter2" not in answer.err
    monkeypatch.setenv("VIRT_RENDER_DEBUG", "1")
    assert "Traceback" in ask("build").err


def test_interrupt(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "build", interrupt)
    assert ask("build") == (
        Exit.INTERRUPTED,
        "",
        "virt-render: interrupted while reading the settings\n",
    )


def start(folder: Path, *argv: str) -> list[str]:
    (folder / "note.yaml").write_text(NOTE)
    return [sys.executable, "-m", "render", *argv]


PRINTING = [
    ["build"],
    ["check"],
    ["rule", "VR301"],
    ["rule", "--list"],
    ["catalog", "list"],
    ["--help"],
]


@pytest.mark.parametrize("argv", PRINTING, ids=" ".join)
def test_reader_that_stops_reading_is_no_failure_to_talk_about(
    tmp_path: Path, argv: list[str]
) -> None:
    command = start(tmp_path, *argv)
    (tmp_path / "vm.yaml").write_text(
        CONFLICT if argv == ["check"] else NOTE.replace("note", "web")
    )
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, cwd=tmp_path, stdout=writing, stderr=-1, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (Exit.BROKEN_PIPE, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("argv", PRINTING, ids=" ".join)
def test_full_disk_is_said(tmp_path: Path, argv: list[str]) -> None:
    command = start(tmp_path, *argv)
    (tmp_path / "vm.yaml").write_text(
        CONFLICT if argv == ["check"] else NOTE.replace("note", "web")
    )
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=-1, check=False)
        assert done.returncode == Exit.UNREADABLE
        assert b"VR121 unwritable: cannot write to standard output: No space left" in done.stderr
        both = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=full, check=False)
        assert both.returncode == Exit.UNREADABLE


def test_machine_forms_load_nothing_heavy(tmp_path: Path) -> None:
    start(tmp_path)
    heavy = ["click", "jsonschema", "ruamel.yaml", "difflib", "pathlib"]
    heavy += ["signal", "shutil", "subprocess", "threading"]
    code = (
        "import sys; from render.frontends import dispatch; "
        "status = dispatch.invoke(['build', '-o', 'out.yaml']); "
        f"print(status, [name for name in {heavy} if name in sys.modules])"
    )
    command = [sys.executable, "-S", "-c", code]
    environment = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "0 []"


@pytest.mark.parametrize(
    ("words", "listed"), [(("chek",), "commands"), (("check", "--nope"), "options")]
)
def test_help_lists_what_was_misspelt(words: tuple[str, ...], listed: str, ask: Ask) -> None:
    assert f"--help' lists the {listed}\n" in ask(*words).err


def test_what_only_a_missing_instancetype_leaves_open_stands_below_that(ask: Ask) -> None:
    """For people: programs, and who counts, are told of two causes, as KubeVirt has two."""
    text = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec:
  runStrategy: Always
  instancetype: {name: u1.meduim}
  preference: {name: fedora}
  template: {spec: {domain: {devices: {}}}}
"""
    answer = ask("check", "-", stdin=text)
    firsts = [line for line in answer.out.splitlines() if not line.startswith(" ")]
    assert [line.split()[2] for line in firsts] == ["VR201"]
    assert "\n  also, until that is mended: <stdin>:8:" in answer.out
    assert ": error VR401 requirement-unmet: " in answer.out
    assert "1 VM: 2 errors" in answer.err
    assert ask("check", "-", "--format", "json", stdin=text).out.count('"severity": "error"') == 2
    named = text.replace("u1.meduim", "u1.nano")
    assert "also" not in ask("check", "-", stdin=named).out
    assert "error VR401" in ask("check", "-", stdin=named).out
    others = "".join(f"---\n{text.replace('web', name)}" for name in "abcde")
    assert ask("check", "-", stdin=others).out.count("VR401") == 1


def test_a_field_that_is_there_but_for_a_slip_is_missing_below_that(ask: Ask) -> None:
    text = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\nspec:\n  runStrategy: Always\n"
    template = "  {}: {{spec: {{domain: {{memory: {{guest: 1Gi}}, devices: {{}}}}}}}}\n"
    answer = ask("check", "-", stdin=text + template.format("tempalte"))
    firsts = [line for line in answer.out.splitlines() if not line.startswith(" ")]
    assert [line.split()[2] for line in firsts] == ["VR105"]
    assert "\n  also, until that is mended: <stdin>:4:1: error VR107 missing-field: " in answer.out
    matched = (
        text + "  instancetype: {nmae: u1.medium}\n  template: {spec: {domain: {devices: {}}}}\n"
    )
    answer = ask("check", "-", stdin=matched)
    assert _firsts(answer.out) == ["VR105"]
    assert "\n  also, until that is mended: <stdin>:6:3: error VR204 invalid-m" in answer.out
    both = ask("check", "-", stdin=text + "  tmeplt: {}\n  zzz: {}\n")
    assert "\n<stdin>:6:3: error VR105" in f"\n{both.out}"
    assert ask("check", "-", stdin=text).out.startswith("<stdin>:4:1: error VR107 missing-field: ")


def _firsts(out: str) -> list[str]:
    """The codes of findings that do not stand below another."""
    return [line.split()[2] for line in out.splitlines() if not line.startswith(" ")]


_VM = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\nspec:\n  runStrategy: Always\n"
_MEMORY = "memory: {guest: 1Gi}"
_DISKS = "{disks: [{name: a, disk: {}}]}"
_STORED = "storage: {resources: {requests: {storage: 1Gi}}}"


@pytest.mark.parametrize(
    ("domain", "template", "spec", "check"),
    [
        ("memroy: {guest: 1Gi}, devices: {}", "", "", "memory/required"),
        ("memory: {gest: 1Gi}, devices: {}", "", "", "memory/required"),
        ("devices: {}", "", "instancetype: {name: u1.small}", "memory/required"),
        (
            f"{_MEMORY}, devices: {{}}",
            "",
            "volumes: [{name: a, containerdisk: {image: b}}]",
            "volumes/one-source",
        ),
        (
            f"{_MEMORY}, devices: {_DISKS}, volumes: [{{name: a, containerDisk: {{image: b}}}}]",
            "",
            "",
            "disks/volume",
        ),
        (
            f"{_MEMORY}, devices: {{}}",
            "",
            "volumes: [{name: a, cloudInitNoCloud: {userdata: '#cloud-config'}}]",
            "cloud-init/no-source",
        ),
        (
            f"{_MEMORY}, devices: {{interfaces: [{{name: a, bridge: {{}}}}]}}",
            "",
            "networks: [{name: a, multus: {name: b}}]",
            "network/multus-name",
        ),
        (
            f"{_MEMORY}, devices: {{}}",
            f"{{name: a, spec: {{source: {{blank: {{}}}}, {_STORED}}}}}",
            "volumes: [{name: a, dataVolume: {name: a}}]",
            "data-volume-templates/name",
        ),
        (
            f"{_MEMORY}, devices: {{}}",
            "{metadata: {name: a}, spec: {source: {blank: {}}, storage: {requests: {storage: 1Gi}}}}",
            "volumes: [{name: a, dataVolume: {name: a}}]",
            "cdi/size",
        ),
        (
            f"{_MEMORY}, devices: {{}}",
            f"{{metadata: {{name: a}}, spec: {{surce: {{blank: {{}}}}, {_STORED}}}}}",
            "volumes: [{name: a, dataVolume: {name: a}}]",
            "data-volume-templates/source",
        ),
        (
            f"{_MEMORY}, devices: {{}}",
            f"{{metadata: {{name: a}}, spec: {{source: {{blank: {{}}}}, {_STORED.replace('or', 'ro', 1)}}}}}",
            "volumes: [{name: a, dataVolume: {name: a}}]",
            "data-volume-templates/target",
        ),
        (
            f"{_MEMORY}, devices: {{interfaces: [{{name: a, masqurade: {{}}}}]}}",
            "",
            "networks: [{name: a, pod: {}}]",
            "network/binding",
        ),
        (
            f"{_MEMORY}, devices: {{interfaces: [{{name: a, masquerade: {{}}}}]}}",
            "",
            "networks: [{name: a, Pod: {}}]",
            "network/masquerade-pod",
        ),
        (
            f"{_MEMORY}, devices: {{}}, interfaces: [{{name: a, masquerade: {{}}}}]",
            "",
            "networks: [{name: a, pod: {}}]",
            "network/network-without-interface",
        ),
    ],
)
def test_what_a_misspelt_or_misplaced_field_leaves_out_is_told_below_that(
    ask: Ask, domain: str, template: str, spec: str, check: str
) -> None:
    text = f"{_VM}  dataVolumeTemplates:\n  - {template}\n" if template else _VM
    machine = f"  template:\n    spec:\n      domain: {{{domain}}}\n      {spec}\n"
    answer = ask("check", "-", stdin=text + machine)
    assert _firsts(answer.out) == ["VR105"], answer.out
    below = [line for line in answer.out.splitlines() if line.startswith("  also, until")]
    assert any(f" {check}: " in line for line in below)


def test_a_key_that_is_missing_is_not_empty_besides(ask: Ask) -> None:
    terms = (
        "requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {a: b}}}]"
    )
    machine = f"  template:\n    spec:\n      domain: {{{_MEMORY}, devices: {{}}}}\n"
    text = f"{_VM}{machine}      affinity: {{podAntiAffinity: {{{terms}}}}}\n"
    answer = ask("check", "-", stdin=text)
    assert _firsts(answer.out) == ["VR107"], answer.out
    assert answer.out.count("\n  also, until that is mended: ") == 3


def test_what_a_slip_of_another_field_does_not_leave_out_is_told_by_itself(ask: Ask) -> None:
    devices = "{interfaces: [{name: a, modle: virtio}]}"
    machine = f"  template:\n    spec:\n      domain: {{{_MEMORY}, devices: {devices}}}\n"
    answer = ask("check", "-", stdin=f"{_VM}{machine}      networks: [{{name: a, pod: {{}}}}]\n")
    assert sorted(_firsts(answer.out)) == ["VR105", "VR418"]


def test_a_field_one_level_too_high_makes_those_around_it_missing(ask: Ask) -> None:
    answer = ask("check", "-", stdin=f"{_VM}  domain: {{{_MEMORY}, devices: {{}}}}\n")
    assert _firsts(answer.out) == ["VR105"]
    assert ': missing field "template": ' in answer.out


def test_memory_that_is_missing_besides_a_slip_is_told_by_itself(ask: Ask) -> None:
    domain = "{cup: {cores: 2}, devices: {}}"
    answer = ask("check", "-", stdin=f"{_VM}  template: {{spec: {{domain: {domain}}}}}\n")
    assert sorted(_firsts(answer.out)) == ["VR105", "VR412"]


@pytest.mark.parametrize(
    ("field", "expected"), [("runStrategy: on", "VR106"), ("running: true", "VR706")]
)
def test_one_value_that_is_wrong_is_one_finding(ask: Ask, field: str, expected: str) -> None:
    """That readers of YAML differ on it is told below, and that a field is deprecated which has to go anyway."""
    text = _VM.replace("runStrategy: Always", field) if expected == "VR106" else f"{_VM}  {field}\n"
    machine = f"  template: {{spec: {{domain: {{{_MEMORY}, devices: {{}}}}}}}}\n"
    answer = ask("check", "-", stdin=text + machine)
    assert _firsts(answer.out) == [expected]
    assert "\n  also, until that is mended: " in answer.out


_SIZED = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata: {name: small, namespace: prod}
spec: {cpu: {guest: 2}, memory: {guest: 4Gi}}
"""
_PINNED = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  instancetype: {kind: VirtualMachineInstancetype, name: small}
  template: {spec: {domain: {devices: {}}}}
"""


def test_a_slip_in_the_name_of_a_pinned_definition_is_told_as_one(ask: Ask) -> None:
    assert ask("pin", ".", files={"size.yaml": _SIZED, "vm.yaml": _PINNED}).exit == 0
    slip = _PINNED.replace("name: small", "name: smal")
    answer = ask("check", ".", files={"vm.yaml": slip})
    assert _firsts(answer.out) == ["VR201"]
    assert "pinned to: there is no smal\n" in answer.out

    # Where the lock alone has it, what is said of the pin says so.
    gone = ask("check", ".", files={"size.yaml": _SIZED.replace("small", "other")})
    assert _firsts(gone.out) == ["VR607", "VR201"]
    assert "\n  help: did you mean small?\n" in gone.out
    other = ask("check", ".", files={"vm.yaml": _PINNED.replace("name: small", "name: other")})
    assert "the current object is used" in other.out


def test_a_definition_of_another_namespace_is_told_to_be_in_that(ask: Ask) -> None:
    """Its kind is what the VM says: to write another would not help."""
    size = _SIZED.replace("namespace: prod", "namespace: platform")
    answer = ask("check", "-", stdin=f"{size}---\n{_PINNED}")
    assert (
        "\n  help: it is in namespace platform, and a VM finds those of its own: set metadata.namespace: prod there, "
        "or make it a VirtualMachineClusterInstancetype\n"
    ) in answer.out


def test_a_vm_whose_namespace_has_a_slip_is_to_get_that_of_its_definition(ask: Ask) -> None:
    """To move the definition would take it from the VMs that are right."""
    slip = _PINNED.replace("namespace: prod", "namespace: prdo")
    answer = ask("check", "-", stdin=f"{_SIZED}---\n{slip}")
    cure = "write metadata.namespace: prod, if that is meant; else set metadata.namespace: prdo there, or make"
    assert f"and a VM finds those of its own: {cure} it a" in answer.out


_CONNECTED = "devices: {interfaces: [{name: default, masquerade: {}}]}"


@pytest.mark.parametrize(
    ("domain", "spec", "help_"),
    [
        (_CONNECTED, "networks: [{name: defualt, pod: {}}]", "did you mean defualt?"),
        (
            f"devices: {_DISKS.replace('a,', 'root,')}",
            "volumes: [{name: rot, emptyDisk: {capacity: 1Gi}}]",
            "did you mean rot?",
        ),
        (
            f"devices: {_DISKS}",
            "volumes: [{name: b, emptyDisk: {capacity: 1Gi}}]",
            "give the disk the name of a volume",
        ),
    ],
)
def test_a_slip_in_a_name_that_two_lists_share_is_one_finding(
    ask: Ask, domain: str, spec: str, help_: str
) -> None:
    machine = f"  template:\n    spec:\n      domain: {{{_MEMORY}, {domain}}}\n      {spec}\n"
    answer = ask("check", "-", stdin=_VM + machine)
    assert len(_firsts(answer.out)) == 1, answer.out
    assert f"\n  help: {help_}" in answer.out


def test_a_template_that_a_volume_means_by_another_name_is_told(ask: Ask) -> None:
    template = f"{{metadata: {{name: web-root}}, spec: {{source: {{blank: {{}}}}, {_STORED}}}}}"
    machine = f"  template:\n    spec:\n      domain: {{{_MEMORY}, devices: {{}}}}\n"
    volume = "      volumes: [{name: a, dataVolume: {name: web-rot}}]\n"
    text = f"{_VM}  dataVolumeTemplates:\n  - {template}\n{machine}{volume}"
    answer = ask("check", "-", stdin=text)
    assert "\n  help: did you mean it by web-rot, which a volume names?\n" in answer.out


def test_a_template_is_not_meant_by_the_name_of_another_one(ask: Ask) -> None:
    templates = "".join(
        f"  - {{metadata: {{name: {name}}}, spec: {{source: {{blank: {{}}}}, {_STORED}}}}}\n"
        for name in ("web-root", "web-roots")
    )
    machine = f"  template:\n    spec:\n      domain: {{{_MEMORY}, devices: {{}}}}\n"
    volume = "      volumes: [{name: a, dataVolume: {name: web-roots}}]\n"
    answer = ask("check", "-", stdin=f"{_VM}  dataVolumeTemplates:\n{templates}{machine}{volume}")
    assert "\n  help: add a volume with dataVolume.name: web-root\n" in answer.out


def test_access_modes_as_kubectl_prints_them_are_known(ask: Ask) -> None:
    stored = _STORED.replace("storage: {", "storage: {accessModes: [RWX], ", 1)
    template = f"{{metadata: {{name: a}}, spec: {{source: {{blank: {{}}}}, {stored}}}}}"
    machine = f"  template:\n    spec:\n      domain: {{{_MEMORY}, devices: {{}}}}\n"
    volume = "      volumes: [{name: a, dataVolume: {name: a}}]\n"
    text = f"{_VM}  dataVolumeTemplates:\n  - {template}\n{machine}{volume}"
    assert 'did you mean "ReadWriteMany"?' in ask("check", "-", stdin=text).out


def test_a_group_without_its_ending_is_kubevirts(ask: Ask) -> None:
    answer = ask("check", "-", stdin=_VM.replace("kubevirt.io/v1", "kubevirt/v1"))
    assert "error VR123 unknown-kind" in answer.out
    assert "\n  help: write apiVersion: kubevirt.io/v1" in answer.out


_WHOLE = f"  template: {{spec: {{domain: {{{_MEMORY}, devices: {{}}}}}}}}\n"


@pytest.mark.parametrize(
    ("field", "help_"),
    [
        (
            "instancetype: {name: fedora}",
            "fedora is a VirtualMachineClusterPreference: name it in spec.preference",
        ),
        (
            "preference: {name: u1.small}",
            "u1.small is a VirtualMachineClusterInstancetype: name it in spec.instancetype",
        ),
        ("preference: {name: fedora, namespace: prod}", "remove it"),
        (
            "preference: {name: fedora, apiVersion: instancetype.kubevirt.io/v1beta1}",
            "remove it",
        ),
        (
            "preference: {name: fedora, inferFromVolumeFailurePolicy: ignore}",
            "write Reject or Ignore",
        ),
    ],
)
def test_what_a_matcher_may_not_have_is_told_with_what_helps(
    ask: Ask, field: str, help_: str
) -> None:
    text = f"{_VM}  {field}\n{_WHOLE}"
    if field.startswith("instancetype"):
        text = text.replace(f"{_MEMORY}, ", "")
    answer = ask("check", "vm.yaml", files={"vm.yaml": text})
    assert f"\n  help: {help_}" in answer.out


def test_what_follows_of_what_follows_is_told_too(ask: Ask) -> None:
    devices = "{interfaces: [{name: a, masquerade: {}}], networks: [{name: a, pod: {}}]}"
    machine = f"  template: {{spec: {{domain: {{{_MEMORY}, devices: {devices}}}}}}}\n"
    answer = ask("check", "-", stdin=_VM + machine)
    assert _firsts(answer.out) == ["VR105"]
    assert answer.out.count("\n  also, until that is mended: ") == 2


_LISTED = """\
  template:
    spec:
      domain:
        memory: {guest: 1Gi}
        devices:
          disks:
          - name: root
            disk: {bus: virtio}
          interfaces:
          - name: default
            masquerade: {}
          - name: lan
            bridge: {}
      networks:
      - name: default
        pod: {}
      - name: lan
        multus: {networkName: lan}
      volumes:
      - name: root
        containerDisk: {image: example.com/fedora}
"""


@pytest.mark.parametrize(
    ("written", "slip", "expected"),
    [
        ("name: root\n        containerDisk", "nam: root\n        containerDisk", ["VR105"]),
        ("name: root\n            disk", "nam: root\n            disk", ["VR105"]),
        ("name: lan\n            bridge", "nam: lan\n            bridge", ["VR105"]),
        ("name: lan\n        multus", "nam: lan\n        multus", ["VR105"]),
        ("- name: lan\n        multus", "- multus", ["VR107"]),
        ("{networkName: lan}", "{}", ["VR107"]),
        ("multus: {networkName: lan}", "multus:", ["VR114"]),
        ("pod: {}", "pod:", ["VR114"]),
        ("pod: {}", "pood: {}", ["VR105"]),
        ("\n        pod: {}", "", ["VR418"]),
        ("guest: 1Gi", "guest: null", ["VR114"]),
        ("name: lan\n            bridge", "name: default\n            bridge", ["VR418"]),
        ("name: lan\n        multus", "name: default\n        multus", ["VR418"]),
        ("name: lan\n        multus", "name: Lan\n        multus", ["VR418"]),
        # Two slips are two findings.
        ("name: root\n            disk", "name: rot\n            disk", ["VR420"]),
        ("name: lan\n            bridge", "name: wan0\n            bridge", ["VR418", "VR418"]),
    ],
)
def test_a_slip_in_an_item_of_a_list_is_told_once_with_its_cause_first(
    ask: Ask, written: str, slip: str, expected: list[str]
) -> None:
    assert _LISTED.count(written) == 1
    answer = ask("check", "-", stdin=_VM + _LISTED.replace(written, slip))
    assert _firsts(answer.out) == expected, answer.out


def test_a_source_with_nothing_in_it_is_told_what_belongs_there(ask: Ask) -> None:
    """To take it away, as a fix would, is to have none."""
    text = _LISTED.replace("multus: {networkName: lan}", "multus:")
    answer = ask("check", "vm.yaml", files={"vm.yaml": _VM + text})
    assert "\n  help: write `multus: {networkName: NAME}`, or remove the key\n" in answer.out
    assert "fixable" not in answer.err


def test_a_name_that_is_wrong_by_itself_is_no_consequence(ask: Ask) -> None:
    """A volume without a name is one slip, and a disk with a name that no volume has by a slip another."""
    disk = "          - name: dtaa\n            disk: {bus: virtio}\n          interfaces:"
    volume = "      - name: data\n        emptyDisk: {capacity: 1Gi}\n"
    text = _LISTED.replace("          interfaces:", disk) + volume
    text = text.replace("name: root\n        containerDisk", "nam: root\n        containerDisk")
    answer = ask("check", "-", stdin=_VM + text)
    assert _firsts(answer.out) == ["VR420", "VR105"], answer.out
    assert "\n  help: did you mean data?" in answer.out


@pytest.mark.parametrize(
    ("domain", "first", "follows"),
    [
        ("resources: {requests: {memory: 4096}}", "VR412", "VR401"),
        ("memory: {hugepages: {pageSize: 1GI}}", "VR412", "VR401"),
        ("memory: {guest: 4096}", "VR448", "VR401"),
        ("cpu: {sockets: 4}", "VR401", "VR412"),
    ],
)
def test_what_a_preference_requires_is_told_below_a_slip_in_the_memory(
    domain: str, first: str, follows: str, ask: Ask
) -> None:
    """And above that there is none: what is required is enough."""
    preference = (
        "---\napiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachinePreference\n"
        "metadata: {name: linux}\nspec: {requirements: {memory: {guest: 4Gi}}}\n"
    )
    machine = (
        "  preference: {kind: VirtualMachinePreference, name: linux}\n"
        f"  template: {{spec: {{domain: {{{domain}, devices: {{}}}}}}}}\n"
    )
    answer = ask("check", "-", stdin=_VM + machine + preference)
    assert _firsts(answer.out) == [first], answer.out
    assert re.search(rf"also, until that is mended: <stdin>:7:\d+: error {follows}", answer.out)


def test_what_only_lacks_a_refused_definition_is_told_below_that(ask: Ask) -> None:
    size = _SIZED.replace("VirtualMachineInstancetype", "VirtualMachineInstanceType")
    answer = ask("check", ".", files={"a.yaml": _PINNED, "b.yaml": size})
    assert _firsts(answer.out) == ["VR123"]
    assert "\n  also, until that is mended: a.yaml:" in answer.out


def test_a_misspelt_run_strategy_is_one_finding(ask: Ask) -> None:
    answer = ask("check", "-", stdin=_VM.replace("runStrategy", "runstrategy") + _WHOLE)
    assert _firsts(answer.out) == ["VR105"]


_LARGE = """\
---
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachinePreference
metadata: {name: large}
spec: {requirements: {cpu: {guest: 4}}}
"""


@pytest.mark.parametrize(
    ("text", "below"),
    [
        ("  template:\n  spec:\n    domain: {memory: {guest: 1Gi}, devices: {}}\n", {"VR107"}),
        (
            (
                "  template:\n    spec:\n      domain: {memory: {guest: 1Gi}, devices: {}}\n"
                "      volumes:\n      - name: a\n        persistentVolumeClaim:\n        claimName: b\n"
            ),
            {"VR114", "VR426"},
        ),
        (
            (
                "  instanceType: {name: u1.xlarge}\n  preference: {kind: VirtualMachinePreference, name: large}\n"
                f"  template: {{spec: {{domain: {{devices: {{}}}}}}}}\n{_LARGE}"
            ),
            {"VR401", "VR412"},
        ),
    ],
)
def test_a_field_that_is_not_indented_is_one_finding(ask: Ask, text: str, below: set[str]) -> None:
    answer = ask("check", "-", stdin=_VM + text)
    assert _firsts(answer.out) == ["VR105"], answer.out
    lines = [line for line in answer.out.splitlines() if line.startswith("  also, until")]
    assert {code for line in lines for code in line.split() if code.startswith("VR")} == below


def test_no_strategy_is_told_that_is_written(ask: Ask) -> None:
    text = f"{_VM}  running: true\n  template: {{spec: {{domain: {{{_MEMORY}, devices: {{}}}}}}}}\n"
    assert "write runStrategy" not in ask("check", "-", "--format", "json", stdin=text).out
