"""Plain values that every layer shares: no I/O, nothing but the standard library."""
