"""What the functions of pipes may be: which are warned of because pickle does not take them, and which are refused."""

from __future__ import annotations

import warnings
from functools import partial
from operator import itemgetter

import pytest

import tenfold
import tenfold.utils.data as ours

torch = pytest.importorskip("torch")
import torch.utils.data as theirs  # noqa: E402


def named(x):
    return x


class Called:
    def __call__(self, x):
        return x

    def method(self, x):
        return x


def functions():
    def local(x):
        return x

    class Local(Called):
        pass

    nested = partial(partial(local))
    return {
        "local": local, "lambda": lambda x: x, "lambda of a module": LAMBDA, "object": Local(), "partial": nested, "none": None,
        "number": 5, "named": named, "builtin": len, "getter": itemgetter(0), "called": Called(), "method": Called().method,
    }  # fmt: skip


LAMBDA = lambda x: x  # noqa: E731 - what is tested
PIPES = {
    "map": lambda lib, f: lib.datapipes.iter.IterableWrapper([1]).map(f),
    "filter": lambda lib, f: lib.datapipes.iter.IterableWrapper([1]).filter(f),
    "groupby": lambda lib, f: lib.datapipes.iter.IterableWrapper([1]).groupby(f),
    "demux": lambda lib, f: lib.datapipes.iter.IterableWrapper([1]).demux(2, f, buffer_size=-1),
    "collate": lambda lib, f: lib.datapipes.iter.IterableWrapper([1]).collate(conversion=named, collate_fn=f or 5),
    "map of samples": lambda lib, f: lib.datapipes.map.SequenceWrapper([1]).map(f),
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # PyTorch's groupby, taken down half made
@pytest.mark.parametrize("pipe", PIPES)
@pytest.mark.parametrize("name", functions())
def test_functions_of_pipes(pipe, name):
    found = []
    for lib in (ours, theirs):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                PIPES[pipe](lib, functions()[name])
                error = None
            except TypeError as refusal:
                error = type(refusal)
        found.append((error, [(w.category, str(w.message).split(" is ")[0]) for w in seen]))
    assert found[0] == found[1]


def test_the_warning_points_to_the_caller():
    with pytest.warns(UserWarning, match="^Local function is not supported by pickle") as seen:
        tenfold.utils.data.datapipes.iter.IterableWrapper([1]).map(functions()["local"])
    with pytest.warns(UserWarning, match="^Lambda function is not supported by pickle"):
        tenfold.utils.data.datapipes.iter.Mapper([1], LAMBDA)
    assert seen[0].filename == __file__
