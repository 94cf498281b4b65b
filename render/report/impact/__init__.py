"""What a change of the repository does to each VM, a format a module."""
