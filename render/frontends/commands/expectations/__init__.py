"""``virt-render test``: what is expected of VMs, in files beside them."""
