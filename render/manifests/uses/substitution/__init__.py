"""What Flux substitutes in what was built, and where such a value stands."""
