"""``--catalog``: what the cluster has beside the input."""

import json
import os
from pathlib import Path

import pytest

from render import Settings, render
from render.diagnostics.exits import Exit
from render.resolve.find import near_name
from render.yaml.reader import read
from tests.support.asking import Ask
from tests.support.manifests import NAMESPACED, instancetype, vm
from tests.support.repository import Repository

VM = vm("web", namespace="prod", instancetype="small")
OWN = vm("own", namespace="prod", instancetype="mine", kind=NAMESPACED)
BUNDLED = vm("shipped", namespace="prod", instancetype="u1.medium")


def objects(text: str) -> list[dict[str, object]]:
    return [document.body for document in read(text.encode(), "text").documents]


def test_catalogs_are_added_to_each_other_and_to_the_bundled_one(ask: Ask) -> None:
    files = {
        "in/vm.yaml": VM,
        "in/shipped.yaml": BUNDLED,
        "in/own.yaml": OWN,
        "a/small.yaml": instancetype("small"),
        "b/mine.yaml": instancetype("mine", namespace="prod", kind=NAMESPACED),
    }
    answer = ask("build", "in", "--catalog", "a", "--catalog", "b", files=files)
    assert answer.exit == Exit.OK, answer.err
    assert answer.out.count("kind: VirtualMachine\n") == 3
    assert "kind: VirtualMachineInstancetype" not in answer.out
    assert ask("build", "in", "--catalog=a", "--catalog=b").exit == Exit.OK
    without = ask("build", "in", "--catalog", "none", "--catalog", "a", "--catalog", "b")
    assert without.exit == Exit.FINDINGS
    assert without.err.count("error VR") == 1
    assert 'virtualmachineclusterinstancetypes.instancetype.kubevirt.io "u1.medium"' in without.err


def test_catalogs_in_a_file_and_in_a_variable(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n"
    files = {
        "in/vm.yaml": VM,
        "a/small.yaml": instancetype("small"),
        "b/other.yaml": instancetype("other"),
        ".virt-render.yaml": f"{head}  catalog: [a, b]\n",
    }
    assert ask("build", "in", files=files).exit == Exit.OK
    assert (
        ask("build", "in", files={".virt-render.yaml": f"{head}  catalog: []\n"}).exit == Exit.USAGE
    )
    os.unlink(".virt-render.yaml")
    monkeypatch.setenv("VIRT_RENDER_CATALOG", "b:a")
    assert ask("build", "in").exit == Exit.OK


def test_catalog_is_read_under_the_limits_of_the_call(ask: Ask) -> None:
    files = {"in/vm.yaml": VM, "a/small.yaml": instancetype("small") + "#" * 2000}
    answer = ask("build", "in", "--catalog", "a", "--max-file-bytes", "1000", files=files)
    assert answer.exit == Exit.UNREADABLE
    assert answer.err.startswith("a/small.yaml: error VR111 limit-exceeded: ")


def test_finding_names_the_line_in_the_catalog(ask: Ask) -> None:
    files = {
        "in/vm.yaml": vm("web", namespace="prod", instancetype="small", memory="2Gi"),
        "a/small.yaml": f"# types\n---\n{instancetype('small')}",
    }
    answer = ask("check", "in", "--catalog", "a", "--format", "json", files=files)
    (found,) = [
        diagnostic
        for diagnostic in json.loads(answer.out)["diagnostics"]
        if diagnostic["code"] == "VR301"
    ]
    (related,) = found["related"]
    assert (related["file"], related["line"]) == ("a/small.yaml", 11)


def test_fault_in_a_catalog_object_is_reported_where_it_stands(ask: Ask) -> None:
    bad = instancetype("small").replace("    guest: 1Gi", "    guest: 1Gx")
    answer = ask("check", "in", "--catalog", "a", files={"in/vm.yaml": VM, "a/small.yaml": bad})
    assert answer.exit == Exit.FINDINGS
    assert "a/small.yaml:9:5: error VR108" in answer.out


def test_help_of_what_is_not_found_names_the_option(ask: Ask) -> None:
    for text in (VM, OWN, VM.replace("instancetype", "preference")):
        assert "--catalog PATH" in ask("check", files={"vm.yaml": text}).out


def test_library_takes_objects_and_reads_no_file() -> None:
    (machine,) = objects(VM)
    (small,) = objects(instancetype("small", cpus=3))
    found = render([machine], Settings(emit="vmi", catalog=[small]))
    assert found.resources[0]["spec"]["domain"]["cpu"]["sockets"] == 3
    conflict = objects(vm("web", instancetype="small", memory="2Gi"))
    found = render(conflict, Settings(catalog=[small]))
    (fault,) = [diagnostic for diagnostic in found.diagnostics if diagnostic.is_error]
    assert fault.related[0].location.index is None
    shipped = objects(BUNDLED)
    assert render(shipped, Settings(catalog=[small])).resources
    assert not render(shipped, Settings(catalog=["none", small])).resources
    for wrong in ("some/folder", 7, [1], ["some/folder"], [{"kind": float("nan")}]):
        found = render([machine], Settings(catalog=wrong))  # type: ignore[arg-type]
        assert any(diagnostic.is_error for diagnostic in found.diagnostics), wrong


def test_what_stands_elsewhere_in_the_repository_is_named(ask: Ask) -> None:
    """An overlay alone misses it: the help names the file, and with that as a catalogue it is found."""
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "platform/small.yaml": instancetype("small"),
        "prod/kustomization.yaml": "resources: [web.yaml]\n",
        "prod/web.yaml": vm("web", instancetype="small"),
    }
    cure = "VirtualMachineClusterInstancetype small stands in platform/small.yaml: "
    answer = ask("build", "prod", files=files)
    assert answer.exit == Exit.FINDINGS
    assert cure in answer.err
    assert "--catalog platform/small.yaml" in answer.err
    assert ask("build", "prod", "--catalog", "platform/small.yaml").exit == Exit.OK
    Path("prod/web.yaml").write_text(vm("web", instancetype="large"), encoding="utf-8")
    assert "stands in" not in ask("build", "prod").err


