"""Which KubeVirt release a cluster runs, by what its own resources say.

Upstream: staging/src/kubevirt.io/api/core/v1/types.go (KubeVirtStatus, KubeVirtSpec.ImageTag), and of the
hyperconverged-cluster-operator api/v1/hyperconverged_types.go (status.versions) and hack/config (which KubeVirt a
release of the operator brings); pkg/virt-operator/util/config.go (getConfig: the tag of its own image).
"""

import re

from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.model.resource import HYPERCONVERGED, KUBEVIRT, VIRT_OPERATOR, is_operator
from render.model.tree import Tree

_VERSION = pattern(r"v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?(?:[-+].*)?\Z")
_PRODUCT = pattern(r"openshift-4\.(\d{1,3})(?:\.\d{1,3})?\Z")

#: KubeVirt 1.N comes with the operator 1.N+10, and with OpenShift Virtualization 4.N+14.
_OPERATOR_AHEAD = 10
PRODUCT_AHEAD = 14
_OPERATOR, _PRODUCT_MAJOR = 1, 4
_TAGGED = pattern(r".*/[^/]*virt-operator(?::([^:@]+))?(@.*)?")
_DOWNLOAD = pattern(
    r"https?://github\.com/kubevirt/kubevirt/releases/download/(v[^/]+)/kubevirt-operator\.yaml"
)
#: Where virt-operator is told what its image is called, the first that is set; and of what version it is.
_IMAGES, _BUILT = ("VIRT_OPERATOR_IMAGE", "OPERATOR_IMAGE"), "KUBEVIRT_VERSION"


class ReleaseEvidence(NamedTuple):
    """What the field at *path* says about the release: it is *release* (``1.8``, ``1.8.4``), or newer if *at_least*."""

    release: str
    path: FieldPath
    at_least: bool = False


def openshift(name: str) -> str | None:
    """The KubeVirt release (``1.6``) that OpenShift Virtualization *name* (``openshift-4.20``) brings.

    None for another text.
    """
    match = _PRODUCT.match(name)
    return None if match is None else _of_product(int(match[1]))


def release_of(body: Tree) -> ReleaseEvidence | None:
    """What a resource says about the KubeVirt release of its cluster; None if nothing.

    It is a KubeVirt, a HyperConverged, or the Deployment of virt-operator.
    """
    group, _, api_version = str(body.get("apiVersion")).rpartition("/")
    kind = body.get("kind")
    if is_operator(group, kind, tree.get(body, "metadata", "name")):
        return _installed_by(body)
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


def operator_of(url: str) -> Tree | None:
    """The Deployment of virt-operator that is downloaded from *url*, as far as it says which release it is.

    None for what is no manifest of a release of KubeVirt.
    """
    match = _DOWNLOAD.fullmatch(url)
    if match is None:
        return None
    container = {"name": VIRT_OPERATOR, "image": f"quay.io/kubevirt/{VIRT_OPERATOR}:{match[1]}"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": VIRT_OPERATOR, "namespace": "kubevirt"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


def _installed_by(deployment: Tree) -> ReleaseEvidence | None:
    """The release that virt-operator, run by *deployment*, installs where no KubeVirt names another tag."""
    path = ("spec", "template", "spec", "containers")
    containers = tree.get(deployment, *path)
    for index, container in enumerate(containers if isinstance(containers, list) else ()):
        if tree.get(container, "name") != VIRT_OPERATOR:
            continue
        own: FieldPath = (*path, index)
        variables = _variables(container, own)
        named = (variables[name] for name in _IMAGES if name in variables)
        image, place = next(named, (tree.get(container, "image"), (*own, "image")))
        tagged = _TAGGED.fullmatch(image) if isinstance(image, str) else None
        stated: object = tagged[1] if tagged and not tagged[2] else None
        if not stated:
            stated, place = variables.get(_BUILT, (None, place))
        version = _matched(stated)
        if version is not None:
            return ReleaseEvidence(".".join(filter(None, version.groups())), place)
    return None


def _variables(container: object, path: FieldPath) -> dict[object, tuple[str, FieldPath]]:
    """The variables of *container*, at *path*, that have a value: it, and where it stands."""
    declared = tree.get(container, "env")
    return {
        tree.get(variable, "name"): (value, (*path, "env", number, "value"))
        for number, variable in enumerate(declared if isinstance(declared, list) else ())
        if isinstance(value := tree.get(variable, "value"), str) and value
    }


def _matched(text: object) -> re.Match[str] | None:
    return _VERSION.match(text) if isinstance(text, str) else None


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
