"""Twice the input is twice the work: each shape of a repository, counted in calls, which no other load changes."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from render.frontends import dispatch
from render.frontends.commands.committed import locks as lock_history
from render.manifests.sources.applied import AppliedFolders
from render.manifests.uses.use import FolderUse
from render.model.resource import Origin
from render.pipeline.comparison.fleet import compare
from render.yaml import nodes
from render.yaml.libyaml import MAPPING, SCALAR
from render.yaml.reader import Document, read
from tests.support.calls import calls
from tests.support.manifests import instancetype, put, vm
from tests.support.repository import Repository

MOST = 2.6
Shape = Callable[[int], Mapping[str, str]]


def machine(name: str = "a", labels: Mapping[str, str] | None = None, **more: Any) -> str:
    """A VM with parts of a VMI spec, as JSON, which is read in few calls."""
    domain = {
        "memory": {"guest": "1Gi"},
        "devices": more.pop("devices", {}),
        **more.pop("domain", {}),
    }
    template = {"metadata": {"labels": labels or {}}, "spec": {"domain": domain, **more}}
    return json.dumps(
        {
            "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": name},
            "spec": {"runStrategy": "Always", "template": template},
        }
    ) + "\n"  # fmt: skip


def machines(count: int) -> Mapping[str, str]:
    """Files with a VM each."""
    return {f"vm-{number}.yaml": vm(f"vm-{number}", memory="1Gi") for number in range(count)}


def in_one_file(count: int) -> Mapping[str, str]:
    """A file of VMs, in each of which something is wrong."""
    return {"vms.yaml": "---\n".join(vm(f"vm-{n}", memory="much") for n in range(count))}


def disks(count: int) -> Mapping[str, str]:
    """Disks that are as they should be."""
    names = [f"d{number}" for number in range(count)]
    volumes = [{"name": name, "emptyDisk": {"capacity": "1Gi"}} for name in names]
    devices = {"disks": [{"name": name, "disk": {"bus": "virtio"}} for name in names]}
    return {"vm.yaml": machine(devices=devices, volumes=volumes)}


def disks_of_one_order(count: int) -> Mapping[str, str]:
    """Disks called alike, with one boot order: KubeVirt has a cause for each pair."""
    return {"vm.yaml": machine(devices={"disks": [{"name": "a", "bootOrder": 1}] * count})}


def interfaces(count: int) -> Mapping[str, str]:
    """Interfaces, each with its network."""
    names = [f"n{number}" for number in range(count)]
    networks = [{"name": name, "multus": {"networkName": name}} for name in names]
    return {
        "vm.yaml": machine(
            devices={"interfaces": [{"name": name, "bridge": {}} for name in names]},
            networks=networks,
        )
    }


def interfaces_called_alike(count: int) -> Mapping[str, str]:
    """Interfaces and networks of one name."""
    devices = {
        "interfaces": [{"name": "n", "bridge": {}, "macAddress": "02:00:00:00:00:01"}] * count
    }
    return {"vm.yaml": machine(devices=devices, networks=[{"name": "n", "pod": {}}] * count)}


def volumes_without_disks(count: int) -> Mapping[str, str]:
    """Volumes that nothing uses, each called twice."""
    volumes = [
        {"name": f"v{n // 2}", "persistentVolumeClaim": {"claimName": "c"}} for n in range(count)
    ]
    return {"vm.yaml": machine(volumes=volumes)}


def disks_without_volumes(count: int) -> Mapping[str, str]:
    """Disks that have no volume, each to be mended by itself; all in one line."""
    disks = [{"name": f"d{n}", "disk": {}} for n in range(4 * count)]
    return {"vm.yaml": machine(devices={"disks": disks})}


def disks_beside_volumes(count: int) -> Mapping[str, str]:
    """Disks and volumes, none of which is called as one of the others."""
    volumes = [{"name": f"v{n}", "emptyDisk": {"capacity": "1Gi"}} for n in range(count)]
    disks = [{"name": f"d{n}", "disk": {"bus": "virtio"}} for n in range(count)]
    return {"vm.yaml": machine(devices={"disks": disks}, volumes=volumes)}


def interfaces_without_networks(count: int) -> Mapping[str, str]:
    """Interfaces that have no network, one a line."""
    lines = "".join(f"          - {{name: d{n}, bridge: {{}}}}\n" for n in range(count))
    return {
        "vm.yaml": vm(memory="1Gi").rstrip() + f"\n        devices:\n          interfaces:\n{lines}"
    }


def interfaces_beside_networks(count: int) -> Mapping[str, str]:
    """Interfaces and networks, none of which is called as one of the others."""
    networks = [{"name": f"n{n}", "multus": {"networkName": "a"}} for n in range(count)]
    interfaces = [{"name": f"i{n}", "bridge": {}} for n in range(count)]
    return {"vm.yaml": machine(devices={"interfaces": interfaces}, networks=networks)}


def presets(count: int, differing: Callable[[int], str]) -> Mapping[str, str]:
    """Presets that all reach a few VMIs."""
    objects: list[dict[str, Any]] = [
        {
            "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstancePreset", "metadata": {"name": f"p{number}"},
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "domain": {"devices": {}, "resources": {"requests": {"memory": differing(number)}}},
            },
        }
        for number in range(count)
    ]  # fmt: skip
    objects += (
        {
            "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
            "metadata": {"name": f"v{number}", "labels": {"a": "b"}}, "spec": {"domain": {"devices": {}}},
        }
        for number in range(3)
    )  # fmt: skip
    return {"all.yaml": "".join(f"{json.dumps(body)}\n" for body in objects)}


def presets_that_agree(count: int) -> Mapping[str, str]:
    """Presets that say the same."""
    return presets(count, lambda _: "1Gi")


def presets_in_conflict(count: int) -> Mapping[str, str]:
    """Presets of which each says something else."""
    return presets(count, lambda number: f"{number + 1}Gi")


def operations(count: int) -> Mapping[str, str]:
    """A JSON patch, of which each operation writes a field that nobody knows."""
    lines = (f"- {{op: add, path: /spec/x{number}, value: 1}}\n" for number in range(count))
    return {
        "kustomization.yaml": "resources: [vm.yaml]\npatches:\n- path: p.yaml\n  target: {kind: VirtualMachine}\n",
        "vm.yaml": vm(memory="1Gi"),
        "p.yaml": "".join(lines),
    }


def targets(count: int) -> Mapping[str, str]:
    """Patches with patterns for their targets, and one VM in which something is wrong."""
    entry = "- target: {{kind: VirtualMachine, name: '(a|aa)+{0}'}}\n  patch: '[]'\n"
    entries = "".join(entry.format(number) for number in range(count))
    return {
        "kustomization.yaml": f"resources: [vm.yaml]\npatches:\n{entries}",
        "vm.yaml": vm("aaaaaaaaaaaaaaaa", memory="much"),
    }


def overlays(count: int) -> Mapping[str, str]:
    """Overlays of one base."""
    files = {"base/kustomization.yaml": "resources: [vm.yaml]\n", "base/vm.yaml": vm(memory="1Gi")}
    for number in range(count // 10):
        files[f"o{number}/kustomization.yaml"] = f"resources: [../base]\nnamespace: n{number}\n"
    return files


def patterns(count: int) -> Mapping[str, str]:
    """Patterns for what is left out, none of which matches."""
    excluded = ", ".join(f'"**/*a*{number}*/**/**/x"' for number in range(count))
    settings = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec:\n  exclude: [{}]\n"
    return {".virt-render.yaml": settings.format(excluded), **machines(20)}


def unknown_fields(count: int) -> Mapping[str, str]:
    """A finding a line."""
    return {"vm.yaml": vm(memory="1Gi") + "".join(f"  k{number}: 1\n" for number in range(count))}


def labels(count: int) -> Mapping[str, str]:
    """Labels of one VM."""
    return {"vm.yaml": machine(labels={f"l{number}": "x" for number in range(count)})}


def lines(objects: Iterable[Mapping[str, Any]]) -> str:
    """*objects*, one a line of JSON."""
    return "".join(f"{json.dumps(body)}\n" for body in objects)


def networks(count: int) -> Mapping[str, str]:
    """Networks that no interface is on."""
    named = [{"name": f"n{number}", "multus": {"networkName": "a"}} for number in range(count)]
    return {"vm.yaml": machine(networks=named)}


def comments(count: int) -> Mapping[str, str]:
    """Comments in a file, before, in and behind a VM in which something is wrong."""
    text = "# kubevirt.io: {a: [\n" * count
    return {"vm.yaml": f"{text}{vm(memory='much')}{text}"}


def application_set(count: int) -> Mapping[str, str]:
    """Elements of an ApplicationSet, of which each fills in a folder that has no VM."""
    elements = [{"number": f"{number}"} for number in range(count)]
    source = {"repoURL": "https://git.example.com/here.git", "path": "empty"}
    template = {
        "metadata": {"name": "a{{number}}"},
        "spec": {"source": source, "destination": {"namespace": "n{{number}}"}},
    }
    body = {
        "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": "many"},
        "spec": {"generators": [{"list": {"elements": elements}}], "template": template},
    }  # fmt: skip
    return {"set.yaml": lines([body]), "empty/README": "", "vm.yaml": vm(memory="1Gi")}


def quotas(count: int) -> Mapping[str, str]:
    """Quotas of the namespace of a VM, and as many LimitRanges and namespaces."""
    objects: list[dict[str, Any]] = []
    for number in range(count):
        name = {"name": f"q{number}"}
        hard = {"requests.memory": f"{number + 100}Gi"}
        objects += (
            {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": name, "spec": {"hard": hard}},
            {"apiVersion": "v1", "kind": "LimitRange", "metadata": name, "spec": {"limits": []}},
            {"apiVersion": "v1", "kind": "Namespace", "metadata": name},
        )
    return {"all.yaml": lines(objects), "vms.yaml": "---\n".join(machines(5).values())}


def hyperconverged(count: int) -> Mapping[str, str]:
    """Devices that a HyperConverged permits."""
    devices = [
        {"pciDeviceSelector": f"10DE:{number:04X}", "resourceName": f"a.example.com/{number}"}
        for number in range(count)
    ]
    body = {
        "apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged",
        "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"},
        "spec": {"permittedHostDevices": {"pciHostDevices": devices}},
    }  # fmt: skip
    return {"hco.yaml": lines([body]), "vms.yaml": "---\n".join(machines(5).values())}


def catalogs(count: int) -> Mapping[str, str]:
    """Definitions in folders that settings name, and VMs of which each uses one."""
    names = [f"i{number}" for number in range(count)]
    settings = "apiVersion: virt-render.dev/v1alpha1\nkind: RenderConfig\nspec: {catalog: [more]}\n"
    files = {".virt-render.yaml": settings}
    files |= {f"more/{name}.yaml": instancetype(name) for name in names}
    return files | {f"{name}.yaml": vm(name, instancetype=name) for name in names}


def cluster_objects(count: int) -> Mapping[str, str]:
    """Nodes of a cluster, as kubectl prints them, and VMs that want to run on one."""
    nodes = [
        {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}", "labels": {"a": "b"}},
            "status": {"allocatable": {"memory": "64Gi", "cpu": "8"}},
        }
        for number in range(count)
    ]  # fmt: skip
    return {"cluster/nodes.yaml": lines(nodes), "vms.yaml": "---\n".join(machines(5).values())}


def expectations(count: int) -> Mapping[str, str]:
    """Expectations of one file, half of which are met."""
    items = "".join(
        f"  - {{vms: web, vm: {{spec: {{runStrategy: {'Always' if number % 2 else 'Manual'}}}}}}}\n"
        for number in range(count)
    )
    head = "apiVersion: virt-render.dev/v1alpha1\nkind: Test\nspec:\n  expect:\n"
    return {"vm.yaml": vm("web", memory="1Gi"), "a.virt-test.yaml": head + items}


def expectations_of_machines(count: int) -> Mapping[str, str]:
    """Expectations of one file, each of a VM of its own."""
    items = "".join(f"  - {{vms: vm-{number}, findings: []}}\n" for number in range(count))
    head = "apiVersion: virt-render.dev/v1alpha1\nkind: Test\nspec:\n  expect:\n"
    return {**machines(count), "a.virt-test.yaml": head + items}


def files_of_expectations(count: int) -> Mapping[str, str]:
    """Files with an expectation each, of a VM beside each."""
    files: dict[str, str] = {}
    for number in range(count // 5):
        text = expectations(1)
        files |= {f"f{number}/{name}": what for name, what in text.items()}
    return files


def baseline(count: int) -> Mapping[str, str]:
    """Findings that were accepted, all of which are there still."""
    return {**unknown_fields(count)}


def mended(name: str, disks: int) -> str:
    """A VM of which each disk has a word that is mended."""
    devices = "".join(f"\n          - {{name: d{n}, disk: {{bus: VirtIO}}}}" for n in range(disks))
    volumes = "".join(
        f"\n      - {{name: d{n}, emptyDisk: {{capacity: 1Gi}}}}" for n in range(disks)
    )
    text = vm(name).replace("devices: {}", f"devices:\n          disks:{devices}")
    return f"{text}        memory: {{guest: 1Gi}}\n      volumes:{volumes}\n"


def mended_machines(count: int) -> Mapping[str, str]:
    """VMs of one file, in each of which a word is mended."""
    return {"vms.yaml": "---\n".join(mended(f"vm-{number}", 1) for number in range(count))}


def mended_disks(count: int) -> Mapping[str, str]:
    """A VM in which as many words are mended."""
    return {"vm.yaml": mended("web", count)}


def patches(count: int) -> Mapping[str, str]:
    """Patches of one VM, each of a label of its own."""
    patch = "- {{op: add, path: /metadata/labels/l{0}, value: x}}"
    entry = f"- patch: |-\n    {patch}\n  target: {{{{kind: VirtualMachine}}}}\n"
    entries = "".join(entry.format(number) for number in range(count))
    return {
        "kustomization.yaml": f"resources: [vm.yaml]\npatches:\n{entries}",
        "vm.yaml": vm(memory="much").replace("metadata:\n", "metadata:\n  labels: {a: b}\n", 1),
    }


def flux_kustomizations(count: int) -> Mapping[str, str]:
    """Kustomizations of Flux, of which each fills in one folder."""
    objects = [
        {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": f"k{number}"},
            "spec": {
                "path": "./vms", "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
                "postBuild": {"substitute": {"NAME": f"n{number}"}},
            },
        }
        for number in range(count // 10)
    ]  # fmt: skip
    return {
        "flux/all.yaml": lines(objects),
        "vms/kustomization.yaml": "resources: [vm.yaml]\n",
        "vms/vm.yaml": vm("${NAME}", memory="1Gi"),
    }


def pools(count: int) -> Mapping[str, str]:
    """Pools, in each of which something is wrong."""
    inner = json.loads(machine())["spec"]
    inner["template"]["spec"]["domain"]["memory"]["guest"] = "much"
    labelled = {"labels": {"a": "b"}}
    return {
        "pools.yaml": lines(
            {
                "apiVersion": "pool.kubevirt.io/v1beta1", "kind": "VirtualMachinePool",
                "metadata": {"name": f"p{number}"},
                "spec": {
                    "selector": {"matchLabels": {"a": "b"}},
                    "virtualMachineTemplate": {"metadata": labelled, "spec": inner},
                },
            }
            for number in range(count)
        )
    }  # fmt: skip


def parameters(count: int) -> Mapping[str, str]:
    """Parameters of a template, each a label of a VM in it."""
    body = json.loads(machine("a"))
    names = [f"P{number}" for number in range(count)]
    body["metadata"]["labels"] = {f"l{name.lower()}": f"${{{name}}}" for name in names}
    template = {
        "apiVersion": "template.openshift.io/v1", "kind": "Template", "metadata": {"name": "a"},
        "parameters": [{"name": name, "value": "x"} for name in names], "objects": [body],
    }  # fmt: skip
    return {"template.yaml": lines([template])}


def data_volumes(count: int) -> Mapping[str, str]:
    """DataVolume templates of one VM, and DataVolumes beside it; CDI has something against each."""
    body = json.loads(machine("a"))
    specs = [
        {"metadata": {"name": f"d{number}"}, "spec": {"source": {}, "pvc": {}}}
        for number in range(count)
    ]
    body["spec"]["dataVolumeTemplates"] = specs
    loose = (
        {"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataVolume", **spec} for spec in specs
    )
    return {"vm.yaml": lines([body]), "disks.yaml": lines(loose)}


def cloud_config(count: int) -> Mapping[str, str]:
    """Users of a cloud-config, each with a key that cloud-init does not know."""
    users = "".join(f"- {{name: u{number}, nonsense: x}}\n" for number in range(count))
    seed = {"name": "seed", "cloudInitNoCloud": {"userData": f"#cloud-config\nusers:\n{users}"}}
    disks = {"disks": [{"name": "seed", "disk": {"bus": "virtio"}}]}
    return {"vm.yaml": machine(devices=disks, volumes=[seed])}


def terms(count: int) -> Mapping[str, str]:
    """Terms of an affinity for nodes, each with an expression that the API server refuses."""
    expression = {"key": "a", "operator": "In", "values": []}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}] * count}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return {"vm.yaml": machine(affinity=affinity)}


def claims_one_slip_away(count: int) -> Mapping[str, str]:
    """Claims, and volumes that name others which are called almost alike."""
    names = [f"claim-{number:04}" for number in range(count)]
    claims = (
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}}
        for name in names
    )
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": f"{name}x"}} for name in names]
    disks = {"disks": [{"name": name, "disk": {"bus": "virtio"}} for name in names]}
    return {"claims.yaml": lines(claims), "vm.yaml": machine(devices=disks, volumes=volumes)}


def applied_templates(count: int) -> Mapping[str, str]:
    """Templates of a chart, and Applications of which each applies them in another way, as they are."""
    source = {"repoURL": "https://git.example.com/a/r.git", "path": "c/templates"}
    applications = (
        {
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": f"a{number}"},
            "spec": {"source": {**source, "directory": {"exclude": f"x{number}.yaml", "recurse": True}}},
        }
        for number in range(count)
    )  # fmt: skip
    templates = {
        f"c/templates/t{number}.yaml": f"# {{{{ if .a }}}}\n{machine()}# {{{{ end }}}}\n"
        for number in range(count)
    }
    chart = "apiVersion: v2\nname: c\nversion: 0.1.0\n"
    return {
        "apps.yaml": lines(applications),
        "vm.yaml": vm(memory="1Gi"),
        "c/Chart.yaml": chart,
        **templates,
    }


def namesakes(count: int) -> Mapping[str, str]:
    """Folders with an instancetype of one name, and as many beside them with VMs that name it."""
    body = json.loads(machine())
    body["spec"]["instancetype"] = {"name": "small"}
    body["spec"]["template"]["spec"]["domain"] = {"devices": {}}
    definitions = {f"p{number}/small.yaml": instancetype("small") for number in range(count)}
    return definitions | {f"q{number}/vm.yaml": json.dumps(body) for number in range(count)}


def components(count: int) -> Mapping[str, str]:
    """Components of one kustomization, each with a patch."""
    files = {"vm.yaml": vm(memory="1Gi")}
    names = [f"c{number}" for number in range(count // 5)]
    for name in names:
        files[f"{name}/kustomization.yaml"] = (
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: p.yaml}]\n"
        )
        files[f"{name}/p.yaml"] = (
            "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n"
            f"metadata: {{name: web, labels: {{{name}: x}}}}\n"
        )
    return {
        **files,
        "kustomization.yaml": f"resources: [vm.yaml]\ncomponents: [{', '.join(names)}]\n",
    }


def chart(name: str, more: str = "") -> str:
    """What the chart *name* says of itself."""
    return f"apiVersion: v2\nname: {name}\nversion: 0.1.0\n{more}"


def chart_dependencies(count: int) -> Mapping[str, str]:
    """Charts that one of them wants and that nobody has, and of which each wants such a one itself."""
    entry = "- {{name: d{0}, version: 0.1.0, repository: 'https://charts.example.com'}}\n"
    entries = "".join(entry.format(number) for number in range(count))
    return {
        "vm.yaml": vm(memory="1Gi"),
        "c/Chart.yaml": chart("c", f"dependencies:\n{entries}"),
        **{f"c{n}/Chart.yaml": chart(f"c{n}", f"dependencies:\n{entry.format(n)}") for n in range(count)},
    }  # fmt: skip


def chart_dependencies_on_itself(count: int) -> Mapping[str, str]:
    """A chart that wants itself under many names: what it wants wants all of that too."""
    entries = "".join(f"- {{name: d{n}, repository: 'file://.'}}\n" for n in range(count))
    return {"vm.yaml": vm(memory="1Gi"), "c/Chart.yaml": chart("c", f"dependencies:\n{entries}")}


def application(name: str, path: str, **more: Any) -> Mapping[str, Any]:
    """An Application of the folder *path* of the repository."""
    source = {"repoURL": "https://git.example.com/a/r.git", "path": path, **more}
    return {
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": name},
        "spec": {"source": source, "destination": {"namespace": "a"}},
    }  # fmt: skip


def applied_folder(count: int) -> Mapping[str, str]:
    """Applications of one folder of VMs."""
    files = {f"vms/{name}": text for name, text in machines(count).items()}
    return {"apps.yaml": lines(application(f"a{n}", "vms") for n in range(count)), **files}


def applied_folders(count: int) -> Mapping[str, str]:
    """Applications, each of a folder of its own."""
    files = {f"v{n}/vm.yaml": vm(f"vm-{n}", memory="1Gi") for n in range(count)}
    return {"apps.yaml": lines(application(f"a{n}", f"v{n}") for n in range(count)), **files}


def applied_files(count: int) -> Mapping[str, str]:
    """Applications, each of one file of the same folder."""
    files = {f"vms/{name}": text for name, text in machines(count).items()}
    only = ({"directory": {"include": f"vm-{n}.yaml"}} for n in range(count))
    applications = (application(f"a{n}", "vms", **each) for n, each in enumerate(only))
    return {"apps.yaml": lines(applications), **files}


def applied_kustomization(count: int) -> Mapping[str, str]:
    """Applications that each edit one kustomization, of as many files."""
    names = [f"c{number}.yaml" for number in range(count)]
    edit = {"kustomize": {"namePrefix": "a-"}}
    config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    return {
        "apps.yaml": lines(application(f"a{n}", "k", **edit) for n in range(count)),
        "vm.yaml": vm(memory="1Gi"),
        "k/kustomization.yaml": f"resources: [{', '.join(names)}]\n",
        **{f"k/{name}": config_map for name in names},
    }


def applied_chart(count: int) -> Mapping[str, str]:
    """Applications that each fill in one chart, of as many files, as one more of them overrides it."""
    config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    filled = ({"helm": {"valuesObject": {"a": number}}} for number in range(count))
    return {
        "apps.yaml": lines(application(f"a{n}", "c", **each) for n, each in enumerate(filled)),
        "vm.yaml": vm(memory="1Gi"),
        "c/Chart.yaml": chart("c"),
        "c/.argocd-source.yaml": "".join(f"k{n}: [1, 2]\n" for n in range(count)),
        **{f"c/templates/c{n}.yaml": config_map for n in range(count)},
    }


def kustomizations_of_applications(count: int) -> Mapping[str, str]:
    """Kustomizations, each with an Application."""
    files = {"vm.yaml": vm(memory="1Gi")}
    for number in range(count):
        files[f"k{number}/kustomization.yaml"] = "resources: [app.yaml]\n"
        files[f"k{number}/app.yaml"] = lines([application(f"a{number}", f"k{number}")])
    return files


def substitution(name: str, *config_maps: str) -> Mapping[str, Any]:
    """A Kustomization of Flux that substitutes what these *config_maps* hold."""
    references = [{"kind": "ConfigMap", "name": called} for called in config_maps]
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": name},
        "spec": {
            "path": "./vms", "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
            "postBuild": {"substituteFrom": references},
        },
    }  # fmt: skip


def config_map(name: str, **data: str) -> Mapping[str, Any]:
    """A ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def substitutions(count: int) -> Mapping[str, str]:
    """A Kustomization of Flux with large ConfigMaps, named many times, with one that stands often, and with many."""
    large = {f"k{number}": "x" for number in range(count)}
    names = ["a", "b"] * count + ["c"] * count + [f"d{number}" for number in range(count)]
    config_maps = [config_map("a", **large), config_map("b", **large)]
    objects = [substitution("k", *names), *config_maps, *[config_map("c")] * count]
    others = {f"c/{n}.yaml": lines([config_map(f"e{n}")]) for n in range(count)}
    return {
        "all.yaml": lines(objects),
        "vms/kustomization.yaml": "resources: [vm.yaml]\n",
        "vms/vm.yaml": vm(memory="1Gi"),
        **others,
    }


