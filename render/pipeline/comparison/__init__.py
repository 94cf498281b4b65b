"""Both states of a repository, and what becomes of each VM between them."""
