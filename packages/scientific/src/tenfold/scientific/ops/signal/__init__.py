"""Windows and short-time Fourier transforms."""
