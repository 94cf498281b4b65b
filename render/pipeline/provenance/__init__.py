"""Which field of which object decided a field, lost it, or brought its change."""
