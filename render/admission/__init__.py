"""What KubeVirt's webhooks and schemas refuse: pure functions over plain trees that yield causes."""
