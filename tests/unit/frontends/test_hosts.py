"""What the front ends for Argo CD and kustomize load, and what they decide without a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from render.frontends.kustomize.message import is_plugin
from render.frontends.request import parameters
from render.settings import Source
from tests.support.manifests import vm

HEAVY = ["click", "jsonschema", "ruamel.yaml", "difflib", "pathlib"]
VM = vm(instancetype="u1.nano")
LIST = (
    "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- "
    + VM.replace("\n", "\n  ").rstrip()
    + "\n"
)


@pytest.mark.parametrize("argv", [["argocd", "generate"], ["krm"]], ids=" ".join)
def test_machine_forms_load_nothing_heavy(argv: list[str], tmp_path: Path) -> None:
    (tmp_path / "vm.yaml").write_text(VM)
    code = (
        "import sys; from render.frontends import dispatch; "
        f"status = dispatch.invoke({argv}); "
        f"print(status, [name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        input=LIST.encode(),
        capture_output=True,
        check=True,
    )
    assert done.stderr.decode().splitlines()[-1] == "0 []"
    assert b"kubevirt.io/cluster-instancetype-name: u1.nano" in done.stdout


def test_modules_compile_no_patterns(tmp_path: Path) -> None:
    (tmp_path / "vm.yaml").write_text(VM)
    code = """
import re, sys
compile, eager = re.compile, set()
def compiled(pattern, flags=0):
    caller = sys._getframe(1)
    if caller.f_code.co_name == "<module>" and caller.f_globals["__name__"].startswith("render."):
        eager.add(caller.f_globals["__name__"])
    return compile(pattern, flags)
re.compile = compiled
from render.frontends import dispatch
status = dispatch.invoke(["build", "vm.yaml"])
print(status, *sorted(eager), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stderr.decode().splitlines()[-1] == "0"


def test_a_legacy_plugin_is_told_by_its_file_or_its_environment(tmp_path: Path) -> None:
    config = tmp_path / "kust-plugin-config-123"
    config.write_text("")
    other = tmp_path / "config"
    other.write_text("")
    assert is_plugin([str(config)], {})
    assert is_plugin([str(other)], {"KUSTOMIZE_PLUGIN_CONFIG_ROOT": "x"})
    assert not is_plugin([str(other)], {})
    assert not is_plugin([str(tmp_path / "kust-plugin-config-4")], {}), "there is no such file"
    assert not is_plugin([], {"KUSTOMIZE_PLUGIN_CONFIG_STRING": "x"})


def test_parameters_are_a_layer() -> None:
    environ = {parameters.PARAMETERS: '[{"name": "emit", "string": "vmi"}, {"name": "stored"}]'}
    layer, faults = parameters.parameters(environ)
    assert (layer.source, dict(layer.values), faults) == (Source.PARAMETER, {"emit": "vmi"}, [])


@pytest.mark.parametrize(
    "stated", ["\ud800", "{", "[1]", '["a"]', "nonsense", "[" * 100_000, '"text"', "1"]
)
def test_odd_parameters_are_diagnostics(stated: str) -> None:
    _, faults = parameters.parameters({parameters.PARAMETERS: stated})
    assert [fault.code for fault in faults] == ["VR801"]


def test_the_keys_of_a_function_config_are_all_listed(tmp_path: Path) -> None:
    message = LIST + (
        "functionConfig:\n  apiVersion: virt-render.dev/v1alpha1\n  kind: RenderConfig\n"
        "  spec: {resource: [vm.yaml]}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "render", "krm"],
        cwd=tmp_path,
        env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        input=message.encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode != 0
    assert b"unknown function config key resource; did you mean resources?" in done.stderr
    assert b", allowEmpty, resources\n" in done.stderr


@pytest.mark.parametrize("words", ["build .", "check .", "argocd generate", "check vm.yaml"])
def test_a_folder_that_was_removed_cannot_be_read(words: str, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    path = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        ["sh", "-c", f"rmdir ../gone && exec {sys.executable} -m render {words}"],
        cwd=tmp_path / "gone",
        env={"PYTHONPATH": path, "PATH": os.environ["PATH"]},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert b"VR110 unreadable" in done.stderr + done.stdout
    assert b"VR121" not in done.stderr
