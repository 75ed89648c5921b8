"""Tensors between processes: shared, not copied; nothing left behind."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import sharing_cases as cases

import tenfold
import tenfold.multiprocessing as mp
from tenfold.multiprocessing import transit
from tenfold.multiprocessing.shared import Segment

pytestmark = [
    pytest.mark.timeout(40),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="tensors share memory on Linux only"),
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.xdist_group("processes"),  # one worker: several at once would start too many
]
METHODS = ["fork", "spawn", "forkserver"]


def named(parent=None):
    """The names that children of a process left, of this one's unless told: other tests' processes may run beside it."""
    return {path.name for path in Path("/dev/shm").glob(f"{transit._prefix(parent or os.getpid())}*")}


@pytest.fixture
def nothing_left():
    """Fails a test that leaves a name in /dev/shm, or descriptors open."""
    gc.collect()
    before = Segment.live
    names = named()
    yield
    gc.collect()
    transit.drop_what_waits()
    deadline = time.monotonic() + 20  # the resource tracker ends after the processes
    while (left := named() - names) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left
    assert Segment.live <= before + 1  # the ledger


def started(method, target, *args):
    process = mp.get_context(method).Process(target=target, args=args, daemon=True)
    process.start()
    return process


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["Queue", "SimpleQueue", "JoinableQueue"])
def test_both_sides_see_writes(method, kind):
    context = mp.get_context(method)
    source, sink = getattr(context, kind)(), getattr(context, kind)()
    process = started(method, cases.add_one, source, sink)
    x = tenfold.zeros(3, 4)
    source.put(x)
    assert sink.get() == 12
    assert x.tolist() == [[1.0] * 4] * 3
    x.add_(1)
    source.put(x)
    assert sink.get() == 36
    assert x.is_shared()
    source.put(None)
    process.join()


def test_what_views_share_stays_shared():
    context = mp.get_context("fork")
    source, sink = context.SimpleQueue(), context.SimpleQueue()
    process = started("fork", cases.same_memory, source, sink)
    x = tenfold.arange(12.0).reshape(3, 4)
    source.put((x, x[1:, ::2]))
    source.put(x.t())
    assert sink.get() == ((4, 2), 4, 20.0, True, 60.0)
    process.join()
    assert x.sum() == 60


def test_what_comes_back_is_the_same_storage():
    context = mp.get_context("fork")
    source, sink = context.SimpleQueue(), context.SimpleQueue()
    process = started("fork", cases.echo, source, sink)
    x = tenfold.arange(10.0)
    storage = tenfold.arange(4.0).untyped_storage()
    for item in (x[2:5], storage, tenfold.empty(0, 3), tenfold.ones(3, dtype=tenfold.bfloat16)):
        source.put(item)
    back = sink.get()
    assert (back.tolist(), back.storage_offset()) == ([2, 3, 4], 2)
    assert back.untyped_storage() is x.untyped_storage()
    assert sink.get() is storage
    assert sink.get().shape == (0, 3)
    assert sink.get().dtype is tenfold.bfloat16
    source.put(None)
    process.join()


def test_a_pipe_to_itself():
    a, b = mp.Pipe()
    x = tenfold.arange(6.0)
    x[1:].fill_(2)
    a.send([x, x.data, x[::2]])
    y, data, view = b.recv()
    y.fill_(9)
    assert x.tolist() == data.tolist() == [9] * 6
    assert view.stride() == (2,)
    assert transit.in_transit() == 0


def test_what_was_taken_is_let_go_though_nothing_more_is_sent():
    a, b = mp.Pipe()
    a.send(tenfold.ones(3))
    waiting = transit._state["ledger"].waiting
    assert waiting
    b.recv()
    deadline = time.monotonic() + 20
    while waiting and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not waiting


@pytest.mark.parametrize("asked", [transit.drop_what_waits, transit.in_transit])
def test_a_thread_that_lets_go_is_waited_for(asked):
    a, b = mp.Pipe()
    a.send(x := tenfold.ones(3))
    ledger = transit._state["ledger"]
    asking = threading.Thread(target=asked)
    with ledger.lock:  # as the thread that looks has it while it frees what was taken
        asking.start()
        asking.join(0.1)
        assert asking.is_alive()
    asking.join()
    assert b.recv().untyped_storage() is x.untyped_storage()
    assert transit.in_transit() == 0


def test_an_interrupt_during_a_collection_arrives():
    program = """
