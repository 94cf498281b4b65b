"""What a release is made of holds what it should, and each part works by itself; the workflows that make it."""

import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

import render
from render.yaml.reader import read
from tests.support.manifests import vm
from tests.support.tools import installed

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys, render
from render.frontends.dispatch import main
print(render.__file__, file=sys.stderr)
main()
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    installed("sbom/bin/cyclonedx-py")
    folder = tmp_path_factory.mktemp("dist")
    made(folder, f"v{render.__version__}")
    return folder


def made(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "scripts.make_dist", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)


def test_checksums_are_those_of_all_files(built: Path) -> None:
    lines = (built / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = {line.split("  ")[1]: line.split("  ")[0] for line in lines}
    files = {path.name for path in built.iterdir()} - {"SHA256SUMS", ".gitignore"}
    assert sums.keys() == files
    assert len(files) == 3
    for name in files:
        assert hashlib.sha256((built / name).read_bytes()).hexdigest() == sums[name]


def test_the_sbom_lists_what_is_installed(built: Path) -> None:
    (file,) = built.glob("*.cdx.json")
    bom = json.loads(file.read_bytes())
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")
    assert bom["metadata"]["component"]["name"] == "virt-render"
    lines = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8").splitlines()
    pinned = {
        line.split()[0].lower() for line in lines if "==" in line and not line.startswith("#")
    }
    assert {
        f"{component['name']}=={component['version']}".lower() for component in bom["components"]
    } == pinned
    assert all(component["externalReferences"][0]["hashes"] for component in bom["components"])
    assert str(ROOT) not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [("v0.0.9",), ()])
def test_nothing_is_made_of_another_tag_or_over_something(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "dist"
    if not words:
        folder.mkdir()
        (folder / "old.whl").write_text("")
    done = made(folder, *words)
    assert done.returncode == 1
    assert ("and the version" if words else "make clean") in done.stderr


def test_the_wheel_of_the_sdist_is_the_wheel(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as sdist:
        sdist.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        str(tmp_path / "dist"),
    ]
    subprocess.run(command, cwd=source, capture_output=True, check=True)
    (ours,), (upstream,) = built.glob("*.whl"), (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(ours) as first, zipfile.ZipFile(upstream) as other:
        assert {(i.filename, i.CRC) for i in first.infolist()} == {
            (i.filename, i.CRC) for i in other.infolist()
        }


def test_the_wheel_is_installed_into_an_environment_of_its_own(built: Path, tmp_path: Path) -> None:
    """As pipx does it, but for what it needs, which is taken from here."""
    (archive,) = built.glob("*.whl")
    home = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    python = home / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    words = ["install", "--quiet", "--no-index", "--no-deps", str(archive)]
    subprocess.run([*pip, *words], check=True)
    (site,) = (home / "lib").glob("python*/site-packages")
    (site / "here.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    (tmp_path / "vm.yaml").write_text(vm("web", memory="1Gi"), encoding="utf-8")
    environ = {"PATH": f"{home / 'bin'}:/usr/bin:/bin"}
    for command in (
        "virt-render --version",
        "virt-render report . -o fleet.html",
        "virt-render test .",
    ):
        done = subprocess.run(
            command.split(),
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == (1 if " test" in command else 0), done.stderr
    assert "<h1>" in (tmp_path / "fleet.html").read_text(encoding="utf-8")


def workflow(path: str) -> Any:
    ((found,), faults) = read((ROOT / path).read_bytes(), path)
    assert not faults
    return found.body


def test_both_forges_make_the_same_release() -> None:
    github = workflow(".github/workflows/release.yml")["jobs"]
    gitlab = workflow(".gitlab-ci.yml")
    (line,) = gitlab["dist"]["script"]
    (step,) = (step for step in github["dist"]["steps"] if step.get("name") == "Build")
    assert step["run"].replace("$TAG", "$CI_COMMIT_TAG") == line
    builds = [github["image"]["steps"][1]["run"], gitlab["image"]["script"][1]]
    assert all(build.startswith("docker build --tag ") and build.endswith(" .") for build in builds)


@pytest.mark.parametrize("forge", ["github", "gitlab"])
def test_the_scripts_of_the_workflows_do_what_they_say(forge: str, tmp_path: Path) -> None:
    """Each runs in a shell, with programs in front of it that only write down how they were called."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("make", "gh", "docker", "curl"):
        (programs / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {tmp_path}/log\n')
        (programs / name).chmod(0o755)
    tag = f"v{render.__version__}"
    environ = {
        "PATH": f"{programs}:/usr/bin:/bin", "TAG": tag, "CI_COMMIT_TAG": tag, "GITHUB_REPOSITORY": "a/b",
        "IMAGE": "images.example.com/virt-render", "CI_REGISTRY_IMAGE": "images.example.com/virt-render",
        "USER": "u", "PASSWORD": "secret", "CI_REGISTRY_USER": "u", "CI_REGISTRY_PASSWORD": "secret",
        "CI_REGISTRY": "images.example.com", "CI_PROJECT_URL": "https://git.example.com/a/b",
        "CI_API_V4_URL": "https://git.example.com/api", "CI_PROJECT_ID": "7", "CI_JOB_TOKEN": "token",
    }  # fmt: skip
    if forge == "github":
        jobs = workflow(".github/workflows/release.yml")["jobs"]
        steps = [step for job in jobs.values() for step in job["steps"]]
        scripts = [step["run"] for step in steps if "run" in step]
    else:
        jobs = workflow(".gitlab-ci.yml")
        scripts = ["\n".join(jobs[name]["script"]) for name in ("dist", "image", "release")]
    for script in scripts:
        subprocess.run(["bash", "-e", "-u", "-c", script], cwd=tmp_path, env=environ, check=True)
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert f"make dist TAG={tag}\n" in log
    image = f"images.example.com/virt-render:{render.__version__}"
    assert f"docker build --tag {image} .\n" in log
    assert f"docker push {image}\n" in log
    assert "docker login --username u --password-stdin images.example.com\n" in log
    assert "secret" not in log
    assert (f"gh release create {tag} dist/*" if forge == "github" else f"tag_name={tag}") in log


def test_sdist_is_complete(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as sdist:
        held = {name.partition("/")[2] for name in sdist.getnames()}
    command = ["git", "ls-files", "-z"]
    tracked = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, encoding="utf-8")
    existing = {name for name in tracked.stdout.split("\0") if name and (ROOT / name).exists()}
    assert existing <= held


def test_wheel_renders_by_itself(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("*.whl")
    with zipfile.ZipFile(archive) as wheel:
        names = wheel.namelist()
        wheel.extractall(tmp_path)  # noqa: S202 - our own archive
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"render"}
    for schema in (ROOT / "schemas").rglob("*.*"):
        assert f"render/_schemas/{schema.relative_to(ROOT / 'schemas')}" in names
    for page in (ROOT / "docs" / "diagnostics").iterdir():
        assert f"render/_diagnostics/{page.name}" in names
    case = ROOT / "fixtures" / "cases" / "instancetype" / "bundled-when-not-in-the-input"
    rendered = subprocess.run(
        [sys.executable, "-c", PROGRAM, "build", str(case / "input"), "--no-annotations"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert str(tmp_path) in rendered.stderr
    assert rendered.stdout == (case / "expected.yaml").read_text(encoding="utf-8")
