"""Users, capabilities and SELinux contexts.

Upstream: pkg/virt-controller/services/rendercontainer.go, template.go (computePodSecurityContext,
alignPodMultiCategorySecurity), pkg/virt-controller/watch/migration/migration.go (setTargetPodSELinuxLevel).
"""

from collections.abc import Iterable

from render.launcher.launch import Launch, PodError
from render.model import tree
from render.model.release import Form, form, since, until
from render.model.tree import Tree

USER = 107
_LEVEL = 3
_CONTEXT = "system_u:object_r:container_file_t:s0:c1,c2"
#: Of a container that nothing is allowed to: the supporting ones.
SUPPORT = {
    "runAsUser": USER,
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
}
VIRTIOFS = {**SUPPORT, "runAsGroup": USER}
_ROOT_VIRTIOFS = {
    "runAsUser": 0,
    "runAsGroup": 0,
    "runAsNonRoot": False,
    "allowPrivilegeEscalation": True,
    "capabilities": {
        "add": [
            "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETGID", "SETUID", "MKNOD", "SETFCAP", "SYS_CHROOT",
        ]
    },
}  # fmt: skip
#: What a container says of privileges that it does not have.
_UNPRIVILEGED: Form[Tree] = form(until("1.7", {"privileged": False}), since("1.7", {}))
_ROOT_GROUP: Form[Tree] = form(until("1.6", {}), since("1.6", {"fsGroup": USER}))


def of_pod(launch: Launch) -> Tree:
    """The security context of the pod."""
    return launch.cluster.once(("pod", launch.is_nonroot), lambda: _of_pod(launch))


def _of_pod(launch: Launch) -> Tree:
    context: Tree = {}
    if launch.is_nonroot:
        context |= {"runAsUser": USER, "runAsGroup": USER, "runAsNonRoot": True, "fsGroup": USER}
    else:
        context |= {"runAsUser": 0, **_ROOT_GROUP(launch.release)}
    seccomp = _seccomp(launch.cluster.configuration)
    if seccomp:
        context["seccompProfile"] = seccomp
    if launch.cluster.selinux_type:
        context["seLinuxOptions"] = {"type": launch.cluster.selinux_type}
    return context


def _seccomp(configuration: Tree) -> Tree:
    path = ("seccompConfiguration", "virtualMachineInstanceProfile", "customProfile")
    profile = tree.get(configuration, *path) or {}
    if profile.get("localhostProfile") is not None:
        return {"type": "Localhost", "localhostProfile": profile["localhostProfile"]}
    return {"type": "RuntimeDefault"} if profile.get("runtimeDefaultProfile") else {}


def of_container(launch: Launch, capabilities: Tree | None) -> Tree:
    """The security context of a container that runs as the pod does."""
    if launch.is_nonroot:
        user = {
            "runAsUser": USER,
            "runAsGroup": USER,
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
        }
    else:
        user = {"runAsUser": 0, "runAsNonRoot": False}
    context = {**user, **_UNPRIVILEGED(launch.release)}
    return context if capabilities is None else {**context, "capabilities": capabilities}


def of_compute(launch: Launch) -> Tree:
    """The security context of compute."""
    return launch.cluster.once(("compute", launch.is_nonroot), lambda: _of_compute(launch))


def _of_compute(launch: Launch) -> Tree:
    if launch.is_nonroot:
        return of_container(launch, {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]})
    return of_container(launch, {"add": ["NET_BIND_SERVICE", "SYS_NICE"]})


def of_virtiofs(volume: Tree, launch: Launch) -> Tree:
    """The security context of the container that serves *volume*."""
    return _ROOT_VIRTIOFS if serves_as_root(volume, launch) else VIRTIOFS


def serves_as_root(volume: Tree, launch: Launch) -> bool:
    """Whether *volume* is served as root, which only 1.4 does."""
    kinds = ("configMap", "secret", "serviceAccount", "downwardAPI")
    is_data = all(volume.get(kind) is None for kind in kinds)
    return "ExperimentalVirtiofsSupport" in launch.gates and is_data


def without_categories(launch: Launch, containers: Iterable[Tree]) -> list[Tree]:
    """*containers* beside compute without SELinux categories, where Docker needs that."""
    if "DockerSELinuxMCSWorkaround" not in launch.gates:
        return list(containers)
    options = {"level": "s0"}
    if launch.cluster.selinux_type:
        options["type"] = launch.cluster.selinux_type
    return [
        container
        if container["name"] == "compute"
        else {
            **container,
            "securityContext": {**container.get("securityContext", {}), "seLinuxOptions": options},
        }
        for container in containers
    ]


def level_of_target(status: Tree) -> str:
    """The SELinux level that a migration takes along, ``""`` for none. Raises `PodError` for a context that is none."""
    context = _context(status)
    # The library that upstream asks wants three parts; without a fourth there is no level.
    parts = context.split(":", _LEVEL)
    if context != "none" and len(parts) < _LEVEL:
        raise PodError("invalid Label")
    return parts[_LEVEL] if len(parts) > _LEVEL else ""


def level_of_attachment(status: Tree) -> str:
    """The SELinux level of an attachment pod, ``s0`` without SELinux. Raises `PodError` for a context that is none."""
    context = _context(status)
    if context == "none":
        return "s0"
    parts = context.split(":", _LEVEL)
    if len(parts) <= _LEVEL:
        raise PodError(f"VMI has invalid SELinux context: {context}")
    return parts[_LEVEL]


def _context(status: Tree) -> str:
    """The SELinux context that the VMI runs in; one that stands for it, where it does not run."""
    source = tree.get(status, "migrationState", "sourceState", "selinuxContext")
    return status.get("selinuxContext") or source or _CONTEXT
