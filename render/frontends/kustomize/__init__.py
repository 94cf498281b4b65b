"""What kustomize calls, and what helps to set it up."""
