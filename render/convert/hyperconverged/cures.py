"""What to do in a HyperConverged where a KubeVirt resource would have to say something else: its operator writes that.

Upstream: controllers/handlers/kubevirt.go and api/v1beta1/hyperconverged_types.go of the
hyperconverged-cluster-operator.
"""

from render.convert.hyperconverged.gates import phase_of
from render.convert.hyperconverged.patch import ANNOTATION
from render.model.regex import pattern
from render.model.release import Version

_GATE = pattern(r"enable the feature gate (\w+) in the KubeVirt CR")
_IGNORED = "ignored"
#: What stands in both resources under one name.
_SAME = pattern(r"\b(permittedHostDevices) of the KubeVirt CR")
_RESERVATION = "set persistentReservationConfiguration.enabled in the KubeVirt CR"


def in_hyperconverged(cure: str, release: Version) -> str:
    """*cure*, which names the KubeVirt CR, for a cluster whose settings come from a HyperConverged."""
    cure = cure.replace(
        _RESERVATION, "enable the feature gate PersistentReservation in the KubeVirt CR"
    )
    cure = _GATE.sub(lambda match: _gate(match[1], release), cure)
    cure = _SAME.sub(r"spec.\1 of the HyperConverged", cure)
    return cure.replace(
        "in the KubeVirt CR", f"by the annotation {ANNOTATION} of the HyperConverged"
    )


def _gate(name: str, release: Version) -> str:
    own = name[:1].lower() + name[1:]
    if phase_of(own, release) in (None, _IGNORED):
        return f"enable the feature gate {name} in the KubeVirt CR"
    return f"enable {own} in spec.featureGates of the HyperConverged"
