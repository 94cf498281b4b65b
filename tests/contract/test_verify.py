"""``verify`` over everything that ``build`` prints: machines of every kind are verified, counted, or refused."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import manifests
from tests.support.process import run

MACHINES = """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachineFlavor
metadata: {name: small}
spec: {cpu: {guest: 2}, memory: {guest: 2Gi}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: flavored}
spec:
  runStrategy: Always
  flavor: {name: small, kind: VirtualMachineFlavor}
  template: {spec: {domain: {devices: {}}}}
---
apiVersion: kubevirt.io/v1alpha1
kind: VM
metadata: {name: stored, annotations: {kubevirt.io/flavour: small}}
spec: {domain: {}}
---
apiVersion: kubevirt.io/v1alpha1
kind: VirtualMachine
metadata: {name: flavoured, annotations: {kubevirt.io/flavour: small}}
spec: {domain: {}}
---
apiVersion: kubevirt.io/v1alpha1
kind: VirtualMachine
metadata: {name: runtime}
spec: {domain: {cpu: {cores: 2}}}
"""
MODERN = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec:
  runStrategy: Always
  instancetype: {name: u1.medium}
  template: {spec: {domain: {devices: {}}}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: plain}
spec:
  runStrategy: Always
  template: {spec: {domain: {devices: {}, memory: {guest: 1Gi}}}}
"""
UNSTAMPED = "without a stamp: only the manifest decides about it, or build printed it with --emit vmi, expand, source\n"
POOL = """\
---
apiVersion: pool.kubevirt.io/v1beta1
kind: VirtualMachinePool
metadata: {name: pool}
spec: {virtualMachineTemplate: {spec: {}}}
"""


def verify(text: str, *words: str) -> Any:
    return run("verify", "-", *words, stdin=text)


def built(text: str, *words: str) -> str:
    done = run("build", "-", *words, stdin=text)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def rendered() -> str:
    return built(MACHINES)


@pytest.mark.parametrize("words", [(), ("--allow-matchers",)])
def test_machines_that_were_not_rendered_are_refused(words: tuple[str, ...]) -> None:
    done = verify(MACHINES, *words)
    assert done.returncode == 1
    assert done.stdout.count("error VR612") == 5
    assert done.stdout.count("no KubeVirt since v0.56 serves it") == 1
    assert "the VM still has its flavor" in done.stdout
    assert done.stdout.count("no KubeVirt since v0.7 serves the machine") == 3


def test_rendered_machines_are_verified(rendered: str) -> None:
    done = verify(rendered)
    assert done.returncode == 0
    assert done.stdout == "3 VirtualMachines, 1 VirtualMachineInstance verified\n"


@pytest.mark.parametrize(
    ("old", "new", "edited"), [('guest: "2Gi"', 'guest: "9Gi"', 3), ("cores: 2", "cores: 4", 1)]
)
def test_edits_of_rendered_machines_are_refused(
    rendered: str, old: str, new: str, edited: int
) -> None:
    assert old in rendered
    done = verify(rendered.replace(old, new))
    assert done.returncode == 1
    assert done.stdout.count("error VR613") == edited


@pytest.mark.parametrize("emit", ["vm", "vmi", "expand", "hashed", "revisions", "source"])
def test_each_machine_that_is_printed_is_verified_or_counted(emit: str) -> None:
    output = built(MODERN, "--emit", emit)
    done = verify(output + POOL, "--allow-matchers")
    assert done.returncode == 0
    pool = f"1 VirtualMachinePool without a stamp\n{UNSTAMPED}"
    assert done.stdout == {
        "vm": f"1 VirtualMachine verified; not looked at: 1 VirtualMachine without a stamp, {pool}",
        "vmi": f"0 VirtualMachines verified; not looked at: 2 VirtualMachineInstances without a stamp, {pool}",
        "expand": f"0 VirtualMachines verified; not looked at: 2 VirtualMachines without a stamp, {pool}",
    }.get(
        emit,
        "0 VirtualMachines verified; not looked at: 1 VirtualMachine with matchers, 1 VirtualMachine without a stamp, "
        + pool,
    )
    strict = verify(output)
    assert strict.returncode == (1 if emit in ("hashed", "revisions", "source") else 0)


def test_preset_of_a_vmi_is_stamped(tmp_path: Path) -> None:
    vmi = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: web, labels: {size: wide}}
