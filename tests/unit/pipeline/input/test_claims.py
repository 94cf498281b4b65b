"""PersistentVolumeClaims beside VMs: what is said of one that the API server cannot read at all."""

from typing import Any

import pytest

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
