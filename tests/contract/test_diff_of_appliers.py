"""``diff`` where objects of Flux and Argo CD begin or cease to apply a folder, which stays where it is."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.support import manifests, process
from tests.support.repository import Repository

HERE = "https://github.com/acme/fleet"
SOURCE = f"""\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: fleet, namespace: flux-system}}
spec: {{url: {HERE}}}
"""
KUSTOMIZATION = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: flux-system}
spec:
  path: ./apps/NAME/app
  prune: true
  sourceRef: {kind: GitRepository, name: fleet}
"""
APPLICATION = f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: chart, namespace: argocd}}
spec:
  destination: {{namespace: prod}}
  source:
    repoURL: {HERE}
    path: chart
    helm: {{valuesObject: {{memory: 2Gi}}}}
"""
NAMES = ("db", "web")
CONFIG = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Two folders of one VM, each with an object of Flux beside it, which one kustomization lists."""
    made = Repository(tmp_path / "fleet")
    made.git("remote", "add", "origin", HERE)
    made.write("flux/source.yaml", SOURCE)
    for name in NAMES:
        made.write(f"apps/{name}/app/kustomization.yaml", "resources: [vm.yaml]\n")
        made.write(f"apps/{name}/app/vm.yaml", manifests.vm(name, memory="1Gi"))
        made.write(f"apps/{name}/ks.yaml", KUSTOMIZATION.replace("NAME", name))
    listing(made, *NAMES)
    return made


def listing(made: Repository, *names: str) -> None:
    """Let the kustomization list the objects *names*."""
    made.write(
        "apps/kustomization.yaml", f"resources: [{', '.join(f'{n}/ks.yaml' for n in names)}]\n"
    )


def chart_in(made: Repository) -> None:
    """Write a chart of one VM, whose memory its values say."""
    made.write("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
    made.write("chart/values.yaml", "memory: 1Gi\n")
    made.write(
        "chart/templates/vm.yaml",
        manifests.vm("chart", memory="1Gi").replace("1Gi", "{{ .Values.memory }}"),
    )


def effects(made: Repository, *revisions: str) -> dict[str, tuple[list[str], list[str]]]:
    """What becomes of each VM, and what is said of it, by its namespace and name."""
    data: Any = json.loads(made.run("diff", *revisions, "--format", "json").stdout)
    return {
        "/".join(filter(None, (machine["resource"]["namespace"], machine["resource"]["name"]))): (
            machine["effects"],
            machine["messages"],
        )
        for machine in data["machines"]
    }


@pytest.mark.parametrize("option", ["", "  targetNamespace: prod\n"])
@pytest.mark.parametrize("has_vm", [True, False])
def test_what_no_object_applies_any_more_is_gone(
    option: str, repository: Repository, *, has_vm: bool
) -> None:
    """The folder stays; who listed its object does so no more, and Flux prunes.

    So it is where what other objects apply has no VM.
    """
    if not has_vm:
        (repository.folder / "apps/db/app/vm.yaml").unlink()
        repository.write("apps/db/app/kustomization.yaml", "configMapGenerator: [{name: db}]\n")
    text = KUSTOMIZATION.replace("NAME", "web") + option
    repository.write("apps/web/ks.yaml", text)
    repository.commit("Both")
    listing(repository, "db")
    repository.commit("One")
    namespace = "prod/" if option else ""
    reason = "apps/web/app is still there, and Kustomization flux-system/web applies it no more"
    others: dict[str, Any] = {"db": (["same"], [])} if has_vm else {}
    assert effects(repository, "HEAD~1..HEAD") == {
        **others,
        f"{namespace}web": (["gone"], [reason]),
    }


def test_what_an_object_fills_in_was_not_applied_by_itself(repository: Repository) -> None:
    """Read as it is it has another namespace, and nobody applied it so."""
    text = f"{KUSTOMIZATION.replace('NAME', 'web')}  targetNamespace: prod\n"
    repository.write("apps/web/ks.yaml", text)
    listing(repository, "db")
    repository.commit("One")
    listing(repository, *NAMES)
    repository.commit("Both")
    assert effects(repository, "HEAD~1..HEAD") == {
        "db": (["same"], []),
        "prod/web": (["new"], []),
    }


def test_where_nothing_is_applied_any_more_others_may_do_it(repository: Repository) -> None:
    repository.commit("Both")
    repository.write("apps/kustomization.yaml", "resources: []\n")
    (repository.folder / "flux/source.yaml").unlink()
    repository.commit("Without Flux")
    assert effects(repository, "HEAD~1..HEAD") == {"db": (["same"], []), "web": (["same"], [])}


def test_a_set_that_is_not_evaluated_may_apply_it(repository: Repository) -> None:
    repository.commit("Both")
    listing(repository, "db")
    repository.write("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n")
    repository.write("chart/templates/vm.yaml", manifests.vm("chart", memory="1Gi"))
    repository.write(
        "set.yaml",
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all}\n"
        "spec:\n  generators: [{clusters: {}}]\n  template: {spec: {source: {path: '{{name}}'}}}\n",
    )
    repository.commit("A set")
    assert effects(repository, "HEAD~1..HEAD")["web"] == (["same"], [])


def test_an_object_that_is_not_evaluated_any_more_may_apply_it(repository: Repository) -> None:
    repository.commit("Both")
    text = KUSTOMIZATION.replace("NAME", "web")
    repository.write("apps/web/ks.yaml", f"{text}  patchesJson6902: [{{patch: []}}]\n")
    repository.commit("One is not evaluated")
    assert effects(repository, "HEAD~1..HEAD") == {"db": (["same"], []), "web": (["same"], [])}


@pytest.mark.usefixtures("helm")
def test_a_chart_of_an_application_is_not_installed_by_itself(repository: Repository) -> None:
    chart_in(repository)
    repository.write("argocd/chart.yaml", APPLICATION)
    repository.commit("All")
    (repository.folder / "argocd/chart.yaml").unlink()
    repository.commit("Without it")
    assert effects(repository, "HEAD~1..HEAD")["prod/chart"][0] == ["gone"]
    assert effects(repository, "HEAD..HEAD~1")["prod/chart"][0] == ["new"]
    assert len(effects(repository, "HEAD~1..HEAD")) == len(NAMES) + 1


_SET = f"""\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: all, namespace: argocd}}
spec:
  goTemplate: true
  generators:
  - list: {{elements: [{{name: chart}}]}}
  template:
    metadata: {{name: "{{{{.name}}}}"}}
    spec:
      destination: {{namespace: prod}}
      source: {{repoURL: {HERE}, path: chart, helm: {{valuesObject: {{memory: 2Gi}}}}}}
"""


@pytest.mark.usefixtures("helm")
@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (("{{.name}}", "{{.name | lower}}"), "{{.name | lower}} has functions"),
        (("{{.name}}", "{{.stage}}"), "no generator says what {{.stage}} is"),
        (("generators:", "generators:\n  - clusters: {}"), "asks elsewhere (clusters)"),
    ],
)
def test_nothing_is_gone_of_a_set_that_is_not_evaluated(
    edit: tuple[str, str], why: str, repository: Repository
) -> None:
    chart_in(repository)
    repository.write("argocd/set.yaml", _SET)
    repository.commit("All")
    repository.write("argocd/set.yaml", _SET.replace(*edit))
    repository.commit("Another template")
    effect, (reason,) = effects(repository, "HEAD~1..HEAD")["prod/chart"]
    assert (effect, why in reason) == (["unrenderable"], True)
    text = repository.run("diff", "HEAD~1..HEAD").stdout
    assert "not compared: chart (Application chart of ApplicationSet argocd/all) (VR127)" in text
    assert effects(repository, "HEAD..HEAD~1")["prod/chart"][0] == ["repaired"]
    repository.write("argocd/set.yaml", _SET.replace(*edit).replace("2Gi", "3Gi"))
    assert "prod/chart" not in effects(repository)


def test_nothing_is_gone_of_a_set_with_a_slip_in_its_template(repository: Repository) -> None:
    source = "repoURL: HERE, path: 'apps/{{.name}}/app'}".replace("HERE", HERE)
    text = re.sub(r"repoURL: .*", source, _SET).replace("[{name: chart}]", "[{name: web}]")
    text = text.replace("{namespace: prod}", "{}")
    (repository.folder / "apps/web/ks.yaml").unlink()
    listing(repository, "db")
    repository.write("argocd/set.yaml", text)
    repository.commit("All")
    repository.write("argocd/set.yaml", text.replace("apps/{{.name}}", "apps/{{.nme}}"))
    assert effects(repository)["web"] == (["same"], [])
    _, counted = counts(repository)
    assert "1 ApplicationSet whose template asks for what no generator says" in counted
    found = process.run("check", ".", cwd=repository.folder)
    assert "argocd/set.yaml:12:56: warning VR105 " in found.stdout
    assert "no generator says what {{.nme}} is\n  help: did you mean {{.name}}?" in found.stdout


def test_settings_are_the_same_where_nothing_is_left_that_uses_them(repository: Repository) -> None:
    shutil.rmtree(repository.folder / "apps/db")
    listing(repository, "web")
    repository.write(".virt-render.yaml", f"{CONFIG}  emit: source\n  kubevirt: '1.9'\n")
    repository.commit("One")
    text = KUSTOMIZATION.replace("NAME", "web")
    repository.write("apps/web/ks.yaml", text.replace("web/app", "wbe/app"))
    _, counted = counts(repository)
    assert "not compared: apps/web/app (VR110); not looked at" in counted


def by_plugin(parameters: str = "") -> str:
    """An Application that has our plugin render the folder vms/own."""
    plugin = f", plugin: {{name: virt-render{parameters}}}"
    return deployed("own", "vms/own").replace("vms/own}", f"vms/own{plugin}}}")