@pytest.mark.parametrize("path", ["prod", "prod/web.yaml", "loose", "loose/web.yaml"])
def test_check_looks_up_in_the_repository_what_a_file_or_a_folder_misses(
    ask: Ask, path: str
) -> None:
    """And says of the named path alone what is wrong; with --root, of what stands below that."""
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "platform/small.yaml": instancetype("small"),
        "prod/kustomization.yaml": "resources: [web.yaml]\n",
        "prod/web.yaml": vm("web", instancetype="small"),
        "loose/web.yaml": vm("web", instancetype="small"),
        "loose/own.yaml": instancetype("own"),
        "broken/bad.yaml": vm("bad", instancetype="gone"),
    }
    assert "VR201" in ask("check", ".", files=files).out
    assert ask("check", "-q", path) == (Exit.OK, "", "")
    narrowed = ask("check", path, "--root", path.partition("/")[0])
    assert narrowed.exit == (Exit.USAGE if "/" not in path else Exit.FINDINGS)
    assert ask("check", "-q", path, "--root", "platform") == ask("check", "-q", path)
    assert ask("check", path, "--root", "broken").out.count("error VR201") == 1
    assert "--catalog platform/small.yaml" in ask("check", path, "--root", "broken").out


@pytest.mark.parametrize("path", ["vms/web.yaml", "vms", "prod", "prod/web.yaml"])
def test_what_is_missed_may_stand_in_a_broken_file_elsewhere_in_the_repository(
    ask: Ask, path: str
) -> None:
    """`check` of all tells the broken file alone; who asks for a part of it is told where to look."""
    broken = f"{instancetype('small')}x: [\n"
    line = len(broken.splitlines())
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "platform/small.yaml": broken,
        "prod/kustomization.yaml": "resources: [web.yaml]\n",
        "prod/web.yaml": vm("web", instancetype="small"),
        "vms/web.yaml": vm("web", instancetype="small"),
    }
    answer = ask("check", path, files=files)
    assert answer.exit == Exit.OK
    assert "warning VR201" in answer.out
    assert '"small" not found; it may stand in platform/small.yaml (VR101), which' in answer.out
    place = f"\n  platform/small.yaml:{line}:4: this cannot be read\n"
    assert place in answer.out
    assert answer.out.count("platform/small.yaml:") == 1
    built = ask("build", path)
    assert built.exit == Exit.FINDINGS
    assert place in built.err
    assert "help: it may stand in platform/small.yaml (VR101), which cannot be read" in built.err
    Path("vms/web.yaml").write_text(vm("web", instancetype="large"), encoding="utf-8")
    if path.startswith("vms"):
        assert ask("check", path).exit == Exit.FINDINGS
        assert "platform/small.yaml" not in ask("build", path).err


