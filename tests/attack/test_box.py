"""kustomize runs in a box: nothing of ours but a few variables, no network where the system lets us, little memory."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from render.manifests import kustomize as module
from render.manifests.kustomization import Reach
from render.system.box import box
from render.system.processes import run as run_program
from render.yaml.budget import Limits
from tests.support.loopback import Loopback
from tests.support.manifests import put, vm
from tests.support.process import run

PRINTING = "#!{sh}\nexport\nfor f in $HOME $XDG_CONFIG_HOME $TMPDIR; do [ -d $f ] || echo missing; done\necho $HOME/*\n"


def lets_us(*words: str) -> bool:
    """Whether the system permits namespaces as *words* ask util-linux for them: then the box has to enter them too."""
    program = shutil.which("unshare")
    if program is None:
        return False
    asked = [program, "--user", "--map-root-user", *words]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def has_mount_setattr() -> bool:
    """Whether the kernel is Linux 5.12 or newer."""
    major, minor, *_ = os.uname().release.split(".")
    return (int(major), int(minor)) >= (5, 12)


def test_the_environment_has_names_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "kustomize"
    put(tool, PRINTING.format(sh=shutil.which("sh")))
    tool.chmod(0o755)
    for name in (
        "AWS_SECRET_ACCESS_KEY",
        "GIT_ASKPASS",
        "KUBECONFIG",
        "ARGOCD_APP_NAME",
        "SSH_AUTH_SOCK",
    ):
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("HOME", "/canary")
    out = module.build(
        str(tmp_path), str(tool), Reach(), Limits(), most=1 << 20, allow_remote=False
    )
    assert isinstance(out, bytes)
    text = out.decode()
    assert "canary" not in text
    assert "missing" not in text
    home = text.splitlines()[-1].removesuffix("/*")
    assert home.startswith("/")
    assert not Path(home).exists()


def test_too_much_memory_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kustomize: str
) -> None:
    monkeypatch.setattr(module, "MEMORY", 8 << 20)
    put(tmp_path / "kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "vm.yaml", vm(memory="1Gi"))
    found = module.build(
        str(tmp_path), kustomize, Reach(), Limits(), most=1 << 20, allow_remote=False
    )
    assert not isinstance(found, bytes)
    assert found.code == "VR116"


def test_no_network_where_the_system_lets_us(tmp_path: Path, loopback: Loopback) -> None:
    """The loopback address is gone too, which a proxy never covers."""
    import sys

    code = f"import urllib.request; urllib.request.urlopen({loopback.url!r}, timeout=5)"
    inside = box(1 << 30, str(tmp_path), network=False)
    done = run_program([sys.executable, "-c", code], folder=".", environ={}, inside=inside)
    if not inside.seal().network:
        loopback.asked.clear()
        assert not lets_us("--net", "true")
        pytest.skip("this system forbids namespaces")
    assert done.returncode


def test_files_are_read_only_where_the_system_lets_us(tmp_path: Path) -> None:
    """All but the folder that is its home, whatever permissions say."""
    home, repository = tmp_path / "home", tmp_path / "repository"
    home.mkdir()
    put(repository / "vm.yaml", "")
    words = f"echo > {home}/a; echo > {repository}/b; echo > b; echo > vm.yaml; rm vm.yaml; echo > /dev/null && echo on"
    inside = box(1 << 30, str(home), network=False)
    done = run_program(
        [shutil.which("sh") or "", "-c", words], folder=str(repository), environ={"PATH": "/usr/bin:/bin"},
        inside=inside,
    )  # fmt: skip
    if not inside.seal().writing:
        may_mount = lets_us("--net", "--mount", "mount", "--bind", str(home), str(home))
        assert not (may_mount and has_mount_setattr())
        pytest.skip("this system forbids namespaces of mounts")
    assert done.stdout == b"on\n"
    assert [path.name for path in home.iterdir()] == ["a"]
    assert [path.name for path in repository.iterdir()] == ["vm.yaml"]
    put(repository / "c", "")  # ours are as they were


def test_it_is_said_which(tmp_path: Path, kustomize: str) -> None:
    put(tmp_path / "kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "vm.yaml", vm(memory="1Gi"))
    done = run("build", "--timings", "-v", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert done.returncode == 0
    assert "kustomize, helm: no n" in done.stderr
