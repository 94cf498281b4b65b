"""Programs of others at work on a repository, each in its box; what helm is asked is in `charts`."""
