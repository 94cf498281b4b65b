"""What was asked: one value, with the names that every front end uses."""

from dataclasses import dataclass
from typing import Any, Literal

Emit = Literal["vm", "vmi", "expand", "hashed", "revisions", "source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of a rendering; the defaults are those of the command line.

    emit: what a VirtualMachine becomes (see docs/emit.md).
    stored: with emit=expand, answer as expand-spec does for the VM once stored.
    defaults: with emit=vm, ``cluster`` also writes the defaults that KubeVirt's expand writes.
    catalog: ``bundled``, ``none``, or the path of a directory or file with cluster instancetypes and preferences.
    pins: how the revision lock is used.
    preset_conflicts: ``fail``, or ``override`` to follow KubeVirt (the VM wins).
    firmware_uuid: ``stable`` derives uuid and serial for VMs that have none.
    namespace: where a VM without a namespace looks up namespaced objects.
    annotations: whether rendered VMs carry the ``virt-render.dev/`` stamps.
    kubevirt: the KubeVirt release whose behaviour is rendered.
    cluster_config: a KubeVirt custom resource, used where the input has none.
    lock: the parsed revision lock, or None.
    allow_empty: whether an input without objects is fine.
    """

    emit: Emit = "vm"
    stored: bool = False
    defaults: Literal["manifest", "cluster"] = "manifest"
    catalog: str = "bundled"
    pins: Literal["auto", "require", "ignore"] = "auto"
    preset_conflicts: Literal["fail", "override"] = "fail"
    firmware_uuid: Literal["none", "stable"] = "none"
    namespace: str = "default"
    annotations: bool = True
    kubevirt: str = "v1.9.0"
    cluster_config: dict[str, Any] | None = None
    lock: dict[str, Any] | None = None
    allow_empty: bool = False
