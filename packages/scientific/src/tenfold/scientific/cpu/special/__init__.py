"""NumPy and SciPy kernels of the special functions."""
