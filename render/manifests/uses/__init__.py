"""Who of a repository says how a chart or a folder of it is filled in, and with what."""
