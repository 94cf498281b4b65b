"""Lines of a text to show beside a finding, without what is secret in them."""
