"""Runs a script, a module or a line of code as Python does, with PyTorch's names meaning Tenfold."""

from __future__ import annotations

import importlib.machinery
import os
import runpy
import sys
import types
from collections.abc import Sequence

import tenfold.as_torch
from tenfold.as_torch.check import check
from tenfold.as_torch.installing import install

_NEEDS = {"-m": "a module", "-c": "code", "--check": "a script, a folder or a package"}


def main(arguments: Sequence[str]) -> None:
    """The command line: a script, or with -m a module, or with -c code, and the program's own arguments."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(tenfold.as_torch.__doc__)
        sys.exit(0 if arguments else 2)
    first, rest = arguments[0], list(arguments[1:])
    if first in _NEEDS and not rest:
        sys.exit(f"tenfold.as_torch: {first} needs {_NEEDS[first]} after it")
    install()
    if first == "--check":
        sys.exit(max(map(check, rest)))
    if first == "-m":
        run_module(rest[0], rest[1:])
    elif first == "-c":
        run_code(rest[0], rest[1:])
    else:
        run_script(first, rest)


def run_module(name: str, arguments: Sequence[str]) -> None:
    """As `python -m NAME`."""
    sys.argv = [name, *arguments]
    _first_on_path(os.getcwd())
    _new_main()
    runpy._run_module_as_main(name)  # type: ignore[attr-defined] # what Python itself calls


def run_code(code: str, arguments: Sequence[str]) -> None:
    """As `python -c CODE`."""
    sys.argv = ["-c", *arguments]
    _first_on_path("")
    _run(compile(code, "<string>", "exec", dont_inherit=True), _new_main())


def run_script(script: str, arguments: Sequence[str]) -> None:
    """As `python SCRIPT`; the script may be a folder or an archive with a `__main__.py`."""
    sys.argv = [script, *arguments]
    if os.path.isdir(script) or script.endswith((".zip", ".pyz")):
        _first_on_path(script)
        _new_main()
        runpy._run_module_as_main("__main__", alter_argv=False)  # type: ignore[attr-defined]
        return
    try:
        with open(script, "rb") as file:
            text = file.read()
    except OSError as error:
        sys.exit(f"tenfold.as_torch: can't open file {script!r}: {error.strerror}")
    _first_on_path(os.path.dirname(os.path.realpath(script)))
    program = _new_main()
    program.__file__ = script
    program.__dict__.update(__cached__=None, __loader__=importlib.machinery.SourceFileLoader("__main__", script))
    _run(compile(text, script, "exec", dont_inherit=True), program)  # without this file's __future__


def _run(code: types.CodeType, program: types.ModuleType) -> None:
    exec(code, program.__dict__)  # noqa: S102 - that is what the command is for


def _new_main() -> types.ModuleType:
    """The program's `__main__`; it stays to the end, for exit handlers and for pickles of its classes."""
    program = sys.modules["__main__"] = types.ModuleType("__main__")
    program.__dict__.update(__builtins__=__builtins__)
    return program


def _first_on_path(folder: str) -> None:
    """What `python -m` put first is this program's place instead."""
    if not sys.flags.safe_path:
        sys.path[0] = folder
