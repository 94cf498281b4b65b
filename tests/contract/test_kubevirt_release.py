"""`make kubevirt-release` reads Go source: a small project of the same layout, in a git repository."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from scripts import kubevirt_release, make_types
from tests.support.tools import required

API = "staging/src/kubevirt.io/api"
COMPONENTS = "pkg/virt-operator/resource/generate/components"
BUNDLE = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: {kind}
metadata:
  labels:
    instancetype.kubevirt.io/common-instancetypes-version: v9.9.9
  name: {name}
spec: {spec}
---
"""
SOURCE = {
    f"{API}/core/v1/types.go": """\
package v1

import (
	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type VirtualMachine struct {
	metav1.TypeMeta `json:",inline"`
	Spec   Spec   `json:"spec"`
	Status Status `json:"status,omitempty"`
}

type Spec struct {
	Common
	// +optional
	// +nullable
	Strategy *Strategy `json:"strategy,omitempty"`
	// +kubebuilder:validation:Enum=a;b
	Letter Letter `json:"letter"`
	Always string `json:"always"` // no comment above
	// +optional
	Written  string                 `json:"written"`
	Amounts  map[core.Name]Quantity `json:"amounts,omitempty"`
	Policies []core.Policy          `json:"policies,omitempty"`
	Hidden   string                 `json:"-"`
	Untagged string
	private  string
}

type Common struct {
	Inlined string `json:"inlined"`
}

// +kubebuilder:validation:Enum=Stage;LiveUpdate
type Strategy string
type Letter string
type Quantity int64
type Status struct {
	Unread *Spec `json:"unread"`
}
""",
    "vendor/k8s.io/api/core/v1/types.go": """\
package v1

type Name string

// +enum
type Policy string

const (
	Honor  Policy = "Honor"
	Ignore Policy = "Ignore"
)
""",
    "vendor/k8s.io/apimachinery/pkg/apis/meta/v1/types.go": """\
package v1

type TypeMeta struct {
	Kind string `json:"kind,omitempty"`
}
""",
    "pkg/virt-config/featuregate/active.go": """\
package featuregate

const Named = "Of This Name"

func init() {
	RegisterFeatureGate(FeatureGate{Name: Named, State: Beta})
}
""",
    f"{COMPONENTS}/validations_generated.go": """\
package components

var CRDsValidation = map[string]string{
	"virtualmachine": `openAPIV3Schema:
  properties:
    spec:
      properties:
        letter: {enum: [a, b], maxLength: 1}
        policies: {x-kubernetes-list-type: set}
        amounts: {additionalProperties: {x-kubernetes-int-or-string: true, pattern: x}}
    status:
      properties:
        unread: {maxLength: 1}
`,
}
""",
    f"{COMPONENTS}/data/common-clusterinstancetypes-bundle.yaml": BUNDLE.format(
        kind="VirtualMachineClusterInstancetype", name="u1.small", spec="{cpu: {guest: 1}}"
    ),
    f"{COMPONENTS}/data/common-clusterpreferences-bundle.yaml": BUNDLE.format(
        kind="VirtualMachineClusterPreference", name="linux", spec="{}"
    ),
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout at v9.1.2; what is read of it goes to the folder ``data`` beside it."""
    required("go")
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(make_types, "DATA", tmp_path / "data")
    monkeypatch.setattr(make_types, "ROOTS", {"virtualmachine": "kubevirt.VirtualMachine"})
    monkeypatch.setattr(make_types, "OTHER_ROOTS", ())
    monkeypatch.setattr(kubevirt_release, "KINDS", ("VirtualMachine",))
    monkeypatch.setattr(kubevirt_release, "EMBEDDED", ())
    found = tmp_path / "kubevirt"
    for name, text in SOURCE.items():
        file = found / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    git(found, "init", "--quiet")
    git(found, "add", ".")
    git(
        found,
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.com",
        "commit",
        "--quiet",
        "-m",
        "all",
    )
    git(found, "tag", "v9.1.2")
    return found


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", folder, *words], check=True)


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def test_release_is_read(checkout: Path) -> None:
    folder = kubevirt_release.write(checkout, "v9.1.2")
    assert folder == checkout.parent / "data" / "v9.1.2"
    assert read(folder, "types") == {
        "kubevirt.Spec": {
            "inlined": "string",
            "strategy": "*enum:kubevirt.Strategy omitempty optional nullable",
            "letter": "enum:kubevirt.Letter",
            "always": "string",
            "written": "string optional",
            "amounts": "map[string]int64 omitempty",
            "policies": "[]enum:core.Policy omitempty",
            "Untagged": "string",
        },
        "kubevirt.VirtualMachine": {"kind": "string omitempty", "spec": "kubevirt.Spec"},
        "enums": {
            "core.Policy": ["Honor", "Ignore"],
            "kubevirt.Letter": ["a", "b"],
            "kubevirt.Strategy": ["Stage", "LiveUpdate"],
        },
    }
    assert read(folder, "gates") == {"Of This Name": "Beta"}
    assert read(folder, "catalog") == {
        "common-instancetypes": "v9.9.9",
        "VirtualMachineClusterInstancetype": {"u1.small": {"cpu": {"guest": 1}}},
        "VirtualMachineClusterPreference": {"linux": {}},
    }
    assert read(folder, "validations") == {
        "VirtualMachine": {
            "spec.letter": {"maxLength": 1},
            "spec.policies": {"x-kubernetes-list-type": "set"},
        }
    }
    assert len((folder / "types.json").read_text(encoding="utf-8").splitlines()) == 19


def test_newer_patch_takes_the_place_of_an_older_one_and_no_other_release(checkout: Path) -> None:
    for name in ("v9.1.1", "v9.10.0", "v9.2.0"):
        (checkout.parent / "data" / name).mkdir()
    kubevirt_release.write(checkout, "v9.1.2")
    assert sorted(path.name for path in (checkout.parent / "data").iterdir()) == [
        "v9.1.2",
        "v9.10.0",
        "v9.2.0",
    ]


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("v9.2.0", "is not at v9.2.0, but at v9.1.2"),
        ("9.1", "9.1 is no tag of a release, such as v1.9.0"),
        ("../v9.1.2", "../v9.1.2 is no tag of a release"),
    ],
)
def test_another_version_overwrites_nothing(checkout: Path, version: str, message: str) -> None:
    with pytest.raises(kubevirt_release.ReleaseError, match=message.replace(".", r"\.")):
        kubevirt_release.write(checkout, version)
    assert list((checkout.parent / "data").iterdir()) == []


def test_source_that_is_not_understood_is_an_error(checkout: Path) -> None:
    types = checkout / API / "core/v1/types.go"
    types.write_text(
        SOURCE[f"{API}/core/v1/types.go"].replace("core.Policy", "core.Gone"), encoding="utf-8"
    )
    with pytest.raises(kubevirt_release.ReleaseError, match=r"k8s.io/api/core/v1 has no type Gone"):
        kubevirt_release.write(checkout, "v9.1.2")
    with pytest.raises(kubevirt_release.ReleaseError, match="is no checkout of kubevirt/kubevirt"):
        kubevirt_release.write(checkout.parent, "v9.1.2")