def transformers(count: int) -> Mapping[str, str]:
    """Transformers of one file and one folder, each named as often as there are some in it."""
    prefix = "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: a}\nprefix: ''\n"
    names = [f"p{number}.yaml" for number in range(count)]
    return {
        "kustomization.yaml": "resources: [vm.yaml]\ntransformers:\n" + "- all.yaml\n- p\n" * count,
        "vm.yaml": vm(memory="1Gi"),
        "all.yaml": "---\n".join([prefix] * count),
        "p/kustomization.yaml": f"resources: [{', '.join(names)}]\n",
        **{f"p/{name}": prefix for name in names},
    }


def entries_that_lead_out(count: int) -> Mapping[str, str]:
    """Entries of a kustomization that lead out of the repository."""
    entries = "".join(f"- ../x{number}.yaml\n" for number in range(count))
    return {"kustomization.yaml": f"resources:\n- vm.yaml\n{entries}", "vm.yaml": vm(memory="1Gi")}


def charts_below_a_kustomization(count: int) -> Mapping[str, str]:
    """Charts below a kustomization that lists as many files and nothing of these."""
    names = [f"c{number}.yaml" for number in range(count)]
    return {
        "vms/vm.yaml": vm(memory="1Gi"),
        "kustomization.yaml": f"resources: [{', '.join(names)}]\n",
        **{f"c/{number}/Chart.yaml": chart(f"c{number}") for number in range(count)},
        **{name: lines([config_map("a")]) for name in names},
    }


