"""Charts and folders that Argo CD and Flux fill in: with the real helm and kustomize, through the commands."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from render.manifests.documents import Documents
from render.manifests.relevance import Scope
from render.manifests.sources.loading import load_all
from render.manifests.sources.reading import Reading
from render.manifests.uses import applicationset
from render.yaml.budget import Limits
from render.yaml.reader import read as parsed
from tests.support import process
from tests.support.manifests import NAMESPACED, instancetype, put, vm

CHART = "apiVersion: v2\nname: vm\nversion: 1.0.0\n"
VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        cpu: {cores: {{ .Values.cores }}}
        memory: {guest: {{ required "no memory" .Values.memory }}}
        devices:
          disks:
            - name: root
              disk:
                bus: {{ .Values.disk.bus }}
      volumes:
        - name: root
          containerDisk: {image: image}
"""
HERE = "https://github.com/acme/fleet"
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  destination: {namespace: prod}
  source:
    repoURL: HERE
    path: charts/vm
    helm:
"""


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a chart that wants for a value, and an address of its own."""
    monkeypatch.chdir(tmp_path)
    git("init", "-q", ".")
    git("remote", "add", "origin", "git@github.com:acme/fleet.git")
    put("charts/vm/Chart.yaml", CHART)
    put("charts/vm/values.yaml", "cores: 1\ndisk: {bus: virtio}\n")
    put("charts/vm/templates/vm.yaml", VM)
    return tmp_path


def git(*words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


def application(helm: str, here: str = HERE) -> str:
    lines = "".join(f"      {line}\n" for line in helm.splitlines())
    return APPLICATION.replace("HERE", here) + lines


def pinned(lock: str) -> list[str]:
    """The VMs that the file *lock* pins."""
    (document,) = parsed(Path(lock).read_bytes(), lock).documents
    return [*document.body["pins"]]


def read(helm: str, kustomize: str = "auto") -> list[Documents]:
    return load_all(["."], Reading(Limits(), helm=helm, kustomize=kustomize, scope=Scope()))


def machines(inputs: list[Documents]) -> dict[str, dict[str, Any]]:
    """The VMs of *inputs* as ``INPUT: NAMESPACE/NAME``, each with the domain of its template."""
    return {
        f"{loaded.name}: {document.body['metadata'].get('namespace', '')}/{document.body['metadata']['name']}": (
            document.body["spec"]["template"]["spec"]["domain"]
        )
        for loaded in inputs
        for document in loaded.documents
        if document.body["kind"] == "VirtualMachine"
    }


def sizes(inputs: list[Documents]) -> dict[str, tuple[int, str]]:
    return {
        name: (domain["cpu"]["cores"], domain["memory"]["guest"])
        for name, domain in machines(inputs).items()
    }


def notes(inputs: list[Documents]) -> str:
    return "\n".join(diagnostic.message for loaded in inputs for diagnostic in loaded.diagnostics)


def unseen(inputs: list[Documents]) -> dict[str, int]:
    return dict(sum((loaded.unseen.counts() for loaded in inputs), start=Counter()))


def virt_render(helm: str, *words: str) -> subprocess.CompletedProcess[str]:
    return process.run(*words, VIRT_RENDER_HELM=helm)


def test_a_lock_beside_a_chart_that_is_not_filled_in_is_no_other_object(helm: str) -> None:
    put("apps/web.yaml", application("valueFiles: [more.yaml]"))
    put("charts/vm/more.yaml", "memory: 1Gi\n")
    assert virt_render(helm, "pin", ".").returncode == 0
    Path("charts/vm/more.yaml").unlink()
    done = virt_render(helm, "check", ".")
    assert "asks for values that cannot be read" in done.stdout
    assert "1 error" in done.stderr


def test_an_application_says_how_a_chart_is_filled_in(helm: str) -> None:
    """The last word is the parameters', before them the values, before them the files, in their order."""
    put("values/a.yaml", "memory: 1Gi\ncores: 2\n")
    put("charts/vm/b.yaml", "memory: 2Gi\n")
    put(
        "apps/web.yaml",
        application(
            "valueFiles: [/values/a.yaml, b.yaml, gone.yaml]\nignoreMissingValueFiles: true\n"
            "valuesObject: {disk: {bus: sata}, cores: 3}\nparameters: [{name: cores, value: '4'}]\n"
        ),
    )
    inputs = read(helm)
    assert sizes(inputs) == {"charts/vm (Application argocd/web): prod/web": (4, "2Gi")}
    (domain,) = machines(inputs).values()
    assert domain["devices"]["disks"][0]["disk"]["bus"] == "sata"
    assert "charts/vm skipped: Application argocd/web says how it is filled in" in notes(inputs)


def test_a_report_says_who_fills_in_a_chart_and_where_its_template_is(helm: str) -> None:
    """JSON and CSV name them alike."""
    put("apps/web.yaml", application("valuesObject: {memory: 1Gi}\n"))
    (found,) = json.loads(virt_render(helm, "report", "--format", "json", ".").stdout)["machines"]
    assert found["kustomization"] == "charts/vm (Application argocd/web)"
    assert (found["file"], found["line"]) == ("charts/vm/templates/vm.yaml", 3)
    table = virt_render(helm, "report", "--format", "csv", ".").stdout
    assert "web,charts/vm (Application argocd/web),charts/vm/templates/vm.yaml,3,yes," in table


@pytest.mark.parametrize(
    ("address", "is_filled", "assumption"),
    [
        ("https://github.com/acme/fleet.git", True, ""),
        ("ssh://git@github.com:22/acme/fleet", True, ""),
        ("git@GitHub.com:acme/fleet", True, ""),
        ("https://git.example.com/mirrors/fleet", True, "mirrors/fleet is this repository"),
        ("https://github.com/acme/other", False, ""),
        ("https://charts.example.com", False, ""),
        ("", False, ""),
    ],
)
def test_whose_chart_it_is(helm: str, address: str, is_filled: bool, assumption: str) -> None:  # noqa: FBT001
    put("apps/web.yaml", application("values: 'memory: 1Gi'", address))
    inputs = read(helm)
    assert bool(machines(inputs)) is is_filled
    assert assumption in notes(inputs)
    assert ("assumed" in notes(inputs)) is bool(assumption)
    of_another = "Application of another repository, at a path with VMs in this one"
    assert unseen(inputs).get(of_another, 0) == (not is_filled)


def test_several_sources_and_a_reference(helm: str) -> None:
    put("env/prod.yaml", "memory: 4Gi\n")
    put(
        "apps/web.yaml",
        f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: web}}
spec:
  sources:
    - repoURL: {HERE}
      path: charts/vm
      helm: {{releaseName: shop, valueFiles: [$env/env/prod.yaml]}}
    - {{repoURL: {HERE}, ref: env}}
""",
    )
    assert sizes(read(helm)) == {"charts/vm (Application web): default/shop": (1, "4Gi")}
    put(
        "apps/web.yaml", Path("apps/web.yaml").read_text(encoding="utf-8").replace("$env", "$other")
    )
    inputs = read(helm)
    assert machines(inputs) == {}
    assert "no source is called other: $other/env/prod.yaml" in notes(inputs)
    assert unseen(inputs)["values file from elsewhere"] == 1


SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: many, namespace: argocd}
spec:
  goTemplate: GO
  generators:
    - GENERATOR
  template:
    metadata: {name: "vm-NAME"}
    spec:
      destination: {namespace: "ns-NAME"}
      source:
        repoURL: https://github.com/acme/fleet
        path: charts/vm
        helm: {values: "memory: MEMORY"}
"""


@pytest.mark.parametrize(
    ("generator", "names", "made"),
    [
        (
            "list: {elements: [{name: a, memory: 1Gi}, {name: b, memory: 2Gi}]}",
            ("{{name}}", "{{ memory }}", "{{ .name }}", "{{.memory}}"),
            {"ns-a/vm-a": "1Gi", "ns-b/vm-b": "2Gi"},
        ),
        (
            (
                f"git: {{repoURL: {HERE}, directories: [{{path: env/*}}, {{path: env/c, exclude: true}}],"
                " values: {memory: 3Gi}}"
            ),
            ("{{path.basename}}", "{{values.memory}}", "{{.path.basename}}", "{{.values.memory}}"),
            {"ns-a/vm-a": "3Gi", "ns-b/vm-b": "3Gi"},
        ),
        (
            f"git: {{repoURL: {HERE}, files: [{{path: env/**/vm.yaml}}]}}",
            ("{{path[1]}}", "{{size.memory}}", "{{index .path.segments 1}}", "{{.size.memory}}"),
            {"ns-a/vm-a": "7Gi"},
        ),
        (
            (
                "matrix: {generators: [{list: {elements: [{name: a}, {name: b}]}},"
                " {list: {elements: [{memory: 5Gi}]}}]}"
            ),
            ("{{name}}", "{{memory}}", "{{.name}}", "{{.memory}}"),
            {"ns-a/vm-a": "5Gi", "ns-b/vm-b": "5Gi"},
        ),
        (
            (
                "merge: {mergeKeys: [name], generators: [{list: {elements: [{name: a, memory: 1Gi}, {name: b,"
                " memory: 2Gi}]}}, {list: {elements: [{name: b, memory: 6Gi}, {name: c, memory: 7Gi}]}}]}"
            ),
            ("{{name}}", "{{memory}}", "{{.name}}", "{{.memory}}"),
            {"ns-a/vm-a": "1Gi", "ns-b/vm-b": "6Gi"},
        ),
    ],
)
@pytest.mark.parametrize("is_go", [False, True])
def test_an_application_set(
    helm: str,
    generator: str,
    names: tuple[str, ...],
    made: dict[str, str],
    is_go: bool,  # noqa: FBT001
) -> None:
    put("env/a/vm.yaml", "size: {memory: 7Gi}\n")
    for folder in ("b", "c"):
        put(f"env/{folder}/note.txt", "\n")
    name, memory = names[2:] if is_go else names[:2]
    text = SET.replace("GO", str(is_go).lower(), 1).replace("GENERATOR", generator)
    put("apps/set.yaml", text.replace("MEMORY", memory).replace("NAME", name))
    found = {name.split(": ")[1]: memory for name, (_, memory) in sizes(read(helm)).items()}
    assert found == made


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (("GENERATOR", "clusters: {}"), "ApplicationSet whose generator asks elsewhere (clusters)"),
        (("NAME", "{{ .name | upper }}"), "ApplicationSet with functions in its template"),
        (
            ("NAME", "{{ .stage }}"),
            "ApplicationSet whose template asks for what no generator says",
        ),
        (("NAME", "{{ .all }}"), "ApplicationSet with lists or mappings in its texts"),
        (
            ("  template:", "  templatePatch: 'spec: {}'\n  template:"),
            "ApplicationSet with a templatePatch",
        ),
    ],
)
def test_what_of_a_set_is_not_evaluated_is_counted(
    helm: str, edit: tuple[str, str], reason: str
) -> None:
    text = SET.replace(*edit).replace("GENERATOR", "list: {elements: [{name: a, all: [a]}]}")
    put("apps/set.yaml", text.replace("GO", "true", 1).replace("NAME", "{{.name}}"))
    inputs = read(helm)
    assert unseen(inputs)[reason] == 1
    assert "ApplicationSet argocd/many is not evaluated" in notes(inputs)
    assert not [
        diagnostic for loaded in inputs for diagnostic in loaded.diagnostics if diagnostic.is_error
    ]


def test_a_set_that_edits_kustomizations_of_vms_is_counted(helm: str) -> None:
    """One that asks a cluster, and says more than where the folder is; also where there is no chart of VMs."""
    shutil.rmtree("charts")
    text = APPLIED_BY_SET.partition("  generators:")[0] + (
        "  generators: [{clusters: {}}]\n"
        "  template: {metadata: {name: a}, spec: {source: {repoURL: x, path: vms, OPTIONS}}}\n"
    )
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("apps/set.yaml", text.replace("OPTIONS", "kustomize: {namespace: prod}"))
    put("vms/vm.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n")
    assert unseen(read(helm)) == {}
    put("vms/vm.yaml", PLAIN)
    reason = "ApplicationSet whose generator asks elsewhere (clusters)"
    assert unseen(read(helm))[reason] == 1
    put("apps/set.yaml", text.replace("OPTIONS", "targetRevision: main"))
    assert reason not in unseen(read(helm))


def test_of_a_set_that_makes_too_many_nothing_is_filled_in(helm: str) -> None:
    elements = ", ".join(f"{{name: a{number}}}" for number in range(40))
    others = elements.replace("name", "other")
    matrix = f"matrix: {{generators: [{{list: {{elements: [{elements}]}}}}, {{list: {{elements: [{others}]}}}}]}}"
    text = SET.replace("GENERATOR", matrix).replace("GO", "true", 1).replace("MEMORY", "1Gi")
    put("apps/set.yaml", text.replace("NAME", "{{.name}}-{{.other}}"))
    inputs = read(helm)
    assert unseen(inputs)["ApplicationSet of more than 1,000 Applications"] == 1
    assert not [loaded for loaded in inputs if "argocd/many" in loaded.name]


