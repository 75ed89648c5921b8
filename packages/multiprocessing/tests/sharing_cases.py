"""What other processes run in the tests of shared memory; a module of its own, so that spawned ones can import it."""

from __future__ import annotations

import os
import signal
import threading
import time

import tenfold


def add_one(source, sink):
    """Add one to each tensor that comes, in place, until None; say with its sum that it is done."""
    while (tensor := source.get()) is not None:
        tensor.add_(1)
        sink.put(float(tensor.sum()))


def echo(source, sink):
    while (item := source.get()) is not None:
        sink.put(item)


def same_memory(source, sink):
    """Whether two tensors that came in one message, or one after the other, lie on one storage here."""
    (a, b), c = source.get(), source.get()
    a.fill_(5)
    told = (b.stride(), b.storage_offset(), b.sum().item(), c.untyped_storage() is a.untyped_storage(), c.sum().item())
    sink.put(told)


def send_and_end(queue, count):
    for i in range(count):
        queue.put(tenfold.full((1000,), float(i)))


def send_and_wait(connection):
    connection.send(tenfold.ones(300_000))
    time.sleep(60)


def receive_and_wait(queue, ready):
    kept = [queue.get() for _ in range(3)]
    ready.put(len(kept))
    time.sleep(60)


def parent_of_two(pipe):
    """A process that has children which hold shared tensors, for a test that kills it."""
    context = tenfold.multiprocessing.get_context("fork")
    queue, ready = context.Queue(), context.Queue()
    child = context.Process(target=receive_and_wait, args=(queue, ready), daemon=True)
    child.start()
    for _ in range(5):
        queue.put(tenfold.ones(100_000))
    ready.get()
    pipe.send((os.getpid(), child.pid))
    time.sleep(60)


def double(tensor):
    return tensor * 2


def write_place(index, tensor):
    tensor[index] = index + 1


def fail_second(index):
    if index == 1:
        raise ValueError("the second fails")
    time.sleep(60)


def exit_second(index, how):
    if index == 1:
        if how == "code":
            os._exit(7)
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def train(model, data, steps):
    """A Hogwild worker: gradients of its own, steps on the shared parameters."""
    optimizer = tenfold.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        x, y = data
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()


def answer_threads(connection):
    connection.send([thread.name for thread in threading.enumerate()])
