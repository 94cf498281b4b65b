"""``history`` of many VMs: as text, as JSON and as a page, and since when."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from render.diagnostics.exits import Exit
from render.frontends.commands.committed import snapshots
from render.frontends.dispatch import invoke
from render.frontends.parts import FleetPart
from render.frontends.progress import Work
from render.pipeline import Rendered
from render.report.history import html
from render.report.history.told import ToldCommit, ToldHistory, ToldMachine, ToldRevision
from render.report.page_origin import PageOrigin
from tests.support import browser
from tests.support.cases import ROOT
from tests.support.manifests import instancetype, vm
from tests.support.repository import Repository
from tests.support.tools import required

NAMES = ("db", "web-1", "web-2")
Say = Callable[..., str]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Three VMs: pinned, two of them upgraded, then one edited."""
    made = Repository(tmp_path_factory.mktemp("fleet") / "repository")
    for name in NAMES:
        made.write(f"{name}.yaml", vm(name, namespace="prod", instancetype="small"))
    made.write("small.yaml", instancetype())
    steps: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("2026-01-01", "Pin", ("pin",)),
        ("2026-02-01", "Upgrade", ("pin", "--upgrade", "web-*")),
        ("2026-03-01", "Edit <b>", ("pin",)),
    )
    for day, subject, words in steps:
        if subject == "Upgrade":
            made.write("small.yaml", instancetype(cpus=2))
        elif subject != "Pin":
            text = vm("db", namespace="prod", instancetype="small")
            made.write("db.yaml", text.replace("devices: {}", "devices: {rng: {}}"))
        made.fine(*words, ".")
        made.git("add", ".")
        made.git("commit", "--quiet", "--date", f"{day}T12:00:00Z", "--message", subject)
    return made


@pytest.fixture
def say(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Say:
    monkeypatch.chdir(repository.folder)

    def run(*words: str, exit_: Exit = Exit.OK) -> str:
        assert invoke(list(words)) == exit_, capfd.readouterr()
        printed = capfd.readouterr()
        return printed.out or printed.err

    return run


def told(text: str) -> dict[str, list[int]]:
    """The numbers of the revisions by VM; those with the same history are named together."""
    found: dict[str, list[int]] = {}
    alike: list[str] = []
    for line in text.splitlines():
        if line.strip().startswith("prod/"):
            alike = line.strip().split(", ")
            found.update((name, []) for name in alike)
        elif line[:4].strip().isdecimal():
            for name in alike:
                found[name].append(int(line.split()[0]))
    return found


def test_vms_with_the_same_history_are_told_together(say: Say) -> None:
    lines = say("history", "web-*").splitlines()
    assert lines[:2] == ["2 VMs", "    prod/web-1, prod/web-2"]
    assert sum(line.startswith("   2  ") for line in lines) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), {"prod/db": [1, 2], "prod/web-1": [1, 2], "prod/web-2": [1, 2]}),
        ((".",), {"prod/db": [1, 2], "prod/web-1": [1, 2], "prod/web-2": [1, 2]}),
        (("web-*",), {"prod/web-1": [1, 2], "prod/web-2": [1, 2]}),
        (("prod/", "."), {"prod/db": [1, 2], "prod/web-1": [1, 2], "prod/web-2": [1, 2]}),
        (("db",), {"prod/db": [1, 2]}),
        (("--since", "2026-02-01"), {"prod/db": [2], "prod/web-1": [2], "prod/web-2": [2]}),
        (("--since", "2026-02-02"), {"prod/db": [2]}),
        (("--since", "HEAD~1"), {"prod/db": [2]}),
        (("--since", "HEAD"), {}),
    ],
)
def test_some_are_told(words: tuple[str, ...], expected: dict[str, list[int]], say: Say) -> None:
    assert told(say("history", *words)) == expected


