"""Programs that we start: how, behind which walls, and how they end."""
