"""What KubeVirt's own parts do with a machine: a module each, under upstream's name."""
