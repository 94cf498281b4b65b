"""The VMs of a repository as they start: who decided each field, what is wrong, and how large they are."""
