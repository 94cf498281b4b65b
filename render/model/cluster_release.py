"""Which KubeVirt release a cluster runs, by what its own resources say.

Upstream: staging/src/kubevirt.io/api/core/v1/types.go (KubeVirtStatus, KubeVirtSpec.ImageTag), and of the
hyperconverged-cluster-operator api/v1/hyperconverged_types.go (status.versions) and hack/config (which KubeVirt a
release of the operator brings).
"""

import re
from typing import NamedTuple

from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.resource import HYPERCONVERGED, KUBEVIRT
from render.model.tree import Tree

_VERSION = re.compile(r"v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?(?:[-+].*)?\Z").match
_PRODUCT = re.compile(r"openshift-4\.(\d{1,3})(?:\.\d{1,3})?\Z").match

#: KubeVirt 1.N comes with the operator 1.N+10, and with OpenShift Virtualization 4.N+14.
_OPERATOR_AHEAD = 10
PRODUCT_AHEAD = 14
_OPERATOR, _PRODUCT_MAJOR = 1, 4


class ReleaseEvidence(NamedTuple):
    """What the field at *path* says about the release: it is *release* (``1.8``, ``1.8.4``), or newer if *at_least*."""

    release: str
    path: FieldPath
    at_least: bool = False


def openshift(name: str) -> str | None:
    """The KubeVirt release (``1.6``) that OpenShift Virtualization *name* (``openshift-4.20``) brings.

    None for another text.
    """
    match = _PRODUCT(name)
    return None if match is None else _of_product(int(match[1]))


def release_of(body: Tree) -> ReleaseEvidence | None:
    """What a KubeVirt or HyperConverged resource says about the KubeVirt release of its cluster; None if nothing."""
    group, _, api_version = str(body.get("apiVersion")).rpartition("/")
    kind = body.get("kind")
    if (group, kind) == (KUBEVIRT, "KubeVirt"):
        for path in (("status", "observedKubeVirtVersion"), ("spec", "imageTag")):
            version = _matched(tree.get(body, *path))
            if version is not None:
                return ReleaseEvidence(".".join(filter(None, version.groups())), path)
        return None
    if (group, kind) != (HYPERCONVERGED, "HyperConverged"):
        return None
    versions = tree.get(body, "status", "versions")
    for index, entry in enumerate(versions if isinstance(versions, list) else ()):
        release = _of_operator(tree.get(entry, "version"))
        if tree.get(entry, "name") == "operator" and release is not None:
            return ReleaseEvidence(release, ("status", "versions", index, "version"))
    return ReleaseEvidence("1.8", ("apiVersion",), at_least=True) if api_version == "v1" else None


def _matched(text: object) -> re.Match[str] | None:
    return _VERSION(text) if isinstance(text, str) else None


def _of_operator(text: object) -> str | None:
    """The KubeVirt release of a version of the operator: its own, or that of the product it is built for."""
    version = _matched(text)
    if version is None:
        return None
    major, minor = int(version[1]), int(version[2])
    if major == _PRODUCT_MAJOR:
        return _of_product(minor)
    return (
        f"1.{minor - _OPERATOR_AHEAD}" if major == _OPERATOR and minor >= _OPERATOR_AHEAD else None
    )


def _of_product(minor: int) -> str | None:
    return f"1.{minor - PRODUCT_AHEAD}" if minor >= PRODUCT_AHEAD else None
