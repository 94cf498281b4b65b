"""What kustomize built, traced back to the files that it was made of."""

import os
from pathlib import Path

import pytest

from render.manifests.blame import origins
from render.manifests.kustomization import Reach
from render.yaml.budget import Limits
from render.yaml.reader import read
from tests.support.manifests import put, vm

LIMITS = Limits()


@pytest.mark.parametrize(
    ("built", "file"),
    [
        pytest.param(vm(namespace="a"), "a.yaml", id="of-its-namespace"),
        pytest.param(vm(namespace="b"), "b.yaml", id="of-the-other"),
        pytest.param(vm(namespace="c"), "none.yaml", id="a-namespace-was-added"),
        pytest.param(vm(), "none.yaml", id="without"),
        pytest.param(vm("db", namespace="c"), "db.yaml", id="one-alone-whatever-its-namespace"),
        pytest.param(vm("other"), "", id="of-none"),
    ],
)
def test_among_several_of_a_name_the_namespace_decides(
    tmp_path: Path, built: str, file: str
) -> None:
    reach = Reach()
    for name, text in {
        "a": vm(namespace="a"), "b": vm(namespace="b"), "none": vm(), "db": vm("db", namespace="d"),
    }.items():  # fmt: skip
        put(tmp_path / f"{name}.yaml", text)
        reach.resources.append(f"{tmp_path}/{name}.yaml")
    documents = read(built.encode(), "<kustomize>", LIMITS).documents
    traced = origins.trace(str(tmp_path), documents, reach, LIMITS)
    (document,) = traced
    assert os.path.basename(document.origin.file) == (file or "<kustomize>")
    assert (document.before is not None) is bool(file)
