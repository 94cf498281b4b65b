"""What the versions of instancetypes and preferences before v1beta1 know, of which KubeVirt serves no more."""

_FIELDS = {
    "VirtualMachineInstancetype": (
        "cpu.dedicatedCPUPlacement cpu.guest cpu.isolateEmulatorThread cpu.model cpu.numa cpu.realtime gpus "
        "hostDevices ioThreadsPolicy launchSecurity memory.guest memory.hugepages"
    ),
    "VirtualMachinePreference": (
        "clock.preferredClockOffset clock.preferredTimer cpu.preferredCPUTopology "
        "devices.preferredAutoattachGraphicsDevice devices.preferredAutoattachInputDevice "
        "devices.preferredAutoattachMemBalloon devices.preferredAutoattachPodInterface "
        "devices.preferredAutoattachSerialConsole devices.preferredBlockMultiQueue devices.preferredCdromBus "
        "devices.preferredDisableHotplug devices.preferredDiskBlockSize devices.preferredDiskBus "
        "devices.preferredDiskCache devices.preferredDiskDedicatedIoThread devices.preferredDiskIO "
        "devices.preferredInputBus devices.preferredInputType devices.preferredInterfaceModel devices.preferredLunBus "
        "devices.preferredNetworkInterfaceMultiQueue devices.preferredRng devices.preferredSoundModel "
        "devices.preferredTPM devices.preferredUseVirtioTransitional devices.preferredVirtualGPUOptions "
        "features.preferredAcpi features.preferredApic features.preferredHyperv features.preferredKvm "
        "features.preferredPvspinlock features.preferredSmm firmware.preferredUseBios firmware.preferredUseBiosSerial "
        "firmware.preferredUseEfi firmware.preferredUseSecureBoot machine.preferredMachineType "
        "volumes.preferredStorageClassName"
    ),
}
#: By kind; a field of v1beta1 that is not here is newer.
OLDER_FIELDS = {kind: frozenset(fields.split()) for kind, fields in _FIELDS.items()}
