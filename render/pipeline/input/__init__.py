"""From what was handed over to what the stages work on: decoded, checked, indexed."""
