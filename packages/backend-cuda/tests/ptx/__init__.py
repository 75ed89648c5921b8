"""Runs the PTX that Triton's compiler makes, on the CPU: see emulated.py."""
