"""What kustomizations list that is not there, or not in git, and what those that miss something are meant for."""
