"""What differs between two renderings, and what it means for a VM that runs."""
