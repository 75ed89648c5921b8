"""NumPy kernels of recurrence over whole sequences."""
