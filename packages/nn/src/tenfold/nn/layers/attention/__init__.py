"""Layers of attention."""
