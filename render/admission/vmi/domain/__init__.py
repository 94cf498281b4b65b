"""The checks of ``spec.domain``: what the machine is made of."""
