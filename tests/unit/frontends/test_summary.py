"""The last line, groups, and how much is shown: for people with many VMs."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from render.diagnostics.diagnostic import Severity
from render.diagnostics.exits import Exit
from render.frontends.commands.check import _moved_into
from render.model.counting import counted
from render.model.release import NEWEST, minor
from render.report import formats, summary
from render.report.summary import Tally
from tests.support.asking import Ask
from tests.support.manifests import instancetype, put, vm

TEMPLATE = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\nobjects: []\n# kubevirt.io\n"


def fleet(count: int) -> dict[str, str]:
    """VMs with the same mistake, and their instancetype."""
    vms = {
        f"vms/{n:03}.yaml": vm(f"vm{n:03}", instancetype="small", memory="2Gi")
        for n in range(count)
    }
    return {"small.yaml": instancetype("small"), **vms}


def test_many_vms_with_one_mistake_are_one_block(ask: Ask) -> None:
    answer = ask("check", files=fleet(100))
    assert answer.exit == Exit.FINDINGS
    lines = answer.out.splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("vms/000.yaml:14:11: error VR301 ")
    assert lines[-1] == (
        "  and in 99 more VMs: vms/001.yaml:14:11 (vm001), vms/002.yaml:14:11 (vm002), vms/003.yaml:14:11 (vm003)"
        " and 96 others"
    )
    assert ask("check", "-v").out.count("error VR301") == 100
    report = json.loads(ask("check", "--format", "json").out)
    assert (
        len([diagnostic for diagnostic in report["diagnostics"] if diagnostic["code"] == "VR301"])
        == 100
    )
    assert report["summary"]["errors"] == 100


def test_few_stand_each_by_itself(ask: Ask) -> None:
    assert ask("check", files=fleet(3)).out.count("error VR301") == 3


def test_so_many_findings_and_the_worst(ask: Ask) -> None:
    deprecated = vm("a", instancetype="small").replace("kubevirt.io/v1", "kubevirt.io/v1alpha3", 1)
    files = {**fleet(2), "aaa.yaml": deprecated}
    assert ask("check", "--max-findings", "0", files=files).out == ask("check").out
    answer = ask("check", "--max-findings", "2", files=files)
    assert answer.exit == Exit.FINDINGS
    assert answer.out.count("error VR301") == 2
    assert "VR501" not in answer.out
    assert answer.out.endswith("\nand 1 more finding\n")
    report = json.loads(ask("check", "--max-findings", "1", "--format", "json").out)
    assert (len(report["diagnostics"]), report["summary"]["errors"]) == (1, 2)
    assert report["summary"]["warnings"] == 1
    assert report["summary"]["cut"] > 0


def test_what_a_vm_lacks_for_a_kind_that_is_none_stands_below(ask: Ask) -> None:
    wanting = (
        "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterPreference\n"
        "metadata: {name: own}\nspec: {requirements: {memory: {guest: 1Gi}}}\n"
    )
    text = vm("a", instancetype="small", kind="instancetype").replace(
        "  instancetype:", "  preference: {name: own}\n  instancetype:", 1
    )
    answer = ask("check", files={"a.yaml": text, "own.yaml": wanting})
    assert answer.out.startswith("a.yaml:"), answer.out
    assert "error VR203 unexpected-matcher-kind" in answer.out.split("\n")[0]
    assert "\n  also, until that is mended: a.yaml:" in answer.out
    assert answer.out.count("VR401") == 1


def test_an_error_below_a_warning_counts_as_one_of_the_worst(ask: Ask) -> None:
    """What it follows of is told before the warnings that are all."""
    older = vm("a", memory="1Gi").replace("kubevirt.io/v1", "kubevirt.io/v1alpha3", 1)
    empty = vm("b", memory="1Gi").replace("guest: 1Gi", "guest:")
    answer = ask("check", "--max-findings", "1", files={"a.yaml": older, "b.yaml": empty})
    assert answer.out.startswith("b.yaml:"), answer.out
    assert "warning VR114" in answer.out
    assert "\n  also, until that is mended: b.yaml:" in answer.out


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("text", "\nand 1 more finding\n"),
        ("github", "\n::notice::and 1 more finding\n"),
        ("junit", "<system-out>and 1 more finding</system-out>"),
        ("sarif", '"text": "and 1 more finding"'),
    ],
)
def test_nobody_is_told_of_any_number_of_findings(
    ask: Ask, form: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warnings neither: the worst are told, and how many others there are; JSON holds all of them."""
    monkeypatch.setattr(formats, "MOST_SHOWN", 2)
    older = (vm(name, memory="1Gi").replace("/v1", "/v1alpha3", 1) for name in "abc")
    answer = ask("check", "-v", "--format", form, files={"a.yaml": "---\n".join(older)})
    assert line in answer.out
    report = json.loads(ask("check", "-v", "--format", "json").out)
    assert report["summary"]["cut"] == 0
    assert report["summary"]["warnings"] == len(report["diagnostics"]) == 3