def test_of_sets_that_would_take_too_long_nothing_is_filled_in(
    helm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an inner generator says counts, also where nothing comes of it."""
    listed = [
        f"{{list: {{elements: [{', '.join(f'{{{key}: a{n}}}' for n in range(30))}]}}}}"
        for key in "abcd"
    ]
    inner = [
        f"{{matrix: {{generators: [{', '.join(pair)}]}}}}" for pair in (listed[:2], listed[2:])
    ]
    matrix = f"{{matrix: {{generators: [{', '.join(inner)}]}}}}"
    base = "{list: {elements: [{a: x, b: x, c: x, d: x, name: y}]}}"
    merge = f"merge: {{mergeKeys: [a, b, c, d], generators: [{base}, {matrix}]}}"
    text = SET.replace("GENERATOR", merge).replace("GO", "true", 1).replace("MEMORY", "1Gi")
    put("apps/set.yaml", text.replace("NAME", "{{.name}}"))
    monkeypatch.setattr(applicationset, "_MOST_STEPS", 100_000)
    inputs = read(helm)
    assert unseen(inputs)["ApplicationSet that would take too long"] == 1
    assert not [loaded for loaded in inputs if "argocd/many" in loaded.name]


def test_a_long_key_of_a_generator_is_no_large_memory(
    helm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A set without Go's templates has a key for each value, with all keys above it in it."""
    element = f"{{{'k' * 500}: {{{', '.join(f'a{n}: x' for n in range(50))}}}}}"
    text = SET.replace("GENERATOR", f"list: {{elements: [{element}]}}").replace("GO", "false", 1)
    put("apps/set.yaml", text.replace("MEMORY", "1Gi").replace("NAME", "a"))
    assert "ApplicationSet that would take too long" not in unseen(read(helm))
    monkeypatch.setattr(applicationset, "_MOST_STEPS", 5_000)
    assert unseen(read(helm))["ApplicationSet that would take too long"] == 1


KUSTOMIZED = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  source:
    repoURL: https://github.com/acme/fleet
    path: vms
    kustomize:
      namePrefix: p-
      namespace: prod
      commonLabels: {team: shop}
      images: [nginx:1]
      patches:
        - target: {kind: VirtualMachine}
          patch: |-
            - {op: replace, path: /spec/template/spec/domain/memory/guest, value: 3Gi}
        - {path: cores.yaml, target: {kind: VirtualMachine}}
"""
PLAIN = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: vm}
spec:
  runStrategy: Always
  template:
    spec:
      domain: {cpu: {cores: 1}, memory: {guest: 1Gi}, devices: {disks: [{name: root, disk: {bus: ide}}]}}
      volumes: [{name: root, containerDisk: {image: image}}]
"""
CORES = "- {op: replace, path: /spec/template/spec/domain/cpu/cores, value: 2}\n"


def test_an_application_edits_a_kustomization(helm: str, kustomize: str) -> None:
    """As `kustomize edit` does, whose prefix replaces the one that is there; the folder as it is written is none."""
    text = "namePrefix: x-\nresources: [vm.yaml]\ncommonLabels: {a: b}\n"
    put("vms/kustomization.yaml", text)
    put("vms/vm.yaml", PLAIN)
    put("vms/cores.yaml", CORES)
    assert sizes(read(helm, kustomize)) == {"vms: /x-vm": (1, "1Gi")}
    put("apps/web.yaml", KUSTOMIZED)
    put("apps/other.yaml", KUSTOMIZED.replace("name: web", "name: other").replace("p-", "q-"))
    inputs = read(helm, kustomize)
    assert sizes(inputs) == {
        "vms (Application argocd/other): prod/q-vm": (2, "3Gi"),
        "vms (Application argocd/web): prod/p-vm": (2, "3Gi"),
    }
    (first, *_) = (document for loaded in inputs if loaded.user for document in loaded.documents)
    assert first.body["metadata"]["labels"] == {"a": "b", "team": "shop"}
    assert first.origin.file == "vms/vm.yaml"
    assert Path("vms/kustomization.yaml").read_text(encoding="utf-8") == text
    done = virt_render(helm, "check", ".")
    assert "vms/vm.yaml:8:" in done.stdout
    assert "disks/ide-bus: VirtualMachine prod/p-vm" in done.stdout
    for field, place in (
        ("memory.guest", "3Gi  apps/web.yaml:16:76"),
        ("cpu.cores", "2  vms/cores.yaml:1:61"),
    ):
        assert place in virt_render(helm, "explain", "p-vm", field).stdout
    # The lock of the folder has the VMs of both.
    Path("vms/vm.yaml").write_text(PLAIN.replace("bus: ide", "bus: sata"), encoding="utf-8")
    assert virt_render(helm, "pin", ".").returncode == 0
    assert pinned("vms/virt-render.lock.yaml") == ["prod/p-vm", "prod/q-vm"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("{team: shop}", "{a: c}", "Application whose commonLabels its kustomization has already"),
        ("namePrefix: p-", "color: red", "Application with kustomize color"),
        (
            "namePrefix: p-",
            "components: ['https://example.com/c']",
            "Application with a component from elsewhere",
        ),
        ("namePrefix: p-", "components: [../c*]", "Application with a pattern of components"),
        ("namePrefix: p-", "components: [../../../../etc]", "path out of the repository"),
        ("cores.yaml", "https://example.com/x.yaml", "Application with a patch from elsewhere"),
        ("cores.yaml", "../../../../etc/passwd", "path out of the repository"),
    ],
)
def test_what_of_an_edit_is_not_evaluated_is_counted(
    helm: str, kustomize: str, old: str, new: str, reason: str
) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\ncommonLabels: {a: b}\n")
    put("vms/vm.yaml", PLAIN)
    put("vms/cores.yaml", CORES)
    put("apps/web.yaml", KUSTOMIZED.replace(old, new))
    inputs = read(helm, kustomize)
    assert unseen(inputs)[reason] == 1
    assert sizes(inputs) == {"vms: /vm": (1, "1Gi")}
    forced = KUSTOMIZED.replace(old, new).replace(
        "      images", "      forceCommonLabels: true\n      images"
    )
    put("apps/web.yaml", forced)
    assert (reason in unseen(read(helm, kustomize))) is ("commonLabels" not in reason)


def test_an_application_adds_components(helm: str, kustomize: str) -> None:
    """As `kustomize edit add component` does: what is not there is passed over, what is there already stays."""
    put("vms/kustomization.yaml", "resources: [vm.yaml]\ncomponents: [../parts/large]\n")
    put("vms/vm.yaml", PLAIN)
    put("vms/cores.yaml", CORES)
    large = CORES.replace("cpu/cores, value: 2", "memory/guest, value: 2Gi")
    for name, patch in (("large", large), ("many", CORES)):
        text = "kind: Component\npatches: [{target: {kind: VirtualMachine}, path: patch.yaml}]\n"
        put(f"parts/{name}/kustomization.yaml", text)
        put(f"parts/{name}/patch.yaml", patch)
    components = "      components: [../parts/large, ../parts/many, ../parts/none]\n"
    put("apps/web.yaml", KUSTOMIZED.partition("      namePrefix")[0] + components)
    inputs = read(helm, kustomize)
    assert sizes(inputs) == {"vms (Application argocd/web): /vm": (2, "2Gi")}
    (loaded,) = (loaded for loaded in inputs if loaded.user)
    assert "parts/many/kustomization.yaml" in loaded.files


APPLIED = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec: {source: {repoURL: https://github.com/acme/fleet, path: base OPTIONS}}
"""
APPLIED_BY_SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all, namespace: argocd}
spec:
  generators: [{git: {repoURL: https://github.com/acme/fleet, directories: [{path: base}, {path: over}]}}]
  template:
    metadata: {name: '{{path.basename}}'}
    spec: {source: {repoURL: https://github.com/acme/fleet, path: '{{path}}'}}
"""
APPLIED_BY_FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: flux-system}
spec: {path: ./base, sourceRef: {kind: GitRepository, name: flux-system} OPTIONS}
"""
HIDING = """\
resources: [../base]
patches:
  - target: {kind: VirtualMachine}
    patch: |-
      - {op: replace, path: /spec/template/spec/domain/devices/disks/0/disk/bus, value: virtio}
"""


@pytest.mark.parametrize(
    ("text", "base"),
    [
        (APPLIED.replace("OPTIONS", ""), "base: /vm"),
        (APPLIED.replace("OPTIONS", ", kustomize: {version: v5.7.1}"), "base: /vm"),
        (APPLIED.replace("OPTIONS", ", plugin: {name: virt-render}"), "base: /vm"),
        (APPLIED.replace("source: {", "sources: [{").replace("OPTIONS}", "}]"), "base: /vm"),
        (APPLIED_BY_SET, "base: /vm"),
        (APPLIED_BY_FLUX.replace("OPTIONS", ""), "base: /vm"),
        (
            APPLIED_BY_FLUX.replace("OPTIONS", ", targetNamespace: prod"),
            "base (Kustomization flux-system/web): prod/vm",
        ),
        (APPLIED.replace("OPTIONS", ", plugin: {name: other}"), ""),
        (APPLIED.replace("OPTIONS", ", directory: {recurse: true}"), ""),
        (APPLIED.replace("OPTIONS", "").replace("acme/fleet", "acme/other"), ""),
        (APPLIED_BY_FLUX.replace("OPTIONS", ", patches: [{patch: ''}]"), ""),
        (APPLIED_BY_FLUX.replace("OPTIONS", "").replace("flux-system}", "other}"), ""),
        ("", ""),
    ],
)
def test_a_base_that_is_applied_is_an_input(
    helm: str, kustomize: str, text: str, base: str
) -> None:
    """Beside the overlay that changes it, and as it is written."""
    put("base/kustomization.yaml", "resources: [vm.yaml]\n")
    put("base/vm.yaml", PLAIN)
    put("over/kustomization.yaml", HIDING)
    if text:
        put("apps/web.yaml", text)
    buses = {
        name: domain["devices"]["disks"][0]["disk"]["bus"]
        for name, domain in machines(read(helm, kustomize)).items()
    }
    assert buses == {"over: /vm": "virtio", **({base: "ide"} if base else {})}


def test_what_one_application_edits_another_applies_as_it_is(helm: str, kustomize: str) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", PLAIN)
    put("vms/cores.yaml", CORES)
    put("apps/web.yaml", KUSTOMIZED)
    put("apps/plain.yaml", APPLIED.replace("web", "plain").replace("base OPTIONS", "vms"))
    assert sizes(read(helm, kustomize)) == {
        "vms: /vm": (1, "1Gi"),
        "vms (Application argocd/web): prod/p-vm": (2, "3Gi"),
    }


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("", {"base: /vm"}),
        (", directory: {recurse: true}", {"base: /vm", "base: /old"}),
        (", plugin: {name: virt-render}", {"base: /vm", "base: /old"}),
        (", directory: {include: v*}", {"base: /vm"}),
        (", directory: {recurse: true, exclude: '{old/*,x}'}", {"base: /vm"}),
        (", directory: {include: '[v]*'}", set()),
    ],
)
def test_files_of_a_kustomization_that_are_applied_by_themselves(
    helm: str, kustomize: str, options: str, names: set[str]
) -> None:
    """The files of a directory, and not what is a patch to kustomize."""
    text = HIDING.replace("../base", "base/vm.yaml") + "  - {path: base/patch.yaml}\n"
    put("kustomization.yaml", text)
    put("base/vm.yaml", PLAIN)
    put("base/old/vm.yaml", PLAIN.replace("name: vm", "name: old"))
    put("base/patch.yaml", PLAIN.replace("  runStrategy: Always\n", ""))
    put("argocd/kustomization.yaml", "resources: [web.yaml]\n")
    put("argocd/web.yaml", APPLIED.replace(" OPTIONS", options))
    inputs = read(helm, kustomize)
    assert {*machines(inputs)} == {".: /vm", *names}
    listed = "VM file that no kustomization lists"
    assert unseen(inputs).get(listed, 0) == ("base: /old" not in names)
    reason = "Application of a directory with patterns"
    assert unseen(inputs).get(reason, 0) == ("[v]" in options)


def test_a_patch_has_no_path_but_the_one_that_is_looked_at(helm: str, kustomize: str) -> None:
    """kustomize reads keys in any case; Argo CD does not, and neither are they handed over."""
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", PLAIN)
    put("vms/cores.yaml", CORES)
    put("vms/secret.yaml", CORES.replace("2", "7"))
    for path in ("secret.yaml", "https://example.invalid/x.yaml", "../../etc/passwd"):
        put("apps/web.yaml", KUSTOMIZED.replace("{path: cores.yaml,", f"{{Path: '{path}',"))
        inputs = read(helm, kustomize)
        assert sizes(inputs) == {"vms: /vm": (1, "1Gi")}
        assert unseen(inputs)["Application with a patch that says nothing"] == 1
        both = f"{{path: cores.yaml, Patch: '{path}', PATH: '{path}',"
        put("apps/web.yaml", KUSTOMIZED.replace("{path: cores.yaml,", both))
        found = sizes(read(helm, kustomize))
        assert found == {"vms (Application argocd/web): prod/p-vm": (2, "3Gi")}


def test_files_beside_override_what_an_application_says(helm: str, kustomize: str) -> None:
    """As merge patches: of every Application, then of the one of that name; never where the source comes from."""
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", PLAIN)
    put("vms/cores.yaml", CORES)
    put("apps/web.yaml", KUSTOMIZED)
    put(
        "vms/.argocd-source.yaml",
        "path: elsewhere\nkustomize: {namePrefix: all-, namespace: null}\n",
    )
    assert [*machines(read(helm, kustomize))] == ["vms (Application argocd/web): /all-vm"]
    put("vms/.argocd-source-web.yaml", "kustomize: {namePrefix: web-, patches: []}\n")
    put("vms/.argocd-source-other.yaml", "kustomize: {namePrefix: other-}\n")
    assert sizes(read(helm, kustomize)) == {"vms (Application argocd/web): /web-vm": (1, "1Gi")}
    put("vms/.argocd-source-web.yaml", "kustomize: {namePrefix: [\n")
    assert unseen(read(helm, kustomize))["Application whose overrides cannot be read"] == 1
    put("charts/vm/.argocd-source.yaml", "helm: {valuesObject: {memory: 5Gi}}\n")
    put("apps/web.yaml", application("values: 'memory: 1Gi'"))
    assert sizes(read(helm))["charts/vm (Application argocd/web): prod/web"] == (1, "5Gi")


def test_every_command_names_the_namespace_of_the_destination(helm: str) -> None:
    put("charts/vm/templates/vm.yaml", VM.replace("  namespace: {{ .Release.Namespace }}\n", ""))
    put("apps/web.yaml", application("values: 'memory: 1Gi'"))
    git("add", "-A")
    git("commit", "-qm", "one")
    commands = (("report", "--format", "json", "."), ("diff", "HEAD", "--format", "json"))
    told = [json.loads(virt_render(helm, *words).stdout)["machines"][0] for words in commands]
    assert [told[0]["namespace"], told[1]["resource"]["namespace"]] == ["prod", "prod"]
    table = virt_render(helm, "report", "--format", "csv", ".").stdout
    assert table.splitlines()[1].startswith("VirtualMachine,prod,web,")
    assert "VirtualMachine prod/web" in virt_render(helm, "explain", "prod/web", ".").stdout


FLUX = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {url: "ssh://git@github.com/acme/fleet"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: flux-system}
spec:
  targetNamespace: prod
  chart: {spec: {chart: ./charts/vm, FILES sourceRef: {kind: GitRepository, name: fleet}}}
  valuesFrom: [FROM]
  values: {cores: 2}
"""
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: sizes, namespace: flux-system}
data: {values.yaml: "memory: 3Gi\\ncores: 9\\n", bus: scsi}
"""


def flux(values: str = "{kind: ConfigMap, name: sizes}", files: str = "") -> str:
    return FLUX.replace("FROM", values).replace("FILES", files)


def test_a_helm_release(helm: str) -> None:
    put(
        "flux/web.yaml",
        flux(
            "{kind: ConfigMap, name: sizes}, {kind: ConfigMap, name: sizes,"
            " valuesKey: bus, targetPath: disk.bus}"
        ),
    )
    put("flux/sizes.yaml", CONFIG_MAP)
    inputs = read(helm)
    assert sizes(inputs) == {"charts/vm (HelmRelease flux-system/web): prod/prod-web": (2, "3Gi")}
    (domain,) = machines(inputs).values()
    assert domain["devices"]["disks"][0]["disk"]["bus"] == "scsi"


def test_values_files_of_a_helm_release_stand_in_for_the_charts_own(helm: str) -> None:
    put("flux/web.yaml", flux("", "valuesFiles: [charts/vm/prod.yaml],"))
    put("charts/vm/prod.yaml", "memory: 6Gi\ndisk: {}\n")
    (domain,) = machines(read(helm)).values()
    assert domain["memory"] == {"guest": "6Gi"}
    assert domain["devices"]["disks"][0]["disk"] == {"bus": None}
    put("flux/web.yaml", flux("", "valuesFiles: [charts/vm/values.yaml, charts/vm/prod.yaml],"))
    (domain,) = machines(read(helm)).values()
    assert domain["devices"]["disks"][0]["disk"] == {"bus": "virtio"}


def test_a_secret_is_no_value(helm: str) -> None:
    """Nothing is known of it: that the chart wants for a value is no fault then, and no word of it is printed."""
    put("flux/web.yaml", flux("{kind: Secret, name: sizes}"))
    put(
        "flux/secret.yaml",
        CONFIG_MAP.replace("ConfigMap", "Secret").replace("data:", "stringData:"),
    )
    inputs = read(helm)
    assert machines(inputs) == {}
    assert unseen(inputs)["chart that cannot be filled in"] == 1
    web = flux("{kind: Secret, name: sizes}")
    put("flux/web.yaml", f"{web}---\n{web.replace('name: web', 'name: db')}")
    assert unseen(read(helm))["chart that cannot be filled in"] == 2
    done = virt_render(helm, "check", "-v", ".")
    assert done.returncode == 0
    assert "3Gi" not in done.stdout + done.stderr
    put("flux/web.yaml", flux("{kind: Secret, name: sizes}, {kind: ConfigMap, name: sizes}"))
    put("flux/sizes.yaml", CONFIG_MAP)
    assert len(machines(read(helm))) == 1


KUSTOMIZATION = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: USER, namespace: flux-system}
spec:
  path: ./vms
  sourceRef: {kind: GitRepository, name: flux-system}
  postBuild:
    substitute: {NAME: USER, CORES: "2"}
    substituteFrom: [{kind: ConfigMap, name: cluster}SECRET]
"""
SUBSTITUTED = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: "${NAME}", annotations: {note: "$${KEPT}"}}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        cpu: {cores: "${CORES}"}
        memory: {guest: "${MEMORY:=1Gi}"}
        devices: {disks: [{name: root, disk: {bus: "${BUS}ide"}}]}
      volumes: [{name: root, containerDisk: {image: image}}]
