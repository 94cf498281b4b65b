"""GPUs and host devices (upstream: pkg/instancetype/apply/gpu.go, hostdevices.go).

An empty list counts as unset on both sides, and typed decoding has dropped those.
"""

from render.rules import Rule, claim

RULES: tuple[Rule, ...] = (
    claim("gpus", "domain.devices.gpus"),
    claim("hostDevices", "domain.devices.hostDevices"),
)