import gc, signal, time
import tenfold, tenfold.multiprocessing as mp

def interrupt(*_):
    raise KeyboardInterrupt

a, b = mp.Pipe()
a.send(tenfold.ones(3))  # on its way all the time
signal.signal(signal.SIGALRM, interrupt)
caught = 0

def collect(until):  # a function, since Python 3.13 lets an interrupt between two rounds of a loop past the `try` around it
    while time.monotonic() < until:
        gc.collect(0), gc.collect(0), gc.collect(0), gc.collect(0), gc.collect(0), gc.collect(0), gc.collect(0)

for i in range(100):
    until = time.monotonic() + 1
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.00001 * i)
        collect(until)
    except KeyboardInterrupt:
        caught += 1
print(caught)
b.recv()
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=35, check=True)
    assert (run.stdout.strip(), run.stderr) == ("100", "")


def test_a_fork_meets_no_thread_of_ours():
    a, b = mp.Pipe()
    a.send(tenfold.ones(3))
    looking = transit._state["ledger"].looking
    process = started("fork", cases.answer_threads, a)
    assert not looking.is_alive()
    b.recv()
    assert "tenfold-transit" not in b.recv()
    process.join()


def test_tensors_on_one_memory_move_together():
    x = tenfold.arange(6.0)
    view, alias, detached = x[2:], x.data, x.detach()
    x.share_memory_()
    x.fill_(3)
    assert [t.sum().item() for t in (view, alias, detached)] == [12, 18, 18]
    assert all(t.is_shared() for t in (view, alias, detached))
    assert x.untyped_storage().share_memory_() is x.untyped_storage()
    assert not x.clone().is_shared()
    assert not copy.deepcopy(x).is_shared()
    assert pickle.loads(pickle.dumps(x)).is_shared() is False
    y = tenfold.arange(3.0)
    alias = y.data
    alias.share_memory_()
    alias.fill_(4)
    assert y.tolist() == [4, 4, 4]


def test_shared_storages():
    s = tenfold.UntypedStorage._new_shared(8)
    assert (s.tolist(), s.is_shared(), s.resizable()) == ([0] * 8, True, False)
    with pytest.raises(RuntimeError, match="not resizable"):
        s.resize_(100)
    assert tenfold.empty(0).share_memory_().is_shared()
    assert not tenfold.ones(2, device="meta").is_shared()
    with pytest.raises(RuntimeError, match="only available on CPU"):
        tenfold.ones(2, device="meta").share_memory_()


def test_files(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(range(16)))
    private = tenfold.UntypedStorage.from_file(str(path), False, 8)
    private[0] = 9
    shared = tenfold.from_file(str(path), True, 8, dtype=tenfold.int32)
    shared[7] = 5
    assert (path.read_bytes()[0], path.stat().st_size, path.read_bytes()[28]) == (0, 32, 5)
    assert shared.untyped_storage().filename == str(path)
    assert private.filename is None
    with pytest.raises(RuntimeError, match="size <32> is smaller than the required mapping size <400>"):
        tenfold.from_file(str(path), False, 100)
    with pytest.raises(RuntimeError, match="unable to open file </nonexistent/x> in read-only mode"):
        tenfold.from_file("/nonexistent/x", False, 1)
    a, b = mp.Pipe()
    a.send(shared)
    b.recv()[0] = 77
    assert path.read_bytes()[0] == 77


def test_leaves_travel_with_their_flag_and_what_operators_made_does_not():
    pytest.importorskip("tenfold.autograd")
    a, b = mp.Pipe()
    a.send(tenfold.ones(2, requires_grad=True))
    assert b.recv().requires_grad
    made = tenfold.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        a.send(made)
    a.send(made.detach())
    leaf = tenfold.ones(2, requires_grad=True)
    leaf.register_hook(lambda g: g)
    with pytest.warns(UserWarning, match="will not be serialized"):
        a.send(leaf)


def test_refusals():
    with pytest.raises(AssertionError, match="invalid sharing strategy 'x'"):
        mp.set_sharing_strategy("x")
    for name in mp.get_all_sharing_strategies():
        mp.set_sharing_strategy(name)
        assert mp.get_sharing_strategy() == name
    mp.set_sharing_strategy("file_descriptor")
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        tenfold.ones(2).pin_memory()


