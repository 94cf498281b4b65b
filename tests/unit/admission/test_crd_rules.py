"""What the CRDs of each release say beyond types, required fields and enumerations: each rule is checked.

``scripts/data/kubevirt/TAG/validations.json`` has the rules as they were read; a rule that a new release brings stands
in no row of BROKEN, and fails here until a check refuses what breaks it.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from render import Settings, render
from render.model.release import MAIN
from tests.support.refusals import Json

DATA = Path(__file__).parents[3] / "scripts" / "data" / "kubevirt"
Rule = tuple[str, str, str]
"""Kind, path and keyword."""


def vmi(*, devices: Json | None = None, **spec: object) -> Json:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {"name": "a"},
        "spec": {"domain": {"devices": devices or {}, "memory": {"guest": "1Gi"}}, **spec},
    }


def many(item: Callable[[int], Json]) -> list[Json]:
    return [item(index) for index in range(257)]


def container_path(**more: object) -> Json:
    return vmi(volumes=[{"name": "v", "containerPath": {"path": "/a", **more}}])


def spread(key: str) -> Json:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {},
    }


def instancetype(percent: int) -> Json:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "a"},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi", "overcommitPercent": percent}},
    }


def pool(version: str = "v1beta1", **spec: object) -> Json:
    template = {
        "runStrategy": "Halted",
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": vmi()["spec"]},
    }
    return {
        "apiVersion": f"pool.kubevirt.io/{version}",
        "kind": "VirtualMachinePool",
        "metadata": {"name": "a"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "virtualMachineTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": template},
            **spec,
        },
    }


#: What breaks each rule.
BROKEN: dict[Rule, Json] = {
    ("VirtualMachineInstance", "spec.accessCredentials", "maxItems"): vmi(
        accessCredentials=many(
            lambda _: {
                "sshPublicKey": {
                    "source": {"secret": {"secretName": "s"}},
                    "propagationMethod": {"qemuGuestAgent": {"users": ["u"]}},
                }
            }
        )
    ),
    (
        "VirtualMachineInstance",
        "spec.accessCredentials[].sshPublicKey.propagationMethod.qemuGuestAgent.users",
        "x-kubernetes-list-type",
    ): vmi(
        accessCredentials=[
            {
                "sshPublicKey": {
                    "source": {"secret": {"secretName": "s"}},
                    "propagationMethod": {"qemuGuestAgent": {"users": ["u", "u"]}},
                }
            }
        ]
    ),
    ("VirtualMachineInstance", "spec.domain.devices.disks", "maxItems"): vmi(
        devices={"disks": many(lambda index: {"name": f"d{index}"})}
    ),
    ("VirtualMachineInstance", "spec.domain.devices.interfaces", "maxItems"): vmi(
        devices={"interfaces": many(lambda index: {"name": f"n{index}", "bridge": {}})}
    ),
    ("VirtualMachineInstance", "spec.networks", "maxItems"): vmi(
        networks=many(lambda index: {"name": f"n{index}", "multus": {"networkName": "m"}})
    ),
    ("VirtualMachineInstance", "spec.resourceClaims", "x-kubernetes-list-map-keys"): vmi(
        resourceClaims=[
            {"name": "a", "resourceClaimName": "x"},
            {"name": "a", "resourceClaimName": "y"},
        ]
    ),
    ("VirtualMachineInstance", "spec.topologySpreadConstraints", "x-kubernetes-list-map-keys"): vmi(
        topologySpreadConstraints=[spread("zone"), spread("zone")]
    ),
    ("VirtualMachineInstance", "spec.utilityVolumes", "maxItems"): vmi(
        utilityVolumes=many(lambda index: {"name": f"u{index}", "claimName": "c"})
    ),
    ("VirtualMachineInstance", "spec.utilityVolumes", "x-kubernetes-list-map-keys"): vmi(
        utilityVolumes=[{"name": "u", "claimName": "c"}, {"name": "u", "claimName": "d"}]
    ),
    ("VirtualMachineInstance", "spec.volumes", "maxItems"): vmi(
        volumes=many(lambda index: {"name": f"v{index}", "emptyDisk": {"capacity": "1Gi"}})
    ),
    ("VirtualMachineInstance", "spec.volumes[].containerPath.path", "maxLength"): container_path(
        path="/" * 4097
    ),
    (
        "VirtualMachineInstance",
        "spec.volumes[].containerPath.path",
        "x-kubernetes-validations",
    ): container_path(path="a/.."),
    (
        "VirtualMachineInstance",
        "spec.volumes[].containerPath.readOnly",
        "x-kubernetes-validations",
    ): container_path(readOnly=False),
    ("VirtualMachineInstancetype", "spec.memory.overcommitPercent", "maximum"): instancetype(101),
    ("VirtualMachineInstancetype", "spec.memory.overcommitPercent", "minimum"): instancetype(-1),
    ("VirtualMachinePool", "spec.autohealing.startUpFailureThreshold", "minimum"): pool(
        autohealing={"startUpFailureThreshold": 0}
    ),
    ("VirtualMachinePool", "spec.replicas", "minimum"): pool(replicas=-1),
}
#: Rules that nothing breaks: the field is unknown here (``claims`` of a storage request).
NEVER_MET = {
    (
        "VirtualMachine",
        "spec.dataVolumeTemplates[].spec.storage.resources.claims",
        "x-kubernetes-list-map-keys",
    ),
}


def rules() -> dict[Rule, set[str]]:
    """Each rule, and the releases (``1.9``) that have it."""
    found: dict[Rule, set[str]] = {}
    for file in DATA.glob("*/validations.json"):
        release = file.parent.name.removeprefix("v").rpartition(".")[0] or MAIN
        for kind, paths in json.loads(file.read_text(encoding="utf-8")).items():
            for path, keywords in paths.items():
                for keyword in keywords:
                    found.setdefault((kind, path, keyword), set()).add(release)
    return found


RULES = rules()


def test_each_rule_of_a_crd_has_a_row() -> None:
    missing = {rule for rule in RULES if rule[2] != "default"} - BROKEN.keys() - NEVER_MET
    assert not missing, f"a CRD refuses what no row of BROKEN breaks: {sorted(missing)}"
    assert (BROKEN.keys() | NEVER_MET) <= RULES.keys()


@pytest.mark.parametrize(
    ("rule", "release"),
    [(rule, release) for rule in sorted(BROKEN) for release in sorted(RULES[rule])],
)
def test_what_breaks_a_rule_is_refused(rule: Rule, release: str) -> None:
    place = rule[1].replace("[]", "")
    found = render([BROKEN[rule]], Settings(kubevirt=release))
    errors = {
        "".join(character for character in str(finding.field) if character not in "[]0123456789")
        for finding in found.diagnostics
        if finding.severity == "error"
    }
    assert any(error == place or error.startswith(place + ".") for error in errors), (
        found.diagnostics
    )
