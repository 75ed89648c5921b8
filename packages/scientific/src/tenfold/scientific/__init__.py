"""What stands behind `tenfold.linalg`: operators, their kernels, gradients and samples."""
