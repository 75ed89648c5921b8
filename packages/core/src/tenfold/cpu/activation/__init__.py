"""NumPy kernels of activation functions."""