def test_warnings_can_fail(ask: Ask) -> None:
    deprecated = vm("a", memory="1Gi").replace("kubevirt.io/v1", "kubevirt.io/v1alpha3", 1)
    assert ask("check", files={"a.yaml": deprecated}).exit == Exit.OK
    assert ask("check", "--fail-on", "warning").exit == Exit.FINDINGS
    answer = ask("build", "--fail-on", "warning")
    assert (answer.exit, answer.out) == (Exit.FINDINGS, "")
    assert ask("check", "--fail-on", "VR501").exit == Exit.FINDINGS
    assert ask("check", "--fail-on", "VR502").exit == Exit.OK
    assert ask("check", "--fail-on", "VR502", "--fail-on", "warning").exit == Exit.FINDINGS
    unknown = ask("check", "--fail-on", "nothing")
    assert unknown.exit == Exit.USAGE
    assert "'nothing' is not error|warning|CODE; virt-render rule --list lists all\n" in unknown.out
    near = ask("check", "--fail-on", "vr5021").out
    assert near.endswith("--fail-on: 'vr5021' is not error|warning|CODE; did you mean VR502?\n")


def test_quiet_says_errors_only(ask: Ask) -> None:
    deprecated = vm("a", memory="1Gi").replace("kubevirt.io/v1", "kubevirt.io/v1alpha3", 1)
    answer = ask("check", "-q", files={"a.yaml": deprecated})
    assert answer == (Exit.OK, "", "")
    assert "VR301" in ask("check", "--quiet", files=fleet(1)).out


@pytest.mark.parametrize(
    ("tally", "line"),
    [
        (Tally(), "no VM among 0 objects in 0 files: no findings"),
        (Tally(3), "3 VMs: no findings"),
        (Tally(1, 2, {"Template": 13, "Helm chart": 1}),
         "1 VM in 2 kustomizations: no findings; not looked at: 1 Helm chart, 13 Templates (-v)"),
        (Tally(2, accepted=4, before=1, cut=7),
         "2 VMs: no findings; 4 accepted by the baseline; 1 there before; 7 not shown (--max-findings)"),
        (Tally(2, releases={"1.9": "nothing says which release runs"}),
         "2 VMs: no findings; for KubeVirt 1.9, since nothing says which release runs"),
        (Tally(releases={"1.9": "nothing says which release runs"}, objects=1, files=1),
         "no VM among 1 object in 1 file: no findings"),
        (Tally(3, severities={Severity.WARNING: 1, Severity.INFO: 9}, infos=2), "3 VMs: 1 warning, 2 infos"),
        (Tally(1, bundled=2), "1 VM: no findings; uses 2 bundled objects (-v)"),
        (Tally(empty="vms"), "no manifest (*.yaml, *.yml, *.json) in vms: nothing to look at"),
        (Tally(1, borrowed={"dev": 2}), "1 VM: no findings; takes 2 definitions from dev (-v)"),
        (Tally(1, borrowed={"a": 2, "b": 1}), "1 VM: no findings; takes 3 definitions from other folders (-v)"),
        (Tally(5, 1, made=3), "5 VMs (3 of pools, replica sets and templates) in 1 kustomization: no findings"),
        (Tally(5, 2, charts=1), "5 VMs in 2 kustomizations and 1 chart: no findings"),
        (Tally(1, charts=2), "1 VM in 2 charts: no findings"),
        (Tally(2, 1, loose=1), "2 VMs in 1 kustomization and other files: no findings"),
        (Tally(9, 2, charts=1, loose=3), "9 VMs in 2 kustomizations, 1 chart and other files: no findings"),
        (Tally(2, loose=2), "2 VMs: no findings"),
    ],
)  # fmt: skip
def test_last_line(tally: Tally, line: str) -> None:
    assert summary.line(tally) == line


def test_last_line_counts_the_infos_that_are_shown(ask: Ask) -> None:
    files = {"a.yaml": vm("a", instancetype="u1.small")}
    assert ask("check", files=files).err.startswith("1 VM: no findings; ")
    answer = ask("check", "-v", files=files)
    assert answer.err.startswith(f"1 VM: {counted(answer.out.count(': info VR'), 'info')}; ")


