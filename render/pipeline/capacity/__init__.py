"""Whether the namespaces of an input have room for the pods of its VMs."""
