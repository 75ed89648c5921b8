"""`python -m tenfold doctor` and `python -m tenfold op NAME`, which the package tenfold-inspection answers."""

import importlib
import sys

_commands = importlib.import_module("tenfold.inspection.commands")
main, run = _commands.main, _commands.run

if __name__ == "__main__":
    sys.exit(run())