"""


def test_a_variable_of_flux_that_is_no_text_is_told_and_read_as_it_was_meant(
    helm: str, kustomize: str
) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", SUBSTITUTED)
    text = KUSTOMIZATION.replace("USER", "a").replace("SECRET", "").replace('"2"', "2")
    put("flux/a.yaml", text)
    put(
        "flux/cluster.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster}\ndata: {MEMORY: 4294967296}\n",
    )
    inputs = read(helm, kustomize)
    (size,) = sizes(inputs).values()
    assert [*map(str, size)] == ["2", "4294967296"]
    done = virt_render(helm, "check", ".").stdout
    assert "flux/a.yaml:8:27: warning VR106 wrong-type: Kustomization flux-system/a: " in done
    assert "spec.postBuild.substitute.CORES is 2, where only a text may stand" in done
    assert "flux/cluster.yaml:4:8: warning VR106 wrong-type: ConfigMap cluster: data.MEMORY" in done


@pytest.mark.usefixtures("kustomize")
def test_a_variable_of_flux_that_nobody_sets_is_told(helm: str) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", SUBSTITUTED.replace("CORES", "CROES").replace("${BUS}ide", "sata"))
    text = KUSTOMIZATION.replace("USER", "a").replace("SECRET", "")
    put("flux/a.yaml", text)
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster}\n"
    put("flux/cluster.yaml", f"{head}data: {{MEMORY: 4Gi}}\n")
    done = virt_render(helm, "check", ".").stdout
    assert "\nvms/vm.yaml:9:15: " not in f"\n{done}", done
    unset, field = done.splitlines()[0], done.splitlines()[4]
    assert unset.startswith("vms/vm.yaml:9:23: warning VR114 content-dropped: Kustomization")
    also = "  also, until that is mended: vms/vm.yaml:9:15: error VR114 content-dropped: "
    assert field.startswith(f"{also}VirtualMachine a: spec.template.spec.domain.cpu.cores"), done
    found = json.loads(virt_render(helm, "check", "--format", "json", ".").stdout)["diagnostics"]
    cure = "nobody sets the variable CROES, did you mean CORES?; remove the key, or give it a value"
    assert cure in [each["help"] for each in found]


@pytest.mark.usefixtures("kustomize")
def test_all_fields_that_a_variable_of_flux_leaves_empty_stand_below_it(helm: str) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    vm = SUBSTITUTED.replace("CORES", "CROES").replace("${BUS}ide", "sata")
    put("vms/vm.yaml", "---\n".join(vm.replace('"${NAME}"', f"v{n}") for n in range(5)))
    put("flux/a.yaml", KUSTOMIZATION.replace("USER", "a").replace("SECRET", ""))
    put(
        "flux/cluster.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster}\ndata: {MEMORY: 4Gi}\n",
    )
    *_, below, others = virt_render(helm, "check", ".").stdout.splitlines()
    assert below.startswith("  also, until that is mended: vms/vm.yaml:9:15: error VR114 ")
    assert others.startswith("    and in 4 more VMs: vms/vm.yaml:22:15 (v1), ")
    assert others.endswith(" and 1 other")


def test_a_kustomization_of_flux_substitutes_variables(helm: str, kustomize: str) -> None:
    """Each use is an input of its own, and the folder as it is written is none."""
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", SUBSTITUTED)
    for name in ("a", "b"):
        put(f"flux/{name}.yaml", KUSTOMIZATION.replace("USER", name).replace("SECRET", ""))
    put("flux/cluster.yaml", CONFIG_MAP.replace("sizes", "cluster"))
    assert machines(read(helm, kustomize)) == {}
    assert "'values.yaml' var name is invalid" in notes(read(helm, kustomize))
    put(
        "flux/cluster.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster}\ndata: {MEMORY: 4Gi}\n",
    )
    inputs = read(helm, kustomize)
    assert sizes(inputs) == {
        "vms (Kustomization flux-system/a): /a": (2, "4Gi"),
        "vms (Kustomization flux-system/b): /b": (2, "4Gi"),
    }
    assert "GitRepository flux-system is this repository" in notes(inputs)
    (first, *_) = (document for loaded in inputs if loaded.user for document in loaded.documents)
    assert first.body["metadata"]["annotations"] == {"note": "${KEPT}"}
    assert first.origin.file == "vms/vm.yaml"
    done = virt_render(helm, "check", ".")
    assert "vms/vm.yaml:11:47: error VR420" in done.stdout
    assert "disks/ide-bus: VirtualMachine a:" in done.stdout


def test_each_cluster_may_have_a_kustomization_of_that_name(helm: str, kustomize: str) -> None:
    """They differ in what they substitute: each takes the ConfigMap of its own cluster, and its own namespace."""
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", SUBSTITUTED)
    text = KUSTOMIZATION.replace("USER", "a").replace("SECRET", "")
    for cluster, memory in (("test", "2Gi"), ("prod", "4Gi")):
        target = f"  targetNamespace: {cluster}\n  path: ./vms\n"
        put(f"clusters/{cluster}/a.yaml", text.replace("  path: ./vms\n", target))
        put(
            f"clusters/{cluster}/cluster.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster, namespace: flux-system}\n"
            f"data: {{MEMORY: {memory}}}\n",
        )
    inputs = read(helm, kustomize)
    assert sizes(inputs) == {
        "vms (Kustomization flux-system/a in clusters/prod/a.yaml): prod/a": (2, "4Gi"),
        "vms (Kustomization flux-system/a in clusters/test/a.yaml): test/a": (2, "2Gi"),
    }


def test_what_two_applications_of_one_name_fill_in_alike_is_one_input(helm: str) -> None:
    for cluster in ("prod", "test"):
        put(f"clusters/{cluster}/web.yaml", application("values: 'memory: 2Gi'"))
    assert [*sizes(read(helm))] == ["charts/vm (Application argocd/web): prod/web"]
    put("clusters/test/web.yaml", application("values: 'memory: 8Gi'"))
    assert sizes(read(helm)) == {
        "charts/vm (Application argocd/web in clusters/prod/web.yaml): prod/web": (1, "2Gi"),
        "charts/vm (Application argocd/web in clusters/test/web.yaml): prod/web": (1, "8Gi"),
    }


def test_what_only_a_secret_says_stays_a_placeholder(helm: str, kustomize: str) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", SUBSTITUTED)
    more = ", {kind: Secret, name: more}"
    put("flux/a.yaml", KUSTOMIZATION.replace("USER", "a").replace("SECRET", more))
    inputs = read(helm, kustomize)
    assert sizes(inputs) == {"vms (Kustomization flux-system/a): /a": (2, "${MEMORY:=1Gi}")}
    done = virt_render(helm, "check", ".")
    assert "VR115" in done.stdout
    assert " error " not in done.stdout


def test_an_application_below_a_kustomization_is_asked_as_it_is_built(
    helm: str, kustomize: str
) -> None:
    put("apps/base/kustomization.yaml", "resources: [web.yaml]\n")
    put("apps/base/web.yaml", application("values: 'memory: 1Gi'"))
    put(
        "apps/prod/patch.yaml",
        "- {op: replace, path: /spec/source/helm/values, value: 'memory: 8Gi'}\n",
    )
    put(
        "apps/prod/kustomization.yaml",
        "resources: [../base]\nnamePrefix: prod-\n"
        "patches: [{target: {kind: Application}, path: patch.yaml}]\n",
    )
    assert sizes(read(helm, kustomize)) == {
        "charts/vm (Application argocd/prod-web): prod/prod-web": (1, "8Gi")
    }


OF_SCSI = """\
  value:
    - target: {kind: VirtualMachine}
      patch: '- {op: replace, path: /spec/template/spec/domain/devices/disks/0/disk/bus, value: scsi}'
