"""kustomize runs in a box: nothing of ours but a few variables, no network where the system lets us, little memory."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from render.manifests.boxed import kustomize as module
from render.manifests.boxed.program import ProgramBounds
from render.manifests.kustomization import Reach
from render.system import processors
from render.system.programs import box as walls_of
from render.system.programs import processes
from render.system.programs.box import Allowance, Boxes, Wall, Walls
from render.system.programs.processes import run as run_program
from render.yaml.budget import Limits
from tests.support import probe
from tests.support.cases import ROOT
from tests.support.loopback import Loopback
from tests.support.manifests import put, vm
from tests.support.process import argv, environ, run

PRINTING = "#!{sh}\nexport\nfor f in $HOME $XDG_CONFIG_HOME $TMPDIR; do [ -d $f ] || echo missing; done\necho $HOME/*\n"


def lets_us(*words: str) -> bool:
    """Whether the system permits namespaces as *words* ask util-linux for them: then the box has to enter them too."""
    program = shutil.which("unshare")
    if program is None:
        return False
    requested = [program, "--user", "--map-root-user", *words]
    return subprocess.run(requested, capture_output=True, check=False).returncode == 0


def forbid_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the kernel does: the numbers ask it for what it does not know."""
    for name in ("_NEW_USER", "_NEW_NET", "_NEW_MOUNTS"):
        monkeypatch.setattr(walls_of, name, 1)


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
    out = processes.finish(
        module.building(
            module.KustomizeBuild(
                str(tmp_path),
                str(tool),
                Reach(),
                ProgramBounds(Limits(), 1 << 20),
                allow_remote=False,
            )
        )
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
    monkeypatch.setattr(processors, "memory", lambda: 8 << 20)
    put(tmp_path / "kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "vm.yaml", vm(memory="1Gi"))
    found = processes.finish(
        module.building(
            module.KustomizeBuild(
                str(tmp_path),
                kustomize,
                Reach(),
                ProgramBounds(Limits(), 1 << 20),
                allow_remote=False,
            )
        )
    )
    assert not isinstance(found, bytes)
    assert found.code == "VR116"


TRYING = (
    probe.ALLOWED
    + """
import ctypes, os, socket, sys
outside, repository, home, port = sys.argv[1:]
def connect():
    socket.create_connection(("127.0.0.1", int(port)), timeout=2).close()
def look():
    names = os.listdir(os.path.dirname(outside))
    if os.path.basename(outside) not in names:
        raise OSError
def child(work):
    number = os.fork()
    if not number:
        os._exit(not allowed(work))
    if os.waitpid(number, 0)[1]:
        raise OSError
def call(*words):
    if ctypes.CDLL(None).syscall(*words) < 0:
        raise OSError
X86 = {
    "looks-into-others": lambda: call(101, 16, os.getppid(), 0, 0),
    "shares-memory": lambda: call(29, 0, 4096, 0o1600),
    "opens-keys": lambda: call(250, 0, -3, 0),
    "opens-a-ring": lambda: call(425, 8, bytes(256)),
    "bounds-others": lambda: call(302, os.getppid(), 7, None, None),
    "speaks-as-x32": lambda: call(0x40000000 | 39),
}
print(" ".join(name for name, work in {
    "reads-outside": lambda: open(outside).read(),
    "lists-outside": look,
    "reads-passwd": lambda: open("/etc/passwd").read(),
    "reads-home": lambda: os.listdir(os.path.expanduser("~root")),
    "reads-by-cwd": lambda: open("../" * 30 + outside).read(),
    "reads-by-proc": lambda: open(f"/proc/{os.getppid()}/environ").read(),
    "writes-outside": lambda: open(outside, "w"),
    "writes-repository": lambda: open(repository + "/b", "w"),
    "removes": lambda: os.remove(repository + "/vm.yaml"),
    "makes-public": lambda: os.chmod(repository + "/vm.yaml", 0o666),
    "mounts": lambda: os.chroot("/"),
    "signals": lambda: os.kill(os.getppid(), 0),
    "connects": connect,
    "sends": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "reaches-neighbours": lambda: socket.socket(socket.AF_UNIX).close(),
    "leaves-the-group": lambda: child(lambda: os.setpgid(0, 0)),
    "leaves-the-session": lambda: child(os.setsid),
    "touches": lambda: os.utime(repository + "/vm.yaml"),
    **(X86 if os.uname().machine == "x86_64" else {}),
    "reads-git": lambda: open(repository + "/.git/config").read(),
    "reads-repository": lambda: open(repository + "/vm.yaml").read(),
    "reads-here": lambda: open("vm.yaml").read(),
    "writes-home": lambda: open(home + "/a", "w"),
    "writes-nowhere": lambda: open("/dev/null", "w"),
}.items() if allowed(work)))
"""
)
MEANT = {"reads-repository", "reads-here", "writes-home", "writes-nowhere"}
#: What neither Landlock nor a filter of calls has a word for.
BEYOND_LANDLOCK = {"reads-git"}


def tried(tmp_path: Path, port: int) -> tuple[set[str], Walls]:
    """What a program in a box could do, and the walls around it."""
    repository = probe.repository(tmp_path)
    libraries = [str(Path(sys.base_prefix)), str(Path(sys.prefix))]
    allowance = Allowance(1 << 30, 60)
    program = os.path.realpath(sys.executable)
    hidden = [str(repository / ".git")]
    with (
        Boxes() as boxes,
        boxes.box(
            program, str(repository), [str(repository), *libraries], allowance, hidden=hidden
        ) as inside,
    ):
        words = [str(tmp_path / "outside"), str(repository), inside.home, str(port)]
        done = run_program(
            [program, "-I", "-c", TRYING, *words],
            folder=str(repository),
            environ={},
            enter=inside.enter,
        )
        walls = inside.walls()
    assert done.returncode == 0, done.stderr
    assert (repository / "vm.yaml").exists()
    return set(done.stdout.decode().split()), walls


def test_nothing_but_the_repository(tmp_path: Path, loopback: Loopback) -> None:
    """Namespaces, or Landlock in their stead."""
    found, walls = tried(tmp_path, int(loopback.url.rpartition(":")[2]))
    if walls.all_stand:
        assert found == MEANT
        return
    assert not lets_us("--net", "--mount", "true")
    if walls.reading is Wall.NONE:
        pytest.skip("this system has neither namespaces nor Landlock")
    assert found - BEYOND_LANDLOCK == MEANT


def test_a_static_program_sees_no_libraries(tmp_path: Path, kustomize: str) -> None:
    """kustomize and helm in Go are linked with nothing: the system's files are none of theirs."""
    if not (lets_us("--net", "--mount", "true") and has_mount_setattr()):
        pytest.skip("this system forbids namespaces")
    repository = probe.repository(tmp_path)
    script, packed = tmp_path / "script", tmp_path / "packed"
    put(script, "#!/bin/sh\n")
    head = Path(kustomize).read_bytes()[:4096]
    packed.write_bytes(head[:1024] + b"UPX!" + head[1028:])
    cut_off = tmp_path / "cut-off"
    cut_off.write_bytes(head[:100])
    sees = {
        program: _sees(program, repository, ("/dev/null", "/lib", "/usr/lib", "/bin", "vm.yaml"))
        for program in (kustomize, sys.executable, str(script), str(packed), str(cut_off))
    }
    of_linked = ["/dev/null", "/lib", "/usr/lib", "vm.yaml"]
    assert sees == {
        kustomize: ["/dev/null", "vm.yaml"],
        sys.executable: of_linked,
        str(script): ["/dev/null", "/lib", "/usr/lib", "/bin", "vm.yaml"],
        str(packed): of_linked,
        str(cut_off): of_linked,
    }


def _sees(program: str, repository: Path, paths: Sequence[str]) -> list[str]:
    """Which of *paths* a process sees in the box of *program*, which it does not become."""
    with (
        Boxes() as boxes,
        boxes.box(program, str(repository), [str(repository)], Allowance(1 << 30, 60)) as inside,
    ):

        def look() -> None:
            inside.enter()
            os._exit(sum(os.path.lexists(path) << bit for bit, path in enumerate(paths)))

        done = run_program([sys.executable], folder=str(repository), environ={}, enter=look)
        assert inside.walls().all_stand
    return [path for bit, path in enumerate(paths) if done.returncode >> bit & 1]


def test_landlock_alone(
    tmp_path: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a default container."""
    forbid_namespaces(monkeypatch)
    found, walls = tried(tmp_path, int(loopback.url.rpartition(":")[2]))
    if walls.reading is Wall.NONE:
        pytest.skip("this system has no Landlock")
    assert walls == (Wall.FILTER, Wall.LANDLOCK, Wall.LANDLOCK)
    assert found - BEYOND_LANDLOCK == MEANT


def test_in_a_container(tmp_path: Path, kustomize: str) -> None:
    """Under what the default profile of containers forbids."""
    put(tmp_path / ".git/HEAD", "")
    put(tmp_path / "kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "vm.yaml", vm(memory="1Gi"))
    words = argv("build", "--timings", "-v", ".", "--kustomize", kustomize)
    done = contained(words, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "no network (by a filter of calls), files of the repository alone, read-only (by Landlock)"
        in done.stderr
    )


def contained(words: Sequence[str], cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.support.container", *words],
        cwd=cwd, env=environ(PYTHONPATH=str(ROOT)), check=False, capture_output=True, text=True,
    )  # fmt: skip


SHELL = """
cat {0}/outside && echo reads-outside
cat /etc/passwd && echo reads-passwd
ls {0} | grep -q outside && echo lists-outside
echo x > {0}/outside && echo writes-outside
echo x > {0}/repository/b && echo writes-repository
cat {0}/repository/vm.yaml && echo reads-repository
echo x > $HOME/a && echo writes-home
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user")
def test_the_same_for_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "repository/vm.yaml", "")
    put(tmp_path / "outside", "")
    for path in (*probe.passed(tmp_path), *tmp_path.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    repository = str(tmp_path / "repository")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def answers() -> bytes:
        visible = [repository, "/bin", "/usr/bin"]
        with (
            Boxes() as boxes,
            boxes.box("/bin/sh", repository, visible, Allowance(1 << 30, 60)) as inside,
        ):
            words = ["/bin/sh", "-c", SHELL.format(tmp_path)]
            home = {"HOME": inside.home, "PATH": "/usr/bin:/bin"}
            done = run_program(words, folder=repository, environ=home, enter=inside.enter)
            return f"{inside.walls().all_stand}\n".encode() + done.stdout

    answers()  # what it needs is loaded now: another user may not read it
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os.write(writing, answers())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as answer:
        stand, *found = answer.read().split()
    if stand == "False" and lets_us("--net", "--mount", "true"):
        pytest.skip("this system forbids namespaces to those who are not root")
    assert set(found) == {"reads-repository", "writes-home"}


def test_a_program_may_have_less_than_we_have_ourselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is the program the child has our data: bound below that, it could do nothing more, walls included."""
    steps: list[str] = []

    def confine() -> Walls:
        steps.append("walls")
        return Walls()

    monkeypatch.setattr(walls_of, "_bounding", lambda _: lambda: steps.append("bounds"))
    monkeypatch.setattr(walls_of, "_confining", lambda *_: confine)
    with Boxes() as boxes, boxes.box("/bin/sh", "/", None, Allowance(1 << 20, 60)) as inside:
        inside.enter()
    assert steps == ["walls", "bounds"]


def test_a_box_can_be_required(tmp_path: Path, kustomize: str, helm: str) -> None:
    put(tmp_path / "k/kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "k/vm.yaml", vm(memory="1Gi"))
    put(tmp_path / "c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    put(tmp_path / "c/templates/vm.yaml", vm("b", memory="1Gi"))
    for folder in ("k", "c"):
        words = ("build", folder, "--box", "require", "--kustomize", kustomize, "--helm", helm)
        if lets_us("--net", "--mount", "true") and has_mount_setattr():
            assert run(*words, cwd=tmp_path).returncode == 0
        done = contained(argv(*words), tmp_path)
        assert (done.returncode, done.stdout) == (3, "")
        assert "the system lets us build no box around it" in done.stderr
    done = run(
        "build",
        "k",
        "--box",
        "require",
        "--allow-remote",
        cwd=tmp_path,
        VIRT_RENDER_KUSTOMIZE=kustomize,
    )
    assert (done.returncode, done.stdout) == (3, "")


def test_no_repository_says_what_box_there_is(tmp_path: Path) -> None:
    put(
        tmp_path / ".virt-render.yaml",
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {box: auto}\n",
    )
    put(tmp_path / "vm.yaml", vm(memory="1Gi"))
    assert run("build", ".", cwd=tmp_path).returncode == 2


def test_it_is_said_which(tmp_path: Path, kustomize: str) -> None:
    put(tmp_path / "kustomization.yaml", "resources: [vm.yaml]\n")
    put(tmp_path / "vm.yaml", vm(memory="1Gi"))
    done = run("build", "-v", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert done.returncode == 0
    assert "kustomize, helm: no " in done.stderr