def emit_of(mode: str) -> str:
    """The parameter of our plugin that says the *mode*."""
    return f", parameters: [{{name: emit, string: {mode}}}]"


def counts(made: Repository, *words: str) -> list[str]:
    """The first two lines of what ``diff`` prints."""
    return made.run("diff", *words).stdout.splitlines()[:2]


@pytest.mark.parametrize(
    ("parameters", "setting", "effect"),
    [
        (emit_of("vm"), "", "migrate"),
        (emit_of("vm"), "source", "migrate"),
        ("", "", "migrate"),
        (", env: [{name: VIRT_RENDER_EMIT, value: source}]", "", "recreate"),
        (emit_of("source"), "vm", "recreate"),
        ("", "source", "recreate"),
        (emit_of("nothing"), "", "recreate"),
    ],
)
@pytest.mark.parametrize("is_built", [True, False])
def test_our_plugin_decides_how_vms_are_synced(
    parameters: str, setting: str, effect: str, repository: Repository, *, is_built: bool
) -> None:
    """By what the Application says, else by the settings of the repository, else as it does by itself."""
    repository.write("vms/own/vm.yaml", manifests.vm("own", instancetype="small"))
    repository.write("argocd/own.yaml", by_plugin(parameters))
    repository.write("types/small.yaml", manifests.instancetype("small"))
    if is_built:
        repository.write("vms/own/kustomization.yaml", "resources: [vm.yaml]\n")
    text = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: "
    if setting:
        repository.write(".virt-render.yaml", f"{text}{{emit: {setting}}}\n")
    repository.commit("Applied by our plugin")
    repository.write("types/small.yaml", manifests.instancetype("small", cpus=4))
    assert effects(repository)["prod/own"][0][0] == effect
    assert effects(repository, "--emit", "source")["prod/own"][0] == ["recreate"]
    assert effects(repository, "--emit", "vm")["prod/own"][0][0] == "migrate"


@pytest.mark.parametrize("is_built", [True, False])
def test_a_definition_that_our_plugin_misses_is_told(
    repository: Repository, *, is_built: bool
) -> None:
    """It renders the folder of an Application alone, while ``check`` sees the whole repository."""
    repository.write("vms/own/vm.yaml", manifests.vm("own", instancetype="small"))
    repository.write("argocd/own.yaml", by_plugin())
    repository.write("types/small.yaml", manifests.instancetype("small"))
    if is_built:
        repository.write("vms/own/kustomization.yaml", "resources: [vm.yaml]\n")
    done = repository.run("check", ".")
    assert done.returncode == 0
    assert "vms/own/vm.yaml:8:5: warning VR211" in done.stdout
    assert (
        "taken from elsewhere; Application argocd/own has our plugin render vms/own alone, which"
        " fails without that" in done.stdout
    )
    assert "parameter catalog: ../../types, or say catalog in .virt-render.yaml" in done.stdout
    folder = repository.folder / "vms/own"
    assert "VR201" in process.run("argocd", "generate", cwd=folder).stderr
    catalog = ", parameters: [{name: catalog, array: [../../types]}]"
    for name, text in (
        ("argocd/own.yaml", by_plugin(catalog)),
        ("vms/own/.virt-render.yaml", f"{CONFIG}  catalog: ../../types\n"),
        (".virt-render.yaml", f"{CONFIG}  catalog: types\n"),
        ("vms/own/small.yaml", manifests.instancetype("small")),
    ):
        before = (repository.folder / "argocd/own.yaml").read_text(encoding="utf-8")
        repository.write(name, text)
        if not (is_built and name == "vms/own/small.yaml"):  # it lists no file of that name
            assert "VR211" not in repository.run("check", ".").stdout, name
        (repository.folder / name).unlink()
        repository.write("argocd/own.yaml", before)


def test_a_catalogue_of_our_plugin_decides_which_of_two_is_meant(repository: Repository) -> None:
    """Both stand as near; a definition that its catalogue has not is told, and so is a path that leads nowhere."""
    repository.write("vms/own/vm.yaml", manifests.vm("own", instancetype="small"))
    repository.write("east/small.yaml", manifests.instancetype("small", cpus=2))
    repository.write("west/small.yaml", manifests.instancetype("small", cpus=4))
    repository.write("east/kustomization.yaml", "resources: [small.yaml]\n")
    repository.write("west/kustomization.yaml", "resources: [small.yaml]\n")
    repository.write("argocd/own.yaml", by_plugin())
    assert "VR212" in repository.run("check", ".").stdout
    told = ", parameters: [{name: catalog, array: [../../west]}]"
    for name in ("east", "west"):
        repository.write("argocd/own.yaml", by_plugin(told.replace("west", name)))
        assert repository.run("check", ".").stdout == ""
        repository.commit(f"In the {name}")
    assert effects(repository, "HEAD~1..HEAD")["prod/own"][0][0] == "migrate"
    repository.write("argocd/own.yaml", by_plugin(told.replace("../../west", "../../wset")))
    text = repository.run("check", ".").stdout
    assert "catalog: ../../wset is not there: our plugin makes nothing of vms/own" in text
    assert "did you mean ../../west?" in text
    repository.write("argocd/own.yaml", by_plugin(told.replace("../../west", "../../argocd")))
    text = repository.run("check", ".").stdout
    assert "warning VR211" in text
    assert "give the plugin the parameter catalog: ../../" in text
    repository.write("argocd/own.yaml", by_plugin(told.replace("../../west", "../../../out")))
    assert "catalog: ../../../out leads out of the repo" in repository.run("check", ".").stdout


def test_what_our_plugin_is_told_of_the_bundled_catalogue_and_of_admission_counts(
    repository: Repository,
) -> None:
    repository.write("vms/own/vm.yaml", manifests.vm("own", instancetype="u1.medium"))
    repository.write("argocd/own.yaml", by_plugin())
    assert repository.run("check", ".").returncode == 0
    none = ", parameters: [{name: catalog, string: none}]"
    repository.write("argocd/own.yaml", by_plugin(none))
    assert "error VR201" in repository.run("check", ".").stdout


def test_a_lock_that_our_plugin_is_told_counts(repository: Repository) -> None:
    repository.write("vms/own/vm.yaml", manifests.vm("own", instancetype="small"))
    repository.write("vms/own/small.yaml", manifests.instancetype("small"))
    told = ", parameters: [{name: lock, string: ../../pins/own.yaml}, {name: emit, string: vm}]"
    repository.write("argocd/own.yaml", by_plugin(told))
    (repository.folder / "pins").mkdir()
    folder = repository.folder / "vms/own"
    pinned = process.run("pin", "--lock", "../../pins/own.yaml", "--namespace", "prod", cwd=folder)
    assert pinned.returncode == 0, pinned.stderr
    repository.commit("Pinned")
    repository.write("vms/own/small.yaml", manifests.instancetype("small", cpus=4))
    assert "VR608" in repository.run("check", ".").stdout
    text = repository.run("diff").stdout
    assert text.startswith("3 VMs: 3 same\n")
    assert "pinned by the lock" in text
    repository.write("argocd/own.yaml", by_plugin(told.replace("lock", "catalog")))
    assert "VR608" not in repository.run("check", ".").stdout


def test_a_release_that_our_plugin_misses_is_told(repository: Repository) -> None:
    """It stands in another folder, and so the plugin renders for the newest one; or which file tells it is said."""
    repository.write("vms/own/vm.yaml", manifests.vm("own", memory="1Gi"))
    settings = (
        "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt, namespace: kubevirt}\n"
        "spec: {imageTag: vRELEASE}\n"
    )
    repository.write("east/kubevirt.yaml", settings.replace("RELEASE", "1.6.0"))
    repository.write("argocd/own.yaml", by_plugin())
    told = "Application argocd/own has our plugin render vms/own alone, and so for 1."
    text = repository.run("check", ".").stdout
    assert "warning VR711" in text
    assert told in text
    assert 'give the plugin the parameter kubevirt: "1.6", or say kubevirt in .virt' in text
    for parameters in (
        ", parameters: [{name: kubevirt, string: '1.6'}]",
        ", parameters: [{name: cluster-config, string: ../../east/kubevirt.yaml}]",
        ", parameters: [{name: catalog, array: [../../east]}]",
        emit_of("source"),
    ):
        repository.write("argocd/own.yaml", by_plugin(parameters))
        assert repository.run("check", ".").stdout == "", parameters
    repository.write("west/kubevirt.yaml", settings.replace("RELEASE", "1.7.0"))
    for name, release in (("east", "1.6"), ("west", "1.7")):
        parameters = f", parameters: [{{name: cluster-config, string: ../../{name}/kubevirt.yaml}}]"
        repository.write("argocd/own.yaml", by_plugin(parameters))
        report = json.loads(repository.run("report", "--format", "json").stdout)
        assert [vm["kubevirt"] for vm in report["machines"] if vm["name"] == "own"] == [release]


