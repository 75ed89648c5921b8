"""Scientific operators, one family a folder."""
