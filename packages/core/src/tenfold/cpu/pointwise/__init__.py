"""NumPy kernels of the elementwise operators."""
