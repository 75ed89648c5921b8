"""Workers that die, time out or are left in mid-epoch: what the loader says, and that no process or memory stays."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import data_cases as cases
import pytest

from tenfold.data import DataLoader

pytestmark = [pytest.mark.timeout(60), pytest.mark.usefixtures("no_leaks")]


@pytest.mark.parametrize(("action", "text"), [(cases.exit_at_once, "exit code 17"), (cases.kill_self, "SIGKILL")])
@pytest.mark.parametrize("persistent", [False, True])
def test_a_dead_worker_is_an_error_with_its_pid(action, text, persistent):
    loader = DataLoader(cases.Failing(action), None, num_workers=2, persistent_workers=persistent)
    running = iter(loader)
    pids = running.pool.pids
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid {pids[1]}\).*{text}"):
        list(running)
    assert cases.gone(pids)
    with pytest.raises(RuntimeError):
        next(running)
    with pytest.raises(RuntimeError, match=r"\(pid"):
        list(loader)


def test_a_worker_killed_from_outside():
    running = iter(DataLoader(cases.Images(100), num_workers=2))
    next(running)
    victim = running.pool.pids[0]
    os.kill(victim, signal.SIGKILL)
    with pytest.raises(RuntimeError, match=rf"pid {victim}\) is killed by signal: SIGKILL"):
        list(running)


def test_a_dataset_that_spawn_cannot_send():
    loader = DataLoader([lambda: None], num_workers=1, multiprocessing_context="spawn")
    with pytest.raises(RuntimeError, match=f"worker 0 of process {os.getpid()} could not be started by 'spawn'.*picklable"):
        list(loader)


def test_a_dataset_that_spawn_cannot_receive(capfd):
    running = iter(DataLoader(cases.NotInChild(), num_workers=1, multiprocessing_context="spawn"))
    (pid,) = running.pool.pids
    with pytest.raises(RuntimeError, match=rf"\(pid {pid}\) exited unexpectedly with exit code 1"):
        next(running)
    assert "made to fail in the worker" in capfd.readouterr().err


def test_timeout():
    running = iter(DataLoader(cases.Failing(cases.sleep_long, at=0), num_workers=1, timeout=0.3))
    (pid,) = running.pool.pids
    with pytest.raises(RuntimeError, match=r"timed out after 0\.3 seconds"):
        next(running)
    os.kill(pid, signal.SIGKILL)


def test_an_early_break_ends_the_workers():
    loader = DataLoader(cases.Images(50), num_workers=2)
    running = iter(loader)
    pids = running.pool.pids
    next(running)
    del running
    gc.collect()
    assert cases.gone(pids)


def test_large_batches_in_pickles_do_not_block_shutdown():
    loader = DataLoader(["x" * 1_000_000] * 20, None, num_workers=2, prefetch_factor=5)
    running = iter(loader)
    pids = running.pool.pids
    assert len(next(running)) == 1_000_000
    del running
    gc.collect()
    assert cases.gone(pids)


def _run(program, **options):
    """Run a program that uses the cases; (exit code, stderr), once its shared memory is gone."""
    folder = Path(__file__).parent
    head = f"import sys; sys.path.insert(0, {str(folder)!r})\nimport data_cases as cases\nfrom tenfold.data import DataLoader\n"
    command = [sys.executable, "-W", "error", "-c", head + textwrap.dedent(program)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options) as process:
        _, stderr = process.communicate(timeout=50)
    deadline = time.monotonic() + 10
    while cases.blocks_of(process.pid):
        assert time.monotonic() < deadline, "shared memory is left"
        time.sleep(0.05)
    return process.returncode, stderr


def test_leaving_python_in_mid_epoch_is_quiet():
    program = """
        running = iter(DataLoader(cases.Images(50), num_workers=2))
        batch = next(running)
    """
    assert _run(program) == (0, "")


def test_keyboard_interrupt_ends_all_quickly():
    program = """
        import os, signal, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background ignores Ctrl-C
        loader = DataLoader(cases.Failing(cases.sleep_long, at=2), None, num_workers=2)
        threading.Timer(1.0, os.killpg, (0, signal.SIGINT)).start()
        try:
            list(loader)
        except KeyboardInterrupt:
            sys.exit(5)
    """
    code, stderr = _run(program, start_new_session=True)
    assert (code, stderr) == (5, "")


def test_a_killed_main_process_leaves_no_workers():
    program = """
        import os, signal
        running = iter(DataLoader(cases.Images(50), num_workers=2))
        next(running)
        print(*running.pool.pids, file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    code, stderr = _run(program)
    assert code == -signal.SIGKILL
    assert cases.gone(stderr.split("\n")[0].split(), within_s=10)


@pytest.mark.parametrize("persistent", [False, True])
def test_the_workers_of_a_pass_are_ended_by_pytorchs_name(persistent):
    loader = DataLoader(cases.Images(20), num_workers=2, persistent_workers=persistent)
    running = iter(loader)
    next(running)
    pids = running.pool.pids
    running._shutdown_workers()
    assert cases.gone(pids)
    loader._iterator = None
    assert len(list(loader)) == 20
    del running
