"""What Flux substitutes in what is built: its variables, and where what they became stands."""
