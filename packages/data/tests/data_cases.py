"""Datasets and functions that worker processes import, under fork and spawn alike."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import tenfold
from tenfold.data import Dataset, IterableDataset, get_worker_info

LARGE = (64, 64)  # 16 KB of float32: travels in shared memory


class Images(Dataset):
    """Sample i is a large image full of i, and i."""

    def __init__(self, length=10):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return tenfold.full(LARGE, float(index)), index


class Stream(IterableDataset):
    """0..n-1 from every worker, or a share of it."""

    def __init__(self, length, shared_out=True):
        self.length = length
        self.shared_out = shared_out

    def __len__(self):
        return self.length

    def __iter__(self):
        info = get_worker_info()
        if info is None or not self.shared_out:
            return iter(range(self.length))
        return iter(range(info.id, self.length, info.num_workers))


class Noise(Stream):
    """A share of 0..n-1, each with a random number."""

    def __iter__(self):
        return ((number, tenfold.rand(()).item()) for number in super().__iter__())


class Failing(Dataset):
    """Does something bad at one index."""

    def __init__(self, action, at=3):
        self.action = action
        self.at = at

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.action() if index == self.at else index


class Augmented(Dataset):
    """Sample i with random numbers of all generators."""

    def __len__(self):
        return 14

    def __getitem__(self, index):
        import random

        import numpy

        return index, tenfold.rand(()).item(), random.random(), numpy.random.rand()


class WorkerSeeds(Dataset):
    """What a worker's generators give first."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        import random

        import numpy

        info = get_worker_info()
        return info.id, info.seed, tenfold.initial_seed(), random.getrandbits(32), int(numpy.random.randint(2**31))


class NotInChild:
    """Can be pickled, but not unpickled anywhere else than in the process that made it."""

    def __init__(self, maker=None):
        if maker is not None and maker != os.getpid():
            raise RuntimeError("made to fail in the worker")

    def __reduce__(self):
        return NotInChild, (os.getpid(),)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index


class TwoArgumentsError(Exception):
    """Cannot be built from one message."""

    def __init__(self, first, second):
        super().__init__(first, second)


def blocks_of(pid):
    """The shared memory blocks that the workers of a process have left."""
    return [path.name for path in Path("/dev/shm").glob(f"tenfold_{pid:x}_*")]


def raise_value():
    raise ValueError("the text of the fault")


def stop_iteration():
    raise StopIteration


def raise_key():
    raise KeyError("the key at fault")


def raise_two():
    raise TwoArgumentsError(1, 2)


class NamedMessageError(Exception):
    """Takes its message by name, which the class has, too, as some libraries' exceptions do."""

    message = "none yet"

    def __init__(self, *, message):
        super().__init__(message)


def raise_named():
    raise NamedMessageError(message="said by name")


def raise_local():
    class LocalError(Exception):
        pass

    raise LocalError("nobody can import this type")


def exit_at_once():
    os._exit(17)


def kill_self():
    os.kill(os.getpid(), signal.SIGKILL)


def sleep_long():
    time.sleep(60)


def return_lambda():
    return lambda: None


def give_list(batch):
    return batch


def fail_in_init(worker_id):
    raise ValueError(f"init of {worker_id} failed")


def set_environment(worker_id):
    os.environ["TENFOLD_TEST_WORKER"] = str(worker_id)


class ReadEnvironment(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return int(os.environ["TENFOLD_TEST_WORKER"])


def running_process(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pids, within_s=0.0):
    """Whether all these processes have ended, at the latest after so many seconds."""
    deadline = time.monotonic() + within_s
    while any(running_process(pid) for pid in pids):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)
    return True


def parity(number):
    return number % 2
