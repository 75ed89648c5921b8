"""A first recorded write to new memory: what it costs does not grow with the objects that a program has."""

import gc
import importlib

import pytest

import tenfold

storage = importlib.import_module("tenfold.tensor.storage")  # `tenfold.tensor` is a function


def by_item(out, x):
    out[1] = x


def by_items_one_after_the_other(out, x):
    for n in range(3):
        out[n] += x


def by_column(out, x):
    out[:, 0] = x


def by_method_of_a_view(out, x):
    out[2].copy_(x)


def by_a_view_with_a_name(out, x):
    part = out[0]
    part.mul_(x)


def beside_views_with_names(out, x):
    rows, diagonal = out.t(), out.diagonal()
    diagonal[1:] = x[1:]
    rows[2] += x


WRITES = [by_item, by_items_one_after_the_other, by_column, by_method_of_a_view, by_a_view_with_a_name, beside_views_with_names]


@pytest.mark.parametrize("write", WRITES)
def test_no_search_for_views_where_there_are_none(monkeypatch, write):
    searched = []
    monkeypatch.setattr(storage.gc, "get_referrers", lambda *objects: searched.append(objects) or [])
    x = tenfold.ones(3, requires_grad=True)
    out = tenfold.zeros(3, 3)
    write(out, x)
    assert out.requires_grad
    assert not searched


@pytest.mark.parametrize("age", [0, 1, 2])
def test_views_from_before_the_write_are_found(age):
    x = tenfold.ones(3, requires_grad=True)
    out = tenfold.zeros(3, 3)
    earlier = out.view(9)[3:]
    if age:
        gc.collect(age - 1)  # what was made becomes older
    out[1] = 2 * x
    (earlier * 5).sum().backward()
    assert x.grad.tolist() == [10.0] * 3