def test_what_applications_tell_our_plugin_counts(repository: Repository) -> None:
    repository.write("vms/own/vm.yaml", manifests.vm("own", memory="1Gi"))
    release = ", parameters: [{name: kubevirt, string: '1.6'}]"
    repository.write("argocd/own.yaml", by_plugin(release))
    repository.commit("All")

    def releases(*flags: str) -> set[str]:
        report = json.loads(repository.run("report", "--format", "json", *flags).stdout)
        return {vm["kubevirt"] for vm in report["machines"] if vm["name"] == "own"}

    assert releases() == {"1.6"}
    assert releases("--kubevirt", "1.8") == {"1.8"}
    text = by_plugin(", env: [{name: VIRT_RENDER_KUBEVIRT, value: '1.7'}]")
    repository.write("argocd/own.yaml", text)
    assert releases() == {"1.7"}


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        (
            ", parameters: [{name: kubevrt, string: '1.6'}]",
            "unknown parameter kubevrt; did you mean kubevirt?",
        ),
        (", parameters: [{name: kubevirt, string: 1.6}]", "kubevirt: 1.6 is not a text"),
        (", parameters: [{name: emit, string: vmx}]", "emit: 'vmx' is not one of"),
        (
            ", env: [{name: VIRT_RENDER_EMTI, value: vm}]",
            "unknown environment variable VIRT_RENDER_EMTI",
        ),
        (
            ", env: [{name: VIRT_RENDER_LOCKED, value: pins}]",
            "VIRT_RENDER_LOCKED is not for an Application to decide",
        ),
        (", env: [{name: OTHER, value: vm}, {name: VIRT_RENDER_EMIT, value: $EMIT}]", ""),
        (", parameters: [{name: deadline, string: '60'}, {name: emit, string: ''}]", ""),
    ],
)
def test_a_slip_in_what_our_plugin_is_told_stands_at_its_line(
    told: str, fault: str, repository: Repository
) -> None:
    repository.write("vms/own/vm.yaml", manifests.vm("own", memory="1Gi"))
    repository.write("argocd/own.yaml", by_plugin(told))
    done = repository.run("check", ".")
    assert ("VR801" in done.stdout) == bool(fault), done.stdout
    if fault:
        assert f"warning VR801 invalid-setting: Application argocd/own: {fault}" in done.stdout
        assert ": our plugin makes nothing of vms/own" in done.stdout
        assert re.search(r"^argocd/own.yaml:\d+:\d+: warning VR801", done.stdout, re.MULTILINE)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("name", "edit", "told"),
    [
        ("argocd/own.yaml", ("path: vms/own", "pth: vms/own"), "warning VR105 unknown-field"),
        ("argocd/own.yaml", ("kind: App", "kind: Ap"), "warning VR123 unknown-kind"),
        ("flux/one.yaml", ("  path:", "  paht:"), "warning VR105 unknown-field"),
        ("flux/one.yaml", ("./apps/web/app", "./apps/wep/app"), "warning VR110 unreadable"),
        (
            "flux/one.yaml",
            ("web/app", "web/app/vm.yaml"),
            "not found, but a file: apps/web/app/vm.y",
        ),
        ("argocd/own.yaml", ("path: vms/own", "path: docs, hlm: {}"), ""),
    ],
)
def test_a_slip_in_what_applies_vms_is_told_at_its_line(
    name: str, edit: tuple[str, str], told: str, repository: Repository
) -> None:
    repository.write("vms/own/vm.yaml", manifests.vm("own", memory="1Gi"))
    repository.write("docs/README.md", "")
    repository.write("argocd/own.yaml", deployed("own", "vms/own"))
    repository.write("flux/one.yaml", KUSTOMIZATION.replace("NAME", "web"))
    repository.commit("All")
    before = (repository.folder / name).read_text(encoding="utf-8")
    assert edit[0] in before
    assert repository.run("check", ".").stdout == ""
    repository.write(name, before.replace(*edit))
    done = repository.run("check", ".")
    assert done.returncode == 0
    assert done.stdout.startswith(f"{name}:") == bool(told)
    assert told in done.stdout


@pytest.mark.usefixtures("helm")
def test_what_a_generator_reads_and_names_twice_is_told(repository: Repository) -> None:
    chart_in(repository)
    generator = f"git: {{repoURL: {HERE}, files: [{{path: envs/*.yaml}}]}}"
    text = _SET.replace("list: {elements: [{name: chart}]}", generator)
    repository.write("argocd/set.yaml", text)
    for name in ("one", "two"):
        repository.write(f"envs/{name}.yaml", "name: chart\n")
    told = "warning VR103 duplicate-object: ApplicationSet argocd/all makes 2 Applications called"
    done = repository.run("check", ".")
    assert f"argocd/set.yaml:9:16: {told} chart" in done.stdout
    repository.write("envs/two.yaml", "name: [chart\n")
    done = repository.run("check", ".")
    assert "envs/two.yaml:1:7: warning VR101 yaml-syntax" in done.stdout
    assert "1 ApplicationSet whose generator reads another file (-v)" in done.stderr


def test_what_objects_apply_the_build_of_is_compared_once(
    repository: Repository, kustomize: str
) -> None:
    """Hydrated manifests: one folder is built, what comes of it is committed, and that is applied."""
    shutil.rmtree(repository.folder / "flux")
    shutil.rmtree(repository.folder / "apps")
    repository.write("src/kustomization.yaml", "resources: [vm.yaml]\nnamespace: prod\n")

    def hydrate() -> None:
        command = [kustomize, "build", str(repository.folder / "src")]
        built = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        repository.write("hydrated/manifest.yaml", built)

    repository.write("src/vm.yaml", manifests.vm("own", memory="1Gi"))
    hydrate()
    repository.commit("By nobody")
    repository.write("src/vm.yaml", manifests.vm("own", memory="2Gi"))
    assert repository.run("diff").stdout.startswith("2 VMs: 1 restart, 1 same")
    repository.write("argocd/own.yaml", deployed("own", "hydrated"))
    repository.write("src/vm.yaml", manifests.vm("own", memory="1Gi"))
    repository.commit("By Argo CD")
    repository.write("src/vm.yaml", manifests.vm("own", memory="2Gi"))
    text = repository.run("diff").stdout
    assert text.startswith("1 VM: 1 same")
    assert "not looked at: 1 changed input whose built VMs are applied instead" in text
    hydrate()
    assert repository.run("diff").stdout.startswith("1 VM: 1 restart\n")


@pytest.mark.usefixtures("helm")
def test_what_a_new_set_may_make_is_not_gone(repository: Repository) -> None:
    """One that is not evaluated here takes the place of an Application."""
    chart_in(repository)
    repository.write("argocd/chart.yaml", APPLICATION)
    repository.commit("One")
    (repository.folder / "argocd/chart.yaml").unlink()
    repository.write("argocd/set.yaml", _SET.replace(".name", ".name | lower"))
    assert effects(repository)["prod/chart"][0] == ["unrenderable"]
    repository.commit("A set")
    assert effects(repository, "HEAD..HEAD~1")["prod/chart"][0] == ["repaired"]
    repository.write("argocd/chart.yaml", APPLICATION)
    repository.commit("Both")
    (repository.folder / "argocd/chart.yaml").unlink()
    assert effects(repository)["prod/chart"][0] == ["gone"]


@pytest.mark.usefixtures("kustomize")
@pytest.mark.parametrize(
    ("policy", "effect"),
    [
        ("", "gone"),
        ("syncPolicy: {preserveResourcesOnDeletion: true}", "same"),
        ("syncPolicy: {applicationsSync: create-only}", "same"),
    ],
)
def test_what_a_set_makes_no_more_is_gone(policy: str, effect: str, repository: Repository) -> None:
    """It is still there, and its pattern matches nothing: its Applications are deleted, and all VMs with them."""
    shutil.rmtree(repository.folder / "apps")
    shutil.rmtree(repository.folder / "flux")
    for name in ("dev", "prod"):
        repository.write(f"overlays/{name}/vm.yaml", manifests.vm(name, memory="1Gi"))
        repository.write(f"overlays/{name}/kustomization.yaml", "resources: [vm.yaml]\n")
    generator = f"git: {{repoURL: {HERE}, directories: [{{path: overlays/*}}]}}"
    text = _SET.replace("list: {elements: [{name: chart}]}", generator)
    text = text.replace(
        "path: chart, helm: {valuesObject: {memory: 2Gi}}", "path: '{{.path.path}}'"
    )
    text = text.replace(".name", ".path.basename")
    text = text.replace("  template:", f"  {policy}\n  template:") if policy else text
    repository.write("argocd/set.yaml", text)
    repository.commit("Two")
    assert repository.run("check", ".").stdout == ""
    repository.write("argocd/set.yaml", text.replace("overlays/*", "overlay/*"))
    told = "warning VR803 pattern-unmatched: ApplicationSet argocd/all: overlay/* matches nothing"
    assert told in repository.run("check", ".").stdout
    assert repository.run("diff").stdout.startswith(f"2 VMs: 2 {effect}\n")
    repository.git("remote", "remove", "origin", check=False)
    assert told in repository.run("check", ".").stdout


def test_what_else_our_plugin_renders_is_told(repository: Repository) -> None:
    repository.write("argocd/own.yaml", by_plugin())
    repository.commit("Applied by our plugin")
    repository.write("vms/own/vm.yaml", manifests.vm("own", memory="2Gi"))
    repository.commit("Edited")
    assert counts(repository, "HEAD~1..HEAD")[1].endswith("--emit source, and by our plugin as vm")


def test_an_application_that_gets_our_plugin_changes_how_it_is_synced(
    repository: Repository,
) -> None:
    """One that comes applies what nobody is known to have applied otherwise."""
    repository.write("vms/own/vm.yaml", manifests.vm("own", instancetype="small"))
    repository.write("types/small.yaml", manifests.instancetype("small"))
    repository.commit("By nobody")
    repository.write("argocd/own.yaml", by_plugin().replace("namespace: prod", ""))
    repository.commit("By our plugin")
    repository.write("argocd/own.yaml", deployed("own", "vms/own").replace("namespace: prod", ""))
    repository.commit("As it is written")
    assert counts(repository, "HEAD~2..HEAD~1")[0] == "3 VMs: 3 same"
    assert counts(repository, "HEAD~1..HEAD")[0] != "3 VMs: 3 same"
    assert "3 same" in counts(repository, "HEAD~2..HEAD")[0]


