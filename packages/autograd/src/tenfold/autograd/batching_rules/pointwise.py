"""Elementwise operators under vmap and forward mode: `batching.find` and `tangents.find` know them by their family."""
