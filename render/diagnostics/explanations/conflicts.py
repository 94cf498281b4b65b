"""Codes VR3xx: conflicts of an instancetype with a VM."""

from render.diagnostics.explanations.examples import documents, instancetype, vm
from render.diagnostics.explanations.explanation import Explanation

EXPLANATIONS = {
    "VR301": Explanation(
        "The VM sets a field that its instancetype decides. An instancetype cannot be overridden: KubeVirt refuses"
        " the VM, also where both values are the same.",
        documents(
            instancetype("small", cpus=1),
            vm(
                "instancetype: {name: small, kind: VirtualMachineInstancetype}",
                namespace="prod",
                domain="memory: {guest: 2Gi}",
            ),
        ),
        "VM field(s) spec.template.spec.domain.memory.guest conflicts with selected instance type",
        "Remove the field from the VM, or choose an instancetype that has the value you need.",
    ),
}