spec: {domain: {devices: {}, memory: {guest: 1Gi}}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {name: wide}
spec: {selector: {matchLabels: {size: wide}}, domain: {cpu: {cores: 4}, devices: {}}}
"""
    output = built(vmi)
    assert "virt-render.dev/presets: wide@sha256:" in output
    assert verify(output).stdout == "1 VirtualMachineInstance verified\n"
    assert verify(output.replace('guest: "1Gi"', 'guest: "2Gi"')).returncode == 1
    (tmp_path / "vmi.yaml").write_text(output, encoding="utf-8")
    assert run("build", "vmi.yaml", cwd=tmp_path).stdout == output


def test_show_does_not_mind_what_is_wrong_with_another_machine(tmp_path: Path) -> None:
    broken = MODERN.replace("name: plain", "name: broken").replace(
        "  template: {spec: {domain: {devices: {}, memory: {guest: 1Gi}}}}",
        "  instancetype: {name: nothing}\n  template: {spec: {domain: {devices: {}}}}",
    )
    (tmp_path / "vms.yaml").write_text(broken, encoding="utf-8")
    for emit in ("vm", "expand", "vmi", "hashed"):
        done = run("show", "web", "vms.yaml", "--emit", emit, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "name: web" in done.stdout
        done = run("show", "broken", "vms.yaml", "--emit", emit, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert "VR201" in done.stderr


UNSERVED = {
    "VR123": """\
apiVersion: kubevirt.io/v1alpha1
kind: VirtualMachineInstanceReplicaSet
metadata: {name: a}
spec: {template: {spec: {domain: {}}}}
""",
    "no KubeVirt since v0.56 serves it": """\
apiVersion: flavor.kubevirt.io/v1alpha1
kind: VirtualMachineFlavor
metadata: {name: small}
spec: {cpu: {guest: 2}, memory: {guest: 2Gi}}
""",
    "no KubeVirt since v0.7 serves it": """\
apiVersion: kubevirt.io/v1alpha1
kind: VirtualMachinePreset
metadata: {name: small}
spec: {selector: {}, domain: {}}
""",
    "no KubeVirt since v0.7 serves the machine": """\
apiVersion: kubevirt.io/v1alpha1
kind: VM
metadata: {name: small}
spec: {domain: {}}
""",
}


@pytest.mark.parametrize("message", UNSERVED)
def test_kinds_that_nobody_serves_are_refused(message: str) -> None:
    done = verify(UNSERVED[message], "--allow-matchers")
    assert done.returncode == 1
    assert done.stdout.count("error VR") == 1
    assert message in done.stdout


def test_the_version_that_has_a_kind_is_named() -> None:
    assert "write apiVersion: kubevirt.io/v1\n" in verify(UNSERVED["VR123"]).stdout


def test_vms_of_misspelt_groups_alone_are_no_success(rendered: str) -> None:
    """Of nothing else there is nothing to verify; beside others they are counted."""
    misspelt = "apiVersion: kubevrit.io/v1\nkind: VirtualMachine\nmetadata: {name: web}\nspec: {}\n"
    done = verify(misspelt)
    assert done.returncode == 1
    assert "warning VR123" in done.stdout
    assert "VR112" in done.stdout
    assert "nothing was verified" in done.stdout
    beside = verify(f"{rendered}---\n{misspelt}")
    assert beside.returncode == 0
    counted = "not looked at: 1 VirtualMachine of an API group that KubeVirt does not have"
    assert counted in beside.stdout
    whole = manifests.vm("web", memory="1Gi").replace("kubevirt.io/v1", "kubevrit.io/v1", 1)
    assert "error VR123" in verify(whole).stdout


TEMPLATE = """\
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: t}
parameters: [{name: NAME}]
objects:
- apiVersion: OF
  kind: KIND
  metadata: {name: "${NAME}"}
  spec: {template: {spec: {domain: {devices: {}}}}}
"""


def test_templates_with_machines_are_counted() -> None:
    machine = TEMPLATE.replace("OF", "kubevirt.io/v1").replace("KIND", "VirtualMachine")
    output = verify(machine).stdout
    assert output == "0 VirtualMachines verified; not looked at: 1 Template\n"
    other = TEMPLATE.replace("OF", "apps/v1").replace("KIND", "Deployment")
    assert verify(other).stdout == "0 VirtualMachines verified\n"


def test_an_input_without_objects_of_kubevirts_is_called_that(tmp_path: Path) -> None:
    """There may be others: of a folder they are not even read."""
    manifests.put(
        tmp_path / "config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    )
    done = run("verify", str(tmp_path))
    assert done.returncode == 1
    assert "VR112" in done.stdout
    assert f"no object of KubeVirt's in {tmp_path}" in done.stdout


def test_an_empty_stream_is_called_that_as_by_other_commands() -> None:
    done = verify("")
    assert done.returncode == 1
    assert "VR112 no-objects: no Kubernetes object in standard input\n" in done.stdout
    assert (
        "look at what writes to it, which printed nothing, or accept an empty input" in done.stdout
    )
    assert run("build", "-", stdin="").stderr.splitlines()[0] in done.stdout


REPLICA_SET = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstanceReplicaSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {size: wide}}
  template:
    metadata: {labels: {size: wide}}
    spec: {domain: {devices: {}, memory: {guest: 1Gi}}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstancePreset
metadata: {name: wide}
spec: {selector: {matchLabels: {size: wide}}, domain: {cpu: {cores: 4}, devices: {}}}
"""


def test_replica_set_with_a_preset_is_verified() -> None:
    output = built(REPLICA_SET)
    assert verify(output).stdout == "1 VirtualMachineInstanceReplicaSet verified\n"
    edited = verify(
        output.replace('guest: "1Gi"', 'guest: "2Gi"').replace("guest: 1Gi", "guest: 2Gi")
    )
    assert edited.stdout.count("error VR613") == 1


WITH_A_MATCHER = POOL.replace(
    "spec: {virtualMachineTemplate: {spec: {}}}",
    """spec:
  selector: {matchLabels: {size: wide}}
  virtualMachineTemplate:
    metadata: {labels: {size: wide}}
    spec:
      runStrategy: Always
      instancetype: {name: u1.medium}
      template: {metadata: {labels: {size: wide}}, spec: {domain: {devices: {}}}}
""",
)


@pytest.mark.parametrize("emit", ["vm", "vmi", "expand", "hashed", "revisions", "source"])
def test_what_keeps_matchers_is_verified_where_they_are_allowed(emit: str) -> None:
    output = built(MODERN + WITH_A_MATCHER, "--emit", emit)
    assert verify(output, "--allow-matchers").returncode == 0
    keeps = emit not in ("vm", "vmi")
    assert verify(output).returncode == keeps