def test_last_line_tells_what_was_looked_at(ask: Ask) -> None:
    read = "no VM among what is in 1 file: nothing to look at\n"
    verbose = ask("check", "-v", files={"note.yaml": "a: 1\n"}).err
    assert verbose.startswith("no VM among what is in 1 file: 1 info\n")
    assert ask("check", files={"note.yaml": "a: 1\n"}).err == read
    assert ask("check", "-q", files={"note.yaml": "a: 1\n"}).err == ""
    for piped in (ask("check"), ask("check", "--format", "json"), ask("build", "--allow-empty")):
        assert piped.err == read
    assert json.loads(ask("build", "--allow-empty", "--format", "json").err), (
        "nothing but the document"
    )


def test_a_base_that_is_named_counts_as_itself(ask: Ask) -> None:
    """Also where the repository around it is read, since it misses something: its overlays were not asked for."""
    definition = instancetype("small")
    files = {
        "base/vm.yaml": vm("web", instancetype="small"),
        "base/kustomization.yaml": "resources: [vm.yaml]\n",
    }
    for name in ("dev", "prod"):
        files[f"{name}/small.yaml"] = definition
        files[f"{name}/kustomization.yaml"] = "resources: [../base, small.yaml]\n"
    Path(".git").mkdir()
    line = ask("check", "base", files=files).err
    assert line.startswith("1 VM in 1 kustomization: no findings; ")
    assert "takes 1 definition from dev (-v)" in line
    assert ask("check", "base/vm.yaml").err.startswith("2 VMs in 2 kustomizations: ")
    assert ask("check", "base", "dev").err.startswith("2 VMs in 2 kustomizations: ")


def test_a_vm_that_stands_in_a_file_and_in_a_kustomization_is_said(ask: Ask) -> None:
    """It counts in both, which one cluster cannot have."""
    both = {f"{name}.yaml": vm(name, memory="1Gi") for name in ("app/a", "app/b")}
    files = {path: text.replace("app/", "") for path, text in both.items()}
    files |= {f"old{path[3:]}": text for path, text in files.items()}
    files |= {"app/kustomization.yaml": "resources: [a.yaml, b.yaml]\n"}
    twice = "VirtualMachine default/a stands in both old/a.yaml and app (and 1 more VM)\n"
    for command in ("check", "report"):
        line = ask(command, files=files).err.splitlines(keepends=True)[-1]
        assert line.startswith("4 VMs in 1 kustomization and other files: ")
        assert line.endswith(twice)
    assert "stands in both" not in ask("check", "app").err


def test_a_folder_without_manifests_does_not_look_like_a_clean_one(ask: Ask) -> None:
    Path("notes").mkdir()
    Path("notes/README.md").touch()
    Path("vms").mkdir()
    answer = ask("check", "notes", "vms")
    assert answer.exit == 0
    assert answer.err == "no manifest (*.yaml, *.yml, *.json) in notes, vms: nothing to look at\n"
    assert "no VM among 0 objects in 0 files: 1 error" in ask("check", "gone").err
    for words in (("check", "vms", "gone"), ("build", "vms", "gone"), ("pin", "gone")):
        answer = ask(*words, files={"vms/web.yaml": vm("web", memory="1Gi")})
        printed = answer.out + answer.err
        assert "help: name a file or folder that is there, or leave it out\n" in printed
        assert "kind: VirtualMachine" not in printed


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("empty.yaml",), "no VM among what is in 1 file"),
        (("a.yaml",), "1 VM"),
        (("prod/more",), "no VM among what is in 1 file"),
        (("prod/kustomization.yaml",), "2 VMs in 1 kustomization"),
        (("prod/one.yaml", "a.yaml"), "3 VMs in 1 kustomization and other files"),
        ((".", "a.yaml"), "4 VMs in 1 kustomization and other files"),
    ],
)
def test_last_line_counts_what_was_named(words: tuple[str, ...], line: str, ask: Ask) -> None:
    """The repository around a file is read for what it refers to: its VMs are not those that were checked."""
    files = {f"{name}.yaml": vm(name, memory="1Gi") for name in ("a", "b", "prod/one", "prod/two")}
    files = {name: text.replace("prod/", "") for name, text in files.items()}
    files |= {"prod/kustomization.yaml": "resources: [one.yaml, two.yaml]\n", "empty.yaml": ""}
    Path(".git").mkdir()
    answer = ask("check", "--kubevirt", "1.9", *words, files={**files, "prod/more": ""})
    assert answer.err == f"{line}: {'nothing to look at' if 'no VM' in line else 'no findings'}\n"


