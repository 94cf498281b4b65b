"""Pods beside the one that a VM starts in: of hotplugged volumes, and of a migration."""
