"""The health scripts of deploy/argocd/health, run by the Lua of Argo CD's version."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from lupa import lua51  # type: ignore[import-untyped] # what Argo CD speaks

from render.yaml.reader import read
from tests.support.cases import ROOT
from tests.support.manifests import put

RUNNING = {"printableStatus": "Running", "ready": True}
FOLDER = ROOT / "deploy" / "argocd" / "health"


def health(kind: str, body: dict[str, Any]) -> tuple[str, str]:
    """Status and message that the script for *kind* gives *body*."""
    lua = lua51.LuaRuntime(unpack_returned_tuples=True)
    script = (FOLDER / f"{kind}.lua").read_text(encoding="utf-8")
    lua.globals().obj = lua.table_from(body, recursive=True)
    found = lua.execute(script)
    return found["status"], found["message"]


def vm(status: dict[str, Any] | None, **spec: Any) -> tuple[str, str]:
    body = {"spec": spec or {"runStrategy": "Always"}} | ({"status": status} if status else {})
    return health("kubevirt.io_VirtualMachine", body)


def condition(name: str, message: str = "", status: str = "True") -> dict[str, str]:
    return {"type": name, "status": status, "message": message}


@pytest.mark.parametrize(
    ("status", "spec", "expected"),
    [
        (None, {}, "Progressing"),
        ({"printableStatus": "Starting"}, {}, "Progressing"),
        ({"printableStatus": "Running", "ready": True}, {}, "Healthy"),
        ({"printableStatus": "Running", "ready": False}, {}, "Progressing"),
        ({"printableStatus": "Paused"}, {}, "Suspended"),
        ({"printableStatus": "Stopped"}, {"runStrategy": "Halted"}, "Healthy"),
        ({"printableStatus": "Stopped"}, {"runStrategy": "Manual"}, "Healthy"),
        ({"printableStatus": "Stopped"}, {"running": False}, "Healthy"),
        ({"printableStatus": "Stopped"}, {"running": True}, "Progressing"),
        ({"printableStatus": "Stopped"}, {"runStrategy": "Always"}, "Progressing"),
        ({"printableStatus": "ErrorUnschedulable"}, {}, "Degraded"),
        ({**RUNNING, "conditions": [condition("Failure", status="False")]}, {}, "Healthy"),
    ],
)  # fmt: skip
def test_health_of_a_vm(status: dict[str, Any] | None, spec: dict[str, Any], expected: str) -> None:
    assert vm(status, **spec)[0] == expected


def test_what_kubevirt_cannot_do_is_degraded() -> None:
    found = {"printableStatus": "Stopped", "conditions": [condition("Failure", "no small")]}
    assert vm(found, runStrategy="Halted") == ("Degraded", "no small")


def test_a_required_restart_is_said() -> None:
    told = condition("RestartRequired", "a non-live-updatable field was changed")
    status, message = vm({"printableStatus": "Running", "ready": True, "conditions": [told]})
    assert (status, message) == (
        "Healthy",
        "Running; restart required: a non-live-updatable field was changed",
    )


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (None, "Progressing"),
        ({"phase": "Succeeded"}, "Healthy"),
        ({"phase": "WaitForFirstConsumer"}, "Healthy"),
        ({"phase": "ImportInProgress", "progress": "7%"}, "Progressing"),
        ({"phase": "Failed"}, "Degraded"),
        ({"phase": "Paused"}, "Suspended"),
    ],
)
def test_health_of_a_data_volume(status: dict[str, Any] | None, expected: str) -> None:
    body = {"status": status} if status else {}
    assert health("cdi.kubevirt.io_DataVolume", body)[0] == expected


@pytest.mark.parametrize("where", ["", ", namespace: argocd"])
@pytest.mark.parametrize("more", ["", "namespace: argocd\n"])
def test_component_puts_them_into_the_settings(
    tmp_path: Path, kustomize: str, where: str, more: str
) -> None:
    for file in FOLDER.iterdir():
        put(tmp_path / "health" / file.name, file.read_text(encoding="utf-8"))
    metadata = f"{{name: argocd-cm{where}}}"
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\ndata: {{a: b}}\n"
    put(tmp_path / "app/cm.yaml", text)
    put(
        tmp_path / "app/kustomization.yaml",
        f"{more}resources: [cm.yaml]\ncomponents: [../health]\n",
    )
    argv = [kustomize, "build", "app"]
    built = subprocess.run(argv, cwd=tmp_path, capture_output=True, check=True).stdout
    (document,) = read(built, "built").documents
    keys = {key.removeprefix("resource.customizations.health.") for key in document.body["data"]}
    scripts = {file.name.removesuffix(".lua") for file in FOLDER.glob("*.lua")}
    assert keys == {"a", *scripts}