def test_vms_that_changed_come_first(tmp_path: Path) -> None:
    made = Repository(tmp_path / "repository")
    for name in ("a", "b"):
        made.write(f"{name}.yaml", vm(name, memory="1Gi"))
    for subject in ("Pin", "Edit"):
        if subject == "Edit":
            made.write("b.yaml", vm("b", memory="2Gi"))
        made.fine("pin", ".")
        made.git("add", ".")
        made.git("commit", "--quiet", "--message", subject)
    lines = made.fine("history").splitlines()
    names = [line for line in lines if line[:1].strip()]
    assert names == ["b", "a"]


def test_what_nobody_knows_is_refused(say: Say) -> None:
    assert "pins web-9*" in say("history", "web-9*", exit_=Exit.USAGE)
    assert "pins cache" in say("history", "cache", exit_=Exit.USAGE)
    wrong = say("history", "--since", "yesterday", exit_=Exit.USAGE)
    assert "unknown revision yesterday" in wrong
    assert "; --since takes a day (2026-01-31), or a commit" in wrong
    assert "cannot tell" in say("history", "a", "b", "c", exit_=Exit.USAGE)
    missing = say(
        "history", "db", "nosuch", exit_=Exit.UNREADABLE
    )  # it was told of the folder around it
    assert "cannot read nosuch: it is not there" in missing


def test_a_folder_that_is_gone_has_its_history(tmp_path: Path) -> None:
    made = Repository(tmp_path / "repository")
    made.write("a/b/web.yaml", vm("web", memory="1Gi"))
    made.fine("pin", "a/b")
    made.commit("Pin")
    made.git("rm", "-r", "--quiet", "a")
    made.commit("Remove")
    assert "Pin" in made.fine("history", "web", "a/b")


def test_json_says_what_the_text_says(say: Say) -> None:
    document = json.loads(say("history", "--format", "json"))
    schema = json.loads((ROOT / "schemas" / "history.schema.json").read_bytes())
    jsonschema.validate(document, schema)
    machines = {
        machine["resource"]["name"]: machine["revisions"] for machine in document["machines"]
    }
    assert list(machines) == list(NAMES)
    assert [item["class"] for item in machines["web-1"]] == ["new", "migrate"]
    first, second = machines["web-1"]
    assert first["instancetype"]["hash"] != second["instancetype"]["hash"]
    (impact,) = second["impacts"]
    assert {
        "field": "spec.domain.cpu.sockets",
        "before": 1,
        "after": 2,
        "effect": "migrate",
    } in impact["changes"]


