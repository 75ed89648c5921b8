"""Files served on this machine, and a folder that stands in for the network."""

from tenfold.testing.file_server import file_server, offline

__all__ = ["file_server", "offline"]
