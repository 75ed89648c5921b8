"""What a process may set: environment variables, threads, determinism. Imports nothing of Tenfold."""
