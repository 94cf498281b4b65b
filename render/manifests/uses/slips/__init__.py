"""What is misspelt in objects of Argo CD and Flux."""
