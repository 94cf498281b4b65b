"""The two states that ``virt-render diff`` compares: how they are read, and what a change does input by input."""