@pytest.mark.parametrize("words", [("check", "."), ("check", "prod"), ("build", "prod")])
def test_a_near_name_elsewhere_in_the_repository_is_suggested(
    ask: Ask, words: tuple[str, ...]
) -> None:
    """As among loose files; of a kind that the VM does not ask for, or another namespace, none is."""
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "platform/small.yaml": instancetype("small"),
        "platform/own.yaml": instancetype("smaal", kind=NAMESPACED, namespace="test"),
        "prod/kustomization.yaml": "resources: [web.yaml]\nnamespace: prod\n",
        "prod/web.yaml": vm("web", instancetype="smal"),
    }
    answer = ask(*words, files=files)
    cure = "did you mean small, which stands in platform/small.yaml? else name the file or folder"
    assert f"help: {cure} where the cluster's own is: --catalog PATH" in answer.out + answer.err
    Path("prod/web.yaml").write_text(
        vm("web", instancetype="smal", kind=NAMESPACED), encoding="utf-8"
    )
    answer = ask(*words)
    assert "did you mean" not in answer.out + answer.err


@pytest.mark.parametrize(
    ("name", "own", "cure"),
    [
        ("db.larg", "db.large", "did you mean db.large, which stands in platform/types.yaml?"),
        ("app.small", "app.sml", "did you mean app.sml, which stands in platform/types.yaml?"),
        ("win-std", "win.std", "did you mean win.std, which stands in platform/types.yaml?"),
        ("u1.medum", "db.medium", "did you mean u1.medium?"),
    ],
)
def test_a_name_of_the_repository_is_meant_before_a_bundled_one_that_is_no_nearer(
    ask: Ask, name: str, own: str, cure: str
) -> None:
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "platform/kustomization.yaml": "resources: [types.yaml]\n",
        "platform/types.yaml": instancetype(own),
        "prod/kustomization.yaml": "resources: [web.yaml]\n",
        "prod/web.yaml": vm("web", instancetype=name),
    }
    answer = ask("check", ".", files=files)
    assert f"\n  help: {cure} else name the file or folder" in answer.out


_CLONE = """\
  dataVolumeTemplates:
  - metadata: {name: root}
    spec:
      sourceRef: {kind: DataSource, name: fedroa, namespace: images}
      storage: {resources: {requests: {storage: 9Gi}}}
"""


def test_a_slip_in_the_name_of_a_data_source_of_another_folder(ask: Ask) -> None:
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "images/fedora.yaml": (
            "apiVersion: cdi.kubevirt.io/v1beta1\nkind: DataSource\n"
            "metadata: {name: fedora, namespace: images}\nspec: {source: {pvc: {name: a}}}\n"
        ),
        "prod/kustomization.yaml": "resources: [web.yaml]\n",
        "prod/web.yaml": vm("web", memory="1Gi").replace(
            "  runStrategy", f"{_CLONE}  runStrategy", 1
        ),
    }
    answer = ask("check", ".", files=files)
    assert "warning VR455 reference/slip: " in answer.out
    assert "DataSource fedroa is not in the input, but fedora is\n" in answer.out
    assert "\n  images/fedora.yaml:1:1: DataSource images/fedora is here\n" in answer.out


@pytest.mark.parametrize("command", ["check", "build"])
def test_a_definition_that_its_kustomization_does_not_list_is_to_be_listed(
    ask: Ask, command: str
) -> None:
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "base/kustomization.yaml": "resources: [web.yaml]\n",
        "base/types.yaml": instancetype("small", kind=NAMESPACED, namespace=""),
        "base/web.yaml": vm("web", instancetype="small", kind=NAMESPACED),
        "prod/kustomization.yaml": "resources: [../base]\nnamespace: prod\n",
    }
    answer = ask(command, "prod", files=files)
    cure = f"list types.yaml in base/kustomization.yaml: {NAMESPACED} small stands there"
    assert f"\n  help: {cure}\n" in answer.out + answer.err
    Path("prod/web.yaml").write_text(files["base/web.yaml"], encoding="utf-8")
    Path("prod/kustomization.yaml").write_text(
        "resources: [web.yaml]\nnamespace: prod\n", encoding="utf-8"
    )
    answer = ask(command, "prod")
    cure = (
        f"{NAMESPACED} small stands in base/types.yaml without a namespace: give it prod there, or"
    )
    assert f"\n  help: {cure} list it in a kustomization that does\n" in answer.out + answer.err


