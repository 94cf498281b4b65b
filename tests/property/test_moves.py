"""``diff`` of two states of a repository is ``compare`` of what they hold, however their folders are laid out."""

import contextlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from render import Settings, compare
from render.frontends.dispatch import invoke
from render.yaml.reader import read
from tests.support import manifests

# None below another: what a kustomization above does not list is no input.
FOLDERS = ("a", "b", "c/e", "d")
NAMES = ("one", "two", "three")
KUSTOMIZATION = "kustomization.yaml"
LOST = "lost"


class Layout(NamedTuple):
    """One state: the folder and the memory of each VM, ``""`` for the instancetype; folders with a kustomization.

    *odd*: folders with a file that cannot be read, and ``lost`` for a kustomization that cannot be.
    """

    vms: Mapping[str, tuple[str, str]]
    built: frozenset[str]
    cpus: int
    odd: frozenset[str] = frozenset()

    def write(self, top: Path) -> None:
        """Lay the files out below *top*."""
        small = manifests.instancetype("small", cpus=self.cpus)
        manifests.put(top / "definitions" / "small.yaml", small)
        files: dict[str, list[str]] = {}
        for name, (folder, memory) in self.vms.items():
            files.setdefault(folder, []).append(f"{name}.yaml")
            manifests.put(top / folder / f"{name}.yaml", text(name, memory))
        for folder in self.built & files.keys():
            listed = ", ".join(files[folder])
            manifests.put(top / folder / KUSTOMIZATION, f"resources: [{listed}]\n")
        for folder in self.odd - {LOST}:
            manifests.put(top / folder / "odd.yaml", "kind: [ # of kubevirt.io\n")
        remote = ", https://example.invalid/base" if LOST in self.odd else ""
        manifests.put(top / LOST / KUSTOMIZATION, f"resources: [vm.yaml{remote}]\n")
        manifests.put(top / LOST / "vm.yaml", text(LOST, "1Gi"))

    @property
    def objects(self) -> list[dict[str, Any]]:
        """All that it holds."""
        texts = [text(name, memory) for name, (_, memory) in self.vms.items()]
        texts.append(manifests.instancetype("small", cpus=self.cpus))
        return [document.body for text in texts for document in read(text.encode(), "x").documents]


def text(name: str, memory: str) -> str:
    options = {"memory": memory} if memory else {"instancetype": "small"}
    return manifests.vm(name, namespace="prod", **options)


_LAYOUTS = st.builds(
    Layout,
    st.dictionaries(
        st.sampled_from(NAMES),
        st.tuples(st.sampled_from(FOLDERS), st.sampled_from(["", "1Gi", "2Gi"])),
    ),
    st.frozensets(st.sampled_from(FOLDERS)),
    st.sampled_from([2, 4]),
    st.frozensets(st.sampled_from([*FOLDERS, LOST])),
)


@settings(max_examples=15)
@given(_LAYOUTS, _LAYOUTS, st.sampled_from(["source", "vm"]))
def test_folders_make_no_difference(before: Layout, after: Layout, emit: Any) -> None:
    """Folders renamed, kustomizations added, what cannot be read strewn in: each VM fares as between two renderings.

    So do all that both states could read; of what one could not, nothing is said but that.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, layout in (("before", before), ("after", after)):
            layout.write(Path(name))
        assert invoke(
            ["diff", "before", "after", "--emit", emit, "--format", "json", "-o", "x"]
        ) in (0, 1)
        answer = json.loads(Path("x").read_text(encoding="utf-8"))
    told = {
        machine["resource"]["name"]: tuple(machine["effects"]) for machine in answer["machines"]
    }
    unread = {(True, True): None, (True, False): ("repaired",), (False, True): ("unrenderable",)}
    sides = (LOST in before.odd, LOST in after.odd)
    assert told.pop(LOST, None) == unread.get(sides, ("same",))
    expected = compare(before.objects, after.objects, Settings(emit=emit)).machines
    assert told == {machine.resource.name: machine.effects for machine in expected}
    assert len(answer["machines"]) == len(expected) + (sides != (True, True))
