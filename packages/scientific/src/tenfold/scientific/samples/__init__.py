"""Samples of the scientific operators; the testing package imports them."""