@pytest.mark.parametrize(
    ("words", "rest"),
    [
        (("empty.yaml",), ""),
        (("vms/web.yaml",), "; uses 1 bundled object (-v)"),
        (("charts",), "; not looked at: 1 Helm chart (-v)"),
        (
            ("empty.yaml", "."),
            "; uses 1 bundled object (-v); not looked at: 1 Helm chart, 1 VM file that no kustomization lists (-v)",
        ),
    ],
)
def test_last_line_counts_nothing_of_the_repository_around_a_file(
    words: tuple[str, ...], rest: str, ask: Ask
) -> None:
    """Bundled objects that others use, and charts and files that are not looked at."""
    files = {
        ".git/HEAD": "",
        "empty.yaml": "",
        "vms/web.yaml": vm("web", instancetype="u1.small"),
        "vms/unlisted.yaml": vm("unlisted", memory="1Gi"),
        "vms/kustomization.yaml": "resources: [web.yaml]\n",
        "charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        "charts/web/templates/vm.yaml": vm("{{ .Values.name }}", memory="1Gi"),
    }
    line = ask("check", *words, "--kubevirt", "1.9", "--helm", "never", files=files).err
    assert re.split("no findings|nothing to look at", line)[1] == f"{rest}\n"


def test_last_line_says_which_folders_are_taken_for_roots_of_their_own(ask: Ask) -> None:
    """Of one cluster the last of the VMs would count: nothing says whether it is one, unless the settings do."""
    files = {f"{name}/vm.yaml": vm("web", namespace="prod", memory="1Gi") for name in "abcd"}
    files |= {f"{name}/small.yaml": instancetype("small") for name in "abcd"}
    files |= {"other/vm.yaml": vm("other", memory="1Gi"), ".git/HEAD": ""}
    two = {name: text for name, text in files.items() if name[0] not in "cd"}
    why = "taken for roots of their own, since each has VirtualMachine prod/web"
    answer = ask("check", "--kubevirt", "1.9", files=two)
    assert answer.out == ""
    assert answer.err == f"3 VMs: no findings; a, b {why}\n"
    assert f"; a, b, c and 1 more {why}\n" in ask("check", "--kubevirt", "1.9", files=files).err
    assert f"; a, b, c and 1 more {why}\n" in ask("report", "--format", "csv").err
    assert why in ask("check", "a/vm.yaml").err
    assert why not in ask("check", "other/vm.yaml").err
    assert why not in ask("check", "a").err
    settings = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {roots: ['?']}\n"
    assert why not in ask("check", files={".virt-render.yaml": settings}).err


def test_rendered_vms_and_their_sources_are_no_roots_apart(ask: Ask) -> None:
    """The copies are left out: nothing of a name stands twice, unless something else does."""
    source = vm("web", namespace="prod", instancetype="u1.small")
    files = {"vms/web.yaml": source, ".git/HEAD": ""}
    rendered = ask("build", "vms", "--kubevirt", "1.9", files=files).out
    line = ask("check", "--kubevirt", "1.9", files={"rendered/web.yaml": rendered}).err
    assert "; not looked at: 1 rendered VM whose source is read too" in line
    assert "roots of their own" not in line
    others = {f"{name}/other.yaml": vm("other", memory="1Gi") for name in ("vms", "rendered")}
    why = "rendered, vms taken for roots of their own, since each has VirtualMachine default/other;"
    assert ask("check", "--kubevirt", "1.9", files=others).err.partition("; ")[2].startswith(why)


def test_a_file_that_lends_to_a_kustomization_is_none_of_it(ask: Ask) -> None:
    """The VMs of the kustomization find their instancetype beside it: who checks that file checks none of them."""
    files = {
        "small.yaml": instancetype("small"),
        "prod/one.yaml": vm("one", instancetype="small"),
        "prod/kustomization.yaml": "resources: [one.yaml]\n",
    }
    Path(".git").mkdir()
    answer = ask("check", "small.yaml", files=files)
    assert answer.err == "no VM among 1 object in 1 file: no findings\n"
    assert ask("check", "--kubevirt", "1.9", "prod/one.yaml").err.startswith(
        "1 VM in 1 kustomization: "
    )


def test_a_chart_is_no_kustomization(ask: Ask) -> None:
    files = {
        "chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 0.1.0\n",
        "chart/templates/web.yaml": vm("web", memory="1Gi"),
        "prod/one.yaml": vm("one", memory="1Gi"),
        "prod/kustomization.yaml": "resources: [one.yaml]\n",
    }
    answer = ask("check", "--kubevirt", "1.9", files=files)
    assert answer.err == "2 VMs in 1 kustomization and 1 chart: no findings\n"
    figures = json.loads(ask("check", "--format", "json").out)["summary"]
    assert (figures["kustomizations"], figures["charts"]) == (1, 1)


def test_bundled_objects_are_one_line(ask: Ask) -> None:
    """Of a fleet, and of the newcomer's first VM."""
    files = {f"{n}.yaml": vm(f"vm{n}", instancetype="u1.small") for n in range(9)}
    for word in ("build", "check"):
        answer = ask(word, files=files)
        assert "VR209" not in answer.out + answer.err
        assert answer.err.endswith("; uses 1 bundled object (-v)\n")
        verbose = ask(word, "-v")
        assert "info VR209" in verbose.out + verbose.err


