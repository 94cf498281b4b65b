"""The comment on a pull request: the script of the action and of GitLab's job, against a forge on this machine."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from render.yaml.reader import read
from tests.support.cases import ROOT
from tests.support.forge import Forge, serving

DEPLOY = ROOT / "deploy"
Say = Callable[..., "subprocess.CompletedProcess[str]"]
OWN = {"github": "github-actions[bot]", "gitlab": "5"}


def document(path: str) -> Any:
    ((found,), faults) = read((DEPLOY / path).read_bytes(), path)
    assert not faults
    return found.body


@pytest.fixture(params=["github", "gitlab"])
def forge(request: pytest.FixtureRequest) -> Iterator[Forge]:
    with serving(request.param) as found:
        yield found


@pytest.fixture
def say(forge: Forge, tmp_path: Path) -> Say:
    """Runs what the action, or the job, runs; *event* is GitHub's."""

    def run(text: str, name: str = "virt-render diff", **other: str) -> Any:
        (tmp_path / "virt-render-diff.md").write_text(text, encoding="utf-8")
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environ = {"PATH": path, "NO_PROXY": "*", "TOKEN": "secret"}
        if forge.kind == "github":
            event = {"pull_request": {"number": 7, "head": {"sha": other.pop("sha", "abc")}}}
            if "run" in other:
                event = {"workflow_run": json.loads(other.pop("run"))}
            (tmp_path / "event.json").write_text(json.dumps(event))
            (step,) = document("github/comment/action.yml")["runs"]["steps"]
            assert set(step["env"]) == {"MARKDOWN", "NAME", "AUTHOR", "TOKEN"}
            environ |= {
                "GITHUB_API_URL": forge.url, "GITHUB_REPOSITORY": "shop/vms",
                "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
                "GITHUB_ACTION_PATH": str(DEPLOY / "github" / "comment"),
                "NAME": name, "AUTHOR": OWN["github"], "MARKDOWN": "virt-render-diff.md",
            }  # fmt: skip
            line = step["run"]
        else:
            job = document("gitlab/virt-render.yml")["virt-render-comment"]
            line = "\n".join(job["script"]).replace("/opt/virt-render", str(DEPLOY))
            environ |= {
                "GITLAB_CI": "true", "CI_API_V4_URL": forge.url, "CI_MERGE_REQUEST_PROJECT_ID": "12",
                "CI_MERGE_REQUEST_IID": "7", "CI_COMMIT_SHA": other.pop("sha", "abc"),
                "VIRT_RENDER_TOKEN": environ.pop("TOKEN"), "VIRT_RENDER_DIFF_PATH": name,
            }  # fmt: skip
        environ |= other
        return subprocess.run(
            ["bash", "-e", "-c", line],
            cwd=tmp_path, env=environ, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip

    return run


def test_one_comment_is_added_and_then_kept_up_to_date(forge: Forge, say: Say) -> None:
    assert say("### 1 VM: 1 restart\n").stdout == "added a comment\n"
    assert say("### 1 VM: 1 live\n").stdout == "comment 100 is up to date\n"
    (text,) = forge.texts()
    assert text.startswith("<!-- virt-render: ")
    assert text.endswith(" -->\n### 1 VM: 1 live")


def test_what_says_so_already_is_left_alone(forge: Forge, say: Say) -> None:
    say("### 1 VM: 1 restart\n")
    number, (author, text) = next(iter(forge.comments.items()))
    forge.comments[number] = (author, text.replace("\n", "\r\n"))  # as forges give it back
    del forge.requests[:]
    assert say("### 1 VM: 1 restart\n").stdout == "comment 100 says so already\n"
    assert {item.partition(" ")[0] for item in forge.requests} == {"GET"}


def test_two_workflows_have_a_comment_each(forge: Forge, say: Say) -> None:
    say("### prod", "prod")
    say("### test", "test")
    say("### prod, again", "prod")
    assert [text.partition("\n")[2] for text in forge.texts()] == ["### prod, again", "### test"]


def test_the_comments_of_others_are_theirs(forge: Forge, say: Say) -> None:
    say("### mine")
    (text,) = forge.texts()
    me = OWN[forge.kind]
    forge.comments = {1: ("6", text), 2: (me, f"I quote:\n{text}"), 3: (me, text)}
    assert say("### newer").stdout == "comment 3 is up to date\n"
    assert [forge.comments[item][1] == text for item in (1, 2)] == [True, False]
    del forge.comments[3]
    assert say("### newer").stdout == "added a comment\n"


def test_it_is_found_behind_many_others(forge: Forge, say: Say) -> None:
    say("### mine")
    own = forge.comments.pop(100)
    forge.comments = {**dict.fromkeys(range(1, 251), ("6", "hm")), 300: own}
    assert say("### newer").stdout == "comment 300 is up to date\n"
    assert len(forge.comments) == 251


def test_of_an_older_commit_nothing_is_said(forge: Forge, say: Say) -> None:
    say("### newest")
    assert "nothing is said" in say("### older", sha="abb").stdout
    assert forge.texts()[0].endswith("### newest")


def test_a_marker_cannot_be_closed_by_a_name(forge: Forge, say: Say) -> None:
    say("### mine", "a --> <script> b")
    first, _, rest = forge.texts()[0].partition("\n")
    assert (first.count("-->"), first.endswith(" -->"), rest) == (1, True, "### mine")


@pytest.mark.parametrize(("status", "word"), [(403, "403"), (302, "302")])
def test_who_may_not_write_is_told_what_is_missing(
    status: int, word: str, forge: Forge, say: Say
) -> None:
    forge.status = status
    done = say("### mine")
    assert done.returncode == 1
    assert word in done.stderr
    assert "pull-requests: write" in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr
    assert not any("elsewhere" in item for item in forge.requests)


def test_what_is_too_long_is_refused(forge: Forge, say: Say) -> None:
    done = say("x" * 1_000_001)
    assert "lower --max-bytes" in done.stderr
    assert not forge.comments


def run_of(**other: Any) -> str:
    run = {
        "event": "pull_request", "head_sha": "abc", "head_branch": "edit",
        "head_repository": {"owner": {"login": "someone"}},
    }  # fmt: skip
    return json.dumps(run | other)


@pytest.mark.parametrize("forge", ["github"], indirect=True)
@pytest.mark.parametrize(
    ("run", "message"),
    [
        (run_of(), "added a comment"),
        (run_of(head_sha="abb"), "nothing is said"),
        (run_of(head_branch="other"), "nothing is said"),
        (run_of(event="push"), "neither the run of a pull request"),
    ],
)
def test_the_pull_request_of_a_run_is_asked_of_the_forge(
    run: str, message: str, forge: Forge, say: Say
) -> None:
    done = say("### of a fork", run=run)
    assert message in done.stdout + done.stderr
    assert bool(forge.comments) is message.startswith("added")


def test_the_workflow_that_writes_runs_nothing_of_the_pull_request() -> None:
    reads = document("github/workflows/virt-render-diff.yml")
    writes = document("github/workflows/virt-render-comment.yml")
    assert reads["permissions"] == {"contents": "read"}
    assert writes["permissions"] == {"actions": "read", "pull-requests": "write"}
    # `on` is true to kubectl, and so to our reader.
    assert (list(reads["true"]), list(writes["true"])) == (["pull_request"], ["workflow_run"])
    assert writes["true"]["workflow_run"]["workflows"] == [reads["name"]]
    steps = writes["jobs"]["comment"]["steps"]
    assert [step["uses"].partition("@")[0] for step in steps] == [
        "actions/download-artifact", "platform/virt-render/deploy/github/comment",
    ]  # fmt: skip
    assert not any("run" in step for step in steps)
    (upload,) = (step for step in reads["jobs"]["diff"]["steps"] if "upload" in step["uses"])
    assert upload["with"]["name"] == steps[0]["with"]["name"]
    inputs = document("github/diff/action.yml")["inputs"]
    assert upload["with"]["path"] == inputs["markdown-file"]["default"]
    inputs = document("github/comment/action.yml")["inputs"]
    assert upload["with"]["path"] == inputs["markdown-file"]["default"]


def test_the_job_of_gitlab_with_the_token_checks_nothing_out() -> None:
    jobs = document("gitlab/virt-render.yml")
    job = jobs["virt-render-comment"]
    assert job["variables"] == {"GIT_STRATEGY": "none"}
    assert job["needs"] == ["virt-render-diff"]
    assert "VIRT_RENDER_TOKEN" not in json.dumps(jobs["virt-render-diff"])


def of_gitlab(job: Any, folder: Path) -> dict[str, str]:
    """The variables of a job in *folder*, whose clone is another user's, as the runner's is."""
    own = {name: str(value) for name, value in job["variables"].items()}
    clone = {name: value.replace("$CI_PROJECT_DIR", str(folder)) for name, value in own.items()}
    return {**clone, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}


def test_the_job_of_gitlab_compares(tmp_path: Path) -> None:
    """Nothing changes here; what a change does is in the tests of ``diff``."""
    job = document("gitlab/virt-render.yml")["virt-render-diff"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    settings = {"VIRT_RENDER_DIFF_PATH": ".", "VIRT_RENDER_DIFF_ARGUMENTS": ""}
    environ = {**os.environ, **of_gitlab(job, tmp_path), "PATH": path, **settings}
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    (tmp_path / "vm.yaml").write_text(
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\nspec:\n  runStrategy: Always\n"
        "  template: {spec: {domain: {memory: {guest: 1Gi}, devices: {}}}}\n"
    )
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"]):
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True)
    environ["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = "HEAD"
    script = "\n".join(job["script"])
    subprocess.run(["sh", "-e", "-c", script], cwd=tmp_path, env=environ, check=True)
    (name,) = job["artifacts"]["paths"]
    assert (
        (tmp_path / name).read_text().startswith("### Nothing changes for any VM\n\n1 VM: 1 same\n")
    )
