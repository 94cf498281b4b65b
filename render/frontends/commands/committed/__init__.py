"""What the commits of git have of a repository."""
