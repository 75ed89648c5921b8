"""What tensors are made of: dtypes, promotion, sizes, memory formats, numeric limits. Imports nothing else of Tenfold."""
