"""NumPy kernels of activations."""
