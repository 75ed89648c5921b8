"""NumPy kernels of the scientific operators."""
