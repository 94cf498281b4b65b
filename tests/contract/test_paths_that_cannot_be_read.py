"""What each command says of a path that is not there, or that it may not read, or that holds nothing sound."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from tests.support import process
from tests.support.manifests import instancetype, put, vm
from tests.support.repository import Repository

#: The inputs, each with its path.
_INPUTS = {
    "missing": "nosuch",
    "closed folder": "closed",
    "closed file": "file/secret.yaml",
    "empty file": "empty/e.yaml",
    "broken": "broken/bad.yaml",
    "beside broken": "broken",
    "mistyped": "mistyped",
    "gone": "gone",
}
_REPORT = ("report", "-o", "../page.html")
#: The status of each command, by the inputs above.
_STATUSES: dict[tuple[str, ...], tuple[int, ...]] = {
    ("build",): (3, 3, 3, 1, 1, 1, 3, 3),
    ("check",): (3, 3, 3, 0, 1, 1, 3, 3),
    _REPORT: (3, 3, 3, 0, 1, 1, 3, 3),
    ("used-by", "small"): (3, 3, 3, 2, 1, 1, 3, 3),
    ("factor",): (3, 3, 3, 0, 1, 1, 3, 3),
    ("explain", "web", "memory.guest"): (2, 3, 3, 2, 1, 0, 3, 3),
    ("show", "web"): (3, 3, 3, 1, 1, 1, 3, 3),
    ("show", "web", "--at", "HEAD"): (3, 3, 2, 1, 1, 1, 3, 3),
    ("show", "web", "--revision", "1"): (3, 3, 2, 2, 2, 2, 2, 2),
    ("history", "web"): (3, 3, 2, 2, 2, 2, 2, 2),
    ("diff", "HEAD", "--"): (3, 3, 1, 0, 1, 0, 3, 3),
    ("pin", "--dry-run"): (3, 3, 2, 2, 2, 1, 3, 3),
    ("verify",): (3, 3, 3, 1, 1, 1, 3, 3),
    ("test",): (3, 3, 3, 2, 1, 1, 1, 1),
    ("migrate", "--diff"): (3, 3, 3, 0, 1, 1, 0, 0),
    ("argocd", "generate"): (3, 3, 3, 1, 1, 1, 3, 3),
    ("argocd", "inputs"): (3, 3, 3, 0, 1, 1, 3, 3),
    ("argocd", "ignore-differences"): (3, 3, 3, 0, 1, 1, 3, 3),
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders of which each has a sound VM and its instancetype, and something that cannot be read."""
    made = Repository(tmp_path_factory.mktemp("inputs") / "repository")
    for name in ("closed", "file", "broken", "mistyped", "gone"):
        put(made.folder / name / "vm.yaml", vm("web", instancetype="small"))
        put(made.folder / name / "small.yaml", instancetype("small"))
    put(made.folder / "file/secret.yaml", vm("other", memory="1Gi"))
    put(made.folder / "empty/e.yaml", "")
    put(made.folder / "broken/bad.yaml", "apiVersion: kubevirt.io/v1\nkind: [\n")
    put(made.folder / "mistyped/kustomization.yaml", "resourses: [vm.yaml, small.yaml]\n")
    put(made.folder / "gone/kustomization.yaml", "resources: [vm.yaml, small.yaml, other.yaml]\n")
    made.commit("One")
    closed = [made.folder / "closed", made.folder / "file/secret.yaml"]
    for path in closed:
        path.chmod(0)
    yield made.folder
    for path in closed:
        path.chmod(0o700)


@pytest.mark.parametrize("words", _STATUSES, ids=" ".join)
def test_the_status_says_what_cannot_be_read(words: tuple[str, ...], repository: Path) -> None:
    """And a line names it: nothing that was named is passed over without a word."""
    for (title, path), status in zip(_INPUTS.items(), _STATUSES[words], strict=True):
        done = process.run(*words, path, cwd=repository, VIRT_RENDER_TESTS_HELD_BACK="1")
        output = f"{' '.join(words)} {path}: {done.stdout[:300]}{done.stderr}"
        assert done.returncode == status, f"{title}: {output}"
        if status:
            words_for_it = (" error VR", "not read: ", " unrenderable\n")
            assert any(word in done.stdout + done.stderr for word in words_for_it), output
        if status == Exit.UNREADABLE:
            assert path in done.stdout + done.stderr, output


