"""The threads that compiled loops share: as many as `tenfold.set_num_threads` says, asleep while there is nothing to do."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading

from tenfold.llvm.native.functions import Native, has_pool
from tenfold.settings import threads as settings

_MASK_BYTES = 128
_MOST = 1024


class Pool:
    """The workers. Each is a daemon thread that enters native code once and stays there, without the interpreter's lock."""

    def __init__(self, native: Native) -> None:
        self.native, self.started, self.lock = native, 1, threading.Lock()
        if not has_pool():
            return
        self.threads = native.cell("pool_threads")
        self._worker = ctypes.CFUNCTYPE(None, ctypes.c_int64)(native.code.address("pool_worker"))
        self._forget = ctypes.CFUNCTYPE(None)(native.code.address("pool_forget"))
        self._remember_processors()
        self.resize(settings.get_num_threads())
        settings.on_change(self.resize)
        os.register_at_fork(after_in_child=self._after_fork)

    def resize(self, count: int) -> None:
        """Let `count` threads take part, the caller included; starts those that are missing."""
        with self.lock:
            count = min(count, _MOST)
            while self.started < count:
                threading.Thread(target=self._worker, args=(self.started,), name=f"tenfold-{self.started}", daemon=True).start()
                self.started += 1
            self.threads.value = count

    def _remember_processors(self) -> None:
        mask = (ctypes.c_uint8 * _MASK_BYTES).from_address(self.native.code.variable("pool_mask"))
        for cpu in os.sched_getaffinity(0):
            if cpu < 8 * _MASK_BYTES:
                mask[cpu // 8] |= 1 << cpu % 8

    def _after_fork(self) -> None:
        """A child has none of its parent's threads."""
        count = self.threads.value
        self._forget()
        self.lock, self.started = threading.Lock(), 1
        self.threads.value = 1
        with contextlib.suppress(RuntimeError):  # where no thread can be started, one does the work
            self.resize(count)
