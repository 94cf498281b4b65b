"""The story of pins with machines of kubevirt.io/v1alpha1 and flavors in the fleet: git, merges, dying processes."""

from pathlib import Path

import pytest

from tests.support.repository import Repository, documents

FLAVOR = """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachineFlavor
metadata: {{name: small, namespace: prod}}
spec: {{cpu: {{guest: {cpus}}}, memory: {{guest: 2Gi}}}}
"""
STORED = """\
apiVersion: kubevirt.io/v1alpha1
kind: VM
metadata:
  name: {name}
  namespace: prod
  annotations: {{kubevirt.io/flavour: small, kubevirt.io/revision: 15}}
spec:
  restartPolicy: always
  domain:
    devices: {{}}
"""
FLAVORED = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: db, namespace: prod}
spec:
  runStrategy: Always
  flavor: {name: small, kind: VirtualMachineFlavor}
  template:
    spec:
      domain:
        devices: {}
"""
RUNTIME = """\
apiVersion: kubevirt.io/v1alpha1
kind: VirtualMachine
metadata: {name: old, namespace: prod}
spec:
  domain:
    cpu: {cores: 2}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    found = Repository(tmp_path / "repository")
    found.write("flavor.yaml", FLAVOR.format(cpus=2))
    found.write("vms/web.yaml", STORED.format(name="web"))
    found.write("vms/db.yaml", FLAVORED)
    found.write("vms/old.yaml", RUNTIME)
    found.instancetype("large", cpus=3)
    found.vm("app", "large")
    return found


def cpus(text: str) -> dict[str, int]:
    """The vCPUs of the machines in *text* by name."""
    found = {}
    for body in documents(text):
        spec = body["spec"]
        if "template" in spec:
            spec = spec["template"]["spec"]
        if "domain" in spec:
            cpu = spec["domain"]["cpu"]
            found[body["metadata"]["name"]] = cpu.get("sockets", 1) * cpu.get("cores", 1)
    return found


def test_story(repository: Repository) -> None:
    moved = repository.fine("pin")
    assert "prod/web  15        new, flavor small@" in moved
    assert "prod/db   1         new, flavor small@" in moved
    assert "prod/old  1         new" in moved
    assert repository.fine("pin", "--check") == ""
    first = repository.fine("build", "--pins", "require")
    assert cpus(first) == {"web": 2, "db": 2, "old": 2, "app": 3}
    assert repository.run("verify", "-", stdin=first).stdout == (
        "3 VirtualMachines, 1 VirtualMachineInstance verified\n"
    )
    repository.commit("Pin the fleet")

    # An edit reaches nobody, and is said once a definition.
    repository.write("flavor.yaml", FLAVOR.format(cpus=7))
    repository.instancetype("large", cpus=5)
    done = repository.run("build", "--pins", "require")
    assert cpus(done.stdout) == cpus(first)
    assert done.stderr.count("VR608") == 2
    assert "prod/db, prod/web are pinned to" in done.stderr
    assert repository.fine("pin") == "nothing moved\n"
    repository.commit("Edit the definitions")

    assert "prod/web  15 -> 16" in repository.fine("pin", "--upgrade", "web")
    upgraded = repository.fine("build")
    assert cpus(upgraded) == {"web": 7, "db": 2, "old": 2, "app": 3}
    repository.commit("Upgrade web")
    assert "the lock counts revision 16, the store 15" in repository.run("build").stderr

    # Without the flavor pinned machines are what they were, and a new one fails.
    (repository.folder / "flavor.yaml").unlink()
    done = repository.run("build")
    assert cpus(done.stdout) == cpus(upgraded)
    assert "VirtualMachineFlavor prod/small is not in the input" in done.stderr
    repository.write("vms/late.yaml", STORED.format(name="late"))
    assert "flavour small is no flavor" in repository.run("build").stderr
    (repository.folder / "vms/late.yaml").unlink()

    # Manifests are edited, of the store and of v1alpha1.
    text = STORED.format(name="web").replace("devices: {}", "devices: {rng: {}}")
    repository.write("vms/web.yaml", text)
    repository.write("vms/old.yaml", RUNTIME.replace("cores: 2", "cores: 4"))
    check = repository.run("pin", "--check").stderr
    assert "prod/web is at revision 16 in the lock and would become revision 17" in check
    assert "prod/old is at revision 1 in the lock and would become revision 2" in check
    repository.fine("pin")
    repository.commit("Edit manifests")

    history = repository.fine("history", "web").splitlines()
    numbers = [line.split()[0] for line in history if line[:4].strip().isdecimal()]
    assert numbers == ["15", "16", "17"]
    assert "      spec.domain.cpu.sockets: 2 -> 7 (migrate)" in history
    assert any("devices.rng: none -> {}" in line for line in history[-4:])
    assert cpus(repository.fine("show", "web", "--revision", "15")) == {"web": 2}
    assert cpus(repository.fine("show", "prod/web", "--revision", "16")) == {"web": 7}
    assert "spec.domain.cpu.cores: 2 -> 4" in repository.fine("history", "old")
    assert cpus(repository.fine("show", "old", "--revision", "1")) == {"old": 2}


def test_branches_merge(repository: Repository) -> None:
    repository.fine("pin")
    repository.commit("main")
    for name in ("mail", "proxy"):
        repository.git("checkout", "--quiet", "-b", name, "main")
        repository.write(f"vms/{name}.yaml", STORED.format(name=name))
        repository.fine("pin")
        repository.commit(name)
    repository.git("merge", "--quiet", "--no-edit", "mail", check=False)
    if repository.git("ls-files", "--unmerged"):
        repository.fine("pin", "--resolve")
    repository.commit("merge")
    assert {"prod/mail", "prod/proxy", "prod/web", "prod/db"} < repository.pins.keys()
    assert repository.fine("pin", "--check") == ""


def test_killed_processes_leave_a_whole_lock(repository: Repository) -> None:
    repository.fine("pin")
    repository.write("flavor.yaml", FLAVOR.format(cpus=7))
    killed, _ = repository.kill_upgrades(20)
    assert killed
