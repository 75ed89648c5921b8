"""NumPy kernels of pooling."""
