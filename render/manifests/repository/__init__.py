"""What of a repository lies around an input: the roots beside it, what may be meant there, what is left out."""
