"""The inputs of a run beside each other: what VMs find in others, and which stand there twice."""