def patched_machines(count: int) -> Mapping[str, str]:
    """VMs of one file, each with a patch that gets something wrong."""
    patch = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {{name: vm-{0}}}\n"
        "spec: {{template: {{spec: {{domain: {{memory: {{guest: much}}}}}}}}}}\n"
    )
    entries = "".join(f"- path: p{number}.yaml\n" for number in range(count))
    return {
        "kustomization.yaml": f"resources: [vms.yaml]\npatches:\n{entries}",
        "vms.yaml": "---\n".join(machines(count).values()),
        **{f"p{number}.yaml": patch.format(number) for number in range(count)},
    }


def added_labels(count: int) -> Mapping[str, str]:
    """Labels that a kustomization gives to a VM, each for itself and each wrong."""
    entries = "".join(f"- pairs: {{k{number}: a b}}\n" for number in range(count))
    return {
        "kustomization.yaml": f"resources: [vm.yaml]\nlabels:\n{entries}",
        "vm.yaml": vm(memory="1Gi"),
    }


COMMANDS: Mapping[Shape, Sequence[str]] = {
    cluster_objects: ("check", ".", "--cluster-objects", "cluster"),
    expectations: ("test", "."),
    expectations_of_machines: ("test", "."),
    files_of_expectations: ("test", "."),
    baseline: ("check", ".", "--baseline", "known.json"),
    mended_machines: ("check", "--fix", "."),
    mended_disks: ("check", "--fix", "."),
}
"""What is asked of them, where it is not a check."""

