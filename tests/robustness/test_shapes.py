"""Input made to cost much: work grows with the text, whatever its shape, and memory has a limit.

Work is counted in calls of functions, Python's and C's, and not in time.
"""

import json
import os
import re
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from render.diagnostics.codes import CODES
from render.frontends import dispatch
from render.manifests import output
from render.yaml import positions
from tests.support.calls import calls
from tests.support.manifests import vm
from tests.support.process import argv, environ

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
BOMB = (
    f"a: &a {{{', '.join(f'k{number}: 1' for number in range(50))}}}\n"
    f"b: &b [{', '.join(['*a'] * 50)}]\nc: [{', '.join(['*b'] * 70)}]\n"
)
MACHINE = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}


def json_in_a_row(count: int) -> str:
    text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"}}'
    return "".join(text % number for number in range(count))


def one_line_with_findings(count: int) -> str:
    items = [
        {**MACHINE, "metadata": {"name": f"v{number}"}, "spec": {"x": 1}} for number in range(count)
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def merge_keys(count: int) -> str:
    return f"{HEAD}x: &x {{a: 1}}\ny:\n" + "  <<: *x\n" * count


def own_merge_keys(count: int) -> str:
    return f"{HEAD}y:\n" + "".join(f"  <<: {{k{number}: 1}}\n" for number in range(count))


def nested_anchors(count: int) -> str:
    first = "".join(f"&a{number} [" for number in range(100)) + "]" * 100
    return f"{HEAD}x:\n" + f"- {first}\n" * (count // 20)


def missing_references(count: int) -> str:
    return "---\n".join(
        vm(f"v{number}", instancetype=f"u1.mediun{number}", memory="") for number in range(count)
    )


def ambiguous_values(count: int) -> str:
    return f"{vm('v')}        x: [{', '.join(['yes'] * count)}]\n"


def keys_that_stand_twice(count: int) -> str:
    return vm("v") + "  a: 1\n" * count


def merges_of_those_before(count: int) -> str:
    """A mistake behind mappings that each merge those before them, of which none has what is looked for in all."""
    merged = "".join(
        f"a{number}: &a{number} {{<<: [{', '.join(f'*a{number - back}' for back in range(1, 5))}]}}\n"
        for number in range(4, count)
    )
    first = "".join(f"a{number}: &a{number} {{}}\n" for number in range(4))
    return f"{vm('v')}x: 1\n{first}{merged}x: 2\n"


def equal_boot_orders(count: int) -> str:
    disks = "".join(
        f"          - {{name: d{number}, disk: {{bus: virtio}}, bootOrder: 1}}\n"
        for number in range(count)
    )
    volumes = "".join(
        f"      - {{name: d{number}, emptyDisk: {{capacity: 1Gi}}}}\n" for number in range(count)
    )
    return (
        vm("v").replace("devices: {}", f"devices:\n          disks:\n{disks}")
        + f"      volumes:\n{volumes}"
    )


SHAPES = (
    json_in_a_row, one_line_with_findings, merge_keys, own_merge_keys, nested_anchors,
    missing_references, ambiguous_values, keys_that_stand_twice, merges_of_those_before, equal_boot_orders,
)  # fmt: skip


def work(text: str, folder: Path) -> int:
    """How many calls a check of *text* takes."""
    (folder / "a.yaml").write_text(text)
    positions.forget()
    positions.chunks.cache_clear()
    words = ["check", "--kustomize", "never", str(folder / "a.yaml")]
    return calls(lambda: dispatch.invoke(words))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@pytest.mark.usefixtures("capfd")
def test_work_grows_with_the_text(shape: Callable[[int], str], tmp_path: Path) -> None:
    work(shape(20), tmp_path)  # what is imported and remembered at first use does not count
    once, twice, more = (work(shape(count), tmp_path) for count in (200, 400, 800))
    assert more - twice <= 2.2 * (twice - once) + 500


def test_equal_names_of_files() -> None:
    bodies = [{"apiVersion": "v1", "kind": "A", "metadata": {"name": "b"}} for _ in range(20_000)]
    names = output.file_names(bodies)
    assert names[:2] == ["a-b.yaml", "a-b-2.yaml"]
    assert names[-1] == "a-b-20000.yaml"
    assert len(set(names)) == len(names)


#: Text, and the code of the limit that it meets; None: it is read.
LARGE: dict[str, tuple[Callable[[], str], str | None]] = {
    "aliases": (lambda: "---\n".join([BOMB] * 90), "VR111"),
    "empty-items": (
        lambda: f"apiVersion: v1\nkind: List\nitems: [{', '.join(['{}'] * 750_000)}]\n", "VR111",
    ),
    "empty-machines": (
        lambda: f"apiVersion: kubevirt.io/v1\nkind: VirtualMachineList\nitems: [{', '.join(['{}'] * 750_000)}]\n",
        "VR111",
    ),
    "empty-documents": (lambda: "---\n{}\n" * 140_000, "VR111"),
    "json-in-a-row": (lambda: json_in_a_row(16_000), None),
    "empty-json-in-a-row": (lambda: "{}" * 500_000, "VR111"),
    "one-line-with-10000-findings": (lambda: one_line_with_findings(10_000), "VR105"),
    "merge-keys": (lambda: merge_keys(100_000), None),
    "nested-anchors": (lambda: nested_anchors(28_000), None),
    "nested-without-end": (lambda: f"{vm('v')}  x: {'&a [' * 250_000}", "VR111"),
    "unknown-fields": (lambda: vm("v") + "".join(f"  k{n}: 1\n" for n in range(100_000)), "VR105"),
    "ambiguous-values": (lambda: ambiguous_values(200_000), "VR113"),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_memory(name: str, tmp_path: Path) -> None:
    """Far below what each of them took once; measured they stay below 110 MB."""
    text, code = LARGE[name][0](), LARGE[name][1]
    (tmp_path / "a.yaml").write_text(text)

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (150 << 20, 150 << 20))

    done = subprocess.run(
        argv("build", "a.yaml", "-o", os.devnull), cwd=tmp_path, env=environ(), check=False,
        capture_output=True, encoding="utf-8", preexec_fn=little, timeout=300,
    )  # fmt: skip
    assert "internal-error" not in done.stderr
    if code is None:
        assert done.returncode == 0
        assert re.fullmatch(r"no VM among .*: no findings\n", done.stderr)
    else:
        assert f" {code} {CODES[code].slug}: " in done.stderr
