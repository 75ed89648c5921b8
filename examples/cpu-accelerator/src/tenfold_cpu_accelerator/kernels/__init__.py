"""The accelerated operators, a module for each family; each kernel says for which calls it is."""
