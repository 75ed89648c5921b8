"""PyTorch's own paths of what is public in `tenfold.func`, for programs that import them from there."""
