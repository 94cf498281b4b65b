"""The two kind classes, instancetypes and preferences, and how a matcher names them.

Upstream: pkg/instancetype/find/spec.go, pkg/instancetype/preference/find/spec.go.
"""

from typing import NamedTuple

from render.diagnostics.codes import INSTANCETYPE_NOT_FOUND, PREFERENCE_NOT_FOUND, Code


class KindClass(NamedTuple):
    """What differs between instancetypes and preferences.

    *word* is the matcher's key in a VM spec; *status* the key of what the controller recorded.
    """

    word: str
    status: str
    namespaced: str
    cluster: str
    matcher: str
    annotation: str
    name_label: str
    not_found: Code

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
    not_found=INSTANCETYPE_NOT_FOUND,
)
PREFERENCE = KindClass(
    word="preference",
    status="preferenceRef",
    namespaced="VirtualMachinePreference",
    cluster="VirtualMachineClusterPreference",
    matcher="PreferenceMatcher",
    annotation="preference-name",
    name_label="instancetype.kubevirt.io/default-preference",
    not_found=PREFERENCE_NOT_FOUND,
)
KIND_CLASSES = (INSTANCETYPE, PREFERENCE)
