"""The pod of a VMI, put together.

Upstream: pkg/virt-controller/services/template.go (renderLaunchManifest, podLabels, generatePodAnnotations),
pkg/storage/pod/annotations/generator.go, pkg/util/net/dns/sanitize.go, pkg/apimachinery/labels.go.
"""

import hashlib
from collections.abc import Callable, Iterator

from render.launcher import (
    containers,
    devices,
    memory,
    networks,
    placement,
    resources,
    security,
    sidecars,
    support,
    volumes,
)
from render.launcher.launch import FEATURE_GATES, Launch, PodError
from render.model.apimachinery.go import TRUE, quoted
from render.model.apimachinery.quantity import scaled
from render.model.release import Form, Rows, form, rows, since, until
from render.model.tree import Tree

_LABEL = 63
_HASH = 8
_ISTIO = "sidecar.istio.io/inject"
_SKIP_HOOKS = "kubevirt.io/skip-backup-hooks"
#: Annotations of a VMI that its pod does not get.
_NOT_COPIED = (
    "kubectl.kubernetes.io",
    "kubevirt.io/storage-observed-api-version",
    "kubevirt.io/latest-observed-api-version",
)
_COPIED = (
    "dnsPolicy",
    "schedulerName",
    "tolerations",
    "topologySpreadConstraints",
    "subdomain",
    "priorityClassName",
)
_READINESS_GATES = [{"conditionType": "kubevirt.io/virtual-machine-unpaused"}]


def pod(launch: Launch, *, is_temporary: bool = False) -> Tree:
    """The pod that starts *launch*; *is_temporary*: only to have claims bound that wait for a consumer.

    Parts are shared with the VMI and with other pods. Raises `PodError` with KubeVirt's words where it makes none.
    """
    made = manifest(launch, is_temporary=is_temporary)
    for webhook in _WEBHOOKS(launch.release):
        webhook(launch, made["spec"])
    return made


def _serve_container_paths(launch: Launch, spec: Tree) -> None:
    spec["containers"] += support.container_paths(launch, spec["containers"][0], spec["volumes"])


#: What virt-api adds to a pod.
_WEBHOOKS: Rows[Callable[[Launch, Tree], None]] = rows(
    since("1.8", _serve_container_paths),
)


def manifest(launch: Launch, *, is_temporary: bool = False) -> Tree:
    """The pod as virt-controller itself makes it, for `pod` and for a migration."""
    for check in _CHECKS(launch.release):
        check(launch)
    overhead = memory.overhead(launch)
    networks.resources_of_networks(launch)  # called for its error, which comes before the others
    devices.check_permitted(launch)
    amounts = resources.compute(launch, overhead)
    hooks = sidecars.sidecars(launch)
    words = _command(launch, len(hooks), is_temporary=is_temporary)
    mounted = volumes.mounted(launch, has_sidecars=bool(hooks))
    compute = containers.compute(launch, words, amounts, mounted)
    compute["volumeMounts"] += sidecars.shared_mounts(hooks)
    log = list(support.console_log(launch, containers.verbosity(launch)))
    first, last = _LOG(launch.release)(log)
    running = [
        compute,
        *support.container_disks(launch),
        *support.virtiofs(launch),
        *last,
        *(sidecars.container(launch, sidecar, index) for index, sidecar in enumerate(hooks)),
    ]
    all_volumes = [*mounted.volumes, *sidecars.volumes(launch, hooks)]
    annotations = _annotations(launch, overhead, is_temporary=is_temporary)
    initial = [*first, *support.initial(launch)]
    running = security.without_categories(launch, running)
    uids = placement.reservations(launch)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"virt-launcher-{launch.name}-",
            "namespace": launch.namespace,
            "labels": {**_labels(launch), **placement.reservation_labels(uids)},
            "annotations": annotations,
        },
        "spec": _spec(launch, running, initial, all_volumes, uids),
    }


def _command(launch: Launch, hooks: int, *, is_temporary: bool) -> list[str]:
    """What the container of the guest runs, beside so many sidecars with *hooks*."""
    if is_temporary:
        return containers.provisioning_command(launch)
    return containers.command(launch, hooks)


def _spec(
    launch: Launch,
    running: list[Tree],
    initial: list[Tree],
    pod_volumes: list[Tree],
    uids: list[str],
) -> Tree:
    fields = {
        "hostname": hostname(launch),
        **{key: launch.spec.get(key) for key in _COPIED},
        "runtimeClassName": launch.cluster.configuration.get("defaultRuntimeClass"),
        "nodeSelector": placement.node_selector(launch),
        "imagePullSecrets": volumes.pull_secrets(launch),
        "resourceClaims": _CLAIMS(launch.release)(launch),
        "serviceAccountName": _service_account(launch),
        "initContainers": initial,
    }
    token = bool(_account_of_volume(launch)) or launch.annotations.get(_ISTIO, "").lower() == "true"
    structs = {
        "affinity": placement.affinity(launch, uids),
        "dnsConfig": launch.spec.get("dnsConfig"),
    }
    return {
        **{key: value for key, value in fields.items() if value},
        **{key: value for key, value in structs.items() if value is not None},
        "containers": running,
        "volumes": pod_volumes,
        "securityContext": security.of_pod(launch),
        "automountServiceAccountToken": token,
        "enableServiceLinks": False,
        "readinessGates": _READINESS_GATES,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": containers.grace_period(launch) + containers.GRACE_PADDING,
    }