"""


BY_PATCH = "patches: [{target: {name: web}, path: edit}]"
BY_REPLACEMENT = "replacements: [{path: edit}]"
ADDING = f"""\
- {{op: add, path: /spec/source/kustomize, value: {{}}}}
- op: add
  path: /spec/source/kustomize/patches
{OF_SCSI}"""
REPLACING = """\
source: {kind: ConfigMap, name: where, fieldPath: data.path}
targets: [{select: {kind: Application}, fieldPaths: [spec.source.path]}]
"""
MOVED = {"base: /vm": "ide", "parts/sata: /vm": "sata"}


@pytest.mark.parametrize(
    ("edited", "expected"),
    [
        ((APPLIED, BY_PATCH, ADDING), {"base (Application argocd/web): /vm": "scsi"}),
        (
            (APPLIED_BY_FLUX, BY_PATCH, f"- op: add\n  path: /spec/patches\n{OF_SCSI}"),
            {"base (Kustomization flux-system/web): /vm": "scsi"},
        ),
        (
            (APPLIED, BY_PATCH, "- {op: replace, path: /spec/source/path, value: parts/sata}\n"),
            MOVED,
        ),
        ((APPLIED, BY_REPLACEMENT, REPLACING), MOVED),
    ],
    ids=["patches for Argo CD", "patches for Flux", "a path", "a path by a replacement"],
)
def test_what_is_applied_as_it_is_written_may_be_edited(
    helm: str, kustomize: str, edited: tuple[str, str, str], expected: dict[str, str]
) -> None:
    """The object in its file applies a folder as it is; what kustomize builds of it, otherwise."""
    text, edit, patch = edited
    for folder, bus in (("base", "ide"), ("parts/sata", "sata")):
        put(f"{folder}/kustomization.yaml", "resources: [vm.yaml]\n")
        put(f"{folder}/vm.yaml", PLAIN.replace("bus: ide", f"bus: {bus}"))
    put("over/kustomization.yaml", HIDING.replace("[../base]", "[../parts/sata]"))
    put("apps/web.yaml", text.replace("OPTIONS", ""))
    put(
        "apps/where.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: where}\ndata: {path: parts/sata}\n",
    )
    listed = "resources: [web.yaml, where.yaml]\n"
    put("apps/edit", patch)

    def buses() -> dict[str, str]:
        return {
            name: domain["devices"]["disks"][0]["disk"]["bus"]
            for name, domain in machines(read(helm, kustomize)).items()
            if not name.startswith("over")
        }

    put("apps/kustomization.yaml", listed)
    assert buses() == {"base: /vm": "ide"}
    put("apps/kustomization.yaml", f"{listed}{edit}\n")
    assert buses() == expected


def test_a_patch_that_a_patch_adds_is_told_at_the_application(helm: str, kustomize: str) -> None:
    """Its text stands in no line of that file."""
    put("base/kustomization.yaml", "resources: [vm.yaml]\n")
    put("base/vm.yaml", PLAIN.replace("bus: ide", "bus: virtio"))
    put("apps/web.yaml", APPLIED.replace("OPTIONS", ""))
    put("apps/edit", ADDING.replace("value: scsi", "value: ide"))
    put("apps/kustomization.yaml", f"resources: [web.yaml]\n{BY_PATCH}\n")
    done = virt_render(helm, "check", "--kustomize", kustomize, ".")
    place, _, words = done.stdout.partition(": error VR420 ")
    file, line, _ = place.split(":")
    assert file == "apps/web.yaml", done.stdout
    assert "source:" in Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert "disk.bus" in words


@pytest.mark.parametrize(
    ("helm_options", "message"),
    [
        ("valueFiles: [../../../secret.yaml]", "leads out of the repository"),
        ("valueFiles: [/../secret.yaml]", "leads out of the repository"),
        ("valueFiles: [link.yaml]", "leads out of the repository"),
        ("valueFiles: [https://example.invalid/values.yaml]", "the values file https://"),
        ("fileParameters: [{name: cores, path: /../secret.yaml}]", "leads out of the repository"),
        ("fileParameters: [{name: 'a\\=d=/etc/passwd', path: values.yaml}]", "no name of a value"),
        ("parameters: [{name: 'disk.list[99999999]', value: x}]", "the parameter 'disk.list[9"),
        ("parameters: [{name: cores, value: '1,memory=9Gi\\\\'}]", "the parameter 'cores'"),
        ("parameters: [{name: cores, value: $ARGOCD_APP_NAME}]", "$ARGOCD_APP_NAME"),
        (f"parameters: [{{name: {'a.' * 90}b, value: x}}]", "the parameter 'a.a."),
    ],
)
def test_attacks(helm: str, tmp_path: Path, helm_options: str, message: str) -> None:
    """Nothing from outside is read, and helm parses no word of the repository's."""
    put(str(tmp_path.parent / "secret.yaml"), "memory: 666Gi\n")
    os.symlink(tmp_path.parent / "secret.yaml", "charts/vm/link.yaml")
    put("apps/web.yaml", application(helm_options))
    inputs = read(helm)
    assert machines(inputs) == {}
    assert message in notes(inputs)
    assert "666" not in notes(inputs)


def test_a_path_out_of_the_repository(helm: str, tmp_path: Path) -> None:
    for name, text in (("Chart.yaml", CHART), ("templates/vm.yaml", VM)):
        put(str(tmp_path.parent / "elsewhere" / name), text)
    os.symlink(tmp_path.parent / "elsewhere", "linked")
    for path in ("../elsewhere", "/../elsewhere", "linked", "charts/../../elsewhere"):
        put("apps/web.yaml", application("values: 'memory: 1Gi'").replace("charts/vm", path))
        inputs = read(helm)
        assert machines(inputs) == {}
        assert "leads out of the repository" in notes(inputs)


@pytest.mark.parametrize(
    ("partial", "severity"),
    [("", "error"), ("{{ if .Capabilities.APIVersions.Has `a/v1` }}{{ end }}", "warning")],
)
def test_values_that_fail_are_told_where_they_stand(helm: str, partial: str, severity: str) -> None:
    """The sync fails alike, but for what a template may know of the cluster."""
    put("apps/web.yaml", application("values: 'cores: 1'"))
    put("charts/vm/templates/_more.tpl", partial)
    done = virt_render(helm, "check", "--format", "json", ".")
    assert done.returncode == (3 if severity == "error" else 0)
    (finding,) = (
        diagnostic
        for diagnostic in json.loads(done.stdout)["diagnostics"]
        if diagnostic["code"] == "VR127"
    )
    assert (finding["severity"], finding["file"], finding["line"]) == (
        severity,
        "apps/web.yaml",
        1,
    )
    assert "no memory" in finding["message"]
    assert "known, of charts/vm/values.yaml, apps/web.yaml: set what is" in finding["help"]
    (related,) = finding["related"]
    assert (related["file"], related["message"]) == (
        "charts/vm/templates/vm.yaml",
        "the template that fails",
    )


def test_each_who_fills_in_what_no_line_is_known_of_is_told(helm: str) -> None:
    """Which value of which file brought it about is not known: each has one to mend, of a VM that is called alike."""
    template = VM.replace("runStrategy: Always", "{{ .Values.more }}")
    put(
        "charts/vm/templates/vm.yaml",
        template.replace("  namespace: {{ .Release.Namespace }}\n", ""),
    )
    values = "values: '{memory: 1Gi, more: \"preference: {name: none}\\n  runStrategy: Always\"}'"
    for name in ("blue", "red"):
        text = application(f"releaseName: web\n{values}").replace("name: web,", f"name: {name},")
        put(f"apps/{name}.yaml", text.replace("namespace: prod", f"namespace: {name}"))
    done = virt_render(helm, "check", ".")
    assert done.stdout.count("charts/vm/templates/vm.yaml: error VR202 ") == 2, done.stdout
    for name in ("blue", "red"):
        assert f"\n  filled in by Application argocd/{name}\n" in done.stdout
    assert "2 errors" in done.stderr


def test_a_values_file_that_is_not_there_is_an_error(helm: str) -> None:
    """Argo CD and Flux refuse it, unless they are told to ignore it; check and diff say the same."""
    put("apps/web.yaml", application("values: 'memory: 1Gi'"))
    git("add", ".")
    git("commit", "-qm", "a")
    put("apps/web.yaml", application("valueFiles: [gone.yaml]\nvalues: 'memory: 1Gi'"))
    done = virt_render(helm, "check", ".")
    message = "Application argocd/web asks for values that cannot be read: cannot read charts/vm/gone.yaml"
    assert done.returncode == 3
    named = re.search(r"^apps/web.yaml:(\d+):\d+: error VR110", done.stdout, re.MULTILINE)
    assert named
    assert message in done.stdout
    line = Path("apps/web.yaml").read_text(encoding="utf-8").splitlines()[int(named.group(1)) - 1]
    assert "gone.yaml" in line
    put("charts/vm/gonne.yaml", "memory: 1Gi\n")
    assert "help: did you mean charts/vm/gonne.yaml?" in virt_render(helm, "check", ".").stdout
    reviewed = virt_render(helm, "diff", ".")
    assert reviewed.returncode == 1
    assert message in reviewed.stdout
    ignoring = "valueFiles: [gone.yaml]\nignoreMissingValueFiles: true\nvalues: 'memory: 1Gi'"
    put("apps/web.yaml", application(ignoring))
    assert virt_render(helm, "check", ".").returncode == 0
    assert virt_render(helm, "diff", ".").returncode == 0


@pytest.mark.parametrize(
    ("file", "place"), [("values/web.yaml", ("values/web.yaml", 2)), ("", ("apps/web.yaml", 1))]
)
def test_values_that_are_no_yaml_are_an_error_at_their_line(
    helm: str, file: str, place: tuple[str, int]
) -> None:
    """Of `check` and `diff` alike, whose change made them so; nothing else is lost."""

    def ask(text: str) -> None:
        put("values/web.yaml", text)
        put(
            "apps/web.yaml",
            application(
                "valueFiles: [/values/web.yaml]" if file else f"values: {json.dumps(text)}"
            ),
        )

    put(
        "loose.yaml",
        VM.partition("spec:")[0]
        .replace("{{ .Release.Name }}", "loose")
        .replace("{{ .Release.Namespace }}", "x")
        + "spec: {runStrategy: Halted, template: {spec: {domain: {devices: {}, memory: {guest: 1Gi}}}}}\n",
    )
    ask("cores: 2\nmemory: 1Gi\n")
    git("add", "-A")
    git("commit", "-qm", "one")
    ask("cores: 2\nmemory: [1Gi\n")
    for words in (("check",), ("diff", "HEAD")):
        done = virt_render(helm, *words, ".", "--format", "json")
        assert done.returncode == 1
        document = json.loads(done.stdout)
        found = document["diagnostics"]
        found = found["after"] if isinstance(found, dict) else found
        (error,) = (diagnostic for diagnostic in found if diagnostic["severity"] == "error")
        assert error["code"] == "VR101"
        assert error["file"] == place[0]
        assert abs(error["line"] - place[1]) <= 1
        if words[0] == "diff":
            effects = {
                machine["resource"]["name"]: machine["effects"] for machine in document["machines"]
            }
            assert effects == {"web": ["unrenderable"], "loose": ["same"]}


def test_a_finding_names_the_value_in_the_application(helm: str) -> None:
    put("apps/web.yaml", application("valuesObject:\n  memory: 1Gi\n  disk:\n    bus: floppy"))
    done = virt_render(helm, "check", ".")
    assert "charts/vm/templates/vm.yaml:17:17: error VR420" in done.stdout
    assert "apps/web.yaml:13:11: the value comes from here" in done.stdout
    named = virt_render(helm, "check", "--", "apps/web.yaml")  # as a hook does
    assert "charts/vm/templates/vm.yaml:17:17: error VR420" in named.stdout
    assert "VR420" not in virt_render(helm, "check", "--", "charts/vm/Chart.yaml").stdout


def test_a_change_of_a_value_is_a_change_of_its_vm(helm: str) -> None:
    """One that fails is no VM that went, and none is `deleted`."""
    put("apps/web.yaml", application("values: 'memory: 1Gi'"))
    git("add", "-A")
    git("commit", "-qm", "one")
    put("apps/web.yaml", application("values: 'memory: 2Gi'"))
    done = virt_render(helm, "diff", "HEAD", "--format", "json")
    (machine,) = json.loads(done.stdout)["machines"]
    assert (machine["resource"]["name"], machine["effects"]) == ("web", ["restart"])
    put("apps/web.yaml", application("values: 'cores: 2'"))
    done = virt_render(helm, "diff", "HEAD", "--format", "json")
    (machine,) = json.loads(done.stdout)["machines"]
    assert machine["effects"] == ["unrenderable"]
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("valueFiles: [$typo/prod.yaml]", "no source is called typo"),
        ("valueFiles: [https://example.invalid/values.yaml]", "the values file https://"),
    ],
)
def test_an_application_that_is_not_evaluated_any_more_deletes_nothing(
    helm: str, options: str, reason: str
) -> None:
    """Argo CD syncs nothing then, or what stands elsewhere: nobody here can say."""
    put("apps/web.yaml", application("values: 'memory: 1Gi'"))
    git("add", "-A")
    git("commit", "-qm", "one")
    put("apps/web.yaml", application(options))
    done = virt_render(helm, "diff", "HEAD")
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "1 VM: 1 unrenderable")
    assert f"Application argocd/web is not evaluated: {reason}" in done.stdout
    Path("apps/web.yaml").unlink()
    assert "1 VM: 1 gone" in virt_render(helm, "diff", "HEAD").stdout


