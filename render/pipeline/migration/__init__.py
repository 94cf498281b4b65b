"""Saying the same in today's words, and proof that a change changes no VM."""