_OF_ALL = (("check",), _REPORT, ("used-by", "small"))


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[Path]:
    """A VM and its instancetype beside links to nothing and to a closed folder; who closes more opens it again."""
    put(tmp_path / "repository/vms/vm.yaml", vm("web", instancetype="small"))
    put(tmp_path / "repository/vms/small.yaml", instancetype("small"))
    (tmp_path / "repository/gone.yaml").symlink_to("nowhere.yaml")
    (tmp_path / "repository/linked.yaml").symlink_to("../closed/vm.yaml")
    (tmp_path / "closed").mkdir(mode=0)
    yield tmp_path / "repository"
    (tmp_path / "closed").chmod(0o700)


@pytest.mark.parametrize("words", _OF_ALL, ids=" ".join)
@pytest.mark.parametrize(
    "closed",
    [
        "vms/other.yaml",
        "others",
        "built/vm.yaml",
        "built",
        "chart/templates",
        "chart/templates/vm.yaml",
        "chart/values.yaml",
    ],
)
def test_what_may_not_be_read_below_is_an_error_of_what_tells_of_all_vms(
    words: tuple[str, ...], closed: str, beside: Path
) -> None:
    """That it is there is known, and that nobody has looked at it; other commands name it, and answer."""
    put(beside / "vms/other.yaml", vm("other", memory="1Gi"))
    put(beside / "others/vm.yaml", vm("third", memory="1Gi"))
    put(beside / "built/vm.yaml", vm("fourth", memory="1Gi"))
    put(beside / "built/kustomization.yaml", "resources: [vm.yaml]\n")
    put(beside / "chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
    put(beside / "chart/templates/vm.yaml", vm("fifth", memory="1Gi"))
    put(beside / "chart/values.yaml", "a: b\n")
    whole = process.run(*words, ".", cwd=beside, VIRT_RENDER_TESTS_HELD_BACK="1")
    assert whole.returncode == Exit.OK
    (beside / closed).chmod(0)
    done = process.run(*words, ".", cwd=beside, VIRT_RENDER_TESTS_HELD_BACK="1")
    named = process.run(
        "check", "--root", ".", "vms/vm.yaml", cwd=beside, VIRT_RENDER_TESTS_HELD_BACK="1"
    )
    (beside / closed).chmod(0o700)
    assert done.returncode == Exit.UNREADABLE, done.stdout + done.stderr
    assert closed.partition("/vm.yaml")[0] in done.stdout + done.stderr
    assert "3 paths that cannot be read" not in done.stderr
    assert named.returncode == Exit.OK, named.stdout + named.stderr


@pytest.mark.parametrize("closed", ["built", "built/vm.yaml", "chart/templates", "chart"])
def test_what_keeps_programs_out_is_named_also_where_root_could_read_it(
    closed: str, tmp_path: Path
) -> None:
    """In their box they have none of root's privileges: in a container, root meets the files of another user."""
    (tmp_path / ".git").mkdir()
    put(tmp_path / "built/vm.yaml", vm("fourth", memory="1Gi"))
    put(tmp_path / "built/kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
    put(tmp_path / "chart/templates/vm.yaml", vm("fifth", memory="1Gi"))
    (tmp_path / closed).chmod(0)
    done = process.run("check", ".", cwd=tmp_path)
    (tmp_path / closed).chmod(0o700)
    assert done.returncode == Exit.UNREADABLE, done.stdout + done.stderr
    message = f"{closed}: error VR110 unreadable: cannot read {closed}: Permission denied\n"
    assert done.stdout.startswith(message)


def test_a_base_that_may_not_be_read_is_not_taken_for_one_without_a_kustomization(
    tmp_path: Path,
) -> None:
    (tmp_path / ".git").mkdir()
    put(tmp_path / "base/kustomization.yaml", "resources: []\n")
    put(tmp_path / "prod/kustomization.yaml", "resources: [../base]\n")
    (tmp_path / "base").chmod(0)
    done = process.run("build", "prod", cwd=tmp_path, VIRT_RENDER_TESTS_HELD_BACK="1")
    (tmp_path / "base").chmod(0o700)
    assert done.returncode == Exit.UNREADABLE
    assert "base: error VR110 unreadable: cannot read base: Permission denied\n" in done.stderr


@pytest.mark.parametrize(
    ("target", "cure"),
    [("new/", "name a file: with a / at its end this is a folder"), (".", "name a file in it")],
)
def test_a_report_into_a_folder_is_told_what_to_name(
    target: str, cure: str, tmp_path: Path
) -> None:
    done = process.run("report", "-o", target, cwd=tmp_path)
    assert (
        f"error VR121 unwritable: cannot write {target}: Is a directory\n  help: {cure}\n"
        in done.stderr
    )
