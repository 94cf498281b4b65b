"""Applying an instancetype and a preference to a VM.

Upstream: pkg/instancetype/apply, pkg/instancetype/preference/apply.
"""
