"""What the page on the pod shows is what virt-render prints."""

import re
from pathlib import Path
from typing import Any

from render import Settings, render
from render.yaml.reader import read

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pod.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_vm_of_the_page_asks_for_what_is_shown() -> None:
    vm, shown = blocks("yaml")
    (document,) = read(vm.encode(), "vm.yaml").documents
    (pod,) = render([document.body], Settings(emit="pod")).resources
    (wanted,) = read(shown.encode(), "shown").documents
    assert pod["spec"]["containers"][0]["resources"]["requests"] == wanted.body["requests"]


def test_the_python_of_the_page_runs() -> None:
    vm = read(blocks("yaml")[0].encode(), "vm.yaml").documents[0].body
    vmi = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": vm["spec"]["template"]["spec"],
    }
    names: dict[str, Any] = {"objects": [vm], "vmi": vmi, "cluster": []}
    exec(blocks("python")[0], names)  # noqa: S102 - ours
    (pod,) = names["pods"]
    assert pod["kind"] == "Pod"
