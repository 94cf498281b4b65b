"""Edits of PersistentVolumeClaims, as `compare` has them: refused, or nothing to tell."""

from typing import Any

import pytest

from render import Settings, compare

Json = dict[str, Any]
IMMUTABLE = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName"
    " for bound claims"
)
SHRUNK = "field can not be less than status.capacity"
SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "golden"}


def claim(size: str = "20Gi", annotations: Json | None = None, **fields: Any) -> Json:
    """A claim of 20Gi that one node mounts; *fields* of its spec, None for one that it has not."""
    spec: Json = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        "storageClassName": "fast",
        **fields,
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "prod", "annotations": annotations or {}},
        "spec": {key: value for key, value in spec.items() if value is not None},
    }


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (claim(), claim("10Gi"), SHRUNK),
        (claim(), claim(accessModes=["ReadWriteMany"]), IMMUTABLE),
        (claim(), claim(accessModes=["ReadWriteOnce", "ReadWriteMany"]), IMMUTABLE),
        (claim(), claim(storageClassName="slow"), IMMUTABLE),
        (claim(), claim(storageClassName=None), IMMUTABLE),
        (claim(), claim(volumeMode="Block"), IMMUTABLE),
        (claim(volumeMode="Block"), claim(), IMMUTABLE),
        (claim(volumeName="pv-1"), claim(volumeName="pv-2"), IMMUTABLE),
        (claim(), claim(selector={"matchLabels": {"a": "b"}}), IMMUTABLE),
        (claim(), claim(selector={}), IMMUTABLE),
        (claim(), claim(dataSource=SNAPSHOT), IMMUTABLE),
        (claim(dataSource=SNAPSHOT), claim(dataSourceRef={**SNAPSHOT, "name": "b"}), IMMUTABLE),
        (claim(), claim("30Gi", accessModes=["ReadWriteMany"]), IMMUTABLE),
    ],
)
def test_an_edit_that_the_api_server_refuses(before: Json, after: Json, text: str) -> None:
    (found,) = compare([before], [after]).machines
    assert found.resource.kind == "PersistentVolumeClaim"
    assert (found.effects, found.messages) == (("refused",), (text,))
    assert {change.effect for change in found.changes} == {"refused"}
    assert all(change.cause and change.cause.resource == found.resource for change in found.changes)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (claim(), claim("30Gi")),
        (claim(), claim("20480Mi")),
        (claim(), claim(annotations={"a": "b"})),
        (claim(), claim(volumeMode="Filesystem")),
        (claim(volumeMode="Filesystem"), claim()),
        (claim(storageClassName=None), claim()),
        (claim(), claim(volumeName="pv-1")),
        (claim(), claim(volumeAttributesClassName="gold")),
        (claim(dataSource=SNAPSHOT), claim(dataSourceRef=SNAPSHOT)),
        (claim(dataSourceRef=SNAPSHOT), claim()),
        (claim(dataSource={"kind": "PersistentVolumeClaim", "name": "a"}), claim()),
        (claim(), claim(dataSource={"apiGroup": "acme.dev", "kind": "Image", "name": "a"})),
        (claim(), claim("${SIZE}")),
        (claim(), claim("10Gib")),
        (
            claim(annotations={"argocd.argoproj.io/sync-options": "Replace=true,Force=true"}),
            claim("10Gi", {"argocd.argoproj.io/sync-options": "Replace=true,Force=true"}),
        ),
        (claim(), claim("10Gi", {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"})),
    ],
)
def test_an_edit_that_it_takes_or_that_nobody_can_tell(before: Json, after: Json) -> None:
    assert not compare([before], [after]).machines


def test_what_is_new_gone_of_another_namespace_or_not_asked_for() -> None:
    elsewhere = claim("10Gi")
    elsewhere["metadata"]["namespace"] = "stage"
    assert not compare([claim()], []).machines
    assert not compare([claim()], [elsewhere]).machines
    assert not compare([claim()], [claim("10Gi")], Settings(admission="off")).machines
