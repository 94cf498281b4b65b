"""Helm charts: run, and traced back to their templates and values."""
