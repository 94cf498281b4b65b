"""PersistentVolumeClaims beside VMs: what is said of one that the API server cannot read at all."""

from typing import Any

import pytest

from render.diagnostics.diagnostic import Severity
from render.model.resource import from_body
from render.pipeline.input import claims


@pytest.mark.parametrize(
    ("spec", "got"),
    [([], "a list"), ("", "a string"), (True, "true or false"), (1, "a whole number")],
)
def test_a_spec_that_is_no_mapping_is_an_error_at_the_spec(spec: Any, got: str) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "root", "namespace": "prod"},
        "spec": spec,
    }
    (found,) = claims.check(from_body(body, 0))
    assert (found.code, found.location.path) == ("VR106", ("spec",))
    assert f"expected a mapping, got {got}" in found.message


def claim(labels: dict[str, str] | None = None, **spec: Any) -> list[tuple[str, str, str]]:
    """What is said of a claim with this *spec*: code, field, text."""
    body = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "root", "namespace": "prod", "labels": labels or {}},
        "spec": spec,
    }
    return [(each.code, each.field, each.message) for each in claims.check(from_body(body, 0))]


WHOLE: dict[str, Any] = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
}


MODES = 'supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"'


@pytest.mark.parametrize(
    ("spec", "code", "field", "text"),
    [
        ({"volumeMode": "block"}, "VR109", "spec.volumeMode",
         'Unsupported value: "block": supported values: "Block", "Filesystem"'),
        ({"volumeMode": "FromStorageProfile"}, "VR109", "spec.volumeMode",
         'Unsupported value: "FromStorageProfile": supported values: "Block", "Filesystem"'),
        ({"accessModes": ["RWO"]}, "VR109", "spec.accessModes[0]", f'Unsupported value: "RWO": {MODES}'),
    ],
)  # fmt: skip
def test_what_the_api_server_refuses_is_told_in_its_words(
    spec: dict[str, Any], code: str, field: str, text: str
) -> None:
    assert claim(**spec) == [(code, field, text)]


def test_what_is_supported_and_what_cdi_fills_in_is_fine() -> None:
    assert claim(**WHOLE) == claim(**WHOLE, volumeMode="Block") == []
    filled_in = {"cdi.kubevirt.io/applyStorageProfile": "true"}
    assert claim(filled_in, volumeMode="FromStorageProfile") == []


def test_a_claim_has_to_say_how_it_is_opened_and_how_large_it_is() -> None:
    size = ("VR107", "spec.resources.requests.storage", "Required value")
    modes = ("VR107", "spec.accessModes", "Required value: at least 1 access mode is required")
    assert claim(resources={}) == [modes, size]
    assert claim(accessModes=["ReadWriteOnce"]) == [size]
    assert claim(accessModes=[], resources=WHOLE["resources"]) == [modes]
    body = {"metadata": {"name": "root"}, "spec": {}}
    warned = claims.check(
        from_body({"apiVersion": "v1", "kind": "PersistentVolumeClaim", **body}, 0)
    )
    assert {each.severity for each in warned} == {Severity.WARNING}
