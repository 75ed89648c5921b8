"""PyTorch's random streams in NumPy."""
