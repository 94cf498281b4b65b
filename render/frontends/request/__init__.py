"""What was asked: options, environment, configuration files and arguments, as one request."""
