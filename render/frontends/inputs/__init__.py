"""The inputs of a run beside each other: what VMs find in others or miss, and which stand there twice."""
