"""Hyper-V features that need one another (upstream: pkg/defaults/hyperv.go)."""

from render.model.draft import Draft

_HYPERV = ("spec", "domain", "features", "hyperv")
_FEATURES = ("spec", "domain", "cpu", "features")
#: (feature, what it requires), in upstream's order: leaves first.
REQUIRES = (
    ("evmcs", "vapic"),
    ("ipi", "vpindex"),
    ("tlbflush", "vpindex"),
    ("synictimer", "synic"),
    ("synic", "vpindex"),
)


def fill(draft: Draft) -> None:
    """Enable what enabled features require; a requirement that is explicitly off stops everything."""
    if draft.get(*_HYPERV) is None:
        return
    for feature, required in REQUIRES:
        if draft.get(*_HYPERV, feature, "enabled") is not True:
            continue
        state = draft.get(*_HYPERV, required, "enabled")
        if state is False:
            return
        if state is None:
            draft.put((*_HYPERV, required, "enabled"), value=True)
    evmcs = draft.get(*_HYPERV, "evmcs")
    if evmcs is not None and evmcs.get("enabled") is not False:
        _require_vmx(draft)


def _require_vmx(draft: Draft) -> None:
    for index, feature in enumerate(draft.get(*_FEATURES) or ()):
        if feature.get("name") == "vmx":
            draft.put((*_FEATURES, index, "policy"), "require")
            return
    draft.append(_FEATURES, {"name": "vmx", "policy": "require"})
