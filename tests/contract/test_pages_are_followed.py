"""Each page of the documentation, followed as a reader would: its commands run, and print what it shows.

`tests.support.walkthrough` says how a page is written for that.
"""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import walkthrough
from tests.support.cases import ROOT
from tests.support.tools import required


class PassedOver(NamedTuple):
    """Commands of a page, by how they begin, that are not run here, and why."""

    page: str
    start: str
    reason: str


PASSED_OVER = (
    PassedOver("README.md", "git clone", "asks a server"),
    PassedOver("README.md", "pipx install", "installs from the network: test_package.py installs the wheel without it"),
    PassedOver("README.md", "docker build", "needs a container engine: test_deploy.py builds from what it would copy"),
    PassedOver("README.md", "make demo", "test_demo.py tells the story"),
    PassedOver("README.md", "make test", "this is it"),
    PassedOver("CONTRIBUTING.md", "make test", "this is it"),
    PassedOver("CONTRIBUTING.md", "HYPOTHESIS_PROFILE=deep", "takes hours"),
    PassedOver("docs/adopt.md", "kubectl", "asks a cluster"),
    PassedOver("docs/argocd.md", "docker build", "needs a container engine"),
    PassedOver("docs/editor.md", "pip install", "installs from the network, with what it needs"),
    PassedOver("docs/editor.md", "cd editors/vscode", "test_editors.py compiles and packages it"),
    PassedOver("docs/editor.md", "npm", "test_editors.py compiles and packages it"),
    PassedOver("docs/editor.md", "code", "needs VS Code"),
    PassedOver("docs/kustomize.md", "folder=", "there need be none; test_kustomize_function.py has kustomize do it"),
    PassedOver("docs/openshift-gitops.md", "oc edit", "asks a cluster; test_deploy.py reads the fields"),
    PassedOver("docs/pins.md", "kubectl", "asks a cluster"),
    PassedOver("docs/policies.md", "conftest", "test_policies_page.py runs it where it is installed"),
    PassedOver("docs/policies.md", "kyverno", "the same"),
    PassedOver("docs/pytest.md", "pytest", "test_pytest_page.py runs it, and sees it fail"),
    PassedOver("docs/quotas.md", "kubectl", "asks a cluster"),
    PassedOver("docs/review.md", "git fetch origin", "asks a forge"),
    PassedOver("docs/review.md", 'virt-render diff "origin/$BRANCH', "asks a forge"),
)  # fmt: skip


class ShownOnly(NamedTuple):
    """A block of a page that is neither run nor written to a file here, by its first line, and what tries it."""

    page: str
    line: str
    tried: str


SHOWN_ONLY = (
    *(ShownOnly("README.md", line, "tests/unit/test_readme.py") for line in (
        "apiVersion: virt-render.dev",
        "apiVersion: kubevirt.io/v1", "metadata:", "domain:", "web.yaml:16:18: error", "web.yaml:14:13: error")),
    ShownOnly("docs/admission.md", "metadata:", "tests/attack/test_waivers.py"),
    ShownOnly("docs/architecture.md", "render.frontends ", "no command: layers, which import-linter holds"),
    ShownOnly("docs/architecture.md", "bytes -> manifests", "no command: a picture"),
    ShownOnly("docs/argocd.md", "spec:", "tests/contract/test_deploy.py"),
    ShownOnly("docs/argocd.md", '{"msg": "virt-render argocd', "tests/contract/test_argocd_plugin.py"),
    ShownOnly("docs/editor.md", "vim.lsp.config", "tests/contract/test_editors.py"),
    ShownOnly("docs/editor.md", "[language-server", "tests/contract/test_editors.py"),
    ShownOnly("docs/fixes.md", "# yaml-language-server", "a comment for a language server, which is not here"),
    ShownOnly("docs/flux.md", "spec:", "asks a cluster"),
    ShownOnly("docs/kustomize.md", "patches:", "tests/contract/test_kustomize_init.py"),
    ShownOnly("docs/pins.md", "virt-render.dev/instancetype", "tests/unit/revisions/test_stamps.py"),
    ShownOnly("docs/pod.md", "requests:", "tests/unit/test_pod_page.py"),
    ShownOnly("docs/pod.md", "from render import", "tests/unit/test_pod_page.py"),
    ShownOnly("docs/pre-commit.md", "- ", "tests/contract/test_pre_commit.py"),
    ShownOnly("docs/review.md", "### 1 of 10 VMs", "tests/contract/test_review_of_steps.py"),
)  # fmt: skip
PAGES = sorted(
    name
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"))
    if re.search(r"^ *```(?:sh|console)\n", (path.read_text(encoding="utf-8")), re.MULTILINE)
    for name in (str(path.relative_to(ROOT)),)
)


def _text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_do_what_it_says(page: str, tmp_path: Path) -> None:
    required("kustomize")
    starts = tuple(row.start for row in PASSED_OVER if row.page == page)
    walkthrough.follow(_text(page), tmp_path, lambda command: command.startswith(starts))


def test_what_is_passed_over_is_there_and_has_a_reason() -> None:
    for row in PASSED_OVER:
        commands = [
            step.text
            for step in walkthrough.steps(_text(row.page))
            if isinstance(step, walkthrough.PageCommand)
        ]
        assert row.reason
        assert any(command.startswith(row.start) for command in commands), row


def test_a_block_that_is_not_followed_is_tried_elsewhere() -> None:
    blocks = [
        (str(page.relative_to(ROOT)), line)
        for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"))
        for line in walkthrough.shown_only(page.read_text(encoding="utf-8"))
    ]
    rows = {
        block: [row for row in SHOWN_ONLY if row.page == block[0] and block[1].startswith(row.line)]
        for block in blocks
    }
    assert not [block for block, found in rows.items() if not found]
    assert {row for found in rows.values() for row in found} == set(SHOWN_ONLY)
    for row in SHOWN_ONLY:
        assert not row.tried.startswith("tests/") or (ROOT / row.tried).exists(), row


@pytest.mark.parametrize("page", [ROOT / "README.md", *(ROOT / "docs").glob("*.md")], ids=str)
def test_commands_with_their_output_stand_in_blocks_of_console(page: Path) -> None:
    assert not re.findall(r"^ {4}\$ .*", page.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(
    ("documented", "printed", "same"),
    [
        ("a ... c\n", "a b c\n", True),
        ("a ... c\n", "a b d\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_dots_stand_for_what_is_left_out(documented: str, printed: str, *, same: bool) -> None:
    assert walkthrough.fits(documented, printed) is same


def test_a_page_that_shows_something_else_fails(tmp_path: Path) -> None:
    page = "<!-- run\ntouch vm\n-->\n"
    page += "```console\n$ ls\nvm\n$ cat <<E\nx\nE\nx\n```\n```sh\ntest -f vm &&\n  true\n```\n"
    assert walkthrough.follow(page, tmp_path / "good", lambda _: False) == 4
    with pytest.raises(AssertionError, match="shows another output"):
        walkthrough.follow(page.replace("\nvm\n$", "\nweb\n$"), tmp_path / "bad", lambda _: False)
    with pytest.raises(AssertionError, match="status 1"):
        walkthrough.follow(
            page.replace("test -f vm", "test -f web"), tmp_path / "worse", lambda _: False
        )
