"""`torch._logging`: what PyTorch's compilers say of their work. Nothing is compiled here, so that nothing is said."""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["getArtifactLogger", "set_logs"]


def set_logs(*, modules: dict[str, int | bool] | None = None, **channels: int | bool | None) -> None:
    """Choose what is told, and from which level on: there is nothing to choose among.

    Raises: ValueError for what is neither a level nor a bool.
    """
    for name, level in {**(modules or {}), **channels}.items():
        if level is not None and not isinstance(level, int):
            raise ValueError(f"set_logs: Unrecognized log level for log {name}: {level!r}")


def getArtifactLogger(module_qname: str, artifact_name: str) -> Any:
    """The logger of one kind of a module's messages."""
    return logging.getLogger(f"{module_qname}.__{artifact_name}")
