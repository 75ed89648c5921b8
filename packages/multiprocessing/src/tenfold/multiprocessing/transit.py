"""Shared memory on its way from one process to another.

The receiver opens the sender's descriptor through /proc, so that the sender is not interrupted. It must keep the memory
until then: it notes every sending in its *ledger*, a shared page of one byte per sending, where the receiver marks what it
took. The sender looks there when it sends again and, while something is on its way, ten times a second in a thread: code
that Python runs by itself, in a collection of garbage, would lose an interrupt that comes meanwhile. A process that ends in
order gives what nobody took a name in /dev/shm, which the receiver removes (or, if it is killed too, Python's resource tracker).
"""

from __future__ import annotations

import errno
import os
import threading
from contextlib import suppress
from functools import lru_cache
from multiprocessing import parent_process, resource_tracker, util
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from tenfold.multiprocessing.shared import FOLDER, Segment, on_span, too_many_files

_SLOTS = 1 << 14
_LOOK_EVERY_S = 0.1
_LOOKS_FOR_NOTHING = 20  # after which the thread that looks ends
FREE, SENT, TAKEN, NAMED = range(4)


class SenderGone(RuntimeError):
    """What should be received is not there any more."""


class Handle(NamedTuple):
    """What travels instead of the memory: who has it under which descriptor, and where the receiver says thank you."""

    pid: int
    fd: int
    identity: tuple[int, int]
    size: int
    ledger: tuple[int, tuple[int, int]]
    slot: int
    name: str  # in /dev/shm, should the sender end before


class _Ledger:
    """One process's sendings that have not been taken."""

    def __init__(self) -> None:
        self.pid, self.parent = os.getpid(), _parent()
        self.page = Segment.of_size(_SLOTS)
        self.marks = on_span(self.page, 0, _SLOTS)
        self.waiting: dict[int, Segment] = {}
        self.free = list(range(_SLOTS))
        self.lock = threading.Lock()
        self.looking: threading.Thread | None = None
        self.enough = threading.Event()
        self.ending = False
        # Not by multiprocessing's own list, which is read before the threads of queues have sent all; since Python 3.13 these
        # send after other threads have ended.
        try:
            threading._register_atexit(_name_what_waits)  # type: ignore[attr-defined] # as concurrent.futures does
        except RuntimeError:
            self.ending = True

    def send(self, segment: Segment) -> Handle:
        self.sweep()
        with self.lock:
            if not self.free:
                raise RuntimeError(f"{_SLOTS} tensors are on their way to other processes; receive some before sending more")
            slot = self.free.pop()
            self.waiting[slot] = segment
            self.marks[slot] = SENT
        if self.ending:
            self.name(slot)
        else:
            self.look()
        return Handle(
            self.pid, segment.fd, segment.identity, segment.size, (self.page.fd, self.page.identity), slot, self.name_of(slot)
        )

    def name(self, slot: int) -> None:
        """Let a sending be received when this process has ended. The main process has nobody to leave it to."""
        if parent_process() is not None:
            self.marks[slot] = NAMED
            with suppress(OSError):  # files that the folder had no room for can have no name
                _give_name(self.waiting[slot], self.name_of(slot))

    def name_of(self, slot: int) -> str:
        return f"{_prefix(self.parent)}{self.pid:x}_{slot:x}"

    def sweep(self, wait: bool = False) -> None:
        """Let go of what was taken; not while another thread does so, unless told to wait for it."""
        if not self.waiting or not self.lock.acquire(blocking=wait):
            return
        try:
            for slot in np.flatnonzero(self.marks == TAKEN).tolist():
                self.waiting.pop(slot, None)
                self.marks[slot] = FREE
                self.free.append(slot)
        finally:
            self.lock.release()

    def look(self) -> None:
        """Have a thread look after what waits, if none does: interrupts come to the main thread only."""
        with self.lock:
            if self.waiting and (self.looking is None or not self.looking.is_alive()):
                self.enough = threading.Event()
                self.looking = threading.Thread(target=self._look, args=(self.enough,), daemon=True, name="tenfold-transit")
                self.looking.start()

    def _look(self, enough: threading.Event) -> None:
        idle = 0
        while idle < _LOOKS_FOR_NOTHING and not enough.wait(_LOOK_EVERY_S):
            idle = 0 if self.waiting else idle + 1
            self.sweep()

    def look_away(self) -> None:
        """End the thread that looks, and wait until it has."""
        self.enough.set()
        if self.looking is not None and self.looking is not threading.current_thread():
            self.looking.join()


_state: dict[str, _Ledger] = {}
_known: WeakValueDictionary[tuple[int, int], Segment] = WeakValueDictionary()


