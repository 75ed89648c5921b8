"""Starting several processes that run one function, and waiting for them: what fails in one ends all, and is told."""

from __future__ import annotations

import ctypes
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
import weakref
from collections.abc import Callable, Sequence
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any

__all__ = [
    "ENV_VAR_PARALLEL_START", "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException",
    "SpawnContext", "spawn", "start_processes",
]  # fmt: skip

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"  # PyTorch's variable, for forkserver; the processes start one by one here
_SET_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG


class ProcessException(Exception):
    """One of several processes did not end well."""

    __slots__ = ["error_index", "error_pid"]

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """The function raised in one of the processes; the message has its traceback."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """One of the processes ended by a signal or with an exit code."""

    __slots__ = ["exit_code"]

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:  # fmt: skip
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


class ProcessContext:
    """The processes that `start_processes` started."""

    def __init__(self, processes: Sequence[Any], error_files: Sequence[str]) -> None:
        self.processes = processes
        self.error_files = error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The processes' ids."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until one or more processes end; whether all have. Call it until it says True.

        Args: timeout: seconds to wait; grace_period: seconds that the others get after a failure before they are killed.
        Raises: ProcessRaisedException, ProcessExitedException for the first that failed; the others are ended.
        """
        if not self.sentinels:
            return True
        ready: Any = connection.wait(list(self.sentinels), timeout)
        failed = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)
            process = self.processes[index]
            process.join()
            if process.exitcode != 0 and failed is None:
                failed = index
        if failed is None:
            return not self.sentinels
        self._end_the_others(grace_period)
        raise self._failure(failed)

    def _end_the_others(self, grace_period: float | None) -> None:
        alive = [process for process in self.processes if process.is_alive()]
        for stop in (_terminate, _kill):
            for process in alive:
                stop(process)
            deadline = time.monotonic() + (30.0 if grace_period is None else grace_period)
            for process in alive:
                process.join(max(0.0, deadline - time.monotonic()))
            alive = [process for process in alive if process.is_alive()]

    def _failure(self, index: int) -> ProcessException:
        process = self.processes[index]
        try:
            told = Path(self.error_files[index]).read_bytes()
        except OSError:
            told = b""
        if told:
            text = f"\n\n-- Process {index} terminated with the following error:\n{pickle.loads(told)}"  # noqa: S301 - our own
            return ProcessRaisedException(text, index, process.pid)
        code = process.exitcode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            return ProcessExitedException(f"process {index} terminated with signal {name}", index, process.pid, code, name)
        return ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)


class SpawnContext(ProcessContext):
    """What `spawn` returns with join=False."""


def _terminate(process: Any) -> None:
    process.terminate()


def _kill(process: Any) -> None:
    process.kill()


def _run(fn: Callable[..., Any], index: int, args: tuple[Any, ...], error_file: str) -> None:
    """The body of each process: what the function raises goes into the file."""
    _end_with_the_parent()
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent's to report
    except Exception:  # noqa: BLE001 - raised again in the parent
        Path(error_file).write_bytes(pickle.dumps(traceback.format_exc()))
        sys.exit(1)


def _end_with_the_parent() -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGINT)


def start_processes(
    fn: Callable[..., Any], args: Any = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` processes, i from 0.

    Returns: with join=False the ProcessContext to wait on, else None when all have ended.
    Raises: ProcessRaisedException, ProcessExitedException for the first process that failed; the others are ended.
    """
    context: Any = get_context(start_method)
    folder = tempfile.mkdtemp(prefix="tenfold_")
    files = [os.path.join(folder, str(index)) for index in range(nprocs)]
    processes = []
    for index, file in enumerate(files):
        process = context.Process(target=_run, args=(fn, index, args, file), daemon=daemon)
        process.start()
        processes.append(process)
    made = SpawnContext(processes, files)
    weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
    if not join:
        return made
    while not made.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any], args: Any = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` newly started Python processes, i from 0; `fn` is a function of some module.

    Returns: with join=False the ProcessContext to wait on, else None when all have ended.
    Raises: ProcessRaisedException, ProcessExitedException for the first process that failed; the others are ended.
    """
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method use:\n\t\t "
            f"torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
