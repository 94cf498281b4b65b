"""Where the program meets its callers: read, call, write, exit status."""
