"""The CPU backend: NumPy kernels, one family of operators a file."""