_CLAIMS: Form[Callable[[Launch], list[Tree] | None]] = form(
    until("1.6", lambda _launch: None),
    since("1.6", lambda launch: launch.spec.get("resourceClaims")),
)


def _check_container_paths(launch: Launch) -> None:
    if "containerPath" not in launch.sources or "ContainerPathVolumes" in launch.gates:
        return
    for index, volume in enumerate(launch.volumes):
        if volume.get("containerPath") is not None:
            raise PodError(
                "VMI has ContainerPath volumes but the ContainerPathVolumes feature gate is disabled",
                ("spec", "volumes", index, "containerPath"),
                FEATURE_GATES,
            )


_CHECKS: Rows[Callable[[Launch], None]] = rows(
    since("1.8", _check_container_paths),
)


#: The container with the log: before those of the pod, or among them.
_LOG: Form[Callable[[list[Tree]], tuple[list[Tree], list[Tree]]]] = form(
    until("1.6", lambda log: ([], log)),
    since("1.6", lambda log: (log, [])),
)


def hostname(launch: Launch) -> str:
    """The host name of pod and guest."""
    own_name: str = launch.spec.get("hostname") or ""
    return own_name or launch.name.partition(".")[0][:_LABEL]


def _account_of_volume(launch: Launch) -> str:
    if "serviceAccount" not in launch.sources:
        return ""
    for volume in launch.volumes:
        account = volume.get("serviceAccount")
        if account is not None:
            return account.get("serviceAccountName") or ""
    return ""


def _service_account(launch: Launch) -> str:
    return _ACCOUNT(launch.release)(launch) or _account_of_volume(launch)


_ACCOUNT: Form[Callable[[Launch], str | None]] = form(
    until("1.9", lambda _launch: None),
    since("1.9", lambda launch: launch.spec.get("serviceAccountName")),
)


def _labels(launch: Launch) -> Tree:
    labels = {
        **launch.labels,
        "kubevirt.io": "virt-launcher",
        "kubevirt.io/created-by": launch.uid,
        "vm.kubevirt.io/name": hostname(launch),
    }
    for row in _LABELS(launch.release):
        labels.update(row(launch))
    return labels


def _identity(launch: Launch) -> Iterator[tuple[str, str]]:
    name = launch.name
    if len(name) > _LABEL:
        digest = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()[:_HASH]
        name = f"{name[: _LABEL - _HASH - 1]}-{digest}"
    yield "vmi.kubevirt.io/id", name


def _istio(launch: Launch) -> Iterator[tuple[str, str]]:
    if _ISTIO in launch.annotations:
        yield _ISTIO, launch.annotations[_ISTIO]


_LABELS: Rows[Callable[[Launch], Iterator[tuple[str, str]]]] = rows(
    since("1.7", _identity),
    since("1.7", _istio),
)


def _annotations(launch: Launch, overhead: memory.Overhead, *, is_temporary: bool) -> Tree:
    """The annotations of the pod: those of the VMI that it gets, and virt-controller's own.

    Raises `PodError` for an unknown network binding.
    """
    annotations = {
        "kubevirt.io/domain": launch.name,
        **{
            key: value
            for key, value in launch.annotations.items()
            if not key.startswith(_NOT_COPIED)
        },
        "kubectl.kubernetes.io/default-container": "compute",
        "kubevirt.io/migrationTransportUnix": "true",
        "descheduler.alpha.kubernetes.io/request-evict-only": "",
        **dict(networks.annotations(launch)),
        **_BACKUP(launch.release)(launch),
    }
    if is_temporary:
        annotations["kubevirt.io/ephemeral-provisioning"] = "true"
    if "VmiMemoryOverheadReport" in launch.gates:
        annotations["kubevirt.io/memory-overhead-bytes"] = str(scaled(overhead.total))
    return annotations


def _backup(launch: Launch) -> Tree:
    name, namespace = quoted(launch.name), quoted(launch.namespace)
    hooks = {}
    for when, flag in (("pre", "--freeze"), ("post", "--unfreeze")):
        hooks[f"{when}.hook.backup.velero.io/container"] = "compute"
        hooks[f"{when}.hook.backup.velero.io/command"] = (
            f'["/usr/bin/virt-freezer", "{flag}", "--name", {name}, "--namespace", {namespace}]'
        )
    return hooks


def _backup_unless_skipped(launch: Launch) -> Tree:
    if launch.annotations.get(_SKIP_HOOKS) in TRUE:
        return {}
    return {**_backup(launch), "pre.hook.backup.velero.io/timeout": "60s"}


_BACKUP: Form[Callable[[Launch], Tree]] = form(
    until("1.6", _backup),
    since("1.6", _backup_unless_skipped),
)
