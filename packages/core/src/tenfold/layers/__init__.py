"""Layers that core brings: what `TENFOLD_DEBUG` prints and checks, and traces."""