def send(segment: Segment) -> Handle:
    """A handle that one other process (or this one) may `receive` once; the segment stays until then."""
    ledger = _state.get("ledger")
    if ledger is None:
        _keep_one_tracker()
        ledger = _state["ledger"] = _Ledger()
    _known[segment.identity] = segment
    return ledger.send(segment)


def receive(handle: Handle) -> Segment:
    """The segment of a handle: the same object where this process has it already.

    Raises: SenderGone when the sender was killed before.
    """
    segment = _known.get(handle.identity)
    if segment is None:
        segment = Segment(_opened(handle), handle.size)
        _known[segment.identity] = segment
    _thank(handle)
    return segment


def in_transit() -> int:
    """How many sendings of this process nobody has taken yet."""
    ledger = _state.get("ledger")
    if ledger is None:
        return 0
    ledger.sweep(wait=True)
    return len(ledger.waiting)


def _opened(handle: Handle) -> int:
    with suppress(OSError):
        return _open_same(f"/proc/{handle.pid}/fd/{handle.fd}", handle.identity)
    try:
        fd = _open_same(f"{FOLDER}/{handle.name}", handle.identity)
    except OSError as error:
        if error.errno in (errno.ENFILE, errno.EMFILE):
            raise too_many_files(error) from None
        raise SenderGone(
            f"the memory of a tensor from process {handle.pid} is gone: that process was killed (or its user's processes cannot "
            f"be opened from here) before the tensor was received"
        ) from None
    _forget(handle.name)
    return fd


def _open_same(path: str, identity: tuple[int, int]) -> int:
    """Open a file, unless it is another one than meant: descriptors and process ids are used again."""
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    status = os.fstat(fd)
    if (status.st_dev, status.st_ino) != identity:
        os.close(fd)
        raise FileNotFoundError(2, "another file", path)
    return fd


@lru_cache(maxsize=64)
def _marks_of(pid: int, ledger: tuple[int, tuple[int, int]]) -> Any:
    fd, identity = ledger
    page = Segment(_open_same(f"/proc/{pid}/fd/{fd}", identity), _SLOTS)
    page.drop_descriptor()
    return on_span(page, 0, _SLOTS)


def _thank(handle: Handle) -> None:
    own = _state.get("ledger")
    try:
        here = own is not None and own.page.identity == handle.ledger[1]
        marks = own.marks if here and own is not None else _marks_of(handle.pid, handle.ledger)
    except OSError:
        return  # the sender has ended
    if marks[handle.slot] == NAMED:
        _forget(handle.name)
    marks[handle.slot] = TAKEN


# Names, for what outlives its sender


def _parent() -> int:
    parent = parent_process()
    return os.getppid() if parent is None else parent.pid or os.getppid()


def _prefix(parent: int) -> str:
    """How the names begin of what the children of a process left to it."""
    return f"tenfold_{parent:x}_"


def _name_what_waits() -> None:
    ledger = _state.get("ledger")
    if ledger is not None:
        ledger.ending = True
        ledger.look_away()
        ledger.sweep()
        for slot in list(ledger.waiting):
            ledger.name(slot)


def _give_name(segment: Segment, name: str) -> None:
    folder = os.open(FOLDER, os.O_RDONLY)
    try:  # with a folder's descriptor Python follows the link in /proc, else it does not
        os.link(f"/proc/self/fd/{segment.fd}", name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)
    resource_tracker.register(f"/{name}", "shared_memory")


def _remove_what_children_left() -> None:
    with suppress(OSError):
        for name in os.listdir(FOLDER):
            if name.startswith(_prefix(os.getpid())):
                _forget(name)


def drop_what_waits() -> None:
    """Let go of all that nobody took: nobody will. What another thread is letting go of is gone, too, when this returns."""
    ledger = _state.get("ledger")
    if ledger is not None:
        with ledger.lock:
            ledger.waiting.clear()


def _forget(name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(f"{FOLDER}/{name}")
        resource_tracker.unregister(f"/{name}", "shared_memory")


def _keep_one_tracker() -> None:
    """Start the resource tracker that all processes of the tree share: a child's own would end with the child."""
    resource_tracker.ensure_running()


def _before_fork() -> None:
    """A process with threads should not fork: Python warns of it, and a lock that a thread holds stays locked in the child."""
    _keep_one_tracker()
    ledger = _state.get("ledger")
    if ledger is not None:
        ledger.look_away()


def _after_fork() -> None:
    ledger = _state.get("ledger")
    if ledger is not None:
        ledger.look()


def _in_forked_child() -> None:
    """The child has sent nothing; its copies of the descriptors go."""
    _state.clear()
    _marks_of.cache_clear()


util.Finalize(None, _remove_what_children_left, exitpriority=-200)  # after the children have ended
os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_forked_child)
