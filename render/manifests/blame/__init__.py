"""Which file of a repository a field of a built object comes from, and which patch wrote it."""