def test_too_many_files_are_an_error_with_advice():
    import resource

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, limits[1]))
    try:
        with pytest.raises(RuntimeError, match=r"Too many open files.*ulimit -n"):
            [tenfold.ones(1).share_memory_() for _ in range(100)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize("method", METHODS)
def test_a_sender_may_end_before_its_tensors_are_received(method):
    queue = mp.get_context(method).Queue()
    process = started(method, cases.send_and_end, queue, 3)
    process.join()
    assert [queue.get()[-1].item() for _ in range(3)] == [0, 1, 2]
    assert not named()


def test_what_nobody_receives_goes_with_the_process():
    program = "import sharing_cases as c, tenfold.multiprocessing as mp\nif __name__ == '__main__':\n    q = mp.Queue()\n"
    program += "    p = mp.Process(target=c.send_and_end, args=(q, 3)); p.start(); p.join()\n"
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program], cwd=Path(__file__).parent, stderr=subprocess.PIPE, text=True
    )
    _, told = process.communicate()
    assert (process.returncode, told) == (0, "")
    assert not named(process.pid)


@pytest.mark.parametrize("method", METHODS)
def test_a_killed_sender_is_an_error(method):
    receiver, sender = mp.get_context(method).Pipe(duplex=False)
    process = started(method, cases.send_and_wait, sender)
    assert receiver.poll(60)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with pytest.raises(RuntimeError, match=f"from process {process.pid} is gone"):
        receiver.recv()


def test_a_killed_receiver_leaves_nothing():
    context = mp.get_context("fork")
    queue, ready = context.Queue(), context.Queue()
    process = started("fork", cases.receive_and_wait, queue, ready)
    for _ in range(3):
        queue.put(tenfold.ones(1000))
    assert ready.get() == 3
    assert transit.in_transit() == 0
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def test_a_killed_parent_leaves_nothing():
    receiver, sender = mp.Pipe(duplex=False)
    process = mp.get_context("spawn").Process(target=cases.parent_of_two, args=(sender,))
    process.start()
    parent, child = receiver.recv()
    os.kill(parent, signal.SIGKILL)
    process.join()
    os.kill(child, signal.SIGKILL)


def test_many_sends_leak_nothing():
    a, b = mp.Pipe()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for i in range(5_000):
        a.send(tenfold.full((10,), float(i)))
        assert b.recv()[0] == i
    assert transit.in_transit() == 0
    assert len(os.listdir("/proc/self/fd")) <= before + 3


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pool(method):
    with mp.get_context(method).Pool(2) as pool:
        results = pool.map(cases.double, [tenfold.full((3,), float(i)) for i in range(6)])
        assert [r.tolist() for r in results] == [[2.0 * i] * 3 for i in range(6)]
        assert results[0].is_shared()


def test_spawn():
    shared = tenfold.zeros(3).share_memory_()
    assert mp.spawn(cases.write_place, (shared,), nprocs=3) is None
    assert shared.tolist() == [1, 2, 3]


def test_spawn_says_what_failed():
    with pytest.raises(mp.ProcessRaisedException, match=r"Process 1 terminated with the following error:\nTraceback") as raised:
        mp.start_processes(cases.fail_second, nprocs=2, start_method="fork")
    assert "ValueError: the second fails" in str(raised.value)
    assert (raised.value.error_index, pickle.loads(pickle.dumps(raised.value)).error_index) == (1, 1)
    context = mp.start_processes(cases.exit_second, ("code",), nprocs=2, join=False, start_method="fork")
    assert len(context.pids()) == 2
    with pytest.raises(mp.ProcessExitedException, match="process 1 terminated with exit code 7") as exited:
        all(iter(context.join, True))
    assert exited.value.exit_code == 7
    with pytest.raises(mp.ProcessExitedException, match="process 1 terminated with signal SIGKILL") as exited:
        mp.start_processes(cases.exit_second, ("signal",), nprocs=2, start_method="fork")
    assert exited.value.signal_name == "SIGKILL"


def test_shared_memory_is_seen_by_forked_processes() -> None:
    x = tenfold.zeros(2)
    view = x[1:]
    assert not x.is_shared()
    x.share_memory_()
    assert x.is_shared()
    view.fill_(3)
    assert x.tolist() == [0, 3]
    child = os.fork()
    if not child:
        x[0] = 7
        os._exit(0)
    os.waitpid(child, 0)
    assert x.tolist() == [7, 3]
