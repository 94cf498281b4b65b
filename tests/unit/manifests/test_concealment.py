"""What kustomize and helm say of their failure, without what is secret in it."""

import json
from pathlib import Path

import pytest

from render.manifests.boxed.concealment import file_names, secret_parts, shortened
from render.manifests.kustomization import Reach
from render.yaml.budget import Limits
from tests.support.manifests import put, vm


@pytest.mark.parametrize(
    ("message", "part", "printed"),
    [
        ("bad value hunter2 here", "hunter2", "bad value [redacted] here"),
        (r'bad "say \"hi\"" here', 'say "hi"', 'bad "[redacted]" here'),
        (r"bad '\"hi\" there' here", '"hi" there', "bad '[redacted]' here"),
        (r'bad "C:\\x" here', "C:\\x", 'bad "[redacted]" here'),
    ],
    ids=["plain", "quotes", "a-quote-first", "backslash"],
)
def test_what_is_secret_is_hidden_whole_in_each_spelling(
    message: str, part: str, printed: str
) -> None:
    assert shortened(message, {part}, 1000) == printed


def test_a_user_name_is_no_secret(tmp_path: Path) -> None:
    """A password beside it is one, and so is whatever a Secret holds."""
    config = "#cloud-config\nuser: rguske\npassword: hunter22\nruncmd: [echo topsecret]\n"
    lines = "".join(f"            {line}\n" for line in config.splitlines())
    volume = "      volumes:\n      - name: ci\n        cloudInitNoCloud:\n          userData: |\n"
    put(tmp_path / "vm.yaml", vm(memory="1Gi") + volume + lines)
    put(
        tmp_path / "more.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {user: madmin}\n",
    )
    reach = Reach()
    reach.resources += [str(tmp_path / "vm.yaml"), str(tmp_path / "more.yaml")]
    words = "rguske hunter22 echo topsecret madmin"
    text = shortened(words, secret_parts(reach, Limits()), 1000)
    assert text == "rguske [redacted] [redacted] [redacted]"


def test_the_name_of_a_file_stays_where_that_is_meant(tmp_path: Path) -> None:
    """In what cannot be parsed all may be secret: not its keys alone, and no name of a file."""
    put(tmp_path / "rhel9.yaml", "resources:\nkind: [ # Secret\npassword: rhel9\n  x: y\n")
    reach = Reach()
    reach.resources += [str(tmp_path / "rhel9.yaml")]
    parts, names = secret_parts(reach, Limits()), file_names(reach)
    text = "accumulating resources: from 'rhel9.yaml': rhel9, password: rhel9"
    assert shortened(text, parts, 1000, names) == (
        "accumulating resources: from 'rhel9.yaml': [redacted], [redacted]"
    )


def test_the_path_of_a_folder_stays_where_that_is_meant(tmp_path: Path) -> None:
    """Words of it are hidden beside it, and where it stands alone."""
    patch = "- op: add\n  path: /spec/x\n  value: {name: backup, type: disk}\n"
    file = "components/backup-disk/patch.yaml"
    put(tmp_path / file, patch)
    reach = Reach()
    reach.others += [str(tmp_path / file)]
    parts, names = secret_parts(reach, Limits()), file_names(reach)
    text = "from 'components/backup-disk': backup of disk, in backup-disk"
    assert shortened(text, parts, 1000, names) == (
        "from 'components/backup-disk': [redacted] of [redacted], in [redacted]-[redacted]"
    )


OPERATIONS = """\
- op: replace
  path: /spec/template/spec/domain/cpu/cores
  value: hunter2canary
- {op: move, from: /metadata/labels/old, path: /metadata/labels/new}
"""
WORDS = "replace /spec/template/spec/domain/cpu/cores /metadata/labels/old move hunter2canary"
JSON = '[{"op":"replace","path":"/spec/template/spec/domain/cpu/cores","value":"hunter2canary"}]'


def _words_about(folder: Path, kustomization: str, words: str, **files: str) -> str:
    reach = Reach()
    for name, text in {"kustomization": kustomization, **files}.items():
        put(folder / f"{name}.yaml", text)
        known = reach.kustomizations if name == "kustomization" else reach.others
        known.append(str(folder / f"{name}.yaml"))
    return shortened(words, secret_parts(reach, Limits()), 1000, file_names(reach))


@pytest.mark.parametrize("key", ["patches", "patchesJson6902"])
@pytest.mark.parametrize("notation", ["file", "block", "quoted", "json"])
def test_of_a_json_patch_the_values_are_secret(tmp_path: Path, key: str, notation: str) -> None:
    """Its operations and paths are no more secret than the names of fields."""
    block = "".join(f"    {line}\n" for line in OPERATIONS.splitlines())
    entry = {
        "file": "path: p.yaml\n",
        "block": f"patch: |-\n{block}",
        "quoted": f"patch: {json.dumps(OPERATIONS)}\n",
        "json": f"patch: '{JSON}'\n",
    }[notation]
    text = f"{key}:\n- target: {{kind: VirtualMachine}}\n  {entry}"
    files = {"p": OPERATIONS} if notation == "file" else {}
    masked = _words_about(tmp_path, text, WORDS, **files)
    assert masked == WORDS.replace("hunter2canary", "[redacted]")


@pytest.mark.parametrize(
    "text",
    ["- op: add\n  path: /a/b\n  password: x\n", "- op: add\n  path: /a/b\n- [\n",
     "- op: add\n  path: /a/b\n---\ntoken\n", "- op: add\n  path: /a/b\n- x\n"],
)  # fmt: skip
def test_what_only_looks_like_a_patch_is_secret_whole(tmp_path: Path, text: str) -> None:
    assert _words_about(tmp_path, "secretGenerator: []\n", "/a/b", p=text) == "[redacted]"


def test_which_object_a_patch_is_for_is_no_secret(tmp_path: Path) -> None:
    patch = (
        "    kind: VirtualMachine\n    metadata:\n      name: web\n    spec: {x: hunter2canary}\n"
    )
    text = f"patches:\n- patch: |-\n{patch}"
    words = "VirtualMachine.v1/web hunter2canary"
    assert _words_about(tmp_path, text, words) == "VirtualMachine.v1/web [redacted]"
