"""Files served on this machine, a folder that stands in for the network, and where small models are."""

import sys
from pathlib import Path

from tenfold.testing.file_server import file_server, offline

sys.path.insert(0, str(Path(__file__).parent))

__all__ = ["file_server", "offline"]
