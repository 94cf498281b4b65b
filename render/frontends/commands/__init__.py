"""The commands for people: each reads, calls, writes, and answers an exit status."""
