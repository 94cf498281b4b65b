"""What a VM runs, by content: hashes, stamps, the lock, and what changed between two revisions."""
