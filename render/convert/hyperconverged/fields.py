"""The fields of a HyperConverged that the operator reads for KubeVirt, in both API versions."""

from render.convert.hyperconverged.desired import Setting, setting

_VIRT = "virtualization"


def _virtualization(name: str) -> Setting:
    """A field of that *name* in both versions."""
    return setting(name, f"{_VIRT}.{name}")


AUTO_CPU_LIMIT = setting(
    "resourceRequirements.autoCPULimitNamespaceLabelSelector",
    f"{_VIRT}.autoCPULimitNamespaceLabelSelector",
)
BLOCK_TRACKING = _virtualization("changedBlockTrackingLabelSelectors")
CERTIFICATES = setting("certConfig", "security.certConfig")
# v1beta1 writes a capital C.
CATALOGUE = setting(
    "CommonInstancetypesDeployment", "workloadSources.commonInstancetypesDeployment"
)
CPU_MODEL = setting("defaultCPUModel", f"{_VIRT}.virtualMachineOptions.defaultCPUModel")
CPU_RATIO = setting("resourceRequirements.vmiCPUAllocationRatio", f"{_VIRT}.vmiCPUAllocationRatio")
EVICTION = _virtualization("evictionStrategy")
FREE_PAGES = _virtualization("virtualMachineOptions.disableFreePageReporting")
HYPERVISORS = _virtualization("hypervisors")
IMAGE_TEMPLATES = setting("dataImportCronTemplates", "workloadSources.dataImportCronTemplates")
INFRA = setting("infra.nodePlacement", "deployment.nodePlacements.infra")
INJECTOR = setting("", "deployment.deployNetworkResourcesInjector")
INSTANCETYPES = setting("instancetypeConfig", "workloadSources.instancetypeConfig")
KSM = _virtualization("ksmConfiguration")
LIVE_UPDATE = _virtualization("liveUpdateConfiguration")
LOG_VERBOSITY = setting("logVerbosityConfig.kubevirt", "deployment.logVerbosityConfig.kubevirt")
MEDIATED_ENABLED = setting("", f"{_VIRT}.mediatedDevicesConfiguration.enabled")
MEDIATED_NODES = _virtualization("mediatedDevicesConfiguration.nodeMediatedDeviceTypes")
MEDIATED_TYPES = _virtualization("mediatedDevicesConfiguration.mediatedDeviceTypes")
MEDIATED = _virtualization("mediatedDevicesConfiguration")
MIGRATIONS = _virtualization("liveMigrationConfig")
MIN_CPU_MODEL = setting("obsoleteCPUs.minCPUModel", "")
MULTI_ARCHITECTURE = setting("", "workloadSources.enableMultiArchBootImageImport")
NETWORK_BINDING = setting("networkBinding", "networking.networkBinding")
OBSOLETE_CPUS = setting("obsoleteCPUs.cpuModels", f"{_VIRT}.obsoleteCPUModels")
OVERCOMMIT = _virtualization("higherWorkloadDensity.memoryOvercommitPercentage")
PERMITTED_DEVICES = _virtualization("permittedHostDevices")
RESERVATION = setting("", "storage.persistentReservationConfiguration.enabled")
ROLE_AGGREGATION = _virtualization("roleAggregationStrategy")
RUNTIME_CLASS = setting("defaultRuntimeClass", f"{_VIRT}.virtualMachineOptions.defaultRuntimeClass")
SERIAL_LOG = _virtualization("virtualMachineOptions.disableSerialConsoleLog")
STATE_CLASS = setting("vmStateStorageClass", "storage.vmStateStorageClass")
TLS_PROFILE = setting("tlsSecurityProfile", "security.tlsSecurityProfile")
TUNING = _virtualization("tuningPolicy")
UNINSTALL = setting("uninstallStrategy", "deployment.uninstallStrategy")
UPDATE_STRATEGY = _virtualization("workloadUpdateStrategy")
WORKLOADS = setting("workloads.nodePlacement", "deployment.nodePlacements.workload")

#: All of the above: what the step from one version to the other carries over. Gates go their own way.
CONVERTED = tuple(found for found in list(globals().values()) if isinstance(found, Setting))
