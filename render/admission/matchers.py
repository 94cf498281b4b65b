"""What the VM webhook demands of matchers (upstream: pkg/instancetype/webhooks/vm/mutator.go)."""

from render.diagnostics.cause import Cause
from render.model.fieldpath import FieldPath
from render.model.kinds import KIND_CLASSES, KindClass
from render.model.release import Version, until, variant
from render.model.tree import Tree

_SET_TWICE = (
    until("1.7", "{} should not be provided when InferFromVolume is used within the {}"),
    "{} already set, should be cleared before setting inferFromVolume",
)


def _causes(matcher: Tree, kind_class: KindClass, release: Version) -> list[Cause]:
    at: FieldPath = ("spec", kind_class.word)
    volume = matcher.get("inferFromVolume")
    found = []
    if not volume and not matcher.get("name"):
        found.append(
            Cause(
                "matchers/name-missing",
                at,
                "Either Name or InferFromVolume should be provided within the "
                f"{kind_class.matcher}",
            )
        )
    if volume:
        found += (
            Cause(
                "matchers/set-twice",
                (*at, key),
                variant(_SET_TWICE, release).format(key.capitalize(), kind_class.matcher),
            )
            for key in ("name", "kind")
            if matcher.get(key)
        )
    policy = matcher.get("inferFromVolumeFailurePolicy")
    if policy is not None and policy not in ("Ignore", "Reject"):
        found.append(
            Cause(
                "matchers/failure-policy",
                (*at, "inferFromVolumeFailurePolicy"),
                f"Invalid value '{policy}' for InferFromVolumeFailurePolicy",
            )
        )
    return found


def causes(spec: Tree, release: Version) -> list[Cause]:
    """Every cause for which the webhook of *release* refuses the matchers of a VM *spec*, in the webhook's order."""
    return [
        cause
        for kind_class in KIND_CLASSES
        if (matcher := spec.get(kind_class.word)) is not None
        for cause in _causes(matcher, kind_class, release)
    ]
