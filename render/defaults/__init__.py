"""What KubeVirt adds by itself (upstream: pkg/defaults, pkg/network/vmispec, the controller's start path)."""
