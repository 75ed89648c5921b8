"""The command `python -m tenfold.as_torch`."""

from __future__ import annotations

import sys

from tenfold.as_torch.running import main

if __name__ == "__main__":
    main(sys.argv[1:])
