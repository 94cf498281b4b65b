"""How an instancetype reaches a VM: a module a concern, in upstream's order."""

from render.apply.instancetype import (
    annotations,
    cpu,
    devices,
    iothreads,
    launch_security,
    memory,
    placement,
)
from render.rules import Rules

RULES: Rules = (
    *placement.RULES,
    *cpu.RULES,
    *memory.RULES,
    *iothreads.RULES,
    *launch_security.RULES,
    *devices.RULES,
    *annotations.RULES,
)
