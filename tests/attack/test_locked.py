"""What who runs the sidecar decides, no Application decides otherwise."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.manifests import instancetype, put, vm
from tests.support.process import run


@pytest.fixture
def application(tmp_path: Path) -> Path:
    """The folder of an application in its checkout, beside that of another tenant."""
    put(tmp_path / "theirs/types.yaml", instancetype("theirs", memory="3Gi"))
    put(tmp_path / "types/types.yaml", instancetype("shared", memory="3Gi"))
    put(tmp_path / "ours/app/vm.yaml", vm(instancetype="theirs"))
    (tmp_path / "ours/.git").mkdir()
    return tmp_path / "ours/app"


def generate(folder: Path, parameters: dict[str, str], **more: str) -> tuple[int, str, str]:
    inputs = json.dumps([{"name": name, "string": value} for name, value in parameters.items()])
    environment: dict[str, Any] = {"ARGOCD_APP_PARAMETERS": inputs, **more}
    done = run("argocd", "generate", cwd=folder, **environment)
    return done.returncode, done.stdout, done.stderr


def test_a_locked_option(application: Path) -> None:
    put(application / "vm.yaml", vm(memory="1Gi"))
    assert generate(application, {"pins": "ignore"})[0] == 0
    for more in ({}, {"ARGOCD_ENV_VIRT_RENDER_PINS": "ignore"}):
        status, printed, text = generate(
            application, {} if more else {"pins": "ignore"},
            VIRT_RENDER_PINS="require", VIRT_RENDER_LOCKED="pins, deadline", **more,
        )  # fmt: skip
        assert (status, printed) == (2, "")
        assert "is locked by who runs virt-render" in text
    status, _, text = generate(application, {"deadline": "50"}, VIRT_RENDER_LOCKED="deadline")
    assert status == 2
    assert "parameter deadline is locked" in text
    put(application / ".virt-render.yaml",
        "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {emit: source}\n")  # fmt: skip
    status, _, text = generate(application, {}, VIRT_RENDER_LOCKED="emit")
    assert status == 2
    assert "configuration key emit is locked" in text


def test_a_lock_on_nothing_is_said(application: Path) -> None:
    status, _, text = generate(application, {}, VIRT_RENDER_LOCKED="pinz")
    assert status == 2
    assert "there is no option pinz" in text


@pytest.mark.parametrize("name", ["catalog", "lock", "cluster-config", "values"])
@pytest.mark.parametrize("path", ["../../theirs/types.yaml", "link.yaml", "/", "/etc/passwd"])
def test_paths_are_confined(application: Path, name: str, path: str) -> None:
    (application / "link.yaml").symlink_to("../../theirs/types.yaml")
    status, printed, text = generate(application, {name: path})
    assert (status, printed) == (2, "")
    assert f"{name}: {path} leads out of the repository" in text
    assert text.count("error VR") == 1
    assert "root:" not in text
    variable = f"ARGOCD_ENV_VIRT_RENDER_{name.upper().replace('-', '_')}"
    status, _, text = generate(application, {}, **{variable: path})
    assert status == 2
    assert "leads out of the repository" in text


def test_folders_that_the_operator_names(application: Path) -> None:
    put(application / "vm.yaml", vm(instancetype="shared"))
    folder = str(application.parents[1] / "types")
    requested = {"catalog": f"{folder}/types.yaml"}
    assert generate(application, requested)[0] == 2
    status, printed, _ = generate(
        application, requested, VIRT_RENDER_SETTINGS_FOLDERS=f"/nowhere:{folder}"
    )
    assert status == 0
    assert 'guest: "3Gi"' in printed
    status, _, _ = generate(application, {"settings-folders": "/", **requested})
    assert status == 2


@pytest.mark.parametrize("seconds", ["601", "1000000000000", "9" * 40])
def test_the_deadline_has_a_cap(application: Path, seconds: str) -> None:
    put(application / "vm.yaml", vm(memory="1Gi"))
    status, _, text = generate(application, {"deadline": seconds})
    assert status == 2
    assert "deadline" in text
    status, _, _ = generate(application, {"deadline": "700"}, VIRT_RENDER_MAX_DEADLINE="700")
    assert status == 0