def test_last_line_counts_what_was_looked_at(ask: Ask) -> None:
    files = {
        **fleet(5),
        "chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n",
        "chart/templates/vm.yaml": vm('{{ required "x" .Values.x }}'),
        "other/Chart.yaml": "name: c\n",
        "other/templates/x.yaml": "kind: Deployment\n",
        "jinja.yaml": vm("a").replace("Always", "{% x %}"),
        "template.yaml": TEMPLATE,
    }
    assert ask("check", files=files).err == (
        f"5 VMs: 5 errors; 5 fixable with --unsafe-fixes; for KubeVirt {minor(NEWEST)}, "
        "since nothing says which release runs;"
        " not looked at: 1 Helm chart, 1 Jinja or Go template (-v)\n"
    )
    found = json.loads(ask("check", "--format", "json").out)["summary"]
    assert found["machines"] == 5
    assert found["unseen"]["Helm chart"] == 1
    built = ask("build", "vms", "--catalog", "small.yaml", "--kubevirt", "1.9")
    assert built.err.splitlines()[-1] == "5 VMs: 5 errors"


HYPERCONVERGED = """\
apiVersion: hco.kubevirt.io/v1beta1
kind: HyperConverged
metadata: {name: kubevirt-hyperconverged, namespace: openshift-cnv}
status: {versions: [{name: operator, version: 1.16.2}]}
"""


def test_last_line_tells_which_release_and_why(ask: Ask) -> None:
    says = "HyperConverged openshift-cnv/kubevirt-hyperconverged says that it is 1.6"
    answer = ask("check", files={"vm.yaml": vm("a", memory="1Gi"), "hco.yaml": HYPERCONVERGED})
    assert answer.err == f"1 VM: no findings; for KubeVirt 1.6, since {says}\n"
    assert ask("check", "--kubevirt", "1.8").err == "1 VM: no findings\n"
    folders = {
        "one/vm.yaml": vm("b", memory="1Gi"),
        "one/kustomization.yaml": "resources: [vm.yaml]\n",
    }
    assert "2 VMs" in ask("check", "-v", "--kustomize", "never", files=folders).err


def test_baseline_accepts_what_is_in_it(ask: Ask) -> None:
    assert ask("check", "--json-file", "known.json", files=fleet(2)).exit == Exit.FINDINGS
    answer = ask("check", "--baseline", "known.json", "-v")
    assert answer.exit == Exit.OK
    assert "VR301" not in answer.out
    assert (
        f"2 VMs: 1 info; 2 accepted by the baseline; for KubeVirt {minor(NEWEST)}, "
        "since nothing says which release runs\n" in answer.err
    )
    put("vms/000.yaml", "# a line more\n" + vm("vm000", instancetype="small", memory="2Gi"))
    assert ask("check", "--baseline", "known.json").exit == Exit.OK
    answer = ask("check", "--baseline", "known.json", files=fleet(3))
    assert answer.exit == Exit.FINDINGS
    assert answer.out.count("error VR301") == 1
    assert "vms/002.yaml" in answer.out
    assert "gone.json" in ask("check", "--baseline", "gone.json").out
    for bad in ("[]", "{}", "{", '{"diagnostics": [1]}'):
        answer = ask("check", "--baseline", "bad.json", files={"bad.json": bad})
        assert answer.exit == Exit.USAGE
        assert "bad.json is no JSON report of virt-render" in answer.out