def test_a_folder_leaves_beside_a_file_that_cannot_be_read(repository: Repository) -> None:
    chart_in(repository)
    repository.write("argocd/chart.yaml", APPLICATION)
    repository.commit("All")
    repository.write("argocd/chart.yaml", f"{APPLICATION}{{")
    shutil.rmtree(repository.folder / "apps/web")
    listing(repository, "db")
    found = {name: effect for name, (effect, _) in effects(repository).items()}
    assert found == {"db": ["same"], "web": ["gone"], "prod/chart": ["unrenderable"]}


def test_a_remote_base_without_vms_is_none_however_it_is_applied(repository: Repository) -> None:
    text = f"{KUSTOMIZATION.replace('NAME', 'operator')}  targetNamespace: kubevirt\n"
    repository.write("apps/operator/ks.yaml", text)
    repository.write(
        "apps/operator/app/kustomization.yaml",
        "resources: [https://example.invalid/kubevirt-operator.yaml, cluster.yaml]\n",
    )
    repository.write(
        "apps/operator/app/cluster.yaml",
        "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt}\n",
    )
    listing(repository, *NAMES, "operator")
    repository.commit("All")
    done = repository.run("check", ".")
    assert done.returncode == 0, done.stdout
    assert "1 kustomization with a remote base" in done.stderr


def test_what_could_not_be_looked_at_and_is_deleted_is_counted(repository: Repository) -> None:
    """A HelmRelease of a chart from elsewhere has a VM in its values: nobody knows whether it is one."""
    repository.write(
        "flux/vm.yaml",
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: vm, namespace: vms}\n"
        "spec:\n  chart: {spec: {chart: raw, sourceRef: {kind: HelmRepository, name: charts}}}\n"
        "  values: {resources: [{apiVersion: kubevirt.io/v1, kind: VirtualMachine}]}\n",
    )
    repository.commit("With it")
    (repository.folder / "flux/vm.yaml").unlink()
    repository.commit("Without it")
    data = repository.run("diff", "HEAD~1..HEAD", "--format", "json").stdout
    reason = "HelmRelease of a chart from elsewhere with VMs in its values"
    document: Any = json.loads(data)
    assert (document["unseen"], document["unseenBefore"]) == ({}, {reason: 1})
    text = repository.run("diff", "HEAD~1..HEAD").stdout
    assert f"; not looked at in the first state alone: 1 {reason}\n" in text
    assert "in the first state" not in repository.run("diff", "HEAD..HEAD~1").stdout


@pytest.mark.parametrize("is_applied", [True, False])
def test_a_part_that_is_listed_no_more_is_gone(repository: Repository, *, is_applied: bool) -> None:
    """Flux prunes what its kustomization does not list any more, wherever that stands. Nobody knows it without Flux."""
    for name in ("one", "two"):
        repository.write(f"vms/{name}/vm.yaml", manifests.vm(name, memory="1Gi"))
        repository.write(f"vms/{name}/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.write("vms/kustomization.yaml", "resources: [one, two]\n")
    if is_applied:
        text = KUSTOMIZATION.replace("NAME", "vms").replace("apps/vms/app", "vms")
        repository.write("flux/vms.yaml", text)
    repository.commit("Both")
    repository.write("vms/kustomization.yaml", "resources: [one]\n")
    repository.commit("One")
    found = effects(repository, "HEAD~1..HEAD")
    back = effects(repository, "HEAD..HEAD~1")
    reason = "vms/two is still there, and Kustomization flux-system/vms applies it no more"
    assert found["one"] == (["same"], [])
    assert found["two"] == ((["gone"], [reason]) if is_applied else (["same"], []))
    assert back["two"][0] == (["new"] if is_applied else ["same"])


def test_parts_of_what_cannot_be_read_are_still_applied(repository: Repository) -> None:
    repository.write("vms/two/vm.yaml", manifests.vm("two", memory="1Gi"))
    repository.write("vms/two/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.write("vms/kustomization.yaml", "resources: [two]\n")
    text = KUSTOMIZATION.replace("NAME", "vms").replace("apps/vms/app", "vms")
    repository.write("flux/vms.yaml", text)
    repository.commit("Sound")
    repository.write("vms/kustomization.yaml", "resources: [two\n")
    repository.commit("Broken")
    assert effects(repository, "HEAD~1..HEAD")["two"][0] != ["gone"]
    assert effects(repository, "HEAD..HEAD~1")["two"][0] != ["new"]


def plain(made: Repository, *names: str) -> None:
    """Let objects of Argo CD, each in a file of its own, apply the folders *names* as they are, in prod."""
    for name in names:
        made.write(f"argocd/{name}.yaml", deployed(name, f"vms/{name}"))


def deployed(name: str, path: str) -> str:
    """An Application that applies the folder *path* in prod."""
    return (
        f"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\n"
        f"spec: {{destination: {{namespace: prod}}, source: {{repoURL: {HERE}, path: {path}}}}}\n"
    )


@pytest.mark.parametrize("namespace", ["", "prod"])
def test_a_folder_without_a_kustomization_is_let_go_too(
    namespace: str, repository: Repository
) -> None:
    for name in ("one", "two"):
        repository.write(
            f"vms/{name}/vm.yaml", manifests.vm(name, namespace=namespace, memory="1Gi")
        )
    plain(repository, "one", "two")
    repository.commit("Both")
    (repository.folder / "argocd/two.yaml").unlink()
    repository.commit("One")
    found = effects(repository, "HEAD~1..HEAD")
    assert found["prod/one"][0] == ["same"]
    effect, (reason,) = found["prod/two"]
    assert effect == ["gone"]
    assert reason.startswith("vms/two")
    assert reason.endswith("is still there, and Application argocd/two applies it no more")


def test_without_any_object_a_vm_is_where_it_was(tmp_path: Path) -> None:
    """The objects may have moved to another repository: a VM is no other one for that."""
    made = Repository(tmp_path / "alone")
    made.git("remote", "add", "origin", HERE)
    made.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    plain(made, "one")
    made.commit("Applied")
    (made.folder / "argocd/one.yaml").unlink()
    made.commit("By others")
    for revisions in ("HEAD~1..HEAD", "HEAD..HEAD~1"):
        assert effects(made, revisions) == {"prod/one": (["same"], [])}


def test_an_object_that_turns_to_an_overlay_takes_its_vms_along(repository: Repository) -> None:
    """The overlay was there before, and nobody applied it."""
    repository.write("vms/base/vm.yaml", manifests.vm("one", memory="1Gi"))
    repository.write("vms/base/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.write("vms/prod/kustomization.yaml", "resources: [../base]\n")
    repository.write("argocd/one.yaml", deployed("one", "vms/base"))
    repository.commit("The base")
    repository.write("argocd/one.yaml", deployed("one", "vms/prod"))
    repository.commit("The overlay")
    for revisions in ("HEAD~1..HEAD", "HEAD..HEAD~1"):
        found = effects(repository, revisions)
        assert found["prod/one"] == (["same"], [])
        assert len(found) == len(NAMES) + 1


def of_folder(kind: str, options: str = "") -> str:
    """The object *kind* that applies the folder vms/one in prod; *options* of its source or spec begin with a comma."""
    if kind == "Kustomization":
        text = KUSTOMIZATION.replace("apps/NAME/app", "vms/NAME").replace("NAME", "one")
        return f"{text}  targetNamespace: prod\n"
    if kind == "Application":
        return deployed("one", "vms/one").replace("vms/one}", f"vms/one{options}}}")
    return (
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all, namespace: argocd}\n"
        "spec:\n  generators: [{list: {elements: [{name: one}]}}]\n  template:\n    metadata: {name: '{{name}}'}\n"
        f"    spec: {{destination: {{namespace: prod}}, source: {{repoURL: {HERE}, path: 'vms/{{{{name}}}}'}}}}\n"
    )


@pytest.mark.parametrize("kind", ["Application", "ApplicationSet", "Kustomization"])
@pytest.mark.parametrize("refers", [True, False])
def test_a_folder_is_applied_with_a_kustomization_and_without(
    kind: str, repository: Repository, *, refers: bool
) -> None:
    """Argo CD takes all manifests of a folder without one, and Flux writes one that lists them."""
    vm = manifests.vm("one", instancetype="small") if refers else manifests.vm("one", memory="1Gi")
    repository.write("vms/one/vm.yaml", vm)
    repository.write("vms/one/other.yaml", manifests.vm("other", memory="1Gi"))
    repository.write("types/small.yaml", manifests.instancetype("small"))
    repository.write("deploy/one.yaml", of_folder(kind))
    repository.commit("Without")
    repository.write("vms/one/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.commit("With")
    forth, back = effects(repository, "HEAD~1..HEAD"), effects(repository, "HEAD..HEAD~1")
    assert forth["prod/one"] == back["prod/one"] == (["same"], [])
    assert (forth["prod/other"][0], back["prod/other"][0]) == (["gone"], ["new"])
    assert len(forth) == len(back) == len(NAMES) + 2


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("Application", "Application argocd/one: app path does not exist: vms/one"),
        (
            "ApplicationSet",
            "Application one of ApplicationSet argocd/all: app path does not exist: vms/one",
        ),
        (
            "Kustomization",
            "Kustomization flux-system/one: kustomization path not found: vms/one",
        ),
    ],
)
@pytest.mark.parametrize("is_built", [True, False])
def test_where_a_folder_is_gone_and_its_object_is_not_nothing_is_pruned(
    kind: str, words: str, repository: Repository, *, is_built: bool
) -> None:
    """Argo CD compares nothing then, and Flux does not reconcile. With the object, its VMs go."""
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    if is_built:
        repository.write("vms/one/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.write("deploy/one.yaml", of_folder(kind))
    repository.commit("It is there")
    repository.git("mv", "vms/one", "vms/moved")
    repository.commit("It is elsewhere")
    effect, (reason,) = effects(repository, "HEAD~1..HEAD")["prod/one"]
    assert effect == ["unrenderable"]
    assert reason.startswith("deploy/one.yaml:")
    assert reason.endswith(words)
    assert repository.run("diff", "HEAD~1..HEAD").returncode == 1
    assert effects(repository, "HEAD..HEAD~1")["prod/one"][0] == ["repaired"]
    (repository.folder / "deploy/one.yaml").unlink()
    repository.commit("Without the object")
    assert effects(repository, "HEAD~2..HEAD")["prod/one"][0] == ["gone"]


def test_a_path_that_is_gone_is_named_where_the_list_of_a_set_has_it(
    repository: Repository,
) -> None:
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    text = of_folder("ApplicationSet").replace("'vms/{{name}}'", "'{{folder}}'")
    repository.write("deploy/one.yaml", text.replace("{name: one}", "{name: one, folder: vms/one}"))
    repository.commit("It is there")
    repository.git("mv", "vms/one", "vms/moved")
    repository.commit("It is elsewhere")
    _, (reason,) = effects(repository, "HEAD~1..HEAD")["prod/one"]
    assert reason.startswith("deploy/one.yaml:5:")
    assert " names what is not there: Application" in reason
    assert reason.endswith("app path does not exist: vms/one")


@pytest.mark.parametrize("path", ["vms/none", "vms/one/vm.yaml/none", "README.md/none"])
def test_a_path_that_was_never_there_is_no_matter(path: str, repository: Repository) -> None:
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    repository.write("README.md", "A file\n")
    repository.write("deploy/one.yaml", deployed("one", path))
    repository.commit("It is not there")
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="2Gi"))
    assert effects(repository)["one"][0] == ["restart"]
    checked = repository.run("check", ".", "-v")
    assert checked.returncode == 0
    assert f"not evaluated: app path does not exist: {path}" in checked.stdout


