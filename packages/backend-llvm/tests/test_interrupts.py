"""Ctrl-C inside what native calls ask of Python reaches the program: it is no error of the call, which Python would do again."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tenfold
from tenfold.llvm.mixing import Mixer

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="call paths are native from Python 3.12 on")


def _interrupt(*_):
    raise KeyboardInterrupt


def test_of_tensors_of_two_dtypes(monkeypatch):
    x, n = tenfold.ones(3), tenfold.arange(3)
    assert (x + n).tolist() == [1, 2, 3]
    monkeypatch.setattr(Mixer, "__call__", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        x + n
    with pytest.raises(KeyboardInterrupt):
        x.mul_(n)


def test_an_error_of_the_mixer_is_the_calls_affair(monkeypatch):
    def fail(*_):
        raise ValueError

    monkeypatch.setattr(Mixer, "__call__", fail)
    assert (tenfold.ones(3) + tenfold.arange(3)).tolist() == [1, 2, 3]


PROGRAM = """
import signal, sys, time, tenfold

class Interrupt(BaseException): pass

def interrupt(*_):
    raise Interrupt

def until(work, end):
    while time.monotonic() < end:
        work()

lost = []  # what Python cannot raise, as inside a callback of a weak reference, and tells here
sys.unraisablehook = lambda told: lost.append(told.exc_type)
signal.signal(signal.SIGALRM, interrupt)
x, linear = tenfold.randn(64, 50), tenfold.nn.Linear(50, 50)
norm = tenfold.nn.LayerNorm(50)
for work in (lambda: tenfold.rand(3, 4), lambda: norm(linear(x)).sum().backward(), lambda: tenfold.sub(x, x, alpha=0.5)):
    work(), work()
    caught = 0
    lost.clear()
    for i in range(100):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.00001 * i)
            until(work, time.monotonic() + 0.5)
        except Interrupt:
            caught += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
    print(caught, lost.count(Interrupt), tenfold.is_grad_enabled())
"""


def test_at_any_time():
    """Every one is caught, but for those few of which Python itself says that it could not raise them."""
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100, check=True)
    assert len(run.stdout.splitlines()) == 3
    for line in run.stdout.splitlines():
        caught, lost, recording = line.split()
        assert (int(caught) + int(lost), recording) == (100, "True"), run.stdout + run.stderr
        assert int(lost) <= 8, run.stdout
