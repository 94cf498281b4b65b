"""A change that puts something else where a template has its fields: an answer, and no defect of ours."""

import json
from pathlib import Path

import pytest

from tests.support.repository import Repository

POOL = """\
apiVersion: pool.kubevirt.io/v1beta1
kind: VirtualMachinePool
metadata:
  name: web
spec:
  replicas: 1
  selector:
    matchLabels: {{app: web}}
  virtualMachineTemplate:
    metadata:
      labels: {{app: web}}
    spec:
      runStrategy: Always
      template: {template}
"""
FIELDS = "{spec: {domain: {devices: {}, memory: {guest: 1Gi}}}}"


@pytest.mark.parametrize("other", ["nan", "[]", "{}", "1"])
@pytest.mark.parametrize("is_mended", [False, True])
def test_a_pool_whose_template_is_replaced_as_a_whole(
    tmp_path: Path, other: str, *, is_mended: bool
) -> None:
    repository = Repository(tmp_path)
    before, after = (other, FIELDS) if is_mended else (FIELDS, other)
    repository.write("pool.yaml", POOL.format(template=before))
    repository.commit("before")
    repository.write("pool.yaml", POOL.format(template=after))
    done = repository.run("diff", "--format", "json", "HEAD")
    assert done.returncode in {0, 1}, done.stderr
    assert json.loads(done.stdout)["holders"]
