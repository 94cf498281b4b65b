"""Feature preferences (upstream: pkg/instancetype/preference/apply/features.go)."""

from render.rules import Rule, ensure, fill, override

_HYPERV = (
    "evmcs",
    "frequencies",
    "ipi",
    "reenlightenment",
    "relaxed",
    "reset",
    "runtime",
    "spinlocks",
    "synic",
    "synictimer",
    "tlbflush",
    "vapic",
    "vpindex",
    "vendorid",
)

RULES: tuple[Rule, ...] = (
    ensure("features", "domain.features"),
    override("features.preferredAcpi", "domain.features.acpi"),
    fill("features.preferredApic", "domain.features.apic"),
    ensure("features.preferredHyperv", "domain.features.hyperv"),
    *(
        fill(f"features.preferredHyperv.{name}", f"domain.features.hyperv.{name}")
        for name in _HYPERV
    ),
    fill("features.preferredKvm", "domain.features.kvm"),
    fill("features.preferredPvspinlock", "domain.features.pvspinlock"),
    fill("features.preferredSmm", "domain.features.smm"),
)
