"""NumPy kernels of the neural-network operators, one family a module."""
