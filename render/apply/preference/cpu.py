"""CPU features (upstream: pkg/instancetype/preference/apply/cpu.go).

Topology and spread options act through the instancetype's vCPUs: see `render.model.topology`.
"""

from collections.abc import Iterable

from render.model import tree
from render.model.draft import Draft
from render.model.tree import Tree
from render.rules import Edit, Result, Rule, custom, spec


def _features(definition: Tree, draft: Draft) -> Iterable[Result]:
    preferred = tree.get(definition, "cpu", "preferredCPUFeatures") or ()
    present = draft.get("spec", "domain", "cpu", "features") or []
    names = {feature.get("name") for feature in present}
    # Compared with what the VM had before, so that duplicates inside the preference are all added.
    added = [feature for feature in preferred if feature.get("name") not in names]
    if added:
        yield Edit(
            spec("domain", "cpu", "features"), [*present, *added], ("cpu", "preferredCPUFeatures")
        )


RULES: tuple[Rule, ...] = (
    custom(_features, reads=("cpu.preferredCPUFeatures",), writes=("domain.cpu.features",)),
)
