"""Pod Security Standards: why a namespace that enforces a level refuses a pod.

Upstream: k8s.io/pod-security-admission/policy (check_*.go), one check a function here, in the order of their ids.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from render.model import tree
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.tree import Tree

LEVELS = ("privileged", "baseline", "restricted")
#: The version of the policy that a namespace enforces which names none: that of the API server.
LATEST = "latest"
_NEWEST = 1_000
_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip
_OLDER_SELINUX_TYPES = ("", "container_t", "container_init_t", "container_kvm_t")
_SELINUX_TYPES = (*_OLDER_SELINUX_TYPES, "container_engine_t")
_VOLUMES = frozenset(
    {
        "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected",
        "secret",
    }
)  # fmt: skip
_PROFILES = ("RuntimeDefault", "Localhost")
_CONTEXT = "securityContext"


class PodViolation(NamedTuple):
    """What a check forbids, and of what: ``hostPath volumes``, ``volume "data"``."""

    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


Check = Callable[[Tree], PodViolation | None]


def _containers(spec: Tree) -> Iterator[Tree]:
    for group in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(group) or ()


def _named(containers: Sequence[str], *, word: str = "container") -> str:
    plural = word if len(containers) == 1 else f"{word}s"
    return f"{plural} {', '.join(map(_quoted, containers))}"


def _quoted(text: str) -> str:
    return f'"{text}"'


def _own(container: Tree, *path: str) -> Any:
    return tree.get(container, _CONTEXT, *path)


def _privilege_escalation(spec: Tree) -> PodViolation | None:
    names = [
        container["name"]
        for container in _containers(spec)
        if _own(container, "allowPrivilegeEscalation") is not False
    ]
    if not names:
        return None
    detail = f"{_named(names)} must set securityContext.allowPrivilegeEscalation=false"
    return PodViolation("allowPrivilegeEscalation != false", detail)


def _baseline_capabilities(spec: Tree) -> PodViolation | None:
    names, added = [], set()
    for container in _containers(spec):
        forbidden = set(_own(container, "capabilities", "add") or ()) - _CAPABILITIES
        if forbidden:
            names.append(container["name"])
            added |= forbidden
    if not names:
        return None
    words = ", ".join(map(_quoted, sorted(added)))
    detail = f"{_named(names)} must not include {words} in securityContext.capabilities.add"
    return PodViolation("non-default capabilities", detail)


def _restricted_capabilities(spec: Tree) -> PodViolation | None:
    kept, adding, added = [], [], set()
    for container in _containers(spec):
        if "ALL" not in (_own(container, "capabilities", "drop") or ()):
            kept.append(container["name"])
        forbidden = set(_own(container, "capabilities", "add") or ()) - {"NET_BIND_SERVICE"}
        if forbidden:
            adding.append(container["name"])
            added |= forbidden
    parts = []
    if kept:
        parts.append(f'{_named(kept)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        words = ", ".join(map(_quoted, sorted(added)))
        parts.append(
            f"{_named(adding)} must not include {words} in securityContext.capabilities.add"
        )
    return PodViolation("unrestricted capabilities", "; ".join(parts)) if parts else None


def _host_namespaces(spec: Tree) -> PodViolation | None:
    names = [f"{key}=true" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    return PodViolation("host namespaces", ", ".join(names)) if names else None


def _host_path_volumes(spec: Tree) -> PodViolation | None:
    names = [
        volume["name"] for volume in spec.get("volumes") or () if volume.get("hostPath") is not None
    ]
    return PodViolation("hostPath volumes", _named(names, word="volume")) if names else None


def _privileged(spec: Tree) -> PodViolation | None:
    names = [container["name"] for container in _containers(spec) if _own(container, "privileged")]
    if not names:
        return None
    return PodViolation(
        "privileged", f"{_named(names)} must not set securityContext.privileged=true"
    )


def _restricted_volumes(spec: Tree) -> PodViolation | None:
    names, kinds = [], []
    for volume in spec.get("volumes") or ():
        kind = next((key for key in volume if key not in ("name", *_VOLUMES)), "")
        if kind:
            names.append(volume["name"])
            kinds.append(kind)
    if not names:
        return None
    words = ", ".join(map(_quoted, sorted(set(kinds))))
    uses = "uses restricted volume type" if len(names) == 1 else "use restricted volume type"
    plural = "" if len(set(kinds)) == 1 else "s"
    return PodViolation(
        "restricted volume types", f"{_named(names, word='volume')} {uses}{plural} {words}"
    )


def _run_as_non_root(spec: Tree) -> PodViolation | None:
    whole = _own(spec, "runAsNonRoot")
    explicit, implicit = [], []
    for container in _containers(spec):
        own = _own(container, "runAsNonRoot")
        if own is False:
            explicit.append(container["name"])
        elif own is None and not whole:
            implicit.append(container["name"])
    if whole is False:
        explicit_parts = ["pod", *([_named(explicit)] if explicit else [])]
        detail = f"{' and '.join(explicit_parts)} must not set securityContext.runAsNonRoot=false"
        return PodViolation("runAsNonRoot != true", detail)
    if explicit:
        detail = f"{_named(explicit)} must not set securityContext.runAsNonRoot=false"
        return PodViolation("runAsNonRoot != true", detail)
    if implicit:
        detail = f"pod or {_named(implicit)} must set securityContext.runAsNonRoot=true"
        return PodViolation("runAsNonRoot != true", detail)
    return None


def _run_as_user(spec: Tree) -> PodViolation | None:
    names = [
        container["name"] for container in _containers(spec) if _own(container, "runAsUser") == 0
    ]
    parts = ["pod"] if _own(spec, "runAsUser") == 0 else []
    if names:
        parts.append(_named(names))
    return (
        PodViolation("runAsUser=0", f"{' and '.join(parts)} must not set runAsUser=0")
        if parts
        else None
    )


def _selinux_options(spec: Tree, allowed: Sequence[str] = _SELINUX_TYPES) -> PodViolation | None:
    pods: list[str] = []
    names: list[str] = []
    types: list[str] = []
    custom: list[str] = []
    places = [("", spec), *((container["name"], container) for container in _containers(spec))]
    for name, holder in places:
        options = _own(holder, "seLinuxOptions") or {}
        forbidden = options.get("type", "") not in allowed
        if forbidden or options.get("user") or options.get("role"):
            (names if name else pods).append(name)
        if forbidden:
            types.append(options["type"])
        custom += (key for key in ("user", "role") if options.get(key) and key not in custom)
    if not pods and not names:
        return None
    setters = " and ".join([*(["pod"] if pods else []), *([_named(names)] if names else [])])
    kinds = sorted(set(types))
    plural = "" if len(kinds) == 1 else "s"
    values = [f"type{plural} {', '.join(map(_quoted, kinds))}"] if kinds else []
    values += (f"{key} may not be set" for key in custom)
    detail = f"{setters} set forbidden securityContext.seLinuxOptions: {'; '.join(values)}"
    return PodViolation("seLinuxOptions", detail)


def _baseline_seccomp(spec: Tree) -> PodViolation | None:
    unconfined = [
        container["name"]
        for container in _containers(spec)
        if _own(container, "seccompProfile", "type") == "Unconfined"
    ]
    parts = ["pod"] if _own(spec, "seccompProfile", "type") == "Unconfined" else []
    if unconfined:
        parts.append(_named(unconfined))
    if not parts:
        return None
    kind = 'securityContext.seccompProfile.type to "Unconfined"'
    return PodViolation("seccompProfile", f"{' and '.join(parts)} must not set {kind}")


def _restricted_seccomp(spec: Tree) -> PodViolation | None:
    whole = _own(spec, "seccompProfile", "type")
    explicit, implicit = [], []
    for container in _containers(spec):
        own = _own(container, "seccompProfile", "type")
        if own is not None and own not in _PROFILES:
            explicit.append(container["name"])
        elif own is None and whole not in _PROFILES:
            implicit.append(container["name"])
    if (whole is not None and whole not in _PROFILES) or explicit:
        parts = ["pod"] if whole is not None and whole not in _PROFILES else []
        parts += [_named(explicit)] if explicit else []
        kind = 'securityContext.seccompProfile.type to "Unconfined"'
        return PodViolation("seccompProfile", f"{' and '.join(parts)} must not set {kind}")
    if implicit:
        kind = 'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
        return PodViolation("seccompProfile", f"pod or {_named(implicit)} must set {kind}")
    return None


class _Row(NamedTuple):
    """A *check*, in the policies of Kubernetes 1.*since* and later, before 1.*until*."""

    check: Check
    since: int = 0
    until: int = _NEWEST + 1


_older_selinux_options = partial(_selinux_options, allowed=_OLDER_SELINUX_TYPES)
#: In upstream's order: the checks of the lower level, but for those whose place a stricter one takes, then its own.
_CHECKS: dict[str, tuple[_Row, ...]] = {
    "privileged": (),
    "baseline": (
        _Row(_baseline_capabilities),
        _Row(_host_namespaces),
        _Row(_host_path_volumes),
        _Row(_privileged),
        _Row(_older_selinux_options, until=31),
        _Row(_selinux_options, since=31),
        _Row(_baseline_seccomp, since=19),
    ),
    "restricted": (
        _Row(_baseline_capabilities, until=22),
        _Row(_host_namespaces),
        _Row(_privileged),
        _Row(_older_selinux_options, until=31),
        _Row(_selinux_options, since=31),
        _Row(_privilege_escalation, since=8),
        _Row(_restricted_capabilities, since=22),
        _Row(_restricted_volumes),
        _Row(_run_as_non_root),
        _Row(_run_as_user, since=23),
        _Row(_restricted_seccomp, since=19),
    ),
}


def violations(spec: Tree, level: str, version: str = LATEST) -> tuple[PodViolation, ...]:
    """What of a pod *spec* the *level* forbids, by the policy of a *version* of Kubernetes (``latest``, ``v1.28``).

    Nothing for a level that nobody knows.
    """
    minor = _NEWEST if version == LATEST else int(version.removeprefix("v1."))
    found = (row.check(spec) for row in _CHECKS.get(level, ()) if row.since <= minor < row.until)
    return tuple(violation for violation in found if violation is not None)


def level_fault(level: str) -> str:
    """Why a namespace with this *level* is refused, ``""`` if it is not (upstream: api/helpers.go, ParseLevel)."""
    return "" if not level or level in LEVELS else f"must be one of {', '.join(LEVELS)}"


def version_fault(version: str) -> str:
    """Why a namespace with the policies of *version* is refused, ``""`` if it is not (upstream: ParseVersion)."""
    is_known = version in {"", LATEST} or re.fullmatch(r"v1\.([0-9]|[1-9][0-9]{1,5})", version)
    return "" if is_known else 'must be "latest" or "v1.x"'