@pytest.mark.parametrize("command", ["check", "build"])
def test_a_definition_of_another_folder_that_is_not_listed_there_is_to_be_listed(
    ask: Ask, command: str
) -> None:
    """To look it up with --catalog would say that the cluster has it."""
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "platform/kustomization.yaml": "resources: [large.yaml]\n",
        "platform/large.yaml": instancetype("large"),
        "platform/small.yaml": instancetype("small"),
        "prod/kustomization.yaml": "resources: [web.yaml]\nnamespace: prod\n",
        "prod/web.yaml": vm("web", instancetype="small"),
    }
    answer = ask(command, "prod", files=files)
    told = answer.out + answer.err
    cure = "which platform/kustomization.yaml does not list: list it there"
    assert (
        f"\n  help: VirtualMachineClusterInstancetype small stands in platform/small.yaml, {cure}\n"
        in told
    )
    Path("platform/kustomization.yaml").write_text(
        "resources: [large.yaml, ./small.yaml]\n", encoding="utf-8"
    )
    answer = ask(command, "prod")
    assert "does not list" not in answer.out + answer.err


@pytest.mark.parametrize("kind", [NAMESPACED, "VirtualMachineClusterInstancetype"])
def test_a_definition_of_the_other_kind_is_named_with_its_line(ask: Ask, kind: str) -> None:
    """The kind is what is wrong, whichever of the two was written."""
    other = {NAMESPACED: "VirtualMachineClusterInstancetype"}.get(kind, NAMESPACED)
    machine = vm("web", namespace="prod", instancetype="small", kind=other)
    definition = instancetype("small", kind=kind, namespace="prod" if kind == NAMESPACED else "")
    text = ask("check", ".", files={"vm.yaml": machine, "small.yaml": definition}).out
    name = "prod/small" if kind == NAMESPACED else "small"
    assert f"help: there is {kind} {name}: set instancetype.kind: {kind} (--uns" in text
    line = definition.splitlines().index("  name: small") + 1
    assert f"  small.yaml:{line}:3: {kind} " in text


def test_what_stands_elsewhere_in_the_repository_is_found(ask: Ask) -> None:
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "platform/small.yaml": instancetype("small"),
        "prod/kustomization.yaml": "resources: [web.yaml]\n",
        "prod/web.yaml": VM,
    }
    answer = ask("build", "prod", files=files)
    assert "--catalog platform/small.yaml" in answer.out + answer.err
    assert "platform/small.yaml:" in ask("explain", "web", "prod").out
    fleet = json.loads(ask("report", "--format", "json", "prod").out)
    assert [(machine["name"], machine["findings"]) for machine in fleet["machines"]] == [
        ("web", [])
    ]
    assert "web" in ask("used-by", "small", "prod").out


@pytest.mark.parametrize("command", ["build", "check"])
def test_what_no_command_reads_there_is_not_named(ask: Ask, command: str) -> None:
    """Of what git ignores, the settings exclude, or another repository has, nothing is looked up."""
    Repository(Path())
    exclude = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {exclude: [skip/]}\n"
    files = {
        ".gitignore": "out/\n",
        ".virt-render.yaml": exclude,
        "out/small.yaml": instancetype("small"),
        "skip/small.yaml": instancetype("small"),
        "vendor/.git/HEAD": "ref: refs/heads/main\n",
        "vendor/small.yaml": instancetype("small"),
        "prod/web.yaml": VM,
    }
    answer = ask(command, "prod/web.yaml", files=files)
    assert answer.exit == Exit.FINDINGS
    assert "VR201" in answer.out + answer.err
    assert "stands in" not in answer.out + answer.err
    assert "platform/small.yaml: add" in "".join(
        ask("build", "prod/web.yaml", files={"platform/small.yaml": instancetype("small")})[1:]
    )


def test_a_loose_file_of_another_repository_is_looked_up_there(ask: Ask) -> None:
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "small.yaml": instancetype("small"),
        "other/.git/HEAD": "ref: refs/heads/main\n",
        "other/vms/web.yaml": VM,
    }
    answer = ask("build", "other/vms/web.yaml", files=files)
    assert answer.exit == Exit.FINDINGS
    assert "stands in" not in answer.err


