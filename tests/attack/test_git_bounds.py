"""git itself may take no more than it is given: whoever packs a repository decides what it has to unfold."""

from pathlib import Path

from tests.robustness.test_history import stub
from tests.support.manifests import vm
from tests.support.process import run
from tests.support.repository import Repository


def test_git_is_bounded(tmp_path: Path) -> None:
    made = Repository(tmp_path / "repository")
    made.write("vm.yaml", vm("web", memory="1Gi"))
    made.commit("a VM")
    log = tmp_path / "log"
    path = stub(
        tmp_path / "bin", f"sleep 0.3; echo $(ulimit -d) $(ulimit -t) $(ulimit -c) >> {log}"
    )
    assert run("diff", "HEAD", cwd=made.folder, PATH=path).returncode == 0
    assert set(log.read_text(encoding="utf-8").splitlines()) == {f"{4 << 20} 300 0"}
