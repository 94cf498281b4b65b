"""A repository commit by commit (``fixtures/review``): what ``virt-render diff`` says of each, in every format."""

import re
from pathlib import Path

import pytest

from render.report.formats import IMPACT_FORMATS
from tests.support.cases import ROOT
from tests.support.repository import Repository

STEPS = sorted((ROOT / "fixtures" / "review").glob("*/change.patch"))
#: Two VMs of it cannot be rendered.
FAILING = "11-mistakes"
#: What a page carries along, and the hashes of it: they have tests of their own.
_OURS = re.compile(
    r"(?<=<style>).*?(?=</style>)|(?<=<script>).*?(?=</script>)|sha256-[\w&#;/=+]+"
    r'|(?<=<p class="where">)[^·]*· <code>\w+</code> · |(?<= · virt-render) [\d.]+',
    re.DOTALL,
)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, list[str]]:
    """The repository, and the id of each commit."""
    repository = Repository(tmp_path_factory.mktemp("review") / "shop")
    ids = []
    for patch in STEPS:
        repository.git("am", "--quiet", "--committer-date-is-author-date", str(patch))
        ids.append(repository.git("rev-parse", "HEAD").strip())
    return repository, ids


def step(patch: Path) -> str:
    return patch.parent.name


@pytest.mark.parametrize("name", IMPACT_FORMATS)
@pytest.mark.parametrize("patch", STEPS[1:], ids=step)
def test_a_step_is_reviewed_as_expected(
    patch: Path,
    name: str,
    history: tuple[Repository, list[str]],
    kustomize: str,
    request: pytest.FixtureRequest,
) -> None:
    repository, ids = history
    number = STEPS.index(patch)
    done = repository.run(
        "diff", f"{ids[number - 1]}..{ids[number]}", "--format", name, "--kustomize", kustomize
    )
    assert done.returncode == (1 if step(patch) == FAILING else 0), done.stderr
    assert done.stderr == ""
    output = _OURS.sub("", done.stdout)
    expected = patch.parent / f"expected.{name}"
    if request.config.getoption("--update"):
        expected.write_text(output, encoding="utf-8")
    assert output == expected.read_text(encoding="utf-8")


def test_there_are_ten_steps_and_more() -> None:
    assert len(STEPS) > 10


@pytest.mark.parametrize(
    "name", ["01-instancetype-edited/expected.text", "08-disks-added/expected.markdown"]
)
def test_the_documentation_shows_what_is_said(name: str) -> None:
    text = (STEPS[0].parents[1] / name).read_text(encoding="utf-8")
    assert f"\n{text}" in (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
