"""Batching and forward-mode rules of core's operators, one family a file."""
