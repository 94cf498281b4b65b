"""Applying an instancetype and a preference to a VM (upstream: pkg/instancetype/apply, pkg/instancetype/preference/apply)."""
