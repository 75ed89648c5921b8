"""The accelerated operators, a module for each family."""