@pytest.mark.parametrize(
    ("remote", "revision", "is_told"),
    [
        (HERE, "main", True),
        (HERE, "v1.2", False),  # that may have it
        (
            f"https://other.example/{HERE.rpartition('/')[2]}",
            "main",
            False,
        ),  # so may another of that name
    ],
)
def test_an_application_of_a_folder_that_is_not_there_is_a_warning(
    remote: str,
    revision: str,
    is_told: bool,  # noqa: FBT001
    repository: Repository,
) -> None:
    """Argo CD says so too, and leaves what was applied before."""
    shutil.rmtree(repository.folder / "apps")  # whose VMs are where that address has them
    repository.git("remote", "set-url", "origin", remote)
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    text = deployed("one", "vms/onne").replace("path:", f"targetRevision: {revision}, path:")
    repository.write("deploy/one.yaml", text)
    checked = repository.run("check", ".")
    assert checked.returncode == 0
    assert ("VR110" in checked.stdout) == is_told
    if is_told:
        message = (
            "warning VR110 unreadable: Application argocd/one: app path does not exist: vms/onne"
        )
        assert message in checked.stdout
        assert "  help: did you mean one?\n" in checked.stdout
        repository.write("deploy/one.yaml", text.replace("vms/onne", "vm/one"))
        assert "  help: did you mean vms/one?\n" in repository.run("check", ".").stdout


@pytest.mark.parametrize("remote", ["", HERE.replace("github.com", "other.example")])
def test_a_path_of_what_is_assumed_to_be_here_is_told_where_another_one_is(
    remote: str, repository: Repository
) -> None:
    """The same address has VMs where an Application says: it means this repository."""
    shutil.rmtree(repository.folder / "apps")
    repository.git("remote", "remove", "origin")
    if remote:
        repository.git("remote", "add", "origin", remote)
    for name in NAMES:
        repository.write(f"vms/{name}/vm.yaml", manifests.vm(name, memory="1Gi"))
    repository.write("deploy/web.yaml", deployed("web", "vms/wep"))
    assert "VR110" not in repository.run("check", ".").stdout
    repository.write("deploy/db.yaml", deployed("db", "vms/db"))
    checked = repository.run("check", ".")
    assert "Application argocd/web: app path does not exist: vms/wep" in checked.stdout
    assert "  help: did you mean web?\n" in checked.stdout


_GENERATED = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: all, namespace: argocd}}
spec:
  generators:
  - git: {{repoURL: {address}, revision: {revision}, {patterns}}}
  template:
    metadata: {{name: "{{{{path.basename}}}}"}}
    spec:
      destination: {{namespace: prod}}
      source: {{repoURL: {address}, path: "{{{{path}}}}"}}
