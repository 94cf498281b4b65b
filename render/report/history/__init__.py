"""What VMs were, from the locks that git has: as text, as JSON, and as a page."""
