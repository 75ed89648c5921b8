"""The device's kernels: formulas compiled by Triton for elementwise operators, CuPy for the other families."""
