"""`python -m tenfold.as_torch --check PROGRAM`: which of PyTorch's names a program uses, and which of them are missing.

The program is read, not run. What it calls on tensors and modules (`x.sort()`) cannot be told from its text.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

from tenfold.as_torch.names import ROOTS
from tenfold.as_torch.names_used import Use, files_of, names_used
from tenfold.as_torch.stand_ins.absent import reason_of

PLACES_SHOWN = 3


def check(program: str) -> int:
    """Print the report on a script, a folder or an installed package; 1 where a name is missing that is not only tried."""
    try:
        files = files_of(program)
    except FileNotFoundError as error:
        print(f"tenfold.as_torch: {error}")
        return 2
    uses: dict[str, list[Use]] = defaultdict(list)
    for file in files:
        try:
            for use in names_used(file):
                uses[use.name].append(use)
        except (SyntaxError, ValueError) as error:
            print(f"{file}: not read: {error}")
    faults = {name: fault for name in sorted(uses) if (fault := fault_of(name)) is not None}
    print(_report(program, len(files), uses, faults))
    return int(any(not use.is_tried for name in faults for use in uses[name]))


def fault_of(name: str) -> str | None:
    """Why a name of PyTorch's cannot be used, or None."""
    found: Any = None
    path = ""
    for part in name.split("."):
        path = f"{path}.{part}" if path else part
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = importlib.import_module(path) if path in ROOTS else _attribute(found, part, path)
            except (ImportError, AttributeError, RuntimeError) as error:
                return "missing" if str(error).startswith(("module ", "type ", "No module named")) else str(error)
        if (reason := reason_of(found)) is not None:
            return reason
    return None


def _attribute(owner: Any, name: str, path: str) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        if not hasattr(owner, "__spec__"):  # no module
            raise
        return importlib.import_module(path)


def _report(program: str, files: int, uses: dict[str, list[Use]], faults: dict[str, str]) -> str:
    here = len(uses) - len(faults)
    lines = [f"{program}: {files} file{'s' * (files != 1)}, {len(uses)} of PyTorch's names, {here} of them are here"]
    lines += [f"  ok       {name} ({len(uses[name])})" for name in sorted(uses) if name not in faults]
    for name, fault in faults.items():
        word = "tried  " if all(use.is_tried for use in uses[name]) else "MISSING"
        places = ", ".join(f"{_short(use.file)}:{use.line}" for use in uses[name][:PLACES_SHOWN])
        more = f" and {len(uses[name]) - PLACES_SHOWN} more" if len(uses[name]) > PLACES_SHOWN else ""
        lines.append(f"  {word}  {name}  {places}{more}" + ("" if fault == "missing" else f"\n           {fault}"))
    return "\n".join(lines)


def _short(file: Path) -> str:
    path = os.path.relpath(file)
    return str(file) if path.startswith("..") else path
