"""What virt-controller knows beside the VMI: the cluster's settings, its gates, and the objects that it looks up.

Upstream: pkg/virt-config/virt-config.go, pkg/virt-config/feature-gates.go, pkg/virt-controller/watch/application.go.
"""

from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType

from render.model import tree
from render.model.cluster_config import ClusterConfig
from render.model.hints import Any, TypeVar
from render.model.named_tuple import NamedTuple
from render.model.release import Form, Rows, Version, form, rows, since, until
from render.model.tree import Tree

T = TypeVar("T")
#: What the operator decides, as the recorded answers have it.
LAUNCHER_IMAGE = "registry.example/virt-launcher:release"
SIDECAR_SHIM_IMAGE = "registry.example/sidecar-shim:release"

#: The gates that virt-controller asks for when it makes a pod.
GATES: Rows[str] = rows(
    "AutoResourceLimitsGate",
    "DockerSELinuxMCSWorkaround",
    "HypervStrictCheck",
    "NetworkBindingPlugins",
    "Root",
    until("1.5", "ExperimentalVirtiofsSupport"),
    since("1.6", "GPUsWithDRA"),
    since("1.6", "HostDevicesWithDRA"),
    since("1.6", "ImageVolume"),
    since("1.8", "ConfigurableHypervisor"),
    since("1.8", "ContainerPathVolumes"),
    since("1.8", "ExternalNetResourceInjection"),
    since("1.8", "LibvirtHooksServerAndClient"),
    since("1.8", "PodSecondaryInterfaceNamingUpgrade"),
    since("1.8", "VmiMemoryOverheadReport"),
    since("1.9", "CrossArchitectureVirtualization"),
    since("1.9", "FirmwareAutoSelection"),
    since("1.9", "IOMMUFD"),
    since("1.9", "NetworkDevicesWithDRA"),
    since("1.9", "Plugins"),
    since("1.9", "VGPULiveMigration"),
    since("1.9", "VMStatsCollector"),
)
#: Where the firmware lies in the launcher, by architecture; ``""``: any other.
_FIRMWARE: Form[Mapping[str, str]] = form(
    until("1.9", {"arm64": "/usr/share/AAVMF", "s390x": "", "": "/usr/share/OVMF"}),
    since("1.9", {"arm64": "/usr/share/AAVMF", "s390x": "", "": "/usr/share/edk2/ovmf"}),
)
#: Architectures of which a setting says where the firmware lies.
_FIRMWARE_SETTINGS: Form[frozenset[str]] = form(
    until("1.7", frozenset({"amd64", "arm64", "ppc64le"})),
    since("1.7", frozenset({"amd64", "arm64", "s390x"})),
)

Name = tuple[str, str]
"""Namespace and name."""


class ClusterObjects(NamedTuple):
    """The objects that virt-controller looks up, by namespace and name.

    *claims*: PersistentVolumeClaims, and DataVolumes as the claims that become of them; *attachments*:
    NetworkAttachmentDefinitions; *namespaces*: their labels. *is_complete*: what is not here does not exist; else it is
    assumed to.
    """

    claims: Mapping[Name, Tree] = MappingProxyType({})
    attachments: Mapping[Name, Tree] = MappingProxyType({})
    config_maps: frozenset[Name] = frozenset()
    quotas: Mapping[str, tuple[Tree, ...]] = MappingProxyType({})
    namespaces: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    nodes: tuple[Tree, ...] = ()
    is_complete: bool = False


class LauncherCluster:
    """The cluster in which a pod is made.

    *configuration* is ``spec.configuration`` of its KubeVirt resource, decoded; *gates* those that are on among the
    ones that its release asks for; *shared*: parts of pods that many have alike, by what they depend on.
    """

    def __init__(
        self,
        config: ClusterConfig,
        configuration: Tree,
        release: Version,
        objects: ClusterObjects,
        image: str = LAUNCHER_IMAGE,
    ) -> None:
        self.config = config
        self.configuration = configuration
        self.release = release
        self.objects = objects
        self.image = image
        self.gates = frozenset(name for name in GATES(release) if config.has_gate(name, release))
        self._made: dict[Hashable, Any] = {}
        developer: Tree = configuration.get("developerConfiguration") or {}
        self.is_emulated = bool(developer.get("useEmulation"))
        self.node_selectors: Mapping[str, str] = developer.get("nodeSelectors") or {}
        self.verbosity: int = tree.get(developer, "logVerbosity", "virtLauncher") or 2
        self.pull_policy: str = configuration.get("imagePullPolicy") or "IfNotPresent"
        self.selinux_type: str = configuration.get("selinuxLauncherType") or ""
        self.bindings: Mapping[str, Tree] = tree.get(configuration, "network", "binding") or {}
        self.hypervisor = self._hypervisor()

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What *make* makes, once for all pods that need what is the same for *key*."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    def firmware_path(self, architecture: str) -> str:
        """Where the firmware of *architecture* lies."""
        path: str = self.configuration.get("ovmfPath") or ""
        if path:
            return path
        configurable, defaults = _FIRMWARE_SETTINGS(self.release), _FIRMWARE(self.release)
        # QUIRK(pkg/virt-config/virt-config.go): an unknown architecture counts as amd64; one without a setting does not
        key = architecture if architecture in configurable or architecture in defaults else "amd64"
        settings = self.configuration.get("architectureConfiguration") or {}
        configured = tree.get(settings, key, "ovmfPath") if key in configurable else None
        return configured or defaults.get(key, defaults[""])

    def _hypervisor(self) -> str:
        if "ConfigurableHypervisor" in self.gates:
            for hypervisor in self.configuration.get("hypervisors") or ():
                return hypervisor.get("name") or ""
        return "kvm"
