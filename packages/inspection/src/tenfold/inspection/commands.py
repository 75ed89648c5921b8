"""The commands `python -m tenfold doctor` and `python -m tenfold op NAME`; each imports what it needs."""

import argparse
import importlib
import os
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit status is 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tenfold", description="Look into an installed Tenfold.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("doctor", help="list plugins, versions, devices and problems")
    show = commands.add_parser("op", help="print an operator's card, or list all operators")
    show.add_argument("name", nargs="?", help="an operator such as mm; without it all are listed")
    show.add_argument("--primitives", action="store_true", help="list only those that a device needs kernels for")
    show.add_argument("--device", default="", help="only this device's kernels; in a list, what it lacks")
    options = parser.parse_args(arguments)
    if options.command == "doctor":
        text, healthy = importlib.import_module("tenfold.inspection.doctor").report()
        print(text)
        return 0 if healthy else 1
    cards = importlib.import_module("tenfold.inspection.cards")
    try:
        print(cards.card(options.name, options.device) if options.name else cards.listing(options.primitives, options.device))
    except KeyError as error:
        print(error.args[0], file=sys.stderr)
        return 1
    return 0


def run() -> int:
    """`main`, at peace with a reader such as `head` that has read enough."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what Python flushes at its end
        return 0
    return status
