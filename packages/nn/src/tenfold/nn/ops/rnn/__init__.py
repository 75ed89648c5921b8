"""Recurrence over whole sequences: one operator per layer and direction."""
