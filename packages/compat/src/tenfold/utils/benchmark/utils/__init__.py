"""Timing, comparing and making inputs, by PyTorch's paths."""
