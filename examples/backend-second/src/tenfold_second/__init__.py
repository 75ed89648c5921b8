"""The devices "second:0" and "second:1" for Tenfold: float64 and bool in ctypes memory, four kernels."""
