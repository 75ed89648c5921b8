"""NumPy kernels of factories."""
