"""NumPy kernels of normalization."""
