"""What measurements say of themselves, and how blocks are chosen, beside PyTorch's."""

from __future__ import annotations

import random
import timeit

import pytest

pytest.importorskip("torch")
import torch.utils.benchmark as theirs

import tenfold.utils.benchmark as ours

TASKS = [
    {"stmt": "x"},
    {"stmt": "x", "label": "sums"},
    {"stmt": "x", "sub_label": "three"},
    {"stmt": "x", "label": "sums", "sub_label": "three", "description": "add"},
    {"stmt": "x", "setup": "a = 1"},
    {"stmt": "x", "setup": "a = 1\nb = 2", "description": "two"},
    {"stmt": "x = 1\ny = 2", "setup": "a = 1"},
    {"stmt": "x = 1\ny = 2", "sub_label": "three"},
    {"stmt": "x", "num_threads": 2},
]
TIMES = [[1e-5, 1.02e-5, 1.03e-5, 1.01e-5, 1e-5], [1e-5, 1.01e-5, 1.02e-5]]


@pytest.mark.parametrize("task", range(len(TASKS)))
@pytest.mark.parametrize("times", range(len(TIMES)))
def test_a_measurement_prints_as_pytorchs(task, times):
    said = []
    for benchmark in (theirs, ours):
        spec = benchmark.TaskSpec(**{"setup": "pass", "global_setup": "", **TASKS[task]})
        one = benchmark.Measurement(10, list(TIMES[times]), spec)
        said.append((repr(one).partition("\n")[2], one.title, one.as_row_name))
    assert said[1] == said[0]


class Drawn(timeit.Timer):
    """Takes times that are drawn, the same ones for both."""

    def __init__(self, stmt, setup, timer, globals):
        self._random, self._cost = random.Random(0), {"pass": 8e-9, "cheap()": 4e-6, "dear()": 2e-5}[stmt]

    def timeit(self, number=1_000_000):
        return sum(max(0.0, self._random.gauss(cost, cost / 20)) for cost in (1e-6, self._cost * number))


@pytest.mark.parametrize("stmt", ["pass", "cheap()", "dear()"])
def test_blocks_are_as_long_as_pytorchs(stmt):
    found = []
    for benchmark in (theirs, ours):
        timer = type("Mine", (benchmark.Timer,), {"_timer_cls": Drawn})(stmt)
        every = [timer.blocked_autorange(min_run_time=3), timer.adaptive_autorange()]
        found.append([(one.number_per_run, len(one.times), one.median) for one in every])
    assert found[1] == found[0]
