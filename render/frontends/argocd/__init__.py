"""What Argo CD calls, and what helps to set it up."""
