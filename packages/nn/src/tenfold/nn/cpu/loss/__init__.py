"""NumPy kernels of losses."""
