"""What the operating system does for us: files whole or not at all, processes, signals, streams, git."""
