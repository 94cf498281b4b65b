"""What the settings of a cluster allow: feature gates, and changes of a guest that runs."""
