"""NumPy kernels of linear algebra."""
