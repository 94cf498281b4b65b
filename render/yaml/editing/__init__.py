"""Edits of YAML text: what is not edited stays as its author wrote it."""