"""


@pytest.mark.parametrize(
    ("patterns", "revision", "told"),
    [
        ("directories: [{path: vm/*}]", "HEAD", "vm/* matches nothing"),
        ("directories: [{path: vms/two}]", "main", "vms/two matches nothing"),
        ("directories: [{path: vms/one/*}]", "main", "vms/one/* matches nothing"),
        ("directories: [{path: vm/*}, {path: vms/x, exclude: true}]", "HEAD", "vm/* matches"),
        ("files: [{path: vms/**/config.yaml}]", "HEAD", "vms/**/config.yaml matches nothing"),
        ("directories: [{path: vms/*}]", "HEAD", ""),
        ("directories: [{path: vm/*}, {path: vms/*}]", "HEAD", ""),
        ("directories: [{path: vms/*}, {path: vms/one, exclude: true}]", "HEAD", ""),
        ("directories: [{path: vm/*}]", "v1.2", ""),  # which may have it
        ("files: [{path: .config/*.yaml}]", "HEAD", ""),  # which is not looked through
        ("files: [{path: vms/*.yaml}]", "HEAD", ""),  # git's star stands for slashes
        ("files: [{path: '*/hidden.json'}]", "HEAD", ""),
        ("files: [{path: vms/one}]", "HEAD", ""),  # all that is in it, to git
        ("files: [{path: vms/one/*.json}]", "HEAD", "vms/one/*.json matches nothing"),
        ("directories: [{path: 'vm[s]/x'}]", "HEAD", ""),
    ],
)
def test_a_pattern_of_a_set_that_matches_nothing_is_told_at_its_line(
    patterns: str, revision: str, told: str, repository: Repository
) -> None:
    shutil.rmtree(repository.folder / "apps")
    repository.git("remote", "set-url", "origin", HERE)
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    repository.write(".config/hidden.json", "{}")
    text = _GENERATED.format(address=HERE, revision=revision, patterns=patterns)
    repository.write("deploy/all.yaml", text)
    checked = repository.run("check", ".")
    assert checked.returncode == 0
    assert ("VR803" in checked.stdout) == bool(told), checked.stdout
    if told:
        assert "deploy/all.yaml:6:" in checked.stdout
        assert f"ApplicationSet argocd/all: {told}" in checked.stdout
    if told.startswith("vm/"):
        assert "  help: did you mean vms?\n" in checked.stdout


@pytest.mark.parametrize(
    ("name", "edit", "told"),
    [
        ("deploy/own.yaml", ("path: vms/own", "pth: vms/own"), "VR105"),
        ("deploy/own.yaml", ("kind: App", "kind: Ap"), "VR123"),
        ("deploy/all.yaml", ("overlays/*", "overlay/*"), "VR803"),
        ("deploy/all.yaml", ('"{{path.basename}}"', "one"), "VR103"),
    ],
)
def test_what_an_edit_has_the_reading_warn_of_is_a_new_warning(
    name: str, edit: tuple[str, str], told: str, repository: Repository
) -> None:
    """It is once in each format, and none where it was there before, in another line."""
    shutil.rmtree(repository.folder / "apps")
    for folder in ("vms/own", "overlays/dev", "overlays/test"):
        repository.write(f"{folder}/kustomization.yaml", "resources: [vm.yaml]\n")
        name_of_vm = folder.rpartition("/")[2]
        repository.write(f"{folder}/vm.yaml", manifests.vm(name_of_vm, memory="1Gi"))
    repository.write("deploy/own.yaml", deployed("own", "vms/own"))
    patterns = "directories: [{path: overlays/*}]"
    text = _GENERATED.format(address=HERE, revision="HEAD", patterns=patterns)
    repository.write("deploy/all.yaml", text)
    repository.commit("Sound")
    assert "new warning" not in repository.run("diff").stdout
    before = (repository.folder / name).read_text(encoding="utf-8")
    assert edit[0] in before
    repository.write(name, before.replace(*edit))
    found = repository.run("diff").stdout
    assert "1 new warning" in found, found
    assert f"\n1 new warning\n  {name}:" in found
    assert found.count(f"  {name}:") == 1
    assert "None" not in found
    for style in ("markdown", "html"):
        assert "1 new warning" in repository.run("diff", "--format", style).stdout
    listed = json.loads(repository.run("diff", "--format", "json").stdout)["diagnostics"]
    codes = {
        side: [each["code"] for each in listed[side] if each["severity"] == "warning"]
        for side in listed
    }
    assert codes == {"before": [], "after": [told]}
    repository.commit("A slip")
    repository.write(name, f"# A line before it.\n{before.replace(*edit)}")
    repository.write("vms/own/vm.yaml", manifests.vm("own", memory="2Gi"))
    assert "new warning" not in repository.run("diff").stdout


@pytest.mark.parametrize(
    ("edit", "namespace"),
    [
        (("", ""), "prod/"),
        (("clusters: {}", "clusters: {selector: {}}"), ""),  # which may be none
        (("path: vms/one", "path: 'vms/{{name}}'"), ""),
        (("namespace: prod", "namespace: '{{name}}'"), ""),
        (("  template:", "  templatePatch: 'spec: {}'\n  template:"), ""),
        (("path: vms/one", "path: vms/one, helm: {releaseName: one}"), ""),
    ],
)
def test_a_set_for_every_cluster_says_in_which_namespace(
    edit: tuple[str, str], namespace: str, repository: Repository
) -> None:
    """All of them apply the same: the cluster of Argo CD itself is one."""
    shutil.rmtree(repository.folder / "apps")
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    text = (
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\n"
        "metadata: {name: all, namespace: argocd}\nspec:\n  generators: [{clusters: {}}]\n"
        "  template:\n    metadata: {name: 'one-{{name}}'}\n    spec:\n"
        "      destination: {namespace: prod, server: '{{server}}'}\n"
        f"      source: {{repoURL: {HERE}, path: vms/one}}\n"
    )
    assert edit[0] in text
    repository.write("deploy/all.yaml", text.replace(*edit))
    repository.commit("A set")
    assert effects(repository) == {f"{namespace}one": (["same"], [])}
    listed = json.loads(repository.run("report", ".", "--format", "json").stdout)["machines"]
    assert [each["namespace"] for each in listed] == [namespace.rstrip("/")]


def test_what_is_an_error_of_an_edit_is_no_warning_too(repository: Repository) -> None:
    """That a path is not there is a warning, and an error where it was there before."""
    repository.write("vms/own/vm.yaml", manifests.vm("own", memory="1Gi"))
    repository.write("deploy/own.yaml", deployed("own", "vms/own"))
    repository.commit("Sound")
    repository.write("deploy/own.yaml", deployed("own", "vms/onw"))
    found = repository.run("diff").stdout
    assert found.count("app path does not exist: vms/onw") == 1
    assert "after: 1 error (new)" in found
    assert "new warning" not in found


def test_a_pattern_of_a_set_is_not_told_where_part_of_the_repository_is_not_here(
    repository: Repository,
) -> None:
    shutil.rmtree(repository.folder / "apps")
    repository.git("remote", "set-url", "origin", HERE)
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    repository.write("other/x/x.yaml", "a: b\n")
    patterns = "directories: [{path: other/*}]"
    text = _GENERATED.format(address=HERE, revision="HEAD", patterns=patterns)
    repository.write("deploy/all.yaml", text)
    repository.commit("All")
    repository.git("sparse-checkout", "set", "vms", "deploy")
    assert not (repository.folder / "other").exists()
    assert "VR803" not in repository.run("check", ".").stdout


@pytest.mark.parametrize("form", ["loose", "kustomization", "chart"])
def test_of_a_path_that_was_mistyped_nothing_is_deleted(form: str, repository: Repository) -> None:
    """What it named before is still there. Argo CD says that the path does not exist, and prunes nothing."""
    for name in ("one", "two"):
        text = manifests.vm(name, memory="1Gi")
        if form == "chart":
            repository.write(
                f"vms/{name}/Chart.yaml", f"apiVersion: v2\nname: {name}\nversion: 0.1.0\n"
            )
            repository.write(f"vms/{name}/templates/vm.yaml", text)
        else:
            repository.write(f"vms/{name}/vm.yaml", text)
        if form == "kustomization":
            repository.write(f"vms/{name}/kustomization.yaml", "resources: [vm.yaml]\n")
        repository.write(f"deploy/{name}.yaml", deployed(name, f"vms/{name}"))
    repository.commit("Both are there")
    repository.write("deploy/one.yaml", deployed("one", "vms/onne"))
    repository.commit("One is elsewhere")
    found = effects(repository, "HEAD~1..HEAD")
    assert found["prod/two"] == (["same"], [])
    effect, (reason,) = found["prod/one"]
    assert effect == ["unrenderable"]
    assert reason.endswith("Application argocd/one: app path does not exist: vms/onne")
    assert effects(repository, "HEAD..HEAD~1")["prod/one"][0] == ["repaired"]


def test_a_folder_in_which_other_files_are_left_is_there(repository: Repository) -> None:
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    repository.write("vms/one/README.md", "Nobody reads this\n")
    repository.write("deploy/one.yaml", of_folder("Application"))
    repository.commit("With it")
    (repository.folder / "vms/one/vm.yaml").unlink()
    repository.commit("Without it")
    assert effects(repository, "HEAD~1..HEAD")["prod/one"][0] == ["gone"]


def test_what_stands_in_a_submodule_is_not_known_to_be_missing(repository: Repository) -> None:
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    repository.write("deploy/one.yaml", of_folder("Application"))
    head = repository.commit("A folder")
    (repository.folder / "vms/one/vm.yaml").unlink()
    repository.git("rm", "-r", "--quiet", "--cached", "vms")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{head},vms")
    repository.git("commit", "--quiet", "--message", "A submodule")
    assert effects(repository, "HEAD~1..HEAD")["prod/one"][0] == ["gone"]


@pytest.mark.usefixtures("helm")
def test_a_release_without_its_chart_is_not_uninstalled(repository: Repository) -> None:
    chart_in(repository)
    repository.write(
        "flux/release.yaml",
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: chart, namespace: prod}\n"
        "spec:\n  chart:\n    spec:\n      chart: ./chart\n"
        "      sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}\n",
    )
    repository.commit("With it")
    repository.git("rm", "-r", "--quiet", "chart")
    repository.commit("Without it")
    effect, (reason,) = effects(repository, "HEAD~1..HEAD")["prod/chart"]
    assert effect == ["unrenderable"]
    assert reason.startswith("flux/release.yaml:7:7 of ")
    assert reason.endswith("HelmRelease prod/chart: invalid chart reference: chart")


@pytest.mark.parametrize(
    "options",
    ["exclude: 'sub/*'", "exclude: '{x,s?b/*}'", "include: vm.yaml", "include: '{vm*,*.json}'"],
)
def test_an_application_lets_go_of_files_that_its_directory_leaves_out(
    options: str, repository: Repository
) -> None:
    """What stays is in the namespace in which it was, and what comes back is new."""
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    repository.write("vms/one/sub/vm.yaml", manifests.vm("sub", memory="1Gi"))
    for directory in ("{recurse: true}", "{recurse: false}", f"{{recurse: true, {options}}}"):
        repository.write("deploy/one.yaml", of_folder("Application", f", directory: {directory}"))
        repository.commit(directory)
    reason = "vms/one/sub/vm.yaml is still there, and Application argocd/one applies it no more"
    others: dict[str, Any] = {name: (["same"], []) for name in (*NAMES, "prod/one")}
    for old, new in (("HEAD~2", "HEAD~1"), ("HEAD~2", "HEAD")):
        expected = {**others, "prod/sub": (["gone"], [reason])}
        assert effects(repository, f"{old}..{new}") == expected
        assert effects(repository, f"{new}..{old}") == {**others, "prod/sub": (["new"], [])}


@pytest.mark.parametrize("directory", ["", ", directory: {recurse: false}"])
@pytest.mark.parametrize("place", ["vms/one/sub/vm.yaml", "elsewhere/vm.yaml"])
def test_an_application_lets_go_of_a_file_that_moves_where_it_looks_not(
    place: str, directory: str, repository: Repository
) -> None:
    repository.write("deploy/one.yaml", of_folder("Application", directory))
    for name in ("one", "other"):
        repository.write(f"vms/one/{name}.yaml", manifests.vm(name, memory="1Gi"))
    repository.commit("With both")
    (repository.folder / place).parent.mkdir(exist_ok=True)
    repository.git("mv", "vms/one/one.yaml", place)
    repository.commit("Moved")
    reason = f"it stands in {place} now, where Application argocd/one does not apply it"
    others: dict[str, Any] = {name: (["same"], []) for name in (*NAMES, "prod/other")}
    moved = effects(repository, "HEAD~1..HEAD")
    assert moved == {**others, "prod/one": (["gone"], [reason])}
    repository.git("mv", place, "vms/one/again.yaml")
    repository.commit("Back under another name")
    same = {**others, "prod/one": (["same"], [])}
    assert effects(repository, "HEAD~2..HEAD") == same


@pytest.mark.parametrize("name", ["one.json", "cloudbuild.yaml", "sub/appveyor.yml"])
def test_flux_lets_go_of_a_file_that_it_does_not_read(name: str, repository: Repository) -> None:
    """Its generator lists what ends in .yaml or .yml, and source-controller leaves out files for others by name."""
    repository.write("deploy/one.yaml", of_folder("Kustomization"))
    for vm in ("one", "other"):
        repository.write(f"vms/one/{vm}.yaml", manifests.vm(vm, memory="1Gi"))
    repository.commit("With both")
    body = YAML(typ="safe").load(repository.folder / "vms/one/one.yaml")
    repository.git("rm", "--quiet", "vms/one/one.yaml")
    repository.write(f"vms/one/{name}", json.dumps(body) + "\n")
    repository.commit("In another file")
    reason = (
        f"it stands in vms/one/{name} now, where Kustomization flux-system/one does not apply it"
    )
    others: dict[str, Any] = {name: (["same"], []) for name in (*NAMES, "prod/other")}
    assert effects(repository, "HEAD~1..HEAD") == {**others, "prod/one": (["gone"], [reason])}


def test_a_kustomization_beside_a_chart_is_what_argocd_builds(repository: Repository) -> None:
    """argo-cd util/app/discovery/discovery.go: what comes last in the folder decides, unless the source names one."""
    repository.write("deploy/one.yaml", of_folder("Application", ""))
    repository.write("vms/one/Chart.yaml", "apiVersion: v2\nname: one\nversion: 1.0.0\n")
    repository.write("vms/one/templates/vm.yaml", manifests.vm("one", memory="1Gi"))
    repository.commit("A chart")
    repository.write("vms/one/kustomization.yaml", "resources: [other.yaml]\n")
    repository.write("vms/one/other.yaml", manifests.vm("other", memory="1Gi"))
    repository.commit("A kustomization beside it")
    others: dict[str, Any] = {name: (["same"], []) for name in NAMES}
    known = effects(repository, "HEAD~1..HEAD")
    assert {name: effect for name, (effect, _) in known.items()} == {
        **{name: ["same"] for name in others}, "prod/one": ["gone"], "prod/other": ["new"]
    }  # fmt: skip
    repository.write("deploy/one.yaml", of_folder("Application", ", helm: {releaseName: one}"))
    repository.commit("Named as a chart")
    known = effects(repository, "HEAD~1..HEAD")
    assert known["prod/one"][0] == ["new"]
    assert known["prod/other"][0] == ["gone"]


RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: chart, namespace: prod}
spec: {chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}}}}
"""


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (
            "deploy/one.yaml",
            "name: one",
            "name: other",
            {"deleted Application": 1, "new Application": 1},
        ),
        ("flux/source.yaml", "{url", "{sparseCheckout: [flux], url", {"changed GitRepository": 1}),
        ("deploy/release.yaml", "chart: ./", "chart: .//", {"changed HelmRelease": 1}),
        ("deploy/set.yaml", "[a]", "[]", {"changed ResourceSet": 1}),
        ("deploy/of/values.yaml", "[a]", "[]", {"changed chart of such objects": 1}),
        (
            "vms/Chart.yaml",
            "",
            "apiVersion: v2\nname: one\nversion: 1.0.0\n",
            {"new Chart.yaml": 1},
        ),
        ("deploy/one.yaml", "{name: one", "{name: one, labels: {a: b}", {"changed Application": 1}),
    ],
)
def test_what_changes_of_argo_cd_and_flux_is_counted_whatever_becomes_of_it(
    file: str, old: str, new: str, told: dict[str, int], repository: Repository
) -> None:
    """What a renamed Application deletes, or one that another one applies no more, nobody follows here."""
    repository.write("deploy/one.yaml", deployed("one", "vms/one"))
    repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
    repository.write("deploy/release.yaml", RELEASE)
    repository.write(
        "deploy/set.yaml",
        "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\n"
        "metadata: {name: all}\nspec: {inputs: [a]}\n",
    )
    repository.write("deploy/of/Chart.yaml", "apiVersion: v2\nname: of\nversion: 1.0.0\n")
    repository.write("deploy/of/values.yaml", "names: [a]\n")
    repository.write(
        "deploy/of/templates/app.yaml",
        f"{{{{ range .Values.names }}}}\n{APPLICATION}{{{{ end }}}}\n",
    )
    repository.commit("All of them")
    path = repository.folder / file
    before = path.read_text() if path.exists() else ""
    repository.write(file, before.replace(old, new, 1) if old else new)
    repository.commit("Changed")
    answer = repository.fine("diff", "HEAD~1..HEAD", "--format", "json")
    assert json.loads(answer)["gitops"] == told
    for form in ("text", "markdown", "html"):
        words = repository.fine("diff", "HEAD~1..HEAD", "--format", form)
        assert "f Argo CD and Flux, followed no further than is said here" in words
    repository.write("notes.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    repository.commit("Nothing of them")
    answer = repository.fine("diff", "HEAD~1..HEAD", "--format", "json")
    assert json.loads(answer)["gitops"] == {}


SET = f"""\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: all, namespace: argocd}}
spec:
  generators: [{{list: {{elements: [{{size: 2Gi}}]}}}}]
  template:
    metadata: {{name: chart}}
    spec:
      destination: {{namespace: prod}}
      source: {{repoURL: {HERE}, path: chart, helm: {{parameters: [{{name: memory, value: '{{{{size}}}}'}}]}}}}
"""


@pytest.mark.parametrize("text", [APPLICATION, SET])
@pytest.mark.usefixtures("helm")
def test_what_cannot_be_read_lets_go_of_nothing(text: str, repository: Repository) -> None:
    """Argo CD cannot read it either, and prunes nothing."""
    chart_in(repository)
    repository.write("argocd/chart.yaml", text)
    repository.commit("All")
    repository.write("argocd/chart.yaml", f"{text}x: [\n")
    found = effects(repository)
    assert found["prod/chart"][0] == ["unrenderable"]
    assert "argocd/chart.yaml:" in found["prod/chart"][1][0]
    assert all(found[name] == (["same"], []) for name in NAMES)
    checked = repository.run("check", ".")
    assert checked.returncode == 1
    assert "argocd/chart.yaml:" in checked.stdout
    assert "VR101" in checked.stdout


@pytest.mark.parametrize(
    ("value", "cure"),
    [("{{size}}", "write '{{size}}', in quotes"), ("{{ .Values.size }}", "")],
)
@pytest.mark.usefixtures("helm")
def test_a_parameter_of_a_set_without_quotes_is_no_template_of_others(
    value: str, cure: str, repository: Repository
) -> None:
    """The file is no YAML, and Argo CD keeps the set: what asks for none of its parameters is filled in by others."""
    chart_in(repository)
    repository.write("argocd/chart.yaml", SET)
    repository.commit("All")
    repository.write("argocd/chart.yaml", SET.replace("'{{size}}'", value))
    checked = repository.run("check", ".")
    assert ("argocd/chart.yaml:10:112: " in checked.stdout and "VR101" in checked.stdout) is bool(
        cure
    )
    assert cure in checked.stdout
    if cure:
        found = effects(repository)
        assert found["prod/chart"][0] == ["unrenderable"]
        assert all(found[name] == (["same"], []) for name in NAMES)


def test_what_applies_no_vm_may_be_broken(repository: Repository) -> None:
    repository.write("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
    repository.write("argocd/web.yaml", f"{deployed('web', 'charts/web')}x: [\n")
    assert repository.run("check", ".").returncode == 0


GONE, MOVED = "with nothing to apply here any more", "with another source or cluster"


@pytest.mark.parametrize(
    ("objects", "replaced", "words"),
    [
        ("Kustomization", None, f"2 Kustomizations {GONE}"),
        ("Kustomization", (HERE, "https://github.com/mallory/fleet"), f"2 Kustomizations {MOVED}"),
        ("Kustomization", (HERE, f"{HERE}, ref: {{branch: next}}"), f"2 Kustomizations {MOVED}"),
        ("Application", None, f"1 Application {GONE}"),
        ("Application", (HERE, f"{HERE}, targetRevision: next"), f"1 Application {MOVED}"),
        (
            "Application",
            ("namespace: prod", "namespace: prod, name: west"),
            f"1 Application {MOVED}",
        ),
    ],
)
def test_it_is_said_of_objects_that_nothing_is_known_of_what_they_apply_now(
    objects: str, replaced: tuple[str, str] | None, words: str, repository: Repository
) -> None:
    """Somebody else may apply it, or nobody: what stands here is compared."""
    file = "flux/source.yaml" if objects == "Kustomization" else "deploy/one.yaml"
    if objects == "Application":
        for folder in ("flux", "apps"):
            shutil.rmtree(repository.folder / folder)
        repository.write("vms/one/vm.yaml", manifests.vm("one", memory="1Gi"))
        repository.write(file, of_folder("Application", ""))
    repository.git("remote", "remove", "origin")
    repository.commit("First")
    text = (repository.folder / file).read_text()
    if replaced:
        repository.write(file, text.replace(*replaced))
    else:
        repository.git("rm", "-r", "--quiet", file)
        if objects == "Kustomization":
            listing(repository)
    repository.commit("Second")
    done = repository.run("diff", "HEAD~1..HEAD")
    assert words in done.stdout
    assert "same" in done.stdout.splitlines()[0]


def test_it_is_said_of_vms_that_they_have_other_owners(repository: Repository) -> None:
    """The garbage collector deletes what has owners of which the cluster has none."""
    repository.commit("First")
    owner = "{apiVersion: v1, kind: ConfigMap, name: a, uid: 11111111-2222-3333-4444-555555555555}"
    vm = manifests.vm("web", memory="1Gi")
    repository.write(
        "apps/web/app/vm.yaml",
        vm.replace("metadata:\n", f"metadata:\n  ownerReferences: [{owner}]\n"),
    )
    repository.commit("Second")
    assert "1 VM with other ownerReferences" in repository.run("diff", "HEAD~1..HEAD").stdout


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("argocd.argoproj.io/hook", "PreSync"),
        ("argocd.argoproj.io/sync-options", "Force=true,Replace=true"),
        ("kustomize.toolkit.fluxcd.io/reconcile", "disabled"),
    ],
)
def test_it_is_said_of_vms_that_they_are_applied_otherwise(
    key: str, value: str, repository: Repository
) -> None:
    repository.commit("First")
    vm = manifests.vm("web", memory="1Gi")
    annotated = vm.replace("metadata:\n", f"metadata:\n  annotations: {{{key}: '{value}'}}\n")
    repository.write("apps/web/app/vm.yaml", annotated)
    repository.commit("Second")
    assert f"1 VM with other {key}" in repository.run("diff", "HEAD~1..HEAD").stdout
    repository.write("apps/web/app/vm.yaml", annotated.replace("1Gi", "2Gi"))
    repository.commit("Third")
    assert "VM with other" not in repository.run("diff", "HEAD~1..HEAD").stdout


