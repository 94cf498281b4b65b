"""What is not in the same place in both states: moved, gone, renamed, or applied by another object or none."""
