"""The virt-launcher pod of a VMI, and the pods beside it: one module a concern, under the names of KubeVirt's files.

Nothing here is imported unless a pod is asked for. Upstream: pkg/virt-controller/services.
"""
