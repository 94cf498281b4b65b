"""How many sockets a VM may grow to."""

import pytest

from render.defaults import hotplug
from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.release import version

_LIVE = ClusterConfig(rollout_strategy="LiveUpdate")


@pytest.mark.parametrize(
    ("release", "cpu", "most"),
    [
        ("1.4.1", (128, 1, 1), 512),
        ("1.4.1", (129, 1, 1), 512),
        ("1.4.1", (100, 3, 1), 170),
        ("1.5.0", (100, 3, 1), 400),
        ("1.5.1", (100, 3, 1), 170),
        ("1.9.0", (100, 3, 1), 170),
        ("1.9.0", (129, 1, 1), 512),
        ("1.9.0", (200, 3, 1), 200),
    ],
)
def test_no_default_goes_beyond_512_vcpus(
    release: str, cpu: tuple[int, int, int], most: int
) -> None:
    counts = dict(zip(("sockets", "cores", "threads"), cpu, strict=True))
    draft = Draft({"spec": {"architecture": "amd64", "domain": {"cpu": counts}}})
    hotplug.fill(draft, _LIVE, version(release))
    assert draft.get("spec", "domain", "cpu", "maxSockets") == most
