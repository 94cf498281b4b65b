"""``diff`` says what objects of the repository are called: none of it is more than text, in any format."""

import re
from pathlib import Path

import pytest

from tests.support import manifests
from tests.support.repository import Repository

HERE = "https://github.com/acme/fleet"
#: A colour, a command of a workflow on a line of its own, a mention, an end of a code span, a tag, another direction.
EVIL = "a\\u001b[31m\\n::error::x `@team` <b>b</b> | \\u202e\\u2028::warning::y"
CLUSTER = f"""\
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {{name: "{EVIL}", namespace: kubevirt}}
spec: {{imageTag: v1.8.4}}
"""
SOURCE = f"""\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: fleet, namespace: flux-system}}
spec: {{url: {HERE}}}
"""
KUSTOMIZATION = f"""\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: "NAME{EVIL}", namespace: flux-system}}
spec: {{path: ./NAME, sourceRef: {{kind: GitRepository, name: fleet}}, targetNamespace: prod}}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Three VMs, each applied by an object; one is not any more, one moves, one is edited."""
    made = Repository(tmp_path / "fleet")
    made.git("remote", "add", "origin", HERE)
    made.write("cluster.yaml", CLUSTER)
    made.write("flux/source.yaml", SOURCE)
    for name in ("web", "db"):
        made.write(f"{name}/kustomization.yaml", "resources: [vm.yaml]\n")
        made.write(f"{name}/vm.yaml", manifests.vm(name, memory="1Gi"))
        made.write(f"flux/{name}.yaml", KUSTOMIZATION.replace("NAME", name))
    folder = "m\x1b[31m\u202e`@team`<b>"
    made.write(f"{folder}/kustomization.yaml", "resources: [vm.yaml]\n")
    made.write(f"{folder}/vm.yaml", manifests.vm("moved", memory="1Gi"))
    made.commit("All")
    (made.folder / "flux/web.yaml").unlink()
    made.git("mv", folder, f"{folder}2")
    made.write("db/vm.yaml", manifests.vm("db", memory="2Gi"))
    made.commit("Some")
    return made


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_names_are_text(form: str, repository: Repository) -> None:
    done = repository.run("diff", "HEAD~1..HEAD", "--format", form)
    assert done.returncode == 0, done.stderr
    answer = done.stdout
    assert "applies it no more" in answer
    assert "since KubeVirt" in answer
    assert "moved, and as they were" in answer.lower() or form == "json"
    assert not re.search("[\x1b\u202e\u2028]", answer)
    assert not re.search(r"(?m)^\s*::", answer)
    if form == "markdown":
        outside = re.sub(r"(`+)[^`](?s:.*?)[^`]\1(?!`)|<code>.*?</code>", "", answer)
        assert "@team" not in outside
        assert "<b>b" not in outside
    if form == "html":
        assert "<b>b" not in answer
