"""Diagnostics are values: a code from the registry, a message, and symbolic locations."""
