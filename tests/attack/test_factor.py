"""``factor --write`` where files are not what they seem."""

from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.frontends.dispatch import invoke
from tests.unit.frontends.test_factor import KUSTOMIZATION, put, repository, texts, vm

__all__ = ("repository",)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"a: \xff\n", "is not UTF-8"),
        (b'{"a": 1}\n', "is JSON"),
        (b"#" * 3000, "bytes"),
    ],
    ids=["binary", "json", "large"],
)
def test_definitions_join_no_file_that_cannot_be_kept(
    repository: Path, capfd: pytest.CaptureFixture[str], content: bytes, why: str
) -> None:
    put(repository, {"k/vm.yaml": vm(), "k/kustomization.yaml": KUSTOMIZATION})
    (repository / "k/definitions.yaml").write_bytes(content)
    assert invoke(["factor", "--write", "--max-file-bytes", "2000", "k"]) == 0
    assert (repository / "k/definitions.yaml").read_bytes() == content
    assert (repository / "k/vm.yaml").read_text() == vm()
    assert why in capfd.readouterr().out


def test_a_folder_in_the_place_of_definitions_is_left_alone(repository: Path) -> None:
    put(repository, {"k/vm.yaml": vm(), "k/kustomization.yaml": KUSTOMIZATION})
    (repository / "k/definitions.yaml").mkdir()
    before = texts(repository)
    assert invoke(["factor", "--write", "k"]) == 0
    assert texts(repository) == before


def test_a_fixed_file_behind_another_name_is_left_alone(repository: Path) -> None:
    put(repository, {"vm.txt": vm(), "k/kustomization.yaml": KUSTOMIZATION})
    (repository / "k/vm.yaml").symlink_to("../vm.txt")
    assert invoke(["factor", "--write", "."]) == Exit.UNREADABLE
    assert (repository / "vm.txt").read_text() == vm()


def test_no_manifest_drives_the_terminal(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = vm().replace("name: root # the first", 'name: "root\\e[31m"')
    text = text.replace(
        "- name: root\n          containerDisk", '- name: "root\\e[31m"\n          containerDisk'
    )
    put(repository, {"vm.yaml": text})
    for words in ([], ["--near"], ["--diff"], ["--format", "json"]):
        invoke(["factor", *words, "."])
        out, err = capfd.readouterr()
        assert "\x1b" not in out + err


def test_a_merge_key_is_not_torn(repository: Path) -> None:
    text = vm().replace(
        "cpu: {sockets: 2, cores: 1, threads: 1}", "cpu: &cpu {sockets: 2, cores: 1, threads: 1}"
    )
    text += "---\n" + vm("other")
    put(repository, {"vm.yaml": text})
    assert invoke(["factor", "--write", "."]) == 0
    after = (repository / "vm.yaml").read_text()
    assert after == text or "u1.2xmedium" in after
    assert invoke(["check", "."]) == 0