FLUX_RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: prod}
spec:
  chart: {spec: {chart: charts/vm, sourceRef: {kind: GitRepository, name: flux-system}}}
"""
BY_REFERENCE = f"""\
{FLUX_RELEASE}  valuesFrom: [{{kind: ConfigMap, name: values}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: values, namespace: prod}}
data:
"""


@pytest.mark.parametrize(
    ("reference", "before", "after", "missing"),
    [
        ("", "values.yaml: 'cores: 3'", None, 'configmaps "values" not found'),
        ("", "values.yaml: 'cores: 3'", "other: 'cores: 3'", "key not found"),
        (", optional: true", "values.yaml: 'cores: 3'", None, ""),
        ("", None, None, ""),  # it may be in the cluster
        ("", None, "values.yaml: 'cores: 3'", ""),
    ],
    ids=["deleted", "key", "optional", "unknown", "added"],
)
def test_flux_applies_nothing_of_what_refers_to_a_deleted_config_map(
    helm: str, reference: str, before: str | None, after: str | None, missing: str
) -> None:
    """The release stays as it was, as an error says, at the line of the HelmRelease."""
    put("charts/vm/values.yaml", "cores: 1\nmemory: 1Gi\ndisk: {bus: virtio}\n")
    release, _, config_map = BY_REFERENCE.replace("values}", f"values{reference}}}").partition(
        "---\n"
    )
    put("flux/web.yaml", release)
    for data in (before, after):
        Path("flux/values.yaml").unlink(missing_ok=True)
        if data:
            put("flux/values.yaml", f"{config_map}  {data}\n")
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", "x")
    done = virt_render(helm, "diff", "HEAD~1..HEAD")
    words = (
        "flux/web.yaml:1:1  HelmRelease prod/web: could not resolve ConfigMap chart values reference"
        f" 'prod/values' with key 'values.yaml': {missing}"
    )
    assert done.returncode == bool(missing)
    assert ("1 VM: 1 unrenderable" in done.stdout) == (words in done.stdout) == bool(missing)


@pytest.mark.usefixtures("kustomize")
@pytest.mark.parametrize(("is_optional", "status"), [(False, 1), (True, 0)])
def test_flux_builds_nothing_with_variables_of_a_deleted_config_map(
    *, is_optional: bool, status: int
) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", vm(name="web", memory="${MEMORY:=1Gi}"))
    optional = ", optional: true" if is_optional else ""
    user = KUSTOMIZATION.replace("USER", "web").replace("SECRET", "")
    put("flux/web.yaml", user.replace("name: cluster", f"name: sizes{optional}"))
    put("flux/sizes.yaml", CONFIG_MAP.rpartition("data:")[0] + "data: {MEMORY: 2Gi}\n")
    git("add", "-A")
    git("commit", "-qm", "one")
    Path("flux/sizes.yaml").unlink()
    done = virt_render("never", "diff", "HEAD")
    words = (
        "flux/web.yaml:1:1  Kustomization flux-system/web: substitute from 'ConfigMap/sizes' error"
    )
    assert (done.returncode, words in done.stdout) == (status, bool(status))


@pytest.mark.usefixtures("kustomize")
@pytest.mark.parametrize(
    ("file", "text", "is_said"),
    [
        ("other/vm.yaml", "kind: VirtualMachine\nmetadata: {name: other\n", True),
        ("other/vm.yaml", "kind: VirtualMachine\nmetadata: {name: sizes\n", False),
        ("other/kustomization.yaml", "resources: [nowhere.yaml]\n", True),
        ("other/kustomization.yaml", "resources: [nowhere.yaml]\nnamePrefix: si\n", False),
    ],
)
def test_what_cannot_be_read_may_have_the_config_map_if_it_has_its_name(
    file: str, text: str, *, is_said: bool
) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", vm(name="web", memory="${MEMORY:=1Gi}"))
    user = KUSTOMIZATION.replace("USER", "web").replace("SECRET", "")
    put("flux/web.yaml", user.replace("name: cluster", "name: sizes"))
    put("flux/sizes.yaml", CONFIG_MAP.rpartition("data:")[0] + "data: {MEMORY: 2Gi}\n")
    git("add", "-A")
    git("commit", "-qm", "one")
    Path("flux/sizes.yaml").unlink()
    put("other/vm.yaml", vm(name="other"))
    put(file, text)
    done = virt_render("never", "diff", "HEAD")
    words = (
        "flux/web.yaml:1:1  Kustomization flux-system/web: substitute from 'ConfigMap/sizes' error"
    )
    assert (words in done.stdout) is is_said


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("values/web.yaml", "cores: 1\nmemory: 1Gi\n", 2),
        ("apps/web.yaml", application("values: |\n  memory: 1Gi"), 11),
        ("apps/web.yaml", application("valuesObject:\n  memory: 1Gi"), 11),
        ("apps/web.yaml", application("parameters: [{name: memory, value: 1Gi}]"), 10),
        (
            "apps/web.yaml",
            application("parameters:\n- {name: cores, value: '1'}\n- {name: memory, value: 1Gi}"),
            12,
        ),
        ("apps/web.yaml", f"{FLUX_RELEASE}  values:\n    memory: 1Gi\n", 7),
        ("apps/web.yaml", f"{BY_REFERENCE}  values.yaml: |\n    memory: 1Gi\n", 13),
    ],
    ids=["valueFiles", "values", "valuesObject", "parameters", "lines", "HelmRelease", "ConfigMap"],
)
def test_a_changed_value_is_the_cause(helm: str, file: str, text: str, line: int) -> None:
    """At its own line where the template is as it was; where that changed too, at the template.

    Of a file of values it is known whether its line says something else now, whatever became of the template.
    """
    put("apps/web.yaml", application("valueFiles: [/values/web.yaml]"))
    put(file, text)
    git("add", "-A")
    git("commit", "-qm", "one")
    put(file, text.replace("1Gi", "2Gi"))
    template = "charts/vm/templates/vm.yaml"
    for is_changed in (False, True):
        known = (template, 12) if is_changed and file == "apps/web.yaml" else (file, line)
        if is_changed:
            put(template, VM.replace("runStrategy: Always", "runStrategy: Manual"))
        for words in (("HEAD",), ("HEAD~1..HEAD",)):
            if ".." in words[0]:
                git("add", "-A")
                git("commit", "-qm", "two")
            done = virt_render(helm, "diff", *words, "--format", "json")
            (machine,) = json.loads(done.stdout)["machines"]
            causes = {change["field"]: change["cause"] for change in machine["changes"]}
            cause = causes["spec.domain.memory.guest"]
            assert (cause["file"], cause["line"]) == known
        git("reset", "-q", "--soft", "HEAD~1")


BY_SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: many, namespace: argocd}
spec:
  goTemplate: GO
  generators:
    - list:
        elements:
          - name: a
            sizes: {memory: 1Gi}
          - name: b
            sizes: {memory: 3Gi}
  template:
    metadata: {name: "vm-NAME"}
    spec:
      destination: {namespace: prod}
      source:
        repoURL: https://github.com/acme/fleet
        path: charts/vm
        helm:
          HELM
"""


@pytest.mark.parametrize(
    ("go", "helm_options", "edit", "line"),
    [
        ("false", "parameters: [{name: memory, value: '{{sizes.memory}}'}]", "1Gi", 10),
        ("true", "parameters: [{name: memory, value: '{{ .sizes.memory }}'}]", "3Gi", 12),
        ("true", "valuesObject: {memory: '{{ .sizes.memory }}'}", "1Gi", 10),
        ("true", "valuesObject: {memory: 5Gi}", "5Gi", 21),
        ("true", "parameters: [{name: memory, value: 5Gi}]", "5Gi", 21),
    ],
    ids=["plain", "go", "valuesObject", "template", "parameter"],
)  # fmt: skip
def test_an_element_of_a_set_is_the_cause(
    helm: str, go: str, helm_options: str, edit: str, line: int
) -> None:
    """At its line where a value is that of the element of a list, else at that of the template."""
    name = "{{.name}}" if go == "true" else "{{name}}"
    text = BY_SET.replace("NAME", name).replace("GO", go).replace("HELM", helm_options)
    put("apps/many.yaml", text)
    git("add", "-A")
    git("commit", "-qm", "one")
    put("apps/many.yaml", text.replace(edit, "2Gi"))
    listed = json.loads(virt_render(helm, "diff", "HEAD", "--format", "json").stdout)["machines"]
    causes = [
        (change["cause"]["file"], change["cause"]["line"])
        for machine in listed
        for change in machine["changes"]
        if change["field"] == "spec.domain.memory.guest"
    ]
    assert set(causes) == {("apps/many.yaml", line)}


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("apps/web.yaml", application("valuesObject:\n  memory: 3Gi"), 11),
        ("apps/web.yaml", f"{FLUX_RELEASE}  values:\n    memory: 3Gi\n", 7),
    ],
    ids=["Application", "HelmRelease"],
)
def test_a_value_that_an_object_says_no_more_is_the_cause(
    helm: str, file: str, text: str, line: int
) -> None:
    """What counts now is the default of the chart, which nobody has edited."""
    put("charts/vm/values.yaml", "cores: 1\ndisk: {bus: virtio}\nmemory: 1Gi\n")
    put(file, text)
    git("add", "-A")
    git("commit", "-qm", "one")
    put(file, text.replace("  memory:", "  memroy:"))
    done = virt_render(helm, "diff", "HEAD", "--format", "json")
    (machine,) = json.loads(done.stdout)["machines"]
    (cause,) = (
        change["cause"] for change in machine["changes"] if "memory.guest" in change["field"]
    )
    assert (cause["file"], cause["line"]) == (file, line)


ASKING = VM.replace(
    "        cpu: {cores: {{ .Values.cores }}}\n",
    "        {{- if .Values.many }}\n        cpu: {cores: 8}\n        {{- else }}\n"
    "        cpu: {cores: {{ .Values.cores }}}\n        {{- end }}\n",
)


@pytest.mark.parametrize(
    ("edit", "more", "known"),
    [
        ("many: true", {}, ("charts/vm/values.yaml", 3)),
        ("many: true", {"charts/vm/README.md": "Eight"}, ("charts/vm/values.yaml", 3)),
        ("many: true\nother: 1", {}, ("charts/vm/templates/vm.yaml", None)),
        (
            "many: true", {"charts/vm/templates/_more.tpl": "{{/* more */}}"},
            ("charts/vm/templates/vm.yaml", None),
        ),
    ],
    ids=["alone", "beside a text", "beside another", "beside a template"],
)  # fmt: skip
def test_the_only_value_that_changes_is_the_cause(
    helm: str, edit: str, more: dict[str, str], known: tuple[str, int | None]
) -> None:
    """A condition of the template asks for it; the line that it prints has no value, or another one."""
    put("charts/vm/templates/vm.yaml", ASKING)
    text = "cores: 1\ndisk: {bus: virtio}\nmany: false\nmemory: 1Gi\n"
    put("charts/vm/values.yaml", text)
    git("add", "-A")
    git("commit", "-qm", "one")
    put("charts/vm/values.yaml", text.replace("many: false", edit))
    for name, content in more.items():
        put(name, content)
    done = virt_render(helm, "diff", "HEAD", "--format", "json")
    (machine,) = json.loads(done.stdout)["machines"]
    causes = {change["field"]: change["cause"] for change in machine["changes"]}
    cause = causes["spec.domain.cpu.cores"]
    assert (cause["file"], cause["line"]) == known


@pytest.mark.usefixtures("kustomize")
@pytest.mark.parametrize(
    ("text", "more", "reason"),
    [
        (
            f"{FLUX_RELEASE}  values: {{memory: 1Gi}}\n",
            "postRenderers: [{kustomize: {}}]", "HelmRelease with postRenderers",
        ),
        (
            KUSTOMIZATION.partition("  postBuild:")[0].replace("USER", "web")
            + "  postBuild: {substitute: {MEMORY: 1Gi}}\n",
            "patchesJson6902: [{patch: []}]", "Flux Kustomization with patchesJson6902",
        ),
    ],
    ids=["HelmRelease", "Kustomization"],
)  # fmt: skip
def test_an_object_of_flux_that_is_not_evaluated_any_more_deletes_nothing(
    helm: str, text: str, more: str, reason: str
) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    sound = SUBSTITUTED.replace("${NAME}", "web").replace('"${CORES}"', "1")
    put("vms/vm.yaml", sound.replace("${BUS}ide", "virtio"))
    put("flux/web.yaml", text)
    git("add", "-A")
    git("commit", "-qm", "one")
    put("flux/web.yaml", f"{text}  {more}\n")
    done = virt_render(helm, "diff", "HEAD")
    assert "gone" not in done.stdout
    assert reason in done.stdout


COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
OF_CORES = "patches: [{target: {kind: VirtualMachine}, path: cores.yaml}]\n"
MEMORY_3GI = "        - {op: replace, path: /spec/template/spec/domain/memory/guest, value: 3Gi}"
EDITED_BY_FLUX = """\
  targetNamespace: prod
  namePrefix: p-
  nameSuffix: -s
  images: [{name: nginx, newTag: "1"}]
  components: [../parts/large]
  commonMetadata: {labels: {team: shop}, annotations: {owner: flux}}
  patches:
    - target: {kind: VirtualMachine}
      patch: |-
        - {op: replace, path: /spec/template/spec/domain/memory/guest, value: 3Gi}
"""


def test_a_kustomization_of_flux_edits_the_one_that_it_builds(helm: str, kustomize: str) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\ncommonAnnotations: {owner: us}\n")
    put("vms/vm.yaml", PLAIN.replace("bus: ide", "bus: sata"))
    put("parts/large/kustomization.yaml", f"{COMPONENT}{OF_CORES}")
    put("parts/large/cores.yaml", CORES)
    plain = KUSTOMIZATION.partition("  postBuild:")[0].replace("USER", "web")
    for text in (plain, f"{plain}  postBuild: {{substitute: {{A: b}}}}\n"):
        put("flux/web.yaml", f"{text}{EDITED_BY_FLUX}")
        inputs = read(helm, kustomize)
        assert sizes(inputs) == {"vms (Kustomization flux-system/web): prod/p-vm-s": (2, "3Gi")}
        (vm,) = (document for loaded in inputs if loaded.user for document in loaded.documents)
        assert vm.body["metadata"]["labels"] == {"team": "shop"}
        assert vm.body["metadata"]["annotations"] == {"owner": "flux"}
        assert vm.origin.file == "vms/vm.yaml"
    words = ("explain", "p-vm-s", "memory.guest")
    line = Path("flux/web.yaml").read_text(encoding="utf-8").split("\n").index(MEMORY_3GI) + 1
    assert f"3Gi  flux/web.yaml:{line}:72\n" in virt_render(helm, *words).stdout


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("../parts/large", "https://example.com/c", "a component from elsewhere"),
        ("../parts/large", "../parts/none", "a component that is not there"),
        ("../parts/large", "../../../../etc", "path out of the repository"),
        ("  patches:", "  patchesStrategicMerge:", "patchesStrategicMerge"),
    ],
)
def test_what_of_an_edit_of_flux_is_not_evaluated_is_counted(
    helm: str, kustomize: str, old: str, new: str, reason: str
) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", PLAIN)
    put("parts/large/kustomization.yaml", COMPONENT)
    plain = KUSTOMIZATION.partition("  postBuild:")[0].replace("USER", "web")
    put("flux/web.yaml", f"{plain}{EDITED_BY_FLUX.replace(old, new)}")
    assert reason in " ".join(unseen(read(helm, kustomize)))
    ignoring = "  ignoreMissingComponents: true\n"
    put("flux/web.yaml", f"{plain}{ignoring}{EDITED_BY_FLUX.replace(old, new)}")
    counted = reason in " ".join(unseen(read(helm, kustomize)))
    assert counted is ("not there" not in reason)


@pytest.mark.usefixtures("kustomize")
def test_definitions_that_are_one_in_a_namespace_are_no_two(helm: str) -> None:
    """One folder, applied in a namespace and without one: each VM has the definition of its own."""
    put("vms/kustomization.yaml", "resources: [vm.yaml, small.yaml]\n")
    put("vms/vm.yaml", vm("${NAME}", instancetype="small", kind=NAMESPACED))
    put("vms/small.yaml", instancetype("small", kind=NAMESPACED))
    for name, namespace in (("a", "  targetNamespace: prod\n"), ("b", "")):
        text = (
            KUSTOMIZATION.replace("USER", name)
            .replace("SECRET", "")
            .partition("    substituteFrom")[0]
        )
        put(f"flux/{name}.yaml", f"{text}{namespace}")
    git("add", "-A")
    git("commit", "-qm", "one")
    done = virt_render(helm, "diff", "HEAD", "--emit", "vm")
    assert done.stdout.startswith("2 VMs: 2 same\n"), done.stdout
    assert "error" not in done.stdout
    assert "more than once" not in done.stdout


def test_what_flux_takes_from_a_repository_that_nobody_knows_is_counted(
    helm: str, kustomize: str
) -> None:
    """If this one has VMs at that place, which are filled in otherwise then as they are written."""
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", PLAIN)
    plain = KUSTOMIZATION.partition("  postBuild:")[0].replace("USER", "web")
    elsewhere = plain.replace("name: flux-system}\n", "name: shop}\n")
    put("flux/web.yaml", elsewhere)
    reason = "Kustomization of a GitRepository that is not in the input"
    assert reason not in unseen(read(helm, kustomize))
    put("flux/web.yaml", f"{elsewhere}  namePrefix: p-\n")
    assert unseen(read(helm, kustomize))[reason] == 1
    put("flux/web.yaml", f"{elsewhere}  namePrefix: p-\n".replace("./vms", "./none"))
    assert reason not in unseen(read(helm, kustomize))
    other = (
        "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n"
        "metadata: {name: shop, namespace: flux-system}\nspec: {url: 'https://github.com/acme/other'}\n"
    )
    of_another = "Kustomization of another repository, at a path with VMs in this one"
    put("flux/web.yaml", elsewhere + other)
    assert of_another not in unseen(read(helm, kustomize))
    put("flux/web.yaml", f"{elsewhere}  namePrefix: p-\n{other}")
    assert unseen(read(helm, kustomize))[of_another] == 1
    release = FLUX_RELEASE.replace("name: flux-system}", "name: shop}")
    put("flux/web.yaml", f"{release}  values: {{memory: 1Gi}}\n")
    assert unseen(read(helm))["HelmRelease of a GitRepository that is not in the input"] == 1


@pytest.mark.usefixtures("kustomize")
@pytest.mark.parametrize("path", ["../../vms", "./../vms", "/vms"])
def test_a_path_of_flux_ends_at_the_top(helm: str, path: str) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", SUBSTITUTED.replace("${BUS}ide", "virtio"))
    text = KUSTOMIZATION.replace("USER", "web").replace("SECRET", "")
    put("flux/web.yaml", text.replace("./vms", path))
    assert list(sizes(read(helm))) == ["vms (Kustomization flux-system/web): /web"]


@pytest.mark.usefixtures("kustomize")
def test_what_flux_cannot_substitute_is_told_where_it_stands(helm: str) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    image = "volumes: [{name: root, containerDisk: {image: image}}]"
    wrong = "volumes:\n      - name: root\n        containerDisk:\n          image: '${IMAGE'"
    put("vms/vm.yaml", SUBSTITUTED.replace(image, wrong))
    put("flux/a.yaml", KUSTOMIZATION.replace("USER", "a").replace("SECRET", ""))
    done = virt_render(helm, "check", ".")
    words = "error VR116 kustomize-failed: Kustomization flux-system/a cannot be substituted in vms"
    assert f"vms/vm.yaml:15:19: {words}" in done.stdout, done.stdout
    assert "help: close the expression" in done.stdout
    assert done.returncode == 3


@pytest.mark.usefixtures("kustomize")
def test_a_variable_that_flux_leaves_empty_is_told_where_it_stands(helm: str) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", SUBSTITUTED.replace("${CORES}", "${CROES}"))
    user = KUSTOMIZATION.replace("USER", "a")
    (by_config_map,) = (line for line in user.splitlines(keepends=True) if "substituteFrom" in line)
    put("flux/a.yaml", user.replace(by_config_map, ""))
    done = virt_render(helm, "check", ".").stdout
    words = "Kustomization flux-system/a substitutes no variable CROES: ${CROES} becomes empty"
    assert f"vms/vm.yaml:9:23: warning VR114 content-dropped: {words}" in done
    assert "help: did you mean CORES?" in done
    assert "variable BUS" in done
    assert "KEPT" not in done
    assert "MEMORY" not in done
    put("flux/a.yaml", user.replace("SECRET", ", {kind: Secret, name: s}"))
    assert "becomes empty" not in virt_render(helm, "check", ".").stdout


@pytest.mark.usefixtures("kustomize")
@pytest.mark.parametrize(
    ("name", "namespace", "help_"),
    [
        ("cluster", "flux-system", ""),
        ("clusters", "flux-system", "did you mean clusters?"),
        ("clusters", "flux", ""),
        ("cluster", "flux", "set metadata.namespace: flux-system there"),
        ("elsewhere", "flux-system", ""),
    ],
)
def test_a_config_map_of_variables_that_is_nearly_there(
    name: str, namespace: str, help_: str, helm: str
) -> None:
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    put("vms/vm.yaml", SUBSTITUTED)
    put("flux/a.yaml", KUSTOMIZATION.replace("USER", "a").replace("SECRET", ""))
    body = f"metadata: {{name: {name}, namespace: {namespace}}}\ndata: {{MEMORY: 2Gi}}\n"
    put("flux/cluster.yaml", f"apiVersion: v1\nkind: ConfigMap\n{body}")
    done = virt_render(helm, "check", ".").stdout
    words = "no ConfigMap cluster is in its namespace, flux-system"
    place = "flux/a.yaml:9:40: warning VR116 kustomize-failed: Kustomization flux-system/a"
    assert (f"{place}: {words}" in done) == bool(help_)
    assert (f"flux/cluster.yaml:3:12: ConfigMap {namespace}/{name} is here" in done) == bool(help_)
    assert help_ in done
    body = body.replace(name, "cluster").replace(f": {namespace}}}", ": flux-system}")
    for cluster in ("a", "b"):  # which of two is meant nobody knows
        put(f"c/{cluster}.yaml", f"apiVersion: v1\nkind: ConfigMap\n{body}")
    assert words not in virt_render(helm, "check", ".").stdout


@pytest.mark.usefixtures("kustomize")
def test_a_path_of_flux_out_of_the_repository(helm: str, tmp_path: Path) -> None:
    """By a link alone: it is counted, and everything else is read."""
    put(str(tmp_path.parent / "elsewhere" / "kustomization.yaml"), "resources: []\n")
    os.symlink(tmp_path.parent / "elsewhere", "linked")
    text = KUSTOMIZATION.partition("  postBuild:")[0].replace("USER", "web")
    put("flux/web.yaml", text.replace("./vms", "linked"))
    put("flux/chart.yaml", flux().replace("./charts/vm", '"a\\0b"'))
    put("vm.yaml", SUBSTITUTED.replace("${NAME}", "apart").replace("${BUS}ide", "virtio"))
    inputs = read(helm)
    assert "linked leads out of the repository" in notes(inputs)
    assert len(machines(inputs)) == 1


BY_CONFIG_MAP = """\
  postBuild:
    substituteFrom: [{kind: ConfigMap, name: cluster}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cluster, namespace: flux-system}
data:
  MEMORY: 1Gi
"""


@pytest.mark.usefixtures("kustomize")
@pytest.mark.parametrize(
    ("written", "line"),
    [("  postBuild:\n    substitute:\n      MEMORY: 1Gi\n", 9), (BY_CONFIG_MAP, 14)],
    ids=["substitute", "substituteFrom"],
)
@pytest.mark.parametrize(
    ("template", "is_cause"),
    [("${MEMORY}", True), ("${MEMORY:=8Gi}", True), ("${MEMORY}${MORE:=}", False)],
)
def test_a_changed_variable_of_flux_is_the_cause(
    helm: str, written: str, line: int, template: str, *, is_cause: bool
) -> None:
    """At its own line, where it stands alone in a field."""
    put("vms/kustomization.yaml", "resources: [vm.yaml]\n")
    text = SUBSTITUTED.replace("${MEMORY:=1Gi}", template).replace("${NAME}", "web")
    put("vms/vm.yaml", text.replace('"${CORES}"', "1").replace("${BUS}ide", "virtio"))
    head = KUSTOMIZATION.partition("  postBuild:")[0].replace("USER", "a")
    put("flux/a.yaml", head + written)
    git("add", "-A")
    git("commit", "-qm", "one")
    put("flux/a.yaml", head + written.replace("1Gi", "2Gi"))
    done = virt_render(helm, "diff", "HEAD", "--format", "json")
    (machine,) = json.loads(done.stdout)["machines"]
    causes = {change["field"]: change["cause"] for change in machine["changes"]}
    cause = causes["spec.domain.memory.guest"]
    known = ("flux/a.yaml", line) if is_cause else ("vms/vm.yaml", 10)
    assert (cause["file"], cause["line"]) == known


def test_a_chart_that_lies_in_the_repository_is_a_dependency(helm: str) -> None:
    """By its folder, or by the name and the version of one that is fetched elsewhere."""
    put("charts/app/values.yaml", "vm: {memory: 5Gi}\n")
    put("charts/app/templates/note.yaml", "# of kubevirt.io\n")
    for address in ("file://../vm", "https://charts.example.invalid"):
        put(
            "charts/app/Chart.yaml",
            "apiVersion: v2\nname: app\nversion: 1.0.0\n"
            f"dependencies: [{{name: vm, version: 1.0.0, repository: '{address}'}}]\n",
        )
        found = machines(read(helm))
        assert [*found] == ["charts/app: default/release-name"]
        (origin,) = (
            document.origin.file
            for loaded in read(helm)
            for document in loaded.documents
            if loaded.filled
        )
        assert origin == "charts/vm/templates/vm.yaml"
    assert not Path("charts/app/charts").exists()


