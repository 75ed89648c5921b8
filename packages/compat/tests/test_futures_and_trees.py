"""Values that come later, and trees of containers."""

import threading
from collections import OrderedDict, deque, namedtuple

import pytest

from tenfold.futures import Future, collect_all, wait_all
from tenfold.utils import _pytree as trees

Point = namedtuple("Point", "x y")  # noqa: PYI024 - as programs do


def test_a_future_from_another_thread():
    later = Future()
    threading.Timer(0.01, later.set_result, [5]).start()
    assert later.wait() == later.value() == 5
    with pytest.raises(RuntimeError, match="once"):
        later.set_result(6)


def test_errors_pass_through_futures():
    later = Future()
    following = later.then(lambda done: 1 / done.value())
    together = collect_all([later, following])
    assert not together.done()
    later.set_result(0)
    assert together.done()
    with pytest.raises(RuntimeError, match="running the callback: ZeroDivisionError"):
        following.wait()
    with pytest.raises(RuntimeError, match="running the callback: ZeroDivisionError"):
        wait_all([later, following])
    with pytest.raises(RuntimeError, match="not completed"):
        Future().value()


TREE = {"b": [1, (2, 3)], "a": Point(4, {"z": 5}), "o": OrderedDict(q=6), "d": deque([7], maxlen=3), "n": None}


def test_leaves_and_back():
    leaves, spec = trees.tree_flatten(TREE)
    assert leaves == [1, 2, 3, 4, 5, 6, 7, None]
    again = trees.tree_unflatten(leaves, spec)
    assert again == TREE
    assert type(again["a"]) is Point
    assert again["d"].maxlen == 3
    assert spec == trees.tree_structure(again)
    assert hash(spec) == hash(trees.tree_structure(again))
    assert (spec.num_leaves, spec.num_nodes, spec.num_children) == (8, 15, 5)


def test_trees_walked_together():
    assert trees.tree_map(lambda a, b: (a, b), [1, {"a": 2, "b": 3}], [10, {"b": 30, "a": 20}]) == [
        (1, 10),
        {"a": (2, 20), "b": (3, 30)},
    ]
    for other in ([1], (1, 2), {"a": 1}, 3):
        with pytest.raises(ValueError, match="mismatch"):
            trees.tree_map(lambda a, b: a, [1, 2], other)
    assert trees.tree_map(len, [[1, 2], [3]], is_leaf=lambda value: value in ([1, 2], [3])) == [2, 1]


def test_a_type_of_ones_own():
    class Pair:
        def __init__(self, left, right):
            self.left, self.right = left, right

    trees.register_pytree_node(Pair, lambda pair: ([pair.left, pair.right], None), lambda children, _: Pair(*children))
    assert trees.tree_leaves([Pair(1, [2]), 3]) == [1, 2, 3]
    with pytest.raises(ValueError, match="already registered"):
        trees.register_pytree_node(Pair, None, None)