def test_a_commit_is_rendered_once_for_all_vms(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    parts = vars(snapshots)["parts"]

    def counting(*words: object) -> object:
        read.append("")
        return parts(*words)

    monkeypatch.setattr(snapshots, "parts", counting)
    say("history")
    assert len(read) == 3


def test_the_page_has_a_commit_after_the_other_and_what_was_done_alike_once(say: Say) -> None:
    page = say("history", "--format", "html")
    assert re.findall(r"<time datetime=\"([^\"]+)", page) == [
        "2026-03-01",
        "2026-02-01",
        "2026-01-01",
    ]
    assert page.count("prod/web-1 (revision 2), prod/web-2 (revision 2)") == 1
    assert page.count("spec.domain.cpu.sockets") == 1
    assert "Edit &lt;b&gt;" in page
    assert "<script" not in page
    assert "<h1>6 revisions of 3 VMs in 3 commits</h1>" in page
    assert "prod/db, prod/web-1, prod/web-2</p>" in page, "a first revision needs no number"


def test_the_page_says_of_a_migration_what_the_text_says(tmp_path: Path) -> None:
    made = Repository(tmp_path / "repository")
    text = vm("web", namespace="prod", instancetype="small")
    made.write("web.yaml", text.replace("devices: {}", "devices: {autoattachPodInterface: false}"))
    for memory in ("2Gi", "4Gi"):
        made.write("small.yaml", instancetype(memory=memory))
        made.fine("pin", "--upgrade-all", ".")
        made.commit(f"With {memory}")
    for words in ((), ("--format", "html")):
        assert "nothing migrates it by itself" in made.fine("history", *words)


@pytest.fixture
def removed(tmp_path: Path) -> Repository:
    """Two VMs, of which one is removed, and comes again."""
    made = Repository(tmp_path / "repository")
    made.write("db.yaml", vm("db", memory="1Gi"))
    for subject in ("Begin", "Remove web", "Bring web back"):
        if subject == "Remove web":
            (made.folder / "web.yaml").unlink()
        else:
            made.write("web.yaml", vm("web", memory="1Gi"))
        made.fine("pin", ".")
        made.commit(subject)
    return made


def test_the_end_of_a_vm_is_told(removed: Repository) -> None:
    """In every format, of one VM and of all, and since a commit."""
    lines = removed.fine("history", "web").splitlines()
    assert [line.split("  ")[-1] for line in lines] == [
        "web", "Begin", "Remove web", "no longer in the lock", "Bring web back",
    ]  # fmt: skip
    assert lines[2].startswith("   -  ")
    assert removed.fine("history").count("no longer in the lock") == 1
    assert removed.fine("history", "--since", "HEAD~2").splitlines()[1:3] == lines[2:4]
    document = json.loads(removed.fine("history", "--format", "json"))
    schema = json.loads((ROOT / "schemas/history.schema.json").read_bytes())
    jsonschema.validate(document, schema)
    ends = {each["resource"]["name"]: each["removals"] for each in document["machines"]}
    assert [end["subject"] for end in ends["web"]] == ["Remove web"]
    assert ends["db"] == []
    page = removed.fine("history", "--format", "html")
    entry = page.partition("<strong>Remove web</strong>")[2].partition("</div>")[0]
    assert '<span class="e gone">gone</span> web</p>' in entry
    assert "<strong>1</strong> gone <small>no longer in the lock</small>" in page


def test_a_merge_removes_nothing_a_second_time(removed: Repository) -> None:
    removed.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    removed.write("note", "")
    removed.commit("Aside")
    removed.git("checkout", "--quiet", "main")
    removed.git("merge", "--quiet", "--strategy", "ours", "--message", "Merge", "side")
    assert removed.fine("history", "web").count("no longer in the lock") == 1


def test_commits_of_one_day_stand_in_the_order_of_git() -> None:
    first, second, third = (ToldCommit(id_, "2026-01-01", f"Step {id_}") for id_ in "abc")
    machines = [
        ToldMachine(
            name,
            [ToldRevision(1, first, {}, is_first=True), ToldRevision(2, last, {})],
            "lock.yaml",
        )
        for name, last in (("db", third), ("web", second))
    ]
    page = html.report(ToldHistory(machines, ["c", "b", "a"]), PageOrigin())
    assert re.findall(r"Step (\w)", page) == ["c", "b", "a"]


@pytest.fixture
def several(tmp_path: Path) -> Repository:
    """Two overlays of a base, a kustomization and a loose VM, each with its lock; one edit of what they share."""
    required("kustomize")
    made = Repository(tmp_path / "several")
    made.write("platform/small.yaml", instancetype())
    for folder, name in (("base", "web"), ("apps", "api"), ("loose", "db")):
        made.write(f"{folder}/vm.yaml", vm(name, namespace="prod", instancetype="small"))
    for folder, resource in (
        ("base", "vm.yaml"),
        ("apps", "vm.yaml"),
        ("east", "../base"),
        ("west", "../base"),
    ):
        made.write(f"{folder}/kustomization.yaml", f"resources: [{resource}]\n")
    for cpus in (1, 2):
        made.write("platform/small.yaml", instancetype(cpus=cpus))
        made.fine("pin", "--upgrade-all", ".")
        made.commit(f"With {cpus}")
    return made


def test_all_locks_of_a_repository_are_told(several: Repository) -> None:
    told = several.fine("history")
    vms = [
        "prod/api",
        "prod/db",
        "prod/web (east/virt-render.lock.yaml)",
        "prod/web (west/virt-render.lock.yaml)",
    ]
    assert all(name in told for name in vms), told
    assert "cannot be rendered" not in told
    assert told.count("spec.domain.cpu.sockets: 1 -> 2 (migrate)") == 1, "alike"
    page = several.fine("history", "--format", "html")
    assert "prod/web <small>east</small>, prod/web <small>west</small>" in page
    assert several.fine("history", "api").startswith("prod/api\n   1 ")
    document = json.loads(several.fine("history", "--format", "json"))
    assert {machine["lock"].partition("/")[0] for machine in document["machines"]} == {
        "apps", "east", "west", "virt-render.lock.yaml",
    }  # fmt: skip
    schema = json.loads((ROOT / "schemas/history.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)


def test_a_vm_of_a_repository_is_shown_wherever_it_is(several: Repository) -> None:
    for words in (
        ("api",),
        ("db",),
        ("web", "east"),
        ("api", "--at", "HEAD~1"),
        ("api", "--revision", "1"),
    ):
        assert f"\n  name: {words[0]}\n" in several.fine("show", *words)
    for words in (("web",), ("web", "--revision", "1")):
        assert "prod/web is in " in several.run("show", *words).stderr
        assert (
            "name one of them: virt-render show prod/web east" in several.run("show", *words).stderr
        )


def test_used_by_as_data(say: Say) -> None:
    document = json.loads(say("used-by", "small", "--format", "json"))
    assert [machine["name"] for machine in document["machines"]] == list(NAMES)
    assert {machine["uses"]["kind"] for machine in document["machines"]} == {
        "VirtualMachineClusterInstancetype"
    }


@pytest.mark.usefixtures("say")
def test_a_table_asks_git_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def requested(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("render.frontends.commands.report.origin_of", requested)
    assert invoke(["report", "--format", "csv", "--quiet"]) == Exit.OK
    printed = capfd.readouterr()
    assert printed.out.startswith("kind,")
    assert not printed.err


def test_the_page_can_be_read_by_everybody(say: Say, tmp_path: Path) -> None:
    file = tmp_path / "history.html"
    file.write_text(say("history", "--format", "html"), encoding="utf-8")
    with browser.page() as page:
        for scheme in ("light", "dark"):
            page.open(file, width=400, scheme=scheme)
            assert page.violations() == []
            assert page.run("document.documentElement.scrollWidth") <= 400
        assert page.errors == []


def test_a_lock_that_is_not_committed_has_no_history(tmp_path: Path) -> None:
    made = Repository(tmp_path / "repository")
    made.write("web.yaml", vm("web", namespace="prod", instancetype="small"))
    made.write("small.yaml", instancetype())
    made.commit("A VM")
    made.fine("pin", ".")
    done = made.run("history")
    assert done.returncode == Exit.USAGE
    assert "virt-render.lock.yaml is not committed yet" in done.stderr
    made.commit("Pin")
    assert "prod/web" in made.fine("history")


def test_what_is_the_same_beside_the_lock_is_rendered_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A commit that numbers pins anew says nothing new of the VMs, and a VM that stays is not rendered with others."""
    made = Repository(tmp_path / "repository")
    for name in NAMES:
        made.write(f"vms/{name}.yaml", vm(name, namespace="prod", instancetype="small"))
    made.write("vms/small.yaml", instancetype())
    lock = made.folder / "vms" / "virt-render.lock.yaml"
    made.fine("pin", "vms")
    made.commit("Pin")
    for number in range(2, 6):
        text = lock.read_text(encoding="utf-8")
        made.write(
            "vms/virt-render.lock.yaml",
            text.replace(f"revision: {number - 1}", f"revision: {number}"),
        )
        made.commit(f"Number {number}")
    made.write("vms/small.yaml", instancetype(cpus=4))
    made.fine("pin", "--upgrade", "db", "vms")
    made.commit("Upgrade")
    rendered: list[int] = []
    render = vars(snapshots)["render_part"]

    def counting(part: FleetPart, work: Work, **options: Any) -> Rendered:
        rendered.append(sum(resource.kind == "VirtualMachine" for resource in part.resources))
        outcome: Rendered = render(part, work, **options)
        return outcome

    monkeypatch.setattr(snapshots, "render_part", counting)
    monkeypatch.chdir(made.folder)
    assert invoke(["history", "vms"]) == Exit.OK
    assert "   6  " in capfd.readouterr().out
    assert rendered == [3, 3, 1, 1]
