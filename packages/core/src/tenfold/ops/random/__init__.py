"""Random factories, fills and dropout."""
