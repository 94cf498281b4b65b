"""What the operating system does for us: files whole or not at all, signals, streams, git, other programs."""
