"""The device's kernels, a module for each operator family; what is not here runs through bodies and Tenfold's own kernels."""
