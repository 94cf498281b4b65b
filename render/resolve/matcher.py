"""What the VM webhook demands of matchers (upstream: pkg/instancetype/webhooks/vm/mutator.go)."""

from typing import NamedTuple

from render.model.fieldpath import FieldPath
from render.model.tree import Tree
from render.resolve.kinds import KIND_CLASSES, KindClass


class Flaw(NamedTuple):
    """A refused matcher field, with KubeVirt's text."""

    path: FieldPath
    message: str


def _flaws(matcher: Tree, kind_class: KindClass) -> list[Flaw]:
    at: FieldPath = ("spec", kind_class.word)
    volume = matcher.get("inferFromVolume")
    found = []
    if not volume and not matcher.get("name"):
        found.append(
            Flaw(
                at,
                "Either Name or InferFromVolume should be provided within the "
                f"{kind_class.matcher}",
            )
        )
    if volume:
        found += (
            Flaw(
                (*at, key),
                f"{key.capitalize()} already set, should be cleared before setting inferFromVolume",
            )
            for key in ("name", "kind")
            if matcher.get(key)
        )
    policy = matcher.get("inferFromVolumeFailurePolicy")
    if policy is not None and policy not in ("Ignore", "Reject"):
        found.append(
            Flaw(
                (*at, "inferFromVolumeFailurePolicy"),
                f"Invalid value '{policy}' for InferFromVolumeFailurePolicy",
            )
        )
    return found


def validate(spec: Tree) -> list[Flaw]:
    """Every flaw of both matchers of a VM *spec*, in the webhook's order."""
    return [
        flaw
        for kind_class in KIND_CLASSES
        if (matcher := spec.get(kind_class.word)) is not None
        for flaw in _flaws(matcher, kind_class)
    ]