def test_two_uses_of_a_chart_share_its_lock(helm: str) -> None:
    """Each use is read with it, and pins of the others are none of its business."""
    lock = Path("charts/vm/virt-render.lock.yaml")
    for name in ("a", "b"):
        text = application("values: 'memory: 1Gi'").replace("web", name)
        put(f"apps/{name}.yaml", text.replace("namespace: prod", f"namespace: {name}"))
    done = virt_render(helm, "pin", ".")
    assert done.returncode == 0, done.stderr
    assert len(pinned(str(lock))) == 2
    assert virt_render(helm, "pin", "--check", ".").returncode == 0
    assert virt_render(helm, "check", "--pins", "require", ".").returncode == 0
    assert virt_render(helm, "verify", ".").returncode == 0
    Path("apps/b.yaml").unlink()
    assert virt_render(helm, "pin", "--check", ".").returncode == 1
    assert virt_render(helm, "pin", ".").returncode == 0
    assert len(pinned(str(lock))) == 1


def test_a_vm_of_two_uses_that_differs_has_no_lock_there(helm: str) -> None:
    """A lock holds one VM of a name: who fills a folder in for two clusters gives each a lock of its own."""
    for name, memory in (("a", "1Gi"), ("b", "2Gi")):
        text = application(f"releaseName: web\nvalues: 'memory: {memory}'")
        put(f"apps/{name}.yaml", text.replace("name: web, ", f"name: {name}, "))
    done = virt_render(helm, "pin", ".")
    for name in ("a", "b"):
        assert f"not pinned: charts/vm (Application argocd/{name}): " in done.stdout
    assert "is another VM where others fill in that folder; give each a lock" in done.stdout
    assert not Path("charts/vm/virt-render.lock.yaml").exists()


TYPED = vm(instancetype="small", kind=NAMESPACED)
SMALL = instancetype(namespace="prod", kind=NAMESPACED, cpus=2)


def deployed(path: str, name: str = "vms", namespace: str = "prod") -> str:
    """An Application of the folder *path*."""
    return f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd}}
spec:
  destination: {{namespace: {namespace}}}
  source: {{repoURL: "https://github.com/acme/fleet.git", path: {path}}}
"""


IN_PROD = {
    "a folder": {"vms/vm.yaml": TYPED},
    "a kustomization": {"vms/vm.yaml": TYPED, "vms/kustomization.yaml": "resources: [vm.yaml]\n"},
    "a chart": {
        "vms/Chart.yaml": "apiVersion: v2\nname: vms\nversion: 1.0.0\n",
        "vms/templates/vm.yaml": TYPED,
    },
}


@pytest.mark.parametrize("files", IN_PROD.values(), ids=IN_PROD)
def test_what_names_no_namespace_is_applied_in_that_of_the_destination(
    helm: str, files: dict[str, str]
) -> None:
    """Argo CD puts it there; an instancetype of that namespace is meant then. Flux's targetNamespace is alike."""
    for file, text in files.items():
        put(file, text)
    put("types/small.yaml", SMALL)
    put("apps/vms.yaml", deployed("vms"))
    done = virt_render(helm, "check", ".")
    assert done.returncode == 0, done.stdout
    assert "1 VM" in done.stderr
    git("add", ".")
    git("commit", "-qm", "a")
    put("types/small.yaml", SMALL.replace("guest: 2", "guest: 4"))
    assert "cpu.sockets: 2 -> 4" in virt_render(helm, "diff", ".").stdout
    assert "VR201" in virt_render(helm, "check", "--namespace", "test", ".").stdout


def test_files_below_a_kustomization_are_applied_in_the_namespace_of_the_destination(
    helm: str,
) -> None:
    put("kustomization.yaml", "resources: [types/small.yaml, apps/vms.yaml]\n")
    put("vms/vm.yaml", TYPED)
    put("types/small.yaml", SMALL)
    put("apps/vms.yaml", deployed("vms"))
    done = virt_render(helm, "check", ".")
    assert done.returncode == 0, done.stdout
    assert "1 VM" in done.stderr


def test_patches_of_flux_for_a_folder_that_nothing_builds_are_counted(helm: str) -> None:
    put("vms/vm.yaml", PLAIN.replace("bus: ide", "bus: sata"))
    put(
        "clusters/vms.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: vms}\n"
        "spec: {path: ./vms, sourceRef: {kind: GitRepository, name: flux-system}, patches: [{patch: x}]}\n",
    )
    done = virt_render(helm, "check", ".")
    assert "1 VM" in done.stderr
    assert "1 Flux Kustomization with patches" in done.stderr


def test_a_lock_pins_what_is_applied_in_the_namespace_of_the_destination(helm: str) -> None:
    """The lock calls the VM as its manifest does."""
    put("vms/vm.yaml", TYPED)
    put("types/small.yaml", SMALL)
    put("apps/vms.yaml", deployed("vms"))
    assert virt_render(helm, "pin", ".").returncode == 0
    assert pinned("vms/virt-render.lock.yaml") == ["web"]
    put("types/small.yaml", SMALL.replace("guest: 2", "guest: 4"))
    done = virt_render(helm, "check", ".")
    assert done.returncode == 0
    assert "1 VM" in done.stderr


def test_folders_of_one_repository_are_applied_in_different_namespaces(helm: str) -> None:
    """A folder of two Applications that do not agree is read as before."""
    for name in ("prod", "test"):
        put(f"apps/{name}.yaml", deployed(f"vms/{name}", name, name))
        put(f"vms/{name}/vm.yaml", TYPED.replace("name: web", f"name: {name}"))
        put(f"types/{name}.yaml", SMALL.replace("namespace: prod", f"namespace: {name}"))
    done = virt_render(helm, "check", ".")
    assert done.returncode == 0, done.stdout
    put("apps/other.yaml", deployed("vms/test", "other", "prod"))
    assert "VR201" in virt_render(helm, "check", ".").stdout


def test_a_destination_that_changes_moves_the_vm(helm: str) -> None:
    put("vms/vm.yaml", TYPED)
    put("types/small.yaml", SMALL)
    put("types/test.yaml", SMALL.replace("namespace: prod", "namespace: test"))
    put("apps/vms.yaml", deployed("vms"))
    git("add", ".")
    git("commit", "-qm", "a")
    put("apps/vms.yaml", deployed("vms", namespace="test"))
    for name, status in (("web", 0), ("test/web", 0), ("prod/web", 2)):
        assert virt_render(helm, "explain", name).returncode == status
    done = virt_render(helm, "diff", ".").stdout
    gone, new = (f"\n{word}  VirtualMachine" for word in ("gone", "new"))
    assert f"{gone} prod/web  vms/vm.yaml:1:1\n  moved to  VirtualMachine test/web\n" in done
    assert f"{new} test/web  vms/vm.yaml:1:1\n  moved from  VirtualMachine prod/web\n" in done
    assert done.count("\n  2 vCPU, 1 GiB  small\n\n") == 2
    assert "neither gone nor new" not in done
    assert "would fare otherwise" not in done


def test_vms_that_no_kustomization_lists_are_counted(helm: str, kustomize: str) -> None:
    """E15."""
    put("vms/kustomization.yaml", "resources: [vm.yaml]\npatches: [{path: patch.yaml}]\n")
    for name in ("vm", "patch", "old", "sub/older"):
        put(f"vms/{name}.yaml", SUBSTITUTED.replace("${NAME}", "web"))
    put("vms/values.yaml", "a: kubevirt.io/v1\n")
    inputs = read(helm, kustomize)
    assert unseen(inputs)["VM file that no kustomization lists"] == 2
    assert "vms/old.yaml skipped: no kustomization lists it" in notes(inputs)
    done = virt_render(helm, "check", ".")
    assert "2 VM files that no kustomization lists" in done.stderr


def test_vms_of_components_that_no_kustomization_uses_are_counted(helm: str) -> None:
    """Argo CD builds the folder of one as that of any kustomization; a patch in it is no VM."""
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    put(
        "part/kustomization.yaml",
        component + "resources: [vm.yaml]\npatches: [{path: patch.yaml}]\n",
    )
    put("part/vm.yaml", SUBSTITUTED.replace("${NAME}", "web"))
    put(
        "part/patch.yaml",
        PLAIN.replace("name: vm", "name: web").replace("  runStrategy: Always\n", ""),
    )
    unused = "1 VM file of a component that no kustomization uses (-v)"
    assert unused in virt_render(helm, "check", ".").stderr
    put("kustomization.yaml", "components: [part]\n")
    assert "of a component" not in virt_render(helm, "check", ".").stderr


def test_vms_of_bases_that_unused_components_list_are_counted(helm: str) -> None:
    """What another kustomization lists too is built, and so looked at."""
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    put("part/kustomization.yaml", component + "resources: [../base, ../both]\n")
    for folder in ("base", "both"):
        put(f"{folder}/kustomization.yaml", "resources: [vm.yaml]\n")
        put(f"{folder}/vm.yaml", SUBSTITUTED.replace("${NAME}", folder))
    put("top/kustomization.yaml", "resources: [../both]\n")
    done = virt_render(helm, "check", ".")
    assert "1 VM in 1 kustomization: " in done.stderr
    assert "1 VM file of a component that no kustomization uses (-v)" in done.stderr


LEFT_OUT = {
    "a patch deletes it": 'patches: [{target: {kind: VirtualMachine}, patch: \'{"$patch": delete,'
    " apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: web}}'}]",
    "kustomize prints no local configuration": "commonAnnotations: {config.kubernetes.io/local-config: 'true'}",
    "a patch makes another kind of it": "patches: [{target: {kind: VirtualMachine}, patch:"
    """ '[{"op": "replace", "path": "/kind", "value": "Other"}]'}]""",
}


def test_vms_of_one_file_that_kustomizations_leave_out_are_all_counted(helm: str) -> None:
    put("app/kustomization.yaml", "resources: [vm.yaml]\n")
    put("app/vm.yaml", f"{PLAIN}---\n{PLAIN.replace('name: vm', 'name: db')}")
    put("over/kustomization.yaml", f"resources: [../app]\n{next(iter(LEFT_OUT.values()))}\n")
    done = virt_render(helm, "check", ".")
    assert "2 VMs that kustomizations leave out (-v)" in done.stderr


@pytest.mark.parametrize("edit", LEFT_OUT.values(), ids=LEFT_OUT)
def test_vms_that_kustomizations_leave_out_are_counted(helm: str, edit: str) -> None:
    """An overlay takes a VM of its base away: the base may be applied by itself all the same."""
    put("app/kustomization.yaml", "resources: [vm.yaml]\n")
    put("app/vm.yaml", PLAIN)
    put("over/kustomization.yaml", f"resources: [../app]\n{edit}\n")
    done = virt_render(helm, "check", "-v", ".")
    assert "1 VM that kustomizations leave out (-v)" in done.stderr
    assert "the VM in app/vm.yaml skipped: over lists it, and makes nothing of it" in done.stdout
    put("renamed/kustomization.yaml", "resources: [../app]\nnamePrefix: x-\n")
    assert "leave out" not in virt_render(helm, "check", ".").stderr


def test_a_vm_renamed_beyond_recognition_is_none_that_is_left_out(helm: str) -> None:
    put("vm.yaml", PLAIN)
    rename = """patches: [{patch: '[{"op": "replace", "path": "/metadata/name", "value": "db"}]',
  target: {kind: VirtualMachine}}]"""
    put("kustomization.yaml", f"resources: [vm.yaml]\n{rename}\n")
    done = virt_render(helm, "check", ".")
    assert "1 VM in 1 kustomization" in done.stderr
    assert "leave out" not in done.stderr


def test_vms_in_files_that_are_hidden_or_called_tests_are_counted(
    helm: str, kustomize: str
) -> None:
    """Argo CD and kubectl apply them; what is listed, named or a link is none of them."""
    for file in (".vms/a", ".b", "vms/.c/.d", "vms/web.virt-test", ".git/x", "k/.listed"):
        put(f"{file}.yaml", PLAIN)
    put("k/kustomization.yaml", "resources: [.listed.yaml]\n")
    put(".config/plain.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n")
    put("tests/real.virt-test.yaml", "apiVersion: virt-render.dev/v1alpha1\nkind: Test\n")
    Path(".link.yaml").symlink_to(".b.yaml")
    found = unseen(read(helm, kustomize))
    assert found["hidden VM file"] == 3
    assert found["VM file with the name of a test"] == 1
    assert "not looked at" not in virt_render(helm, "check", ".b.yaml").stderr
    done = virt_render(helm, "check", ".b.yaml", "vms")
    assert "1 VM file with the name of a test, 1 hidden VM file (-v)" in done.stderr
    settings = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: "
    put(".virt-render.yaml", settings + "{exclude: ['.*', vms]}\n")
    assert "hidden" not in virt_render(helm, "check", ".").stderr


