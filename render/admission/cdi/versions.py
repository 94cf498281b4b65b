"""The versions of CDI whose rules are known, and which one a HyperConverged brings.

What changed between them stands in its place, wrapped by `since` or `until` of `render.model.release`.

Upstream: hack/config of the hyperconverged-cluster-operator's release branches.
"""

from render.model.release import Version

_FIRST_MINOR, _NEWEST_MINOR = 60, 66
VERSIONS: tuple[Version, ...] = tuple(
    (1, minor, 0) for minor in range(_FIRST_MINOR, _NEWEST_MINOR + 1)
)
NEWEST: Version = VERSIONS[-1]
#: The operator 1.N+10 brings KubeVirt 1.N and CDI 1.N+57.
_AHEAD_OF_KUBEVIRT = 57


def brought_with(kubevirt: Version) -> Version:
    """The CDI that comes with *kubevirt* where a HyperConverged brings both."""
    minor = min(max(kubevirt[1] + _AHEAD_OF_KUBEVIRT, _FIRST_MINOR), _NEWEST_MINOR)
    return (kubevirt[0], minor, 0)
