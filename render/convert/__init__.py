"""Older ways to describe a VM, turned into today's: pure functions on trees, a module an API.

What each API meant in its time is in docs/legacy.md.
"""
