"""What each network is: of one source, and one of them the default.

Upstream: pkg/network/admitter/netsource.go.
"""

from collections.abc import Iterator

from render.admission.checks import EACH, Check, Subject, Violation, each
from render.diagnostics.cause import Cause
from render.model.fieldpath import FieldPath
from render.model.release import Rows, rows, since
from render.model.tree import Tree

_NETWORKS = ("networks",)
_SOURCES: Rows[str] = rows("pod", "multus", since("1.9", "resourceClaim"))


def _several_defaults(subject: Subject) -> Iterator[Cause]:
    networks = subject.spec["networks"]
    if len(networks) == 1 and len(networks[0]) <= 2:  # noqa: PLR2004 - a name and one source
        return
    pods = [index for index, network in enumerate(networks) if network.get("pod") is not None]
    defaults = [
        index
        for index, network in enumerate(networks)
        if network.get("multus") is not None and network["multus"].get("default")
    ]
    if len(pods) > 1:
        yield Cause(
            "network/one-pod-network",
            subject.at("interfaces"),
            f"more than one interface is connected to a pod network in {subject.text('interfaces')}",
            "a VM has one pod network; connect the others with multus",
            place=subject.at("networks", pods[1]),
        )
    if len(defaults) > 1:
        yield Cause(
            "network/one-default",
            subject.at("networks"),
            "Multus CNI should only have one default network",
            "set default: true for one network only",
            place=subject.at("networks", defaults[1], "multus", "default"),
        )
    if pods and defaults:
        yield Cause(
            "network/pod-and-default",
            subject.at("networks"),
            "Pod network cannot be defined when Multus default network is defined",
            "drop the pod network, or default: true of the multus network",
            place=subject.at("networks", pods[0]),
        )


@each(_NETWORKS)
def _without_one_source(subject: Subject, network: Tree, path: FieldPath) -> Violation | None:
    count, sources = 0, _SOURCES(subject.release)
    for source in sources:
        if network.get(source) is not None:
            count += 1
    if count == 1:
        return None
    return Violation(
        path,
        "should have only one network type" if count else "should have a network type",
        f"a network has one of {', '.join(sources)}",
    )


def _without_multus_name(subject: Subject) -> Iterator[Violation]:
    for index, network in enumerate(subject.spec["networks"]):
        multus = network.get("multus")
        if multus is not None and not multus.get("networkName"):
            yield Violation(
                subject.at("networks", index),
                "CNI delegating plugin must have a networkName",
                "name the network attachment definition, as NAMESPACE/NAME or NAME",
                place=subject.at("networks", index, "multus"),
            )
            return


CHECKS: tuple[Check, ...] = (
    Check("network", _several_defaults, where=_NETWORKS),
    Check("network/source", _without_one_source, where=_NETWORKS),
    Check("network/multus-name", _without_multus_name, where=(*_NETWORKS, EACH, "multus")),
)
