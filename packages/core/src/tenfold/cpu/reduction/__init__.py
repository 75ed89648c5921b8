"""NumPy kernels of reductions, scans, statistics, order."""
