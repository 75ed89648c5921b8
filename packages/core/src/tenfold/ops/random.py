"""Random factories and in-place fills."""
