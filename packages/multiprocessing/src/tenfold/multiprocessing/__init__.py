"""Python's `multiprocessing`, with tensors passing through its queues and pipes as handles of shared memory (Linux).

What a process writes to a tensor that it sent or received, the others see. A tensor's memory moves to shared memory when
it is first sent, or by `share_memory_()`; views of one storage stay views of one storage on the other side. The memory has
no name in the file system and goes with the last process that has it, killed or not. On other systems than Linux queues
and pipes copy tensors.

>>> import tenfold
>>> import tenfold.multiprocessing as mp
>>> receiver, sender = mp.Pipe()
>>> x = tenfold.zeros(2)
>>> sender.send(x)
>>> receiver.recv().fill_(1)
tensor([1., 1.])
>>> x
tensor([1., 1.])
"""

from __future__ import annotations

import multiprocessing
import sys
from typing import TYPE_CHECKING

from tenfold.multiprocessing import reductions
from tenfold.multiprocessing.reductions import init_reductions as init_reductions
from tenfold.multiprocessing.spawn import (
    ENV_VAR_PARALLEL_START as ENV_VAR_PARALLEL_START,
    ProcessContext as ProcessContext,
    ProcessExitedException as ProcessExitedException,
    ProcessRaisedException as ProcessRaisedException,
    SpawnContext as SpawnContext,
    spawn as spawn,
    start_processes as start_processes,
)

if TYPE_CHECKING:
    from multiprocessing import *  # noqa: F403 - a type checker's way of saying what the next line does
else:
    globals().update({name: getattr(multiprocessing, name) for name in multiprocessing.__all__})

_STRATEGIES = {"file_descriptor", "file_system"} if sys.platform.startswith("linux") else {"file_system"}
_strategy = {"name": "file_descriptor" if "file_descriptor" in _STRATEGIES else "file_system"}

__all__ = ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", *multiprocessing.__all__]  # noqa: PLE0604


def set_sharing_strategy(new_strategy: str) -> None:
    """Say how memory is handed over; both of PyTorch's strategies are the same here.

    Memory has no name while its sender lives ("file_descriptor"), and keeps without one what "file_system" is chosen for:
    what a process sent before it ended can still be received.
    """
    assert new_strategy in _STRATEGIES, f"invalid sharing strategy {new_strategy!r}, expected one of {_STRATEGIES}"
    _strategy["name"] = new_strategy


def get_sharing_strategy() -> str:
    """What `set_sharing_strategy` said."""
    return _strategy["name"]


def get_all_sharing_strategies() -> set[str]:
    """The names that `set_sharing_strategy` takes."""
    return set(_STRATEGIES)


init_reductions()
