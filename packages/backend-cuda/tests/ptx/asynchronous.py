"""What comes later than it is asked for: copies to shared memory, products of 128 threads, and barriers in memory.

The hardware may do such work at any time between its instruction and the wait for it. Here its results come with the wait, and
until then their places hold what is no number: who reads too early, or waits for too few groups, finds nan. What it reads is
looked at again when it ends: who writes it too early is told.

Source: NVIDIA, "Parallel Thread Execution ISA", asynchronous operations: cp.async, wgmma and mbarrier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

POISON = 0xFF  # every byte of what is not there yet: nan of any floating type, and -1


@dataclass
class Work:
    """An operation of some threads that has not ended for all of them."""

    threads: np.ndarray
    group: np.ndarray  # of each thread: which one of its groups it is in
    end: Any  # called with the places, among the threads that began it, of those for which it ends
    places: np.ndarray


class Groups:
    """Operations that end with a wait for groups of them, in the order in which they were begun: of each thread its own."""

    def __init__(self, threads):
        self.closed = np.zeros(threads, np.int64)  # groups of each thread
        self.work = []

    def begin(self, threads, end):
        """An operation of these threads, in the group that each of them closes next."""
        self.work.append(Work(threads, self.closed[threads], end, np.arange(len(threads))))

    def close(self, threads):
        """commit_group"""
        self.closed[threads] += 1

    def wait(self, threads, most=0):
        """wait_group: at most so many groups of these threads go on; what is in no group yet goes on, too."""
        if not self.work:
            return
        due = np.full(len(self.closed), -1, np.int64)
        due[threads] = self.closed[threads] - most
        self._end(due)

    def wait_for_all(self, threads):
        """cp.async.wait_all: as if a group were closed before it."""
        self.close(threads)
        self.wait(threads)

    def _end(self, due):
        left = []
        for work in self.work:
            ends = work.group < due[work.threads]
            if not ends.any():
                left.append(work)
                continue
            work.end(work.places[ends])
            if not ends.all():
                stay = ~ends
                left.append(Work(work.threads[stay], work.group[stay], work.end, work.places[stay]))
        self.work = left
