"""Trees, compared with PyTorch's."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

import tenfold
from tenfold.utils import _pytree as ours

torch = pytest.importorskip("torch")
from torch.utils import _pytree as theirs  # noqa: E402 - there it is

Point = namedtuple("Point", "x y")  # noqa: PYI024 - as programs do
TREES = [
    1, None, [], (), {}, [1, (2, {"b": 3, "a": [4]})], Point(1, [2]), OrderedDict(q=6, p=[7]), deque([7, (8,)], maxlen=3),
    defaultdict(list, k=[8]), {"b": 1, "a": (Point(2, 3), "text")},
]  # fmt: skip


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_leaves_paths_and_descriptions(tree):
    assert ours.tree_leaves(tree) == theirs.tree_leaves(tree)
    mine, wanted = ours.tree_structure(tree), theirs.tree_structure(tree)
    assert (mine.num_leaves, mine.num_nodes, mine.num_children) == (wanted.num_leaves, wanted.num_nodes, wanted.num_children)
    assert repr(mine) == repr(wanted)
    paths = [(ours.keystr(path), leaf) for path, leaf in ours.tree_leaves_with_path(tree)]
    assert paths == [(theirs.keystr(path), leaf) for path, leaf in theirs.tree_leaves_with_path(tree)]


@pytest.mark.parametrize("other", TREES, ids=repr)
@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_trees_that_fit_are_the_same(tree, other):
    def outcome(library):
        try:
            return library.tree_map(lambda a, b: (a, b), tree, other)
        except ValueError as error:
            return str(error).split(";")[0]

    assert outcome(ours) == outcome(theirs)


def test_sizes_are_containers():
    found = []
    for library, pytree in ((tenfold, ours), (torch, theirs)):
        size = library.ones(3, 4).shape
        leaves, form = pytree.tree_flatten([size, 5])
        made = pytree.tree_map(float, {"a": size})["a"]
        found.append((leaves, repr(form), type(made), made, pytree.treespec_dumps(form)))
    assert found[0] == found[1]
