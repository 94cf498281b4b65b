"""Sidecars: those that an annotation asks for, and those of network bindings.

Upstream: pkg/hooks/hooks.go, pkg/network/netbinding/netbinding.go,
pkg/virt-controller/services/template.go (newSidecarContainerRenderer).
"""

from collections.abc import Callable

from render.launcher import resources, security
from render.launcher.cluster import SIDECAR_SHIM_IMAGE
from render.launcher.launch import BINDINGS, INTERFACES, Launch, PodError
from render.launcher.support import TERMINATION, XDG
from render.launcher.volumes import HOOK_FOLDER, HOOK_SOCKETS, NETWORK_INFO, NETWORK_INFO_FOLDER
from render.model.apimachinery import gojson
from render.model.named_tuple import NamedTuple
from render.model.release import Form, form, since, until
from render.model.tree import Tree

_ANNOTATION = "hooks.kubevirt.io/hookSidecars"
_MODE = 0o755
_TYPE = gojson.List(
    "hooks.HookSidecarList",
    gojson.Struct(
        "hooks.HookSidecar",
        {
            "image": gojson.STRING,
            "imagePullPolicy": gojson.Scalar("string", "v1.PullPolicy"),
            "command": gojson.STRINGS,
            "args": gojson.STRINGS,
            "configMap": gojson.Struct(
                "hooks.ConfigMap", dict.fromkeys(("name", "key", "hookPath"), gojson.STRING)
            ),
            "pvc": gojson.Struct(
                "hooks.PVC",
                dict.fromkeys(("name", "volumePath", "sharedComputePath"), gojson.STRING),
            ),
        },
    ),
)


class Sidecar(NamedTuple):
    """A container that hooks into the launcher; *plugin*: the network binding that brings it."""

    image: str = ""
    pull_policy: str = ""
    command: list[str] | None = None
    arguments: list[str] | None = None
    config_map: Tree | None = None
    claim: Tree | None = None
    sees_devices: bool = False
    plugin: str = ""


def sidecars(launch: Launch) -> list[Sidecar]:
    """All sidecars, in order. Raises `PodError` for an annotation that is no JSON and for unknown network bindings."""
    return [*_hooks(launch), *_bindings(launch)]


def _hooks(launch: Launch) -> list[Sidecar]:
    text = launch.annotations.get(_ANNOTATION)
    if text is None:
        return []
    try:
        hooks = gojson.unmarshal(text, _TYPE) or []
    except gojson.GoJSONError as error:
        raise PodError(str(error), ("metadata", "annotations", _ANNOTATION)) from None
    return [
        Sidecar(
            image=hook.get("image") or "",
            pull_policy=hook.get("imagePullPolicy") or "",
            command=hook.get("command"),
            arguments=hook.get("args"),
            config_map=hook.get("configMap"),
            claim=hook.get("pvc"),
        )
        for hook in hooks
    ]


def _bindings(launch: Launch) -> list[Sidecar]:
    # QUIRK(netbinding.go): the order of several is that of a Go map; here that of the interfaces.
    if "binding" not in launch.bindings:
        return []
    plugins = {}
    for index, interface in enumerate(launch.interfaces):
        binding = interface.get("binding")
        if binding is not None:
            name = binding.get("name") or ""
            if name not in launch.cluster.bindings:
                raise PodError(
                    _UNKNOWN(launch.release) + name,
                    (*INTERFACES, index, "binding", "name"),
                    BINDINGS,
                )
            plugins[name] = launch.cluster.bindings[name]
    policy = launch.cluster.configuration.get("imagePullPolicy") or ""
    return [
        Sidecar(
            image=plugin["sidecarImage"],
            pull_policy=policy or "IfNotPresent",
            sees_devices=plugin.get("downwardAPI") == "device-info",
            plugin=name,
        )
        for name, plugin in plugins.items()
        if plugin.get("sidecarImage")
    ]


_UNKNOWN: Form[str] = form(
    until("1.7", "couldn't find configuration for network bindining: "),
    since("1.7", "couldn't find configuration for network binding: "),
)