def test_a_pin_of_what_the_repository_defines_is_not_held_against_the_bundled_one(ask: Ask) -> None:
    """The folder alone finds the bundled instancetype of that name: the cluster has the repository's own."""
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "platform/u1.yaml": instancetype("u1.medium", cpus=3),
        "prod/kustomization.yaml": "resources: [web.yaml]\n",
        "prod/web.yaml": BUNDLED,
    }
    assert ask("pin", ".", files=files).exit == Exit.OK
    assert Path("prod/virt-render.lock.yaml").exists()
    for command in (("check", "prod"), ("build", "prod"), ("report", "--format", "json", "prod")):
        answer = ask(*command)
        assert answer.exit == Exit.OK
        assert "VR608" not in answer.out + answer.err, command
    Path("platform/u1.yaml").unlink()
    assert "VR608" in ask("check", "prod").out


def test_a_definition_of_the_other_kind_elsewhere_in_the_repository_is_named(ask: Ask) -> None:
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "platform/small.yaml": instancetype("small", kind=NAMESPACED, namespace="prod"),
        "prod/kustomization.yaml": "resources: [web.yaml]\n",
        "prod/web.yaml": vm("web", namespace="prod", instancetype="small"),
    }
    cure = f"if it is meant, set instancetype.kind: {NAMESPACED}; {NAMESPACED} small stands in platform/small.yaml: "
    assert cure in ask("build", "prod", files=files).err


def test_a_catalogue_in_the_repository_is_not_there_twice(ask: Ask) -> None:
    """The folder is an input of its own too, where VMs of others look for what they name."""
    files = {
        "platform/kustomization.yaml": "resources: [small.yaml]\n",
        "platform/small.yaml": instancetype("small"),
        "prod/kustomization.yaml": "resources: [vm.yaml]\n",
        "prod/vm.yaml": VM,
    }
    answer = ask("check", ".", "--catalog", "platform", files=files)
    assert (answer.exit, "VR103" in answer.out) == (Exit.OK, False), answer.out


def test_a_name_of_another_series_is_not_meant(ask: Ask) -> None:
    assert "did you mean" not in ask("catalog", "show", "corp.large").err
    assert "did you mean u1.large?" in ask("catalog", "show", "u1.lrage").err
    used = ask(
        "used-by",
        "corp.large",
        files={"vm.yaml": vm("web", instancetype="cx1.xlarge")},
    )
    assert "did you mean" not in used.err


def test_a_definition_elsewhere_in_the_repository_is_told_to_stand_there(ask: Ask) -> None:
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "vms/vm.yaml": vm("web", instancetype="u1.small"),
        "platform/i.yaml": instancetype("small"),
    }
    answer = ask("used-by", "small", "vms", files=files)
    assert answer.exit == Exit.USAGE
    cure = "it stands in platform/i.yaml: name that path too, or the repository's top"
    assert f"help: {cure}" in answer.err


def test_an_application_is_told_the_file_of_what_it_misses(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        ".git/HEAD": "ref: refs/heads/main\n",
        "vms/vm.yaml": vm("web", instancetype="corp.small"),
        "platform/i.yaml": instancetype("corp.small"),
    }
    assert ask("check", "vms", files=files).exit == Exit.OK
    monkeypatch.chdir("vms")
    assert " corp.small stands in ../platform/i.yaml: " in ask("argocd", "generate").err


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("corp.large", ["cx1.xlarge", "o1.large"], ""),
        ("corp.linux", ["oraclelinux"], ""),
        ("shop.linux", ["oraclelinux", "linux"], "linux"),
        ("u1.smal", ["cx1.small", "u1.small"], "u1.small"),
        ("cop.large", ["corp.large"], "corp.large"),
    ],
)
def test_near_names_are_of_one_series(name: str, known: list[str], near: str) -> None:
    assert near_name(name, known) == near


def test_a_bundled_definition_of_the_other_kind_is_named(ask: Ask) -> None:
    """KubeVirt deploys its own for all of the cluster."""
    text = ask("check", ".", files={"vm.yaml": vm("web", instancetype="u1.nano", kind=NAMESPACED)})
    kind = "VirtualMachineClusterInstancetype"
    assert f"help: there is {kind} u1.nano: set instancetype.kind: {kind} (--uns" in text.out
