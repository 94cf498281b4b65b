"""Recorded pods: what virt-controller of each release made of a VMI, see fixtures/goldens/README.md."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from render.kubevirt import vmi_controller
from render.launcher import template
from render.launcher.beside import hotplug, migration
from render.launcher.cluster import LauncherCluster
from render.launcher.launch import Launch, PodError
from render.model.tree import Tree
from render.pipeline import pods
from render.settings import Settings
from tests.support import goldens

Json = dict[str, Any]
NEWEST = "1.9"
RELEASES = ("1.4", "1.5", "1.6", "1.7", "1.8", NEWEST)
_NETWORKS = "k8s.v1.cni.cncf.io/networks"


@cache
def answers(release: str) -> dict[str, Json]:
    """The answers of *release* by case: those of the newest where it says the same."""
    newest = {case["id"]: case["want"] for case in goldens.cases("pod")}
    if release == NEWEST:
        return newest
    own = {case["id"]: case["want"] for case in goldens.cases(f"releases/pod-{release}")}
    return newest | own


def _launcher(vmi: Tree, cluster: LauncherCluster) -> Tree | None:
    return template.pod(vmi_controller.found(vmi, cluster))


def _temporary(vmi: Tree, cluster: LauncherCluster) -> Tree | None:
    return template.pod(vmi_controller.found(vmi, cluster), is_temporary=True)


def _target(vmi: Tree, cluster: LauncherCluster) -> Tree | None:
    return migration.target(vmi_controller.found(vmi, cluster))


def _of_hotplug(
    make: Callable[[Launch, Tree], Tree | None],
) -> Callable[[Tree, LauncherCluster], Tree | None]:
    def pod(vmi: Tree, cluster: LauncherCluster) -> Tree | None:
        launch = vmi_controller.found(vmi, cluster)
        return make(launch, template.pod(launch))

    return pod


MAKERS: dict[str, Callable[[Tree, LauncherCluster], Tree | None]] = {
    "pod": _launcher,
    "temp": _temporary,
    "target": _target,
    "attachment": _of_hotplug(hotplug.attachment),
    "trigger": _of_hotplug(hotplug.trigger),
}


def compared(release: str) -> Iterator[tuple[str, str, Json, list[Json]]]:
    """Case, kind of pod, our answer and the recorded ones, of which any is right."""
    wanted = answers(release)
    for case in goldens.cases("pod"):
        want = wanted[case["id"]]
        cluster = pods.cluster_of(case["objects"], Settings(kubevirt=release))
        vmi = pods.decoded(case["vmi"], cluster)
        for kind in ("pod", *case.get("also", ())):
            recorded = want if kind == "pod" else want.get(kind)
            if recorded is not None:
                yield case["id"], kind, answer(MAKERS[kind], vmi, cluster), _recorded(recorded)


def answer(
    make: Callable[[Tree, LauncherCluster], Tree | None], vmi: Tree, cluster: LauncherCluster
) -> Json:
    try:
        made = make(vmi, cluster)
    except PodError as error:
        return {"error": str(error)}
    return {"pod": made and normalised(made)}


def _recorded(want: Json) -> list[Json]:
    if "error" in want:
        return [{"error": want["error"]}]
    return [{"pod": normalised(pod)} for pod in want.get("oneof") or [want["pod"]]]


def normalised(pod: Json) -> Json:
    """*pod* without what the recorded ones leave out, the networks of its annotation as JSON."""
    metadata = {key: value for key, value in pod["metadata"].items() if key != "namespace"}
    annotations = metadata.get("annotations") or {}
    if _NETWORKS in annotations:
        networks = json.loads(annotations[_NETWORKS])
        metadata["annotations"] = {**annotations, _NETWORKS: networks}
    return {"metadata": metadata, "spec": pod["spec"]}
