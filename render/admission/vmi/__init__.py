"""The checks of a VMI spec: one concern a module, under upstream's name, independent of one another."""
