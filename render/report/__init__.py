"""Diagnostics to text for people and machines: the only place that turns symbolic locations into lines."""