def git(*words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


def test_only_what_a_change_brings(ask: Ask, tmp_path: Path) -> None:
    ask("rule", "VR301", files=fleet(2))
    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--message=first")
    git("checkout", "--quiet", "-b", "change")
    answer = ask("check", "--changed-since", "main", "-v", files=fleet(3))
    assert answer.exit == Exit.FINDINGS
    assert answer.out.count("error VR301") == 1
    assert "vms/002.yaml:14:11: error VR301" in answer.out
    assert "3 VMs: 1 error; 1 fixable with --unsafe-fixes; 2 there before;" in answer.err
    os.chdir(tmp_path / "vms")
    answer = ask("check", "--changed-since", "main", "002.yaml", "001.yaml")
    assert answer.out.count("error VR301") == 1
    os.chdir(tmp_path)
    os.unlink("vms/002.yaml")
    assert ask("check", "--changed-since", "main").exit == Exit.OK
    answer = ask("check", "--changed-since=nowhere")
    assert answer.exit == ask("diff", "nowhere").exit == Exit.USAGE
    assert "git: unknown revision nowhere" in answer.out
    report = ask("check", "--changed-since", "main", "--format", "json", files=fleet(3)).out
    assert json.loads(report)["summary"]["before"] == 2


CONFIG = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\n"


def commit(name: str) -> None:
    git("add", "--all")
    git("commit", "--quiet", f"--message={name}")


@pytest.mark.parametrize("paths", [(".",), ("new",), ("new/vms/000.yaml", "new/vms/001.yaml")])
def test_what_moves_brings_nothing(ask: Ask, tmp_path: Path, paths: tuple[str, ...]) -> None:
    """A folder that is called otherwise has the findings that it had, for a baseline and since a commit."""
    git("init", "--quiet", "--initial-branch=main")
    before = [path.replace("new/vms", "vms").replace("new", "vms") for path in paths]
    ask("check", "--json-file", "known.json", *before, files=fleet(2))
    commit("first")
    git("checkout", "--quiet", "-b", "change")
    (tmp_path / "new").mkdir()
    git("mv", "vms", "new/vms")
    for words in (("--baseline", "known.json"), ("--changed-since", "main")):
        answer = ask("check", *words, *paths)
        assert (answer.exit, answer.out) == (Exit.OK, "")
    put("new/vms/001.yaml", vm("vm001", instancetype="absent"))
    for words in (("--baseline", "known.json"), ("--changed-since", "main")):
        answer = ask("check", *words, *paths)
        assert answer.out.count(": error VR") == 1
        assert "new/vms/001.yaml" in answer.out


def test_what_moves_from_several_folders_is_read_from_each(ask: Ask, tmp_path: Path) -> None:
    """All of the repository was read at the commit, which is the folder that they have in common."""
    files = {"a/1.yaml": vm("one"), "a/b/2.yaml": vm("two"), "c/3.yaml": vm("three")}
    ask("rule", "VR201", files={**files, "other/4.yaml": vm("four"), "top.yaml": vm("five")})
    git("init", "--quiet", "--initial-branch=main")
    commit("first")
    (tmp_path / "new").mkdir()
    for number, name in enumerate(files):
        git("mv", name, f"new/{number}.yaml")
    top = str(tmp_path)
    assert [*_moved_into(["new"], top, "HEAD")] == ["a", "c"]
    answer = ask("check", "--changed-since", "HEAD", "new")
    assert (answer.exit, answer.out) == (Exit.OK, "")
    git("mv", "top.yaml", "new/top.yaml")
    assert [*_moved_into(["new"], top, "HEAD")] == ["."]


def test_a_broken_file_that_moves_is_not_called_new(ask: Ask, tmp_path: Path) -> None:
    """Its old name is no change of it; what is edited, too, is told again."""
    put("vms/vm.yaml", f"{vm('web')}a: [\n")
    git("init", "--quiet", "--initial-branch=main")
    commit("broken")
    (tmp_path / "new").mkdir()
    git("mv", "vms/vm.yaml", "new/vm.yaml")
    answer = ask("check", "--changed-since", "HEAD")
    assert (answer.exit, answer.out) == (Exit.OK, "")
    put("new/vm.yaml", f"# TODO\n{vm('web')}a: [\n")
    answer = ask("check", "--changed-since", "HEAD")
    assert answer.exit == Exit.FINDINGS
    assert "new/vm.yaml" in answer.out


def test_what_moves_is_the_same_as_seen_from_a_subfolder(ask: Ask, tmp_path: Path) -> None:
    """The message has the folder as seen from there, and so it differs: `kustomize build old/web`."""
    put("sub/old/web/vm.yaml", vm("web"))
    put("sub/old/web/kustomization.yaml", "resource: [vm.yaml]\n")
    git("init", "--quiet", "--initial-branch=main")
    os.chdir(tmp_path / "sub")

    def found(*words: str) -> tuple[str, str]:
        answer = ask("check", "--json-file", "report.json", "--format", "sarif", *words)
        (result,) = json.loads(answer.out)["runs"][0]["results"]
        return result["message"]["text"], result["partialFingerprints"]["virtRenderAnywhere/v1"]

    before, known = found()
    assert "kustomize build old/web" in before
    os.rename("old", "new")
    answer = ask("check", "--baseline", "report.json")
    assert (answer.exit, answer.out) == (Exit.OK, "")
    after, same = found()
    assert after == before.replace("old/web", "new/web")
    assert same == known


def test_what_a_commit_could_not_read_is_not_called_new(ask: Ask) -> None:
    """An overlay, and a file, of which nobody knows what was wrong; what cannot be read now has the status of it."""
    sound = "namespace: prod\nresources: [../vms]\n"
    broken = sound.replace("resources", "resource")
    files = {
        "vms/vm.yaml": vm("web", instancetype="small", memory="2Gi"),
        "vms/small.yaml": instancetype("small"),
        "vms/kustomization.yaml": "resources: [vm.yaml, small.yaml]\n",
        "prod/kustomization.yaml": broken,
        "loose/vm.yaml": f"{vm('loose')}a: [\n",
    }
    ask("rule", "VR301", files=files)
    git("init", "--quiet", "--initial-branch=main")
    commit("broken")
    git("checkout", "--quiet", "-b", "change")
    answer = ask("check", "--changed-since", "main")
    assert (answer.exit, answer.out) == (Exit.OK, "")
    # Whoever edits what cannot be read is told that it still cannot be.
    put("prod/kustomization.yaml", f"{broken}# TODO\n")
    answer = ask("check", "--changed-since", "main")
    assert answer.exit == ask("check").exit == Exit.UNREADABLE
    assert answer.out.startswith("prod/kustomization.yaml:2:1: error VR116 ")
    assert answer.out.count(": error VR") == 1
    put("prod/kustomization.yaml", sound)
    put("loose/vm.yaml", vm("loose", instancetype="absent"))
    answer = ask("check", "--changed-since", "main")
    assert (answer.exit, answer.out) == (Exit.OK, "")
    assert "; 2 where the commit cannot be read, and not known to be new;" in answer.err
    report = ask("check", "--changed-since", "main", "--format", "json").out
    assert json.loads(report)["summary"]["unknown"] == 2
    put("new.yaml", vm("new", instancetype="absent"))
    answer = ask("check", "--changed-since", "main")
    assert answer.exit == Exit.FINDINGS
    assert answer.out.count(": error VR") == 1
    assert "new.yaml" in answer.out
    commit("sound")
    put("prod/kustomization.yaml", broken)
    assert ask("check", "--changed-since", "HEAD").exit == Exit.UNREADABLE


def test_a_copy_has_findings_of_its_own(ask: Ask) -> None:
    """The first still stands where it stood: with what was known of it, or without."""
    files = {
        "a/vm.yaml": vm("web", instancetype="small", memory="2Gi"),
        "small.yaml": instancetype("small"),
    }
    ask("check", "--json-file", "known.json", files=files)
    for first in (files["a/vm.yaml"], vm("web", instancetype="small")):
        roots = ("--config", "roots.yaml")
        copied = {"a/vm.yaml": first, "b/vm.yaml": files["a/vm.yaml"]}
        answer = ask(
            "check", "--baseline", "known.json", *roots,
            files={**copied, "roots.yaml": f"{CONFIG}spec: {{roots: [a, b], shared: [small.yaml]}}\n"},
        )  # fmt: skip
        assert answer.out.count(": error VR") == 1
        assert "b/vm.yaml" in answer.out


def test_vms_in_what_cannot_be_read_are_counted(ask: Ask) -> None:
    broken = f"{vm('b', memory='1Gi')}\tx: 1\n---\n{vm('c', memory='1Gi')}"
    answer = ask("check", ".", files={"a.yaml": vm("a", memory="1Gi"), "b.yaml": broken})
    assert answer.err.startswith("2 VMs: 1 error; 1 VM not checked; for KubeVirt ")
    assert ask("check", "a.yaml").err.startswith("1 VM: no findings; for KubeVirt ")


@pytest.mark.usefixtures("kustomize")
def test_vms_of_what_cannot_be_built_are_counted(ask: Ask) -> None:
    files = {
        "base/kustomization.yaml": "resources: [a.yaml, b.yaml]\n",
        "base/a.yaml": vm("a", memory="1Gi"),
        "base/b.yaml": f"{vm('b', memory='1Gi')}---\n{vm('c', memory='1Gi')}",
        "base/patch.yaml": vm("a", memory="2Gi"),
        "prod/kustomization.yaml": "resources: [../base]\npatches: [{path: ../base/patch.yaml}]\n",
        "test/kustomization.yaml": "resources: [../base]\npatches: [{patch: 'x'}]\n",
        "other/vm.yaml": vm("d", memory="1Gi"),
    }
    answer = ask("check", ".", files=files)
    assert answer.err.startswith("1 VM: 2 errors; 3 VMs not checked; for KubeVirt "), answer.err
    put("prod/kustomization.yaml", "resources: [../base]\n")
    put("test/kustomization.yaml", "resources: [../base]\n")
    assert "not checked" not in ask("check", ".").err


def test_what_pins_of_several_inputs_keep_is_told_once(ask: Ask) -> None:
    files = {
        ".virt-render.yaml": f"{CONFIG}spec: {{roots: [a, b], shared: [small.yaml]}}\n",
        "small.yaml": instancetype("small"),
        **{f"{n}/vm.yaml": vm(f"vm-{n}", instancetype="small") for n in "ab"},
    }
    assert ask("pin", files=files).exit == Exit.OK
    put("small.yaml", instancetype("small", cpus=4))
    answer = ask("check", ".")
    assert answer.out.count("VR608") == 1
    assert "differs from what vm-a, vm-b are pinned to; they keep the old content" in answer.out
    ask("check", ".", "--json-file", "known.json")
    report = json.loads(Path("known.json").read_text())
    assert [each["code"] for each in report["diagnostics"]] == ["VR608"]
    assert ask("check", ".", "--baseline", "known.json").out == ""


def test_a_wave_makes_nothing_new_of_an_old_content(ask: Ask) -> None:
    """VR608 is about the definition, and names the VMs that are left; a report of before told it by their names."""
    vms = {f"{n}.yaml": vm(f"vm{n}", instancetype="small") for n in range(3)}
    assert ask("pin", files={**vms, "small.yaml": instancetype("small")}).exit == Exit.OK
    put("small.yaml", instancetype("small", cpus=4))
    ask("check", "--json-file", "known.json")
    report = json.loads(Path("known.json").read_text())
    (warning,) = (each for each in report["diagnostics"] if each["code"] == "VR608")
    assert ask("pin", "--upgrade", "vm1").exit == Exit.OK
    found = json.loads(ask("check", "--format", "json").out)["diagnostics"]
    (later,) = (each for each in found if each["code"] == "VR608")
    assert warning["message"] != later["message"]
    assert warning["fingerprint"] == later["fingerprint"]
    report["diagnostics"] = [{**warning, "fingerprint": "of before"}]
    put("older.json", json.dumps(report))
    put("shortest.json", json.dumps({"diagnostics": [{"fingerprint": warning["fingerprint"]}]}))
    for baseline in ("known.json", "older.json", "shortest.json"):
        assert ask("check", "--baseline", baseline).out == ""


def test_fingerprints_do_not_depend_on_lines_or_folders(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()

    def prints(*words: str) -> set[str]:
        report = json.loads(ask("check", "--format", "json", *words).out)
        return {
            diagnostic["fingerprint"]
            for diagnostic in report["diagnostics"]
            if diagnostic["code"] == "VR301"
        }

    ask("rule", "VR301", files=fleet(2))
    known = prints()
    assert len(known) == 2
    put("vms/000.yaml", "\n\n" + vm("vm000", instancetype="small", memory="2Gi"))
    assert prints() == known
    os.chdir(tmp_path / "vms")
    assert prints("000.yaml", "001.yaml") == known
    os.chdir(tmp_path)
    sarif = json.loads(ask("check", "--format", "sarif").out)
    results = sarif["runs"][0]["results"]
    assert {result["partialFingerprints"]["virtRender/v1"] for result in results} == known
    anywhere = {result["partialFingerprints"]["virtRenderAnywhere/v1"] for result in results}
    os.rename("vms", "machines")
    moved = json.loads(ask("check", "--format", "sarif").out)["runs"][0]["results"]
    assert {each["partialFingerprints"]["virtRenderAnywhere/v1"] for each in moved} == anywhere
    assert len(anywhere) == 2


def test_fingerprints_do_not_depend_on_positions_in_lists(ask: Ask) -> None:
    """What is told apart only by its position keeps its fingerprint while it is the first of its kind."""
    above, _, _ = vm("web", memory="1Gi").partition("        devices: {}\n")

    def prints(*disks: tuple[str, str]) -> list[str]:
        listed = [f"{{name: {name}, disk: {{bus: {bus}}}}}" for name, bus in disks]
        volumes = [f"{{name: {name}, emptyDisk: {{capacity: 1Gi}}}}" for name, _ in disks]
        text = (
            f"{above}        devices: {{disks: [{', '.join(listed)}]}}\n        memory: {{guest: 1Gi}}\n"
            f"      volumes: [{', '.join(volume for volume in volumes if 'gone' not in volume)}]\n"
        )
        report = json.loads(ask("check", "--format", "json", files={"vm.yaml": text}).out)
        return [
            diagnostic["fingerprint"]
            for diagnostic in report["diagnostics"]
            if diagnostic["severity"] == "error"
        ]

    known = prints(("a", "ide"), ("gone", "virtio"))
    assert len(set(known)) == 2
    assert prints(("new", "virtio"), ("a", "ide"), ("gone", "virtio")) == known
    more = prints(("new", "ide"), ("a", "ide"), ("gone", "virtio"))
    assert len(set(more)) == 3
    assert set(known) < set(more)


def test_a_chart_is_to_be_rendered_first(ask: Ask) -> None:
    files = {"web/Chart.yaml": "name: web\n", "web/templates/vm.yaml": vm("{{ x }}")}
    for path, item in (("web", "web"), (".", "web")):
        answer = ask("build", "--helm", "never", path, files=files)
        assert answer.exit == Exit.FINDINGS
        assert f"helm template {item} | virt-render build -" in answer.err
        assert "--allow-empty" not in answer.err
