"""The layers of `tenfold.nn`, one family a file."""
