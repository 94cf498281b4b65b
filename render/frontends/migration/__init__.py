"""``virt-render migrate``: files rewritten to what follows older versions and fields, tried before they are written."""
