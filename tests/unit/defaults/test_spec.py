"""What a VMI requests because of its guest, where it asked for that."""

import pytest

from render.defaults.spec import fill_spec
from render.model.cluster_config import ClusterConfig
from render.model.draft import Draft
from render.model.release import version
from tests.support.pools import Json


@pytest.mark.parametrize(
    ("memory", "resources", "request_"),
    [
        ({"guest": "1Gi"}, {}, "1Gi"),
        ({"guest": "0"}, {}, None),
        ({"hugepages": {"pageSize": "2Mi"}}, {}, "2Mi"),
        ({"guest": "1Gi"}, {"limits": {"memory": "2Gi"}}, "2Gi"),
        (
            {"guest": "1Gi"},
            {"limits": {"memory": "2Gi"}, "requests": {"memory": "1536Mi"}},
            "1536Mi",
        ),
    ],
)
def test_memory_that_is_requested(memory: Json, resources: Json, request_: str | None) -> None:
    domain: Json = {"memory": memory, "resources": resources, "devices": {}}
    draft = Draft({"spec": {"domain": domain}})
    assert not fill_spec(draft, ClusterConfig(), version("1.4.1"))
    assert draft.get("spec", "domain", "resources", "requests", "memory") == request_
