"""`torch.export`: graphs of programs are in tenfold-compile."""

from __future__ import annotations

from tenfold.as_torch.stand_ins.absent import classes, functions

_WHY = "exported graphs of programs are in the package tenfold-compile, which is not installed"

globals().update(functions("draft_export export load register_dataclass save unflatten", _WHY))
globals().update(classes("Constraint Dim ExportGraphSignature ExportedProgram ShapesCollection UnflattenedModule", _WHY))
__all__ = ["Dim", "ExportedProgram", "export", "load", "save"]
