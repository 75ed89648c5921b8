from __future__ import annotations

import sys
from pathlib import Path

# The tools are scripts that stand beside one another, not a package.
sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent)]