def container(launch: Launch, sidecar: Sidecar, index: int) -> Tree:
    """The container of the sidecar number *index*."""
    name = f"hook-sidecar-{index}"
    environment = [
        *(XDG if launch.is_nonroot else ()),
        *_ENVIRONMENT(launch.release)(name, sidecar),
    ]
    fields = {
        "name": name,
        "image": sidecar.image or SIDECAR_SHIM_IMAGE,
        "imagePullPolicy": sidecar.pull_policy,
        "command": sidecar.command,
        "args": sidecar.arguments,
        "env": environment,
    }
    return {
        **{key: value for key, value in fields.items() if value},
        "resources": resources.support(
            launch.cluster, resources.SIDECAR, guaranteed=launch.is_guaranteed
        ),
        "volumeMounts": _mounts(launch, sidecar, name),
        **TERMINATION(launch.release),
        "securityContext": security.of_container(
            launch, {"drop": ["ALL"]} if launch.is_nonroot else None
        ),
    }


def _named(name: str, _sidecar: Sidecar) -> list[Tree]:
    return [{"name": "CONTAINER_NAME", "value": name}]


def _with_plugin(name: str, sidecar: Sidecar) -> list[Tree]:
    plugin = [{"name": "NETWORK_BINDING_PLUGIN_NAME", "value": sidecar.plugin}]
    return [*_named(name, sidecar), *(plugin if sidecar.plugin else ())]


_ENVIRONMENT: Form[Callable[[str, Sidecar], list[Tree]]] = form(
    until("1.6", lambda _name, _sidecar: []),
    since("1.6", until("1.9", _named)),
    since("1.9", _with_plugin),
)


def _mounts(launch: Launch, sidecar: Sidecar, name: str) -> list[Tree]:
    mounts = [{"name": HOOK_SOCKETS, "mountPath": HOOK_FOLDER} | _SUB_PATH(launch.release)(name)]
    if sidecar.sees_devices:
        mounts.append({"name": NETWORK_INFO, "mountPath": NETWORK_INFO_FOLDER})
    if sidecar.config_map is not None:
        mount = {
            "name": sidecar.config_map.get("name") or "",
            "mountPath": sidecar.config_map.get("hookPath") or "",
        }
        key = sidecar.config_map.get("key")
        mounts.append({**mount, "subPath": key} if key else mount)
    if sidecar.claim is not None:
        name = sidecar.claim.get("name") or ""
        mounts.append({"name": name, "mountPath": sidecar.claim.get("volumePath") or ""})
    return mounts


_SUB_PATH: Form[Callable[[str], Tree]] = form(
    until("1.6", lambda _name: {}),
    since("1.6", lambda name: {"subPath": name}),
)


def volumes(launch: Launch, sidecars: list[Sidecar]) -> list[Tree]:
    """The volumes that sidecars bring. Raises `PodError` for a ConfigMap that is known not to be there."""
    objects = launch.cluster.objects
    made: list[Tree] = []
    for sidecar in sidecars:
        if sidecar.config_map is not None:
            name = sidecar.config_map.get("name") or ""
            if objects.is_complete and (launch.namespace, name) not in objects.config_maps:
                path = ("metadata", "annotations", _ANNOTATION)
                raise PodError(f'configmaps "{name}" not found', path)
            source = {"name": name, "defaultMode": _MODE}
            made.append({"name": name, "configMap": source})
        if sidecar.claim is not None:
            name = sidecar.claim.get("name") or ""
            made.append({"name": name, "persistentVolumeClaim": {"claimName": name}})
    return made


def shared_mounts(sidecars: list[Sidecar]) -> list[Tree]:
    """Where compute sees what sidecars share."""
    return [
        {"name": sidecar.claim.get("name") or "", "mountPath": sidecar.claim["sharedComputePath"]}
        for sidecar in sidecars
        if sidecar.claim is not None and sidecar.claim.get("sharedComputePath")
    ]
