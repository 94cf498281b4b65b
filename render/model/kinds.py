"""The kind classes, instancetypes and preferences, and flavors before them, and how a matcher names them.

Upstream: pkg/instancetype/find/spec.go, pkg/instancetype/preference/find/spec.go.
"""

from render.model.named_tuple import NamedTuple


class KindClass(NamedTuple):
    """What differs between instancetypes, preferences and flavors.

    *word* is the matcher's key in a VM spec; *status* the key of what the controller recorded.
    """

    word: str
    status: str
    namespaced: str
    cluster: str
    matcher: str
    annotation: str
    name_label: str

    def kind_of(self, matcher_kind: str) -> str:
        """The object kind that a matcher's *kind* (any case, singular or plural, or empty) means; ``""`` if none."""
        match matcher_kind.lower().removesuffix("s"):
            case "":
                return self.cluster if not matcher_kind else ""
            case lowered if lowered == self.namespaced.lower():
                return self.namespaced
            case lowered if lowered == self.cluster.lower():
                return self.cluster
        return ""

    def annotation_for(self, matcher_kind: str) -> str:
        """The annotation with which the controller names the object on the VMI."""
        scope = "" if self.kind_of(matcher_kind) == self.namespaced else "cluster-"
        return f"kubevirt.io/{scope}{self.annotation}"


INSTANCETYPE = KindClass(
    word="instancetype",
    status="instancetypeRef",
    namespaced="VirtualMachineInstancetype",
    cluster="VirtualMachineClusterInstancetype",
    matcher="InstancetypeMatcher",
    annotation="instancetype-name",
    name_label="instancetype.kubevirt.io/default-instancetype",
)
PREFERENCE = KindClass(
    word="preference",
    status="preferenceRef",
    namespaced="VirtualMachinePreference",
    cluster="VirtualMachineClusterPreference",
    matcher="PreferenceMatcher",
    annotation="preference-name",
    name_label="instancetype.kubevirt.io/default-preference",
)
KIND_CLASSES = (INSTANCETYPE, PREFERENCE)
INSTANCETYPES = frozenset({INSTANCETYPE.namespaced, INSTANCETYPE.cluster})
PREFERENCES = frozenset({PREFERENCE.namespaced, PREFERENCE.cluster})
#: pkg/flavor/flavor.go of KubeVirt v0.47 to v0.55. No controller of today names one, nor do labels of volumes.
FLAVOR = KindClass(
    word="flavor",
    status="",
    namespaced="VirtualMachineFlavor",
    cluster="VirtualMachineClusterFlavor",
    matcher="FlavorMatcher",
    annotation="",
    name_label="",
)


def class_of(kind: str) -> str:
    """The word of the kind class of the objects of *kind*."""
    if kind in (FLAVOR.namespaced, FLAVOR.cluster):
        return FLAVOR.word
    return PREFERENCE.word if "Preference" in kind else INSTANCETYPE.word
