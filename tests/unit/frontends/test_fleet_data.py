"""A fleet as data: JSON by its schema, CSV that no spreadsheet calculates, and who uses a definition."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from render.diagnostics.exits import Exit
from tests.support.asking import Ask
from tests.support.cases import ROOT
from tests.support.manifests import instancetype, vm
from tests.support.process import environ

FLEET = {
    "small.yaml": instancetype("small"),
    "large.yaml": instancetype("large", memory="8Gi"),
    "a.yaml": vm("a", namespace="prod", instancetype="small"),
    "b.yaml": vm("b", namespace="prod", instancetype="small"),
    "c.yaml": vm("c", namespace="dev", instancetype="small", memory="3Gi"),
    "d.yaml": vm("d", namespace="dev", memory="1Gi"),
}


def test_json_follows_its_schema(ask: Ask) -> None:
    answer = ask("report", "--format", "json", files=FLEET)
    assert answer.exit == Exit.OK
    assert answer.err.startswith("4 VMs: 1 error; ")
    found = json.loads(answer.out)
    schema = json.loads((ROOT / "schemas" / "fleet.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(found, schema)
    machines = {machine["name"]: machine for machine in found["machines"]}
    assert machines["a"]["memory"] == 1 << 30
    assert machines["a"]["instancetype"]["name"] == "small"
    assert machines["c"]["starts"] is False
    assert machines["c"]["findings"][0]["code"] == "VR301"
    assert machines["d"]["instancetype"] is None
    assert found["total"] == {"machines": 3, "vcpus": 3, "memory": 3 << 30}


def test_json_has_what_pods_ask_for(ask: Ask) -> None:
    quota = (
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: team, namespace: dev}\n"
        "spec: {hard: {requests.memory: 4Gi}}\n"
    )
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: one}\nstatus: {allocatable: {cpu: 4, memory: 8Gi}}\n"
    words = (
        "report",
        "--format",
        "json",
        "--kubevirt",
        "1.9",
        "--cluster-objects",
        "../nodes.yaml",
    )
    answer = ask(*words, ".", files={**FLEET, "quota.yaml": quota, "../nodes.yaml": node})
    found = json.loads(answer.out)
    schema = json.loads((ROOT / "schemas" / "fleet.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, schema)
    (figures,) = found["capacity"]
    pod = (1024 + 268 << 20) + 35_000_000
    assert figures["root"] == ""
    dev = next(namespace for namespace in figures["namespaces"] if namespace["name"] == "dev")
    overhead = pod - (1 << 30)
    assert dev["memory"] == {"always": pod, "overhead": overhead, "startable": 0, "limit": 4 << 30}
    (quota_figure,) = figures["quotas"]
    assert (quota_figure["always"], quota_figure["hard"]) == (str(pod), "4Gi")
    (pool,) = figures["nodePools"]
    assert (pool["nodes"], pool["largest"], pool["leftMemory"] < 0) == (1, "one", True)


def test_csv_has_a_line_a_vm(ask: Ask) -> None:
    rows = list(csv.DictReader(io.StringIO(ask("report", "--format", "csv", files=FLEET).out)))
    assert [row["name"] for row in rows] == ["a", "b", "c", "d"]
    assert [row["starts"] for row in rows] == ["yes", "yes", "no", "yes"]
    assert rows[0]["memory"] == str(1 << 30)


def test_csv_names_what_cannot_be_read(ask: Ask) -> None:
    """As the JSON does; whoever reads the table alone must not take it for the whole."""
    files = {
        **FLEET,
        "bad.yaml": vm("bad").replace("spec:", " spec: ["),
        "again.yaml": instancetype("large"),
    }
    rows = list(csv.DictReader(io.StringIO(ask("report", "--format", "csv", files=files).out)))
    found = json.loads(ask("report", "--format", "json").out)["findings"]
    assert [(row["kind"], row["name"], row["file"], row["errors"]) for row in rows[4:]] == [
        (
            *(
                (item["resource"]["kind"], item["resource"]["name"])
                if item["resource"]
                else ("", "")
            ),
            item["file"],
            "1",
        )
        for item in found
    ]
    assert {row["file"] for row in rows[4:]} >= {"bad.yaml"}
    assert all(row["line"] and not row["starts"] for row in rows[4:])


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t"])
def test_no_cell_is_a_formula(begin: str, ask: Ask) -> None:
    name = f"{begin}HYPERLINK(1)"
    text = vm("web", memory="1Gi").replace("name: web", f"name: {json.dumps(name)}", 1)
    answer = ask("report", "--format", "csv", "--admission", "off", files={"vm.yaml": text})
    (row,) = csv.DictReader(io.StringIO(answer.out))
    assert row["name"] == f"'{name}"
    for cell in row.values():
        assert not cell.startswith(("=", "+", "-", "@", "\t"))


def test_used_by_lists_whom_an_edit_reaches(ask: Ask) -> None:
    answer = ask("used-by", "small", files=FLEET)
    assert answer.exit == Exit.OK
    lines = answer.out.splitlines()
    assert [line.split()[0] for line in lines] == ["dev/c", "prod/a", "prod/b"]
    assert "a.yaml:" in answer.out
    assert ["does not start" in line for line in lines] == [True, False, False]


def test_used_by_of_what_nobody_uses_and_of_what_is_not_there(ask: Ask) -> None:
    answer = ask("used-by", "large", files=FLEET)
    assert (answer.exit, answer.out) == (Exit.OK, "no VM uses large\n")
    wrong = ask("used-by", "smal", files=FLEET)
    assert wrong.exit == Exit.USAGE
    assert "did you mean small?" in wrong.err
    assert "smal is here, and no VM uses one" in wrong.err


def test_used_by_of_what_the_cluster_has_and_nobody_uses(ask: Ask) -> None:
    assert ask("used-by", "u1.medium", files=FLEET) == (Exit.OK, "no VM uses u1.medium\n", "")
    assert "did you mean u1.medium?" in ask("used-by", "u1.medum").err
    assert ask("used-by", "u1.medium", "--catalog", "none").exit == Exit.USAGE
    others = {"others/huge.yaml": FLEET["large.yaml"].replace("name: large", "name: huge")}
    catalogued = ask("used-by", "huge", "a.yaml", "--catalog", "others", files=others)
    assert (catalogued.exit, catalogued.out) == (Exit.OK, "no VM uses huge\n")


@pytest.mark.parametrize(
    "kind",
    [
        "instancetype",
        "VirtualMachineClusterInstancetype",
        "virtualmachineclusterinstancetypes.instancetype.kubevirt.io",
    ],
)
def test_used_by_takes_a_kind_as_kubectl_does(kind: str, ask: Ask) -> None:
    assert ask("used-by", f"{kind}/small", files=FLEET).out == ask("used-by", "small").out != ""


def test_used_by_of_another_kind(ask: Ask) -> None:
    answer = ask("used-by", "virtualmachineinstancetype/small", files=FLEET)
    assert answer.exit == Exit.USAGE
    assert "no VirtualMachineInstancetype small is here, and no VM uses one" in answer.err
    assert "leave the kind out: another one has the name" in answer.err


def test_used_by_says_which_names_lead_nowhere(ask: Ask) -> None:
    """As where kustomize added a suffix to the definition alone."""
    files = {name: text.replace("name: small", "name: small-dev") if "Instancetype\n" in text else text
             for name, text in FLEET.items()}  # fmt: skip
    answer = ask("used-by", "small-dev", files=files)
    assert answer.out == "no VM uses small-dev; 3 VMs need small, which is not here\n"


def test_used_by_of_what_vms_lack(ask: Ask) -> None:
    files = {name: text for name, text in FLEET.items() if "Instancetype\n" not in text}
    missing = ask("used-by", "small", files=files)
    assert missing.exit == Exit.USAGE
    assert "no instancetype or preference small is here, and 3 VMs would need it" in missing.err


def test_used_by_says_who_is_pinned(ask: Ask) -> None:
    files = {name: text for name, text in FLEET.items() if name != "c.yaml"}
    assert ask("pin", files=files).exit == Exit.OK
    answer = ask("used-by", "small")
    assert answer.out.count("pinned (instancetype)") == 2


def test_pins_that_ended_stand_together_on_the_page(ask: Ask) -> None:
    files = {name: text for name, text in FLEET.items() if name != "c.yaml"}
    assert ask("pin", files=files).exit == Exit.OK
    changed = {
        name: FLEET[name].replace("name: small", "name: large") for name in ("a.yaml", "b.yaml")
    }
    page = ask("report", "--format", "html", files=changed).out
    assert page.count("VirtualMachineClusterInstancetype small that each of them is pinned to") == 1
    single = ask("report", "--format", "html", files={"b.yaml": FLEET["b.yaml"]}).out
    assert "VirtualMachineClusterInstancetype small that prod/a is pinned to" in single


def test_a_vm_that_does_not_start_has_what_its_manifest_and_the_lock_say(ask: Ask) -> None:
    files = FLEET | {"c.yaml": vm("c", namespace="dev", instancetype="small")}
    assert ask("pin", files=files).exit == Exit.OK
    broken = ask("report", "--format", "json", files={"c.yaml": FLEET["c.yaml"]})
    machines = {machine["name"]: machine for machine in json.loads(broken.out)["machines"]}
    assert (machines["c"]["starts"], machines["c"]["pins"]) == (False, ["instancetype"])
    assert machines["c"]["instancetype"] == machines["a"]["instancetype"]
    assert (
        ask("used-by", "small").out.splitlines()[0].count("pinned (instancetype); does not start")
        == 1
    )


def test_data_of_a_fleet_need_no_templates() -> None:
    code = "import sys, render.report.fleet.data; print('jinja2' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert answer.stdout == b"False\n"


MODULES = """
import sys
from render.frontends.dispatch import invoke
invoke(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("has_repository", [True, False])
def test_a_page_imports_what_it_shows(tmp_path: Path, *, has_repository: bool) -> None:
    (tmp_path / "vm.yaml").write_text(vm("a", memory="1Gi"))
    if has_repository:
        (tmp_path / ".git").mkdir()  # git is asked whether it is one
    words = [sys.executable, "-c", MODULES, "report", "--format", "html", "."]
    done = subprocess.run(words, cwd=tmp_path, env=environ(), capture_output=True, check=True)
    modules = done.stderr.decode().splitlines()[-1].split()
    assert done.stdout.startswith(b"<!doctype html>")
    assert ("ctypes" in modules) is has_repository  # for the walls around git
    assert "jinja2" in modules
    for of_others in ("render.diff.impact", "render.report.fleet.capacity"):
        assert of_others not in modules
