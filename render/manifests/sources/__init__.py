"""Where documents come from: a walk through folders, what kustomize builds, and what helm fills in."""
