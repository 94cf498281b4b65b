"""Which machines presets select, by what is written in these."""

from render.legacy import decoding, machines
from render.model import tree
from render.model.apimachinery.selectors import SelectorError, selects
from render.model.release import NEWEST, Version
from render.model.resource import VMI, Resource
from render.model.tree import Tree
from render.pipeline.input import definitions
from render.presets import MODERN


def labels_of(machine: Resource) -> dict[str, str] | None:
    """The labels of the VMI of *machine*; None for what no preset may select."""
    if not definitions.is_machine(machine) or machines.age(machine):
        return None
    body = decoding.decode(machine, NEWEST).tree
    metadata = body if machine.kind == VMI else tree.get(body, "spec", "template")
    if tree.get(metadata, "metadata", "annotations", MODERN.exclude) == "true":
        return None
    return tree.get(metadata, "metadata", "labels") or {}


def is_selected(labels: dict[str, str], selector: Tree, release: Version) -> bool:
    """Whether a preset with this *selector* selects *labels*; not with one that is none."""
    try:
        return selects(selector, labels, release)
    except SelectorError:
        return False
