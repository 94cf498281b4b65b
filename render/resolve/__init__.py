"""From the matchers of a VM to the definitions in force (upstream: pkg/instancetype/find, pkg/instancetype/infer)."""
