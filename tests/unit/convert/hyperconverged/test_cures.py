import pytest

from render.convert.hyperconverged.cures import in_hyperconverged
from render.model.release import NEWEST, release_named


@pytest.mark.parametrize(
    ("cure", "wanted"),
    [
        (
            "enable the feature gate DownwardMetrics in the KubeVirt CR, or leave this out",
            "enable downwardMetrics in spec.featureGates of the HyperConverged, or leave this out",
        ),
        (
            "enable the feature gate VSOCK in the KubeVirt CR, or leave this out",
            (
                "enable the feature gate VSOCK by the annotation kubevirt.kubevirt.io/jsonpatch of the"
                " HyperConverged, or leave this out"
            ),
        ),
        (
            "use masquerade, or set network.permitBridgeInterfaceOnPodNetwork in the KubeVirt CR",
            (
                "use masquerade, or set network.permitBridgeInterfaceOnPodNetwork by the annotation"
                " kubevirt.kubevirt.io/jsonpatch of the HyperConverged"
            ),
        ),
        (
            "name vendor and device in permittedHostDevices of the KubeVirt CR",
            "name vendor and device in spec.permittedHostDevices of the HyperConverged",
        ),
        ("write six octets", "write six octets"),
    ],
)
def test_a_cure_names_the_resource_that_is_edited(cure: str, wanted: str) -> None:
    assert in_hyperconverged(cure, NEWEST) == wanted


def test_a_gate_that_is_ignored_helps_nobody() -> None:
    cure = "enable the feature gate NonRoot in the KubeVirt CR"
    assert "jsonpatch" in in_hyperconverged(cure, release_named("1.8") or NEWEST)
