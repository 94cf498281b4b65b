"""Nothing outside of the repository is read, quoted or written, whatever link or dots lead there."""

import os
from pathlib import Path

import pytest

from render.frontends.kustomize import init
from tests.support.asking import without_last_line
from tests.support.manifests import instancetype, put, vm
from tests.support.process import run
from tests.support.repository import Repository

CANARY = "outside-canary"
OUTSIDE = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {CANARY}\ndata: [{CANARY}\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a VM, beside files and a base that are not its own."""
    put(tmp_path / "secret.yaml", OUTSIDE)
    put(tmp_path / "elsewhere/kustomization.yaml", "resources: [c.yaml]\n")
    put(tmp_path / "elsewhere/c.yaml", OUTSIDE.replace(f"data: [{CANARY}\n", ""))
    put(tmp_path / "repo/app/vm.yaml", vm(memory="1Gi"))
    (tmp_path / "repo/.git").mkdir()
    return tmp_path / "repo"


COMMANDS = ["build", "check", "argocd generate", "pin", "verify", "migrate --check"]


def refused(repository: Path, kustomize: str, command: str, code: str = "VR110") -> None:
    before = {path: path.read_bytes() for path in repository.parent.rglob("*") if path.is_file()}
    done = run(*command.split(), cwd=repository / "app", VIRT_RENDER_KUSTOMIZE=kustomize)
    output = done.stdout + done.stderr
    assert CANARY not in output, output
    if "migrate" not in command:  # it does not build what nothing of it changes
        assert done.returncode in (1, 3), output
        assert f"error {code} " in output
    assert {
        path: path.read_bytes() for path in repository.parent.rglob("*") if path.is_file()
    } == before


@pytest.mark.parametrize("command", COMMANDS)
def test_a_kustomization_that_is_a_link(repository: Path, kustomize: str, command: str) -> None:
    (repository / "app/kustomization.yaml").symlink_to("../../kubevirt.yaml")
    put(repository.parent / "kubevirt.yaml", f"# {CANARY}\nresources: [kubevirt.io]\n")
    refused(repository, kustomize, command)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_kustomization_of_a_base_that_is_a_link(
    repository: Path, kustomize: str, command: str
) -> None:
    put(repository / "app/kustomization.yaml", "resources: [vm.yaml, ../base]\n")
    (repository / "base").mkdir()
    (repository / "base/kustomization.yaml").symlink_to("../../secret.yaml")
    refused(repository, kustomize, command)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("entry", ["../../elsewhere", "link", "../../secret.yaml", "file.yaml"])
def test_what_a_kustomization_names(
    repository: Path, kustomize: str, command: str, entry: str
) -> None:
    put(repository / "app/kustomization.yaml", f"resources: [vm.yaml, {entry}]\n")
    (repository / "app/link").symlink_to("../../elsewhere")
    (repository / "app/file.yaml").symlink_to("../../secret.yaml")
    refused(repository, kustomize, command)


LOADING = {
    "SecretGenerator": "files: [NAME]",
    "ConfigMapGenerator": "envs: [NAME]",
    "PatchTransformer": "path: NAME",
    "PatchStrategicMergeTransformer": "paths: [NAME]",
    "ReplacementTransformer": "replacements: [{path: NAME}]",
}


@pytest.mark.parametrize("kind", LOADING)
@pytest.mark.parametrize("name", ["../../secret.yaml", "/nowhere", "file.yaml", "inline"])
def test_what_a_configuration_of_kustomize_names(
    repository: Path, kustomize: str, kind: str, name: str
) -> None:
    """Also what is not there: nobody learns by it what is."""
    field = LOADING[kind].replace("NAME", "/nowhere" if name == "inline" else name)
    text = f"{{apiVersion: builtin, kind: {kind}, metadata: {{name: g}}, {field}}}"
    put(repository / "app/config.yaml", text)
    (repository / "app/file.yaml").symlink_to("../../secret.yaml")
    key = "generators" if "Generator" in kind else "transformers"
    entry = f"'{text}'" if name == "inline" else "config.yaml"
    put(repository / "app/kustomization.yaml", f"resources: [vm.yaml]\n{key}: [{entry}]\n")
    refused(repository, kustomize, "build")


def test_a_path_of_a_field_is_no_file(repository: Path, kustomize: str) -> None:
    spec = "[{path: /metadata/labels/../../../../x, create: true}]"
    metadata = "{name: l, annotations: {path: /x}}"
    text = (
        f"apiVersion: builtin\nkind: LabelTransformer\nmetadata: {metadata}\nfieldSpecs: {spec}\n"
    )
    put(repository / "app/config.yaml", text + "labels: {a: b}\n")
    put(
        repository / "app/kustomization.yaml",
        "resources: [vm.yaml]\ntransformers: [config.yaml]\n",
    )
    done = run("check", ".", cwd=repository / "app", VIRT_RENDER_KUSTOMIZE=kustomize)
    assert "VR110" not in done.stdout + done.stderr


@pytest.mark.parametrize("command", COMMANDS[:4])
def test_a_lock_that_is_a_link(repository: Path, kustomize: str, command: str) -> None:
    put(repository / "app/kustomization.yaml", "resources: [vm.yaml]\n")
    (repository / "app/virt-render.lock.yaml").symlink_to("../../secret.yaml")
    refused(repository, kustomize, command)


def test_pin_writes_through_no_link(repository: Path, kustomize: str) -> None:
    put(repository / "app/kustomization.yaml", "resources: [vm.yaml, i.yaml]\n")
    put(repository / "app/vm.yaml", vm(instancetype="small"))
    put(repository / "app/i.yaml", instancetype("small"))
    (repository / "app/virt-render.lock.yaml").symlink_to("../../new.yaml")
    refused(repository, kustomize, "pin")
    assert not (repository.parent / "new.yaml").exists()


def test_init_writes_through_no_link(repository: Path) -> None:
    for name in (init.SCHEMA_FILE, init.NAMES_FILE):
        (repository / "app" / name).symlink_to(f"../../{name}")
    done = run("kustomize", "init", "--force", cwd=repository / "app")
    assert done.returncode == 3
    assert not any((repository.parent / name).exists() for name in init.contents())


WRITING = [
    ("build", "app", "-o", "LINK"),
    ("check", "--sarif-file", "LINK"),
    ("check", "--json-file", "LINK"),
    ("report", "-o", "LINK"),
    ("diff", "HEAD", "--format", "html", "-o", "LINK"),
]


@pytest.fixture
def linked(tmp_path: Path) -> Repository:
    """A repository with a pinned VM, whose links lead to files outside, and to git's own."""
    made = Repository(tmp_path / "linked")
    made.write("app/vm.yaml", vm("web", memory="1Gi"))
    made.fine("pin", "app")
    for name, target in {
        "file": "../outside", "new": "../not-there", "config": ".git/config", "folder": "..",
        "device": "/dev/full", "inside": "app/inside",
    }.items():  # fmt: skip
        (made.folder / name).symlink_to(target)
    made.commit("links")
    put(tmp_path / "outside", "as it was\n")
    return made


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_no_answer_is_written_through_a_link_of_the_repository(
    linked: Repository, words: tuple[str, ...]
) -> None:
    above = linked.folder.parent
    config = (linked.folder / ".git/config").read_bytes()
    for link in ("file", "new", "config", "folder/new", "device"):
        done = linked.run(*(link if word == "LINK" else word for word in words))
        assert done.returncode == 3, done.stdout + done.stderr
        assert "a link of the repository leads out of it from there" in done.stdout + done.stderr
    assert sorted(os.listdir(above)) == ["linked", "outside"]
    assert (above / "outside").read_text() == "as it was\n"
    assert (linked.folder / ".git/config").read_bytes() == config


def test_a_folder_that_is_a_link_of_the_repository(linked: Repository) -> None:
    for out in ("folder/", "folder/out/", "folder/out/more/"):
        done = linked.run("build", "app", "-o", out)
        assert done.returncode == 3, done.stdout
    assert sorted(os.listdir(linked.folder.parent)) == ["linked", "outside"]


def test_a_link_of_who_runs_the_program_is_his(linked: Repository) -> None:
    assert linked.run("build", "app", "-o", "inside").returncode == 0
    assert (linked.folder / "app/inside").is_file()
    (linked.folder.parent / "mine").symlink_to("outside")
    assert linked.run("build", "app", "-o", "../mine").returncode == 0
    assert (linked.folder.parent / "mine").is_symlink()
    assert "kind: VirtualMachine" in (linked.folder.parent / "outside").read_text()
    (linked.folder.parent / "way").symlink_to("linked")
    through = linked.folder.parent / "way/app.yaml"
    assert linked.run("build", "app", "-o", str(through)).returncode == 0


def test_a_base_of_another_request_in_the_sidecar(tmp_path: Path, kustomize: str) -> None:
    """Argo CD may send the files without .git, into a folder of the request beside those of others."""
    server = tmp_path / "_cmp_server"
    put(server / "theirs/app/kustomization.yaml", "resources: [c.yaml]\n")
    put(server / "theirs/app/c.yaml", OUTSIDE.replace(f"data: [{CANARY}\n", ""))
    put(server / "ours/base/kustomization.yaml", "resources: [vm.yaml]\n")
    put(server / "ours/base/vm.yaml", vm(memory="1Gi"))
    put(server / "ours/app/kustomization.yaml", "resources: [../base]\n")
    done = run("argocd", "generate", cwd=server / "ours/app", VIRT_RENDER_KUSTOMIZE=kustomize)
    assert done.returncode == 0
    put(server / "ours/app/kustomization.yaml", "resources: [../base, ../../theirs/app]\n")
    done = run("argocd", "generate", cwd=server / "ours/app", VIRT_RENDER_KUSTOMIZE=kustomize)
    assert (done.returncode, done.stdout) == (3, "")
    assert "VR110" in done.stderr


def test_a_submodule_is_part_of_the_repository_around_it(repository: Path, kustomize: str) -> None:
    put(repository / "app/kustomization.yaml", "resources: [vm.yaml]\n")
    put(repository / "module/.git", "gitdir: ../.git/modules/module\n")
    put(repository / "module/over/kustomization.yaml", "resources: [../../app]\n")
    done = run("build", "module/over", cwd=repository, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert (done.returncode, without_last_line(done.stderr)) == (0, "")
    assert done.stderr.startswith("1 VM in 1 kustomization: no findings")


def test_what_a_function_config_names(repository: Path) -> None:
    config = (
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n"
        "  apiVersion: virt-render.dev/v1alpha1\n  kind: RenderConfig\n  metadata: {name: a}\n"
        "  spec: {allowEmpty: true, SPEC}\n"
    )
    for spec in ("resources: [../../elsewhere]", f"catalog: {repository.parent}/elsewhere"):
        done = run("krm", cwd=repository / "app", stdin=config.replace("SPEC", spec))
        assert CANARY not in done.stdout + done.stderr
        assert done.returncode
        assert "leads out of the repository" in done.stderr
    assert os.listdir(repository.parent / "elsewhere")


@pytest.mark.parametrize(
    "words",
    [
        "check vms",
        "build vms",
        "report vms",
        "check vms/vm.yaml",
        "check below/../vms",
        "explain web vms",
        "pin vms",
    ],
)
def test_a_path_that_somebody_names_leads_nowhere_else(tmp_path: Path, words: str) -> None:
    """Of an action that checks ``vms`` a change may have made a link."""
    put(tmp_path / "outside" / "vm.yaml", f"{vm('web')}  secretField: CANARY\n")
    repository = Repository(tmp_path / "repository")
    (repository.folder / "below").mkdir()
    (repository.folder / "vms").symlink_to(tmp_path / "outside")
    done = repository.run(*words.split())
    assert "CANARY" not in done.stdout + done.stderr
    assert "it leads out of the repository" in done.stdout + done.stderr
    assert done.returncode


def test_a_repository_behind_a_link_is_read(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.vm("web")
    (tmp_path / "link").symlink_to(repository.folder)
    (repository.folder / "again").symlink_to(".")
    for folder in (str(tmp_path / "link"), "again"):
        done = repository.run("check", folder)
        assert "1 VM" in done.stdout + done.stderr, folder


def test_a_chain_of_folders_of_transformers_ends_nothing(tmp_path: Path, kustomize: str) -> None:
    put(tmp_path / "bad.yaml", vm("bad", memory="1Gi").replace("devices: {}", "devises: {}"))
    put(tmp_path / "k/kustomization.yaml", "transformers: [../t1100]\n")
    for number in range(1_100):  # more than Python has calls for
        put(tmp_path / f"t{number + 1}/kustomization.yaml", f"resources: [../t{number}]\n")
    done = run("check", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert "VR901" not in done.stdout + done.stderr
    assert "VR105" in done.stdout


def test_a_chain_of_links_ends_nothing(tmp_path: Path, kustomize: str) -> None:
    put(tmp_path / "bad.yaml", vm("bad", memory="1Gi").replace("devices: {}", "devises: {}"))
    put(tmp_path / "l0/vm.yaml", vm("good", memory="1Gi"))
    put(tmp_path / "k/kustomization.yaml", "resources: [l1100]\n")
    put(tmp_path / "k/l0/kustomization.yaml", "resources: []\n")
    for number in range(1_100):  # more than Python has calls for
        for folder in (tmp_path, tmp_path / "k"):
            (folder / f"l{number + 1}").symlink_to(f"l{number}")
    done = run("check", ".", cwd=tmp_path, VIRT_RENDER_KUSTOMIZE=kustomize)
    assert "VR901" not in done.stdout + done.stderr
    assert "VR105" in done.stdout
