"""Reductions, scans, statistics, order."""