CLOSER: Mapping[Shape, float] = {mended_machines: 2.1, mended_disks: 2.1, namesakes: 2.3}
"""Where so much work is done for each item that twice as much for each shows late."""

SHAPES: tuple[Shape, ...] = (
    chart_dependencies, chart_dependencies_on_itself, applied_folder, applied_folders, applied_files,
    patched_machines, added_labels, transformers, entries_that_lead_out, charts_below_a_kustomization,
    applied_kustomization, applied_chart, kustomizations_of_applications, substitutions,
    patches, namesakes, flux_kustomizations, pools, parameters, data_volumes, cloud_config, terms, claims_one_slip_away,
    components, networks, comments, application_set, quotas, hyperconverged, catalogs, cluster_objects, expectations,
    expectations_of_machines, files_of_expectations, baseline, mended_machines, mended_disks,
    applied_templates, machines, in_one_file, disks, disks_of_one_order,
    interfaces, interfaces_called_alike, volumes_without_disks,
    disks_without_volumes, disks_beside_volumes, interfaces_without_networks, interfaces_beside_networks,
    presets_that_agree, presets_in_conflict, operations, targets, overlays, patterns, unknown_fields, labels,
)  # fmt: skip


def work(shape: Shape, count: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The calls of what is asked of so many."""
    for name, text in shape(count).items():
        put(folder / name, text)
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    if shape is baseline:
        dispatch.invoke(["check", ".", "--json-file", "known.json"])
    words = COMMANDS.get(shape, ("check", "."))
    return calls(lambda: dispatch.invoke(words))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_twice_the_input_is_twice_the_work(
    shape: Shape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kustomize: str
) -> None:
    monkeypatch.setenv("VIRT_RENDER_KUSTOMIZE", kustomize)
    work(shape, 20, tmp_path / "first", monkeypatch)  # what is imported and remembered once
    less = work(shape, 100, tmp_path / "less", monkeypatch)
    more = work(shape, 200, tmp_path / "more", monkeypatch)
    most = CLOSER.get(shape, MOST)
    assert more <= most * less, f"{less:,} calls, and {more:,} for twice as many"


def test_twice_the_changed_items_are_twice_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Items of a list without names: `diff` tells each by its key."""
    repository = Repository(tmp_path / "repository")
    monkeypatch.chdir(repository.folder)
    counts = []
    for count in (20, 200, 400):
        for word in ("old", "new"):
            tolerations = [{"key": f"{word}{number}"} for number in range(count)]
            repository.write("vm.yaml", machine(tolerations=tolerations))
            repository.commit(f"{count} {word}")
        counts.append(calls(lambda: dispatch.invoke(["diff", "HEAD~..HEAD"])))
    assert counts[2] <= MOST * counts[1]


def test_twice_the_refused_machines_are_twice_the_work_of_a_comparison() -> None:
    """What is refused of each is looked up by its name, in both states."""
    definition = read(instancetype("i").encode(), "i.yaml").documents[0].body

    def compared(count: int) -> int:
        before, after = (
            [definition, *(sized(number, memory) for number in range(count))]
            for memory in ("1Gi", "2Gi")
        )
        return calls(lambda: compare(before, after))

    def sized(number: int, memory: str) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(machine(f"m{number}"))
        body["spec"]["instancetype"] = {"name": "i"}  # beside which there may be no size
        body["spec"]["template"]["spec"]["domain"]["memory"]["guest"] = memory
        return body

    compared(10)
    assert compared(200) <= MOST * compared(100)


class _CountedRevision(lock_history.EditRevision):
    """An edit revision that counts how often somebody looks through its commits."""

    looks = 0

    @property
    def commits(self) -> list[lock_history.LockCommit]:
        """The commits."""
        _CountedRevision.looks += 1
        return self[0]


def test_twice_the_commits_are_twice_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_history, "EditRevision", _CountedRevision)
    repository = Repository(tmp_path / "repository")
    monkeypatch.chdir(repository.folder)
    counts, looks, made = [], [], 0
    for number in (3, 20, 40):  # the first warms up what is remembered
        while made < number:
            made += 1
            repository.write("vm.yaml", vm(memory=f"{made}Gi"))
            dispatch.invoke(["pin"])
            repository.commit(f"{made}")
        _CountedRevision.looks = 0
        counts.append(calls(lambda: dispatch.invoke(["history", "web"])))
        looks.append(_CountedRevision.looks)
    assert counts[2] <= MOST * counts[1]
    assert 0 < looks[2] <= MOST * looks[1]
    assert os.getcwd() == str(repository.folder)


