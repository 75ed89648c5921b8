"""Gradient rules of core's operators, one family a file."""
