"""What a benchmark on a GPU has found so far, in a file after each piece of work: no end of the process loses more than one.

A piece that raises is a failure, and so is one that takes the GPU's context with it (an illegal memory access does: every later
call of the process fails), crashes, or comes to no end. The program, started again with `--resume`, goes on behind it;
tools/on_gpu.py does so.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOST = 70  # the exit status of a process that has lost its GPU
PIECE_S = 120.0  # after which a piece is taken for one without an end


def lost() -> bool:
    """Whether this process can do nothing on its GPU any more."""
    cupy = sys.modules.get("cupy")
    try:
        if cupy is not None:
            cupy.cuda.runtime.deviceSynchronize()
    except Exception:  # noqa: BLE001 - whatever the driver says of a lost context
        return True
    return False


class Progress:
    """The results of a program by name, kept in a file: `rows`, `failures`, what was `tried`, whether it is `done`."""

    def __init__(self, path: Path, resume: bool = False, piece_s: float = PIECE_S) -> None:
        self.path, self.piece_s = path, piece_s
        self.found: dict[str, Any] = {"rows": [], "failures": [], "left_out": [], "tried": [], "running": "", "done": False}
        if resume and path.exists():
            self.found |= json.loads(path.read_text())
            self.found["left_out"] = []
            if self.found["running"]:
                self.found["failures"].append(f"{self.found['running']}: ended the process")
        path.parent.mkdir(parents=True, exist_ok=True)
        self.keep()

    def keep(self) -> None:
        """Write the file; who reads it sees it as it was or as it is then."""
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps(self.found, indent=1))
        os.replace(beside, self.path)

    def piece(self, told: str, work: Callable[[], object]) -> None:
        """Do a piece of work, unless it has been tried before; the process ends where it has lost its GPU."""
        if told in self.found["tried"]:
            return
        self.found["tried"].append(told)
        self.found["running"] = told
        self.keep()
        faulthandler.dump_traceback_later(self.piece_s, exit=True)
        failed = False
        try:
            work()
        except Exception as failure:  # noqa: BLE001 - the others are to be tried too
            failed = True
            self.found["failures"].append(f"{told}: {type(failure).__name__}: {str(failure)[:300]}")
            print(f"-- {told}", traceback.format_exc(), sep="\n", file=sys.stderr, flush=True)
        self.found["running"] = ""
        self.keep()
        if failed and lost():
            os._exit(LOST)  # as it is: what would be given back now belongs to a lost context
        faulthandler.cancel_dump_traceback_later()

    def end(self) -> int:
        """Say that there is nothing more to be done; the number of failures, as an exit status."""
        self.found["done"] = True
        self.keep()
        return min(len(self.found["failures"]), LOST - 1)