def test_it_is_said_of_an_object_of_flux_that_it_is_suspended(repository: Repository) -> None:
    repository.commit("First")
    text = KUSTOMIZATION.replace("NAME", "web")
    repository.write("apps/web/ks.yaml", f"{text}  suspend: true\n")
    repository.write("apps/web/app/vm.yaml", manifests.vm("web", memory="2Gi"))
    repository.commit("Second")
    assert "1 suspended Kustomization" in repository.run("diff", "HEAD~1..HEAD").stdout


@pytest.mark.parametrize("folder", ["", "apps/web/"])
def test_it_is_said_that_flux_leaves_something_else_out(
    folder: str, repository: Repository
) -> None:
    repository.write("notes/.sourceignore", "a\n")
    repository.commit("First")
    repository.write(f"{folder}.sourceignore", "app/\n")
    repository.write("notes/.sourceignore", "b\n")
    assert "1 changed .sourceignore file" in repository.run("diff").stdout
    repository.commit("Second")
    assert "1 changed .sourceignore file" in repository.run("diff", "HEAD~1..HEAD").stdout
    repository.write("apps/web/app/vm.yaml", manifests.vm("web", memory="2Gi"))
    assert ".sourceignore" not in repository.run("diff").stdout


def test_it_is_said_that_an_object_is_new_which_puts_a_vm_back(repository: Repository) -> None:
    repository.commit("First")
    repository.write(
        "restore.yaml",
        "apiVersion: snapshot.kubevirt.io/v1beta1\nkind: VirtualMachineRestore\nmetadata: {name: back}\nspec:\n"
        "  target: {apiGroup: kubevirt.io, kind: VirtualMachine, name: web}\n  virtualMachineSnapshotName: old\n",
    )
    repository.commit("Second")
    assert "1 new VirtualMachineRestore" in repository.run("diff", "HEAD~1..HEAD").stdout
    repository.write("apps/web/app/vm.yaml", manifests.vm("web", memory="2Gi"))
    repository.commit("Third")
    assert "Restore" not in repository.run("diff", "HEAD~1..HEAD").stdout


