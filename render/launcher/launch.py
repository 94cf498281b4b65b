"""One VMI on its way into a pod: what the rules ask of it.

Upstream: pkg/vmitrait/vmitrait.go, pkg/util/amd64.go, pkg/util/s390x.go, staging/src/kubevirt.io/api/core/v1/types.go.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType

from render.launcher.cluster import LauncherCluster
from render.model import tree
from render.model.apimachinery import quantity
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.release import Form, form, since, until
from render.model.tree import Tree

#: Of a VMI that has none yet, and of the migration that makes a second pod.
VMI_UID = "00000000-0000-4000-8000-0000000000aa"
NO_IMAGES: Mapping[str, str] = MappingProxyType({})
NO_CLAIMS: Mapping[str, Tree] = MappingProxyType({})
DEVICES: FieldPath = ("spec", "domain", "devices")
INTERFACES: FieldPath = (*DEVICES, "interfaces")
#: Settings without which KubeVirt makes no pod of some VMIs, below ``spec.configuration``.
PERMITTED_DEVICES: FieldPath = ("permittedHostDevices",)
BINDINGS: FieldPath = ("network", "binding")
FEATURE_GATES: FieldPath = ("developerConfiguration", "featureGates")
_NONROOT = "kubevirt.io/nonroot"
_CBT_STATES = ("Initializing", "Enabled")


class PodError(ValueError):
    """KubeVirt makes no pod: the message is its own, *path* what it is about in the VMI.

    *setting*: below ``spec.configuration`` of the KubeVirt resource what decides it, if anything there does.
    """

    def __init__(self, message: str, path: FieldPath = (), setting: FieldPath = ()) -> None:
        super().__init__(message)
        self.path = path
        self.setting = setting


class Launch:
    """A *vmi* (metadata, spec and status, as Go writes it) for which a pod is made in *cluster*.

    *images*: those of container disks by volume, with the digest that runs, where it is known; *state_claim*: the claim
    that keeps the state of persistent devices; *claims*: those that its VM has made, by name.
    """

    def __init__(
        self,
        vmi: Tree,
        cluster: LauncherCluster,
        images: Mapping[str, str] = NO_IMAGES,
        state_claim: str = "",
        claims: Mapping[str, Tree] = NO_CLAIMS,
    ) -> None:
        self.vmi = vmi
        self.cluster = cluster
        self.release = cluster.release
        self.gates = cluster.gates
        self.images = images
        self._claims = claims
        metadata: Tree = vmi["metadata"]
        self.name: str = metadata.get("name") or ""
        self.namespace: str = metadata.get("namespace") or ""
        self.uid: str = metadata.get("uid") or VMI_UID
        self.labels: Mapping[str, str] = metadata.get("labels") or {}
        self.annotations: Mapping[str, str] = metadata.get("annotations") or {}
        self.spec: Tree = vmi["spec"]
        self.status: Tree = vmi.get("status") or {}
        self.domain: Tree = self.spec.get("domain") or {}
        self.devices: Tree = self.domain.get("devices") or {}
        self.cpu: Tree | None = self.domain.get("cpu")
        self.memory: Tree = self.domain.get("memory") or {}
        self.architecture: str = self.spec.get("architecture") or ""
        self.interfaces: list[Tree] = self.devices.get("interfaces") or []
        self.networks: list[Tree] = self.spec.get("networks") or []
        self.volumes: list[Tree] = self.spec.get("volumes") or []
        #: What volumes and interfaces have in them, whichever they are: most rules look for one thing.
        self.sources = {key for volume in self.volumes for key in volume}
        self.bindings = {key for interface in self.interfaces for key in interface}
        self.disks: list[Tree] = self.devices.get("disks") or []
        self.filesystems: list[Tree] = self.devices.get("filesystems") or []
        resources: Tree = self.domain.get("resources") or {}
        self.requests: Mapping[str, Any] = resources.get("requests") or {}
        self.limits: Mapping[str, Any] = resources.get("limits") or {}
        self.security: Tree = self.domain.get("launchSecurity") or {}
        self._state_claim = state_claim

    def again(self, images: Mapping[str, str], state_claim: str) -> "Launch":
        """The same VMI on its way into another pod."""
        return Launch(self.vmi, self.cluster, images, state_claim, self._claims)

    @cached_property
    def is_nonroot(self) -> bool:
        """Whether the pod runs as the user of qemu."""
        return _NONROOT in self.annotations or bool(self.status.get("runtimeUser"))

    @cached_property
    def is_dedicated(self) -> bool:
        """Whether its CPUs are its own."""
        return bool(self.cpu and self.cpu.get("dedicatedCpuPlacement"))

    @cached_property
    def is_guaranteed(self) -> bool:
        """Whether its containers ask for all that they may take."""
        return self.is_dedicated or self._wants_guaranteed()

    def _wants_guaranteed(self) -> bool:
        cpu, limit = self.requests.get("cpu"), self.limits.get("cpu")
        if cpu is None or limit is None:
            return False
        return (
            not quantity.is_zero(cpu)
            and quantity.compare(cpu, limit) == 0
            and _GUARANTEED_MEMORY(self.release)(
                self.requests.get("memory", 0), self.limits.get("memory", 0)
            )
        )

    @cached_property
    def is_sev(self) -> bool:
        """Whether its memory is encrypted as AMD does."""
        return any(self.security.get(key) is not None for key in _SEV(self.release))

    @cached_property
    def is_sev_es(self) -> bool:
        """Whether the state of its CPUs is encrypted too."""
        return bool(tree.get(self.security, "sev", "policy", "encryptedState"))

    @property
    def has_hugepages(self) -> bool:
        """Whether its memory is made of huge pages."""
        return self.memory.get("hugepages") is not None

    @cached_property
    def has_tpm(self) -> bool:
        """Whether it has a TPM that is not turned off."""
        tpm = self.devices.get("tpm")
        return tpm is not None and tpm.get("enabled") is not False

    @cached_property
    def has_persistent_tpm(self) -> bool:
        """Whether its TPM remembers."""
        return self.has_tpm and bool(self.devices["tpm"].get("persistent"))

    @cached_property
    def has_persistent_efi(self) -> bool:
        """Whether its firmware remembers."""
        return bool(tree.get(self.domain, "firmware", "bootloader", "efi", "persistent"))

    @cached_property
    def tracks_blocks(self) -> bool:
        """Whether changed blocks are tracked."""
        state = tree.get(self.status, "changedBlockTracking", "state")
        return state in _TRACKING(self.release)

    @cached_property
    def needs_state(self) -> bool:
        """Whether a claim keeps the state of its devices."""
        return self.has_persistent_tpm or self.has_persistent_efi or self.tracks_blocks

    @cached_property
    def state_claim(self) -> str:
        """The claim that does, under a name that stands for it where it is not there yet."""
        if self._state_claim:
            return self._state_claim
        prefix, found = "persistent-state-for", ""
        for (namespace, name), claim in self.cluster.objects.claims.items():
            if namespace == self.namespace:
                if tree.get(claim, "metadata", "labels", prefix) == self.name:
                    return name
                if name == f"{prefix}-{self.name}":
                    found = name
        return found or f"{prefix}-{self.name}-RANDOM"

    @cached_property
    def has_reservation(self) -> bool:
        """Whether a disk may hold persistent SCSI reservations."""
        return any(tree.get(disk, "lun", "reservation") for disk in self.disks)

    @property
    def has_sriov(self) -> bool:
        """Whether an interface is an SR-IOV device."""
        return "sriov" in self.bindings

    @cached_property
    def kernel_boot(self) -> Tree | None:
        """The container that holds the kernel to boot."""
        container: Tree | None = tree.get(self.domain, "firmware", "kernelBoot", "container")
        return container

    @cached_property
    def hotplugged(self) -> frozenset[str]:
        """The names of the volumes that come by an attachment pod."""
        plugged = {
            status.get("name", "")
            for status in self.status.get("volumeStatus") or ()
            if status.get("hotplugVolume") is not None
        }
        declared = {
            volume.get("name", "")
            for volume in self.volumes
            if tree.get(volume, "dataVolume", "hotpluggable")
            or tree.get(volume, "persistentVolumeClaim", "hotpluggable")
        }
        return frozenset(plugged | declared)

    @property
    def uses_image_volumes(self) -> bool:
        """Whether container disks are volumes, and need no containers."""
        return "ImageVolume" in self.gates

    def image(self, volume: str, image: str) -> str:
        """The *image* of a container disk, as it runs already where that is known."""
        return self.images.get(volume, image)

    def claim(self, name: str) -> Tree | None:
        """The claim *name*; None where it is not there."""
        claim = self.cluster.objects.claims.get((self.namespace, name))
        return self._claims.get(name) if claim is None else claim


def _memory_is_limited(request: Any, limit: Any) -> bool:
    return not quantity.is_zero(request) and quantity.compare(request, limit) == 0


def _memory_is_limited_or_alone(request: Any, limit: Any) -> bool:
    if quantity.is_zero(request):
        return not quantity.is_zero(limit)
    return _memory_is_limited(request, limit)


_GUARANTEED_MEMORY: Form[Callable[[Any, Any], bool]] = form(
    until("1.6", _memory_is_limited),
    since("1.6", _memory_is_limited_or_alone),
)
#: What of launchSecurity counts as SEV.
_SEV: Form[tuple[str, ...]] = form(
    until("1.7", ("sev",)),
    since("1.7", ("sev", "snp")),
)
_TRACKING: Form[tuple[str, ...]] = form(until("1.7", ()), since("1.7", _CBT_STATES))
