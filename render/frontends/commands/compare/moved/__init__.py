"""What of two states is not where it was: let go by who applied it, gone, called otherwise, or of one name."""
