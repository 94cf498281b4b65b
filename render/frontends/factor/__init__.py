"""``virt-render factor``: definitions for VMs that spell everything out, shown and written."""
