"""Gradient rules of the neural-network operators, one family a file."""