def test_twice_the_keys_that_are_not_in_a_mapping_are_twice_the_work() -> None:
    """Of which each might be merged into it."""

    def looked_for(count: int) -> int:
        mapping = nodes.Node(MAPPING, 0, 0)
        mapping.children = [nodes.Node(SCALAR, number, 0) for number in range(2 * count)]
        for number, node in enumerate(mapping.children):
            node.text = f"k{number}"
        return calls(lambda: [nodes.child(mapping, f"x{number}") for number in range(count)])

    looked_for(10)
    assert looked_for(400) <= MOST * looked_for(200)


def test_twice_the_folders_that_are_applied_are_twice_the_work(tmp_path: Path) -> None:
    """Each file is asked of the folders that it stands in, and of no other."""

    def looked_up(count: int) -> int:
        folders = [tmp_path / f"f{number}" for number in range(count)]
        uses = [
            FolderUse("a", Document({}, Origin("a.yaml"), None), str(folder)) for folder in folders
        ]

        def work() -> None:
            applied = AppliedFolders(uses)
            assert all(applied.has(f"{folder}/vm.yaml") for folder in folders)
            assert not applied.has(f"{tmp_path}/vm.yaml")

        return calls(work)

    looked_up(10)
    assert looked_up(400) <= MOST * looked_up(200)