def test_it_is_said_that_an_object_is_new_which_makes_another_vm(repository: Repository) -> None:
    repository.commit("First")
    repository.write(
        "clone.yaml",
        "apiVersion: clone.kubevirt.io/v1beta1\nkind: VirtualMachineClone\nmetadata: {name: twice}\nspec:\n"
        "  source: {apiGroup: kubevirt.io, kind: VirtualMachine, name: web}\n",
    )
    repository.commit("Second")
    assert "1 new VirtualMachineClone" in repository.run("diff", "HEAD~1..HEAD").stdout


@pytest.mark.parametrize("kustomized", [True, False])
def test_what_a_set_applied_of_which_nobody_knows_the_applications_is_not_gone(
    repository: Repository, *, kustomized: bool
) -> None:
    """Though others go on to apply theirs: a generator of clusters may make the same Applications."""
    repository.write("vms/one/vm.yaml", manifests.vm("one", namespace="prod", memory="1Gi"))
    if kustomized:
        repository.write("vms/one/kustomization.yaml", "resources: [vm.yaml]\n")
    text = of_folder("ApplicationSet")
    repository.write("deploy/set.yaml", text)
    repository.commit("First")
    of_clusters = text.replace("{list: {elements: [{name: one}]}}", "{clusters: {}}")
    repository.write("deploy/set.yaml", of_clusters)
    repository.commit("Second")
    done = repository.run("diff", "HEAD~1..HEAD")
    assert "gone" not in done.stdout.splitlines()[0]
    assert "1 Application with nothing to apply here any more" in done.stdout
    repository.write("vms/one/vm.yaml", manifests.vm("one", namespace="prod", memory="2Gi"))
    repository.git("rm", "--quiet", "--cached", "apps/db/ks.yaml")
    (repository.folder / "apps/db/ks.yaml").unlink()
    listing(repository, "web")
    assert "gone" in repository.run("diff", "HEAD").stdout.splitlines()[0]


RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: prod}
spec:
  chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}}}
  values: {names: [one, two]}
"""
APPLIED = f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: web, namespace: argocd}}
spec:
  destination: {{namespace: prod}}
  source: {{repoURL: {HERE}, path: chart, helm: {{valuesObject: {{names: [one, two]}}}}}}
"""


def _one_vm_less(made: Repository, text: str) -> None:
    made.write("clusters/b/web.yaml", text.replace(", two", ""))


def _removed_cluster(made: Repository, _: str) -> None:
    (made.folder / "clusters/b/web.yaml").unlink()


def _new_cluster(made: Repository, text: str) -> None:
    made.write("clusters/c/web.yaml", text)


def _renamed_cluster(made: Repository, _: str) -> None:
    (made.folder / "clusters/b").rename(made.folder / "clusters/c")


def _path_that_is_not_there(made: Repository, text: str) -> None:
    (made.folder / "clusters/b/web.yaml").write_text(
        re.sub(r"(chart|path): (\./)?chart\b", r"\1: \2charts", text)
    )


@pytest.mark.parametrize("text", [RELEASE, APPLIED])
@pytest.mark.parametrize(
    ("edit", "counted"),
    [
        (_one_vm_less, {"a": ["same", "same"], "b": ["gone", "same"]}),
        (_removed_cluster, {"a": ["same", "same"], "b": ["gone", "gone"]}),
        (_new_cluster, {"a": ["same", "same"], "b": ["same", "same"], "c": ["new", "new"]}),
        (_renamed_cluster, {"": ["same", "same"]}),
        (_path_that_is_not_there, {"a": ["same", "same"], "b": ["unrenderable", "unrenderable"]}),
    ],
)  # fmt: skip
def test_objects_of_one_name_are_those_of_a_cluster_each(
    tmp_path: Path,
    text: str,
    edit: Callable[[Repository, str], None],
    counted: dict[str, list[str]],
) -> None:
    """What they make is alike before, and read once; an edit of one is none of the other's VMs."""
    made = Repository(tmp_path / "fleet")
    made.git("remote", "add", "origin", HERE)
    made.write("flux/source.yaml", SOURCE)
    chart_in(made)
    vm = manifests.vm("chart", memory="1Gi").replace("name: chart", "name: {{ . }}")
    made.write(
        "chart/templates/vm.yaml", f"{{{{- range .Values.names }}}}\n---\n{vm}{{{{- end }}}}\n"
    )
    made.write("chart/values.yaml", "names: []\n")
    for cluster in "ab":
        made.write(f"clusters/{cluster}/web.yaml", text)
    made.commit("Two clusters")
    edit(made, text)
    data = json.loads(made.run("diff", "HEAD", "--format", "json").stdout)
    found: dict[str, list[str]] = {}
    for machine in data["machines"]:
        at = re.search(r" in clusters/(\w)/", machine["kustomization"])
        found.setdefault(at[1] if at else "", []).append(machine["effects"][0])
    assert {cluster: sorted(each) for cluster, each in found.items()} == counted


@pytest.mark.parametrize(
    ("written", "slip"), [("postBuild", "postbuild"), ("kind: GitRepository", "kind: GitRepo")]
)
def test_what_the_api_server_does_not_take_changes_nothing_that_it_applied(
    written: str, slip: str, repository: Repository
) -> None:
    """Flux applies server-side: it fails for a field that the schema lacks, and prunes nothing.

    What both states have is no news.
    """
    path = "apps/db/ks.yaml"
    text = KUSTOMIZATION.replace("NAME", "db") + "  postBuild: {substitute: {env: prod}}\n"
    repository.write("apps/db/app/vm.yaml", manifests.vm("${env}-db", memory="1Gi"))
    repository.write(path, text)
    repository.commit("x")
    repository.write(path, text.replace(written, slip))
    repository.commit("x")
    assert effects(repository, "HEAD~1..HEAD")["prod-db"][0] == ["unrenderable"]
    done = repository.run("diff", "HEAD~1..HEAD")
    assert done.returncode
    assert "the API server refuses it, and nothing that it applies changes" in done.stdout
    assert "apps/db/ks.yaml:" in done.stdout
    assert " is refused" in done.stdout
    repository.write("apps/db/app/vm.yaml", manifests.vm("${env}-db", memory="2Gi"))
    repository.commit("x")
    assert "is refused" not in repository.run("diff", "HEAD~1..HEAD").stdout


@pytest.mark.parametrize(("is_told", "effect"), [(True, "gone"), (False, "unrenderable")])
def test_flux_prunes_nothing_beside_a_name_that_the_api_server_refuses(
    effect: str, repository: Repository, *, is_told: bool
) -> None:
    path = "apps/db/ks.yaml"
    text = KUSTOMIZATION.replace("NAME", "db") + "  postBuild: {substitute: {env: a}}\n"
    repository.write("apps/db/app/vm.yaml", manifests.vm("${env}-db", memory="1Gi"))
    repository.write(path, text)
    repository.commit("x")
    repository.write(path, text.replace("env: a", "env: b" if is_told else "env: '-'"))
    repository.commit("x")
    effects_, messages = effects(repository, "HEAD~1..HEAD")["a-db"]
    assert effects_ == [effect]
    assert is_told or "the sync fails before it prunes: " in messages[0]


def test_what_argo_cd_applies_of_flux_loses_the_field_that_nobody_knows(
    repository: Repository,
) -> None:
    """It has the API server drop what that does not know, unless told to apply server-side (argo-cd issue 16817)."""
    application = f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: all, namespace: argocd}}
spec: {{source: {{repoURL: {HERE}, path: apps}}}}
"""
    path = "apps/db/ks.yaml"
    text = KUSTOMIZATION.replace("NAME", "db")
    text += "  postBuild: {substitute: {env: prod}}\n"
    repository.write("argo/all.yaml", application)
    repository.write("apps/db/app/vm.yaml", manifests.vm("${env}-db", memory="1Gi"))
    repository.write(path, text)
    repository.commit("x")
    repository.write(path, text.replace("postBuild", "postbuild"))
    repository.commit("x")
    assert "the API server refuses it" not in repository.run("diff", "HEAD~1..HEAD").stdout
