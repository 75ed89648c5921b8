"""Neural-network operators, one family a file."""
