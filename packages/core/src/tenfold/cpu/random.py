"""NumPy kernels of random operators."""