OF_FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: hidden, namespace: flux-system}
spec: {path: ./.over, sourceRef: {kind: GitRepository, name: flux-system}}
"""


def put_hidden_kustomization() -> None:
    """One with a patch for the VM of a base, which is fine by itself; and a component beside it that nobody uses."""
    put("base/vm.yaml", PLAIN.replace("bus: ide", "bus: sata"))
    put("base/kustomization.yaml", "resources: [vm.yaml]\n")
    patched = "patches: [{target: {kind: VirtualMachine}, path: ide.txt}]\n"
    put(".over/kustomization.yaml", f"resources: [../base]\n{patched}")
    put(
        ".over/ide.txt",
        "- {op: replace, path: /spec/template/spec/domain/devices/disks/0/disk/bus, value: ide}\n",
    )
    put(".over/c/kustomization.yaml", "kind: Component\nresources: [other.yaml]\n")


@pytest.mark.parametrize("user", ["Application", "Application in a kustomization", "Flux"])
@pytest.mark.usefixtures("kustomize")
def test_a_hidden_kustomization_is_built_that_an_object_names(helm: str, user: str) -> None:
    """A pull request may change nothing else; the base counts there, as with one that has no dot in front."""
    put("apps/app.yaml", OF_FLUX if user == "Flux" else deployed(".over"))
    if user == "Application in a kustomization":
        put("apps/kustomization.yaml", "resources: [app.yaml]\n")
    put_hidden_kustomization()
    done = virt_render(helm, "check", ".")
    assert ".over/ide.txt:1:76: error VR420" in done.stdout
    assert "\n1 VM in 1 kustomization: 1 error" in f"\n{done.stderr}"
    assert "hidden" not in done.stderr
    git("add", "base", "apps")
    git("commit", "-qm", "a")
    assert "1 refused" in virt_render(helm, "diff", "HEAD").stdout
    if user == "Application in a kustomization":
        put("apps/kustomization.yaml", "resources: [app.yaml, base.yaml]\n")
    put("apps/base.yaml", deployed("base", "base"))
    assert "2 VMs in 2 kustomizations: 1 error" in virt_render(helm, "check", ".").stderr


@pytest.mark.usefixtures("kustomize")
def test_a_hidden_kustomization_that_no_object_names_is_counted(helm: str) -> None:
    """Once, whatever it lists, and if nothing else is built of it; what it lists under any name counts."""
    put_hidden_kustomization()
    put(".over/c/other.yaml", PLAIN)
    put(".ci/kustomization.yaml", "resources: [plain.yaml]\n")
    put(".ci/plain.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n")
    done = virt_render(helm, "check", ".", "-v")
    assert (
        "; not looked at: 1 Helm chart, 1 hidden VM file, 1 hidden kustomization (" in done.stderr
    )
    assert ".over skipped: a hidden kustomization" in done.stdout
    put(".over/kustomization.yaml", "resources: [vm.txt]\ncomponents: [c]\n")
    put(".over/vm.txt", PLAIN)
    assert "1 Helm chart, 1 hidden kustomization (" in virt_render(helm, "check", ".").stderr
    put("top/kustomization.yaml", "resources: [../.over]\n")
    assert "hidden" not in virt_render(helm, "check", ".").stderr
    put(".over/not/kustomization.yaml", "resources: [../../base]\n")
    put(".gitignore", "not\n")
    assert "hidden" not in virt_render(helm, "check", ".").stderr


def test_a_hidden_chart_that_an_object_fills_in_is_looked_at(helm: str) -> None:
    """Its templates, and the values that hold a VM; what stands beside them is not."""
    put(".charts/vm/Chart.yaml", CHART)
    put(".charts/vm/values.yaml", f"{PLAIN}disk: {{bus: sata}}\n")
    put(".charts/vm/templates/vm.yaml", VM)
    put(".charts/prod.yaml", f"{PLAIN}memory: 2Gi\n")
    text = application("{valuesObject: {cores: 2}, valueFiles: [../prod.yaml]}")
    put("apps/web.yaml", text.replace("path: charts/vm", "path: .charts/vm"))
    assert sizes(read(helm)) == {".charts/vm (Application argocd/web): prod/web": (2, "2Gi")}
    assert "hidden VM file" not in unseen(read(helm))
    put(".charts/vm/beside.yaml", PLAIN)
    assert unseen(read(helm))["hidden VM file"] == 1
    Path("apps/web.yaml").unlink()
    assert unseen(read(helm))["hidden VM file"] == 4


@pytest.mark.usefixtures("kustomize")
def test_files_below_a_hidden_kustomization_are_applied_that_an_object_names(helm: str) -> None:
    put(".over/kustomization.yaml", "resources: [vms/vm.yaml]\n")
    put(".over/vms/vm.yaml", PLAIN)
    put("apps/app.yaml", deployed(".over/vms"))
    done = virt_render(helm, "check", ".")
    assert ".over/vms/vm.yaml:8:93: error VR420" in done.stdout
    assert "hidden VM file" not in done.stderr


@pytest.mark.parametrize("above", ["infra", "other"])
@pytest.mark.usefixtures("kustomize")
def test_a_file_with_a_vm_that_is_applied_is_no_patch(helm: str, above: str) -> None:
    """A kustomization may name it as one, for what is not there: it is built as before."""
    put("infra/apps/vm.yaml", PLAIN)
    named = "patches: [{path: ../infra/apps/vm.yaml, target: {kind: Nothing}}]\n"
    put(f"{above}/kustomization.yaml", f"resources: [map.yaml]\n{named}")
    put(f"{above}/map.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n")
    put("apps/app.yaml", deployed("infra/apps"))
    done = virt_render(helm, "check", ".", "-v")
    assert "infra/apps/vm.yaml:8:93: error VR420" in done.stdout
    assert "takes for a patch" not in done.stderr
    assert "no resource" not in done.stdout
    put("apps/app.yaml", deployed("charts"))
    assert "VR420" not in virt_render(helm, "check", ".").stdout


def test_a_chart_without_vms_by_default_is_counted(helm: str) -> None:
    """E15."""
    put("charts/vm/values.yaml", "memory: 1Gi\ncores: 1\nisOn: false\n")
    put("charts/vm/templates/vm.yaml", f"{{{{ if .Values.isOn }}}}\n{VM}\n{{{{ end }}}}\n")
    for path in (".", "charts/vm"):
        done = virt_render(helm, "check", path)
        assert "not looked at: 1 Helm chart without a VM by default (-v)" in done.stderr


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Chart.yaml", "chart.yaml"),
        ("Chart.yaml", "Chart.yml"),
        ("values.yaml", "values.yml"),
        ("values.yaml", "Values.yaml"),
    ],
)
def test_a_file_of_a_chart_under_another_name_is_counted(
    right: str, wrong: str, helm: str, kustomize: str
) -> None:
    """Helm does not read it; the values of which somebody names."""
    what = "file of a chart with another name than helm reads"
    put("charts/vm/values.md", "# What the values mean\n")
    put("charts/vm/values.d/other.txt", "")
    assert what not in unseen(read(helm, kustomize))
    Path("charts/vm", right).rename(Path("charts/vm", wrong))
    assert unseen(read(helm, kustomize))[what] == 1
    note = f"charts/vm/{wrong} skipped: helm reads {right}: call it that\n"
    assert note in virt_render(helm, "check", ".", "-v").stdout
    if right == "values.yaml":
        put("apps/web.yaml", application(f"valueFiles: [{wrong}]"))
        assert what not in unseen(read(helm, kustomize))


@pytest.mark.parametrize("generator", ["configMapGenerator", "secretGenerator"])
def test_a_vm_in_a_config_map_is_counted(helm: str, kustomize: str, generator: str) -> None:
    """A job may apply it; as a resource it is read."""
    put("vms/kustomization.yaml", f"{generator}: [{{name: vm, files: [vm.yaml, b=other.yaml]}}]\n")
    for name in ("vm", "other"):
        put(f"vms/{name}.yaml", PLAIN.replace("name: web", f"name: {name}"))
    reason = "VM file that a kustomization puts into a ConfigMap"
    inputs = read(helm, kustomize)
    assert unseen(inputs)[reason] == 2
    assert "vms/other.yaml skipped: a kustomization puts it into a ConfigMap" in notes(inputs)
    put(
        "vms/kustomization.yaml",
        f"resources: [vm.yaml]\n{generator}: [{{name: vm, files: [vm.yaml]}}]\n",
    )
    inputs = read(helm, kustomize)
    assert reason not in unseen(inputs)
    assert len(machines(inputs)) == 1


NAMING = {
    "patches": "patches: [{path: FILE, target: {kind: Nothing}}]",
    "patchesStrategicMerge": "patchesStrategicMerge: [FILE]",
    "replacements": "replacements: [{path: FILE}]",
    "configurations": "configurations: [FILE]",
    "transformers": "transformers: [FILE]",
}


@pytest.mark.parametrize("field", NAMING)
def test_a_whole_vm_that_a_kustomization_takes_for_a_patch_is_counted(
    helm: str, kustomize: str, field: str
) -> None:
    """Anybody who names it could take it out of sight; what is but a patch of a VM is no loss."""
    put("infra/kustomization.yaml", NAMING[field].replace("FILE", "vms/vm.yaml") + "\n")
    put("infra/vms/vm.yaml", PLAIN)
    reason = "VM file that a kustomization takes for a patch"
    inputs = read(helm, kustomize)
    assert unseen(inputs)[reason] == 1
    assert not machines(inputs)
    note = "infra/vms/vm.yaml skipped: no resource: infra/kustomization.yaml refers to it"
    assert notes(inputs).count(note) == 1
    assert f"1 {reason} (-v)" in virt_render(helm, "check", "infra/vms/vm.yaml").stderr
    put("infra/vms/vm.yaml", PLAIN.replace("  runStrategy: Always\n", ""))
    assert reason not in unseen(read(helm, kustomize))


def test_a_whole_vm_in_a_directory_that_is_applied_is_no_patch(helm: str, kustomize: str) -> None:
    """Argo CD applies the file, whatever a kustomization elsewhere makes of it."""
    put("kustomization.yaml", NAMING["patches"].replace("FILE", "base/vm.yaml") + "\n")
    put("base/vm.yaml", PLAIN)
    put("argocd/kustomization.yaml", "resources: [web.yaml]\n")
    put("argocd/web.yaml", APPLIED.replace(" OPTIONS", ""))
    inputs = read(helm, kustomize)
    assert {*machines(inputs)} == {"base: /vm"}
    assert "VM file that a kustomization takes for a patch" not in unseen(inputs)


GENERIC = "{{- range .Values.resources }}\n---\n{{ toYaml . }}\n{{- end }}\n"


@pytest.mark.parametrize("kind", ["values", "valuesObject", "HelmRelease"])
def test_a_chart_of_whatever_its_values_hold_makes_the_vms_in_these(helm: str, kind: str) -> None:
    """No file of the chart speaks of KubeVirt: the object that fills it in does."""
    put("charts/vm/templates/vm.yaml", GENERIC)
    put("charts/vm/values.yaml", "resources: []\n")
    machine = parsed(PLAIN.encode(), "vm.yaml", Limits()).documents[0].body
    stated = json.dumps({"resources": [machine]})
    if kind == "HelmRelease":
        put("apps/web.yaml", f"{FLUX_RELEASE}  values: {stated}\n")
    elif kind == "values":
        put("apps/web.yaml", application(f"values: {json.dumps(stated)}"))
    else:
        put("apps/web.yaml", application(f"valuesObject: {stated}"))
    assert len(machines(read(helm))) == 1


TEMPLATED = KUSTOMIZED.replace("path: vms", "path: {{ .Values.path }}")
IN_A_CHART = "Application or object of Flux in a chart"
HIDDEN = "Application or object of Flux in a hidden file"


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("apps/templates/web.yaml", application("valuesObject: {cores: 2}"), IN_A_CHART),
        ("apps/templates/web.yaml", KUSTOMIZED, IN_A_CHART),
        ("apps/templates/web.yaml", TEMPLATED, IN_A_CHART),
        (".argo/web.yaml", application("valuesObject: {cores: 2}"), HIDDEN),
        (".argo/web.yaml", APPLIED_BY_FLUX.replace("OPTIONS", ""), HIDDEN),
        ("apps/templates/web.yaml", KUSTOMIZED.replace("path: vms", "path: other"), ""),
        ("apps/templates/web.yaml", APPLIED.replace("OPTIONS", "").replace("base", "vms"), ""),
        (".github/web.yaml", "kind: Application\nspec: {source: {path: vms, kustomize: {}}}\n", ""),
    ],
)
def test_objects_that_a_chart_makes_or_that_are_hidden_are_counted(
    helm: str, kustomize: str, file: str, text: str, expected: str
) -> None:
    """Where they may fill in or edit what holds VMs, or apply what is otherwise a part alone."""
    for folder in ("vms", "base"):
        put(f"{folder}/kustomization.yaml", "resources: [vm.yaml]\n")
        put(f"{folder}/vm.yaml", PLAIN)
    put("over/kustomization.yaml", HIDING)
    put("other/kustomization.yaml", "resources: [config.yaml]\n")
    put("other/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    put("apps/Chart.yaml", CHART)
    put(file, text)
    counts = unseen(read(helm, kustomize))
    assert {what: counts.get(what, 0) for what in (IN_A_CHART, HIDDEN)} == {
        what: int(what == expected) for what in (IN_A_CHART, HIDDEN)
    }
