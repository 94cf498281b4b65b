"""What ``pin --upgrade`` asks for: which VMs, how many of them at once, and what is shown of that."""
