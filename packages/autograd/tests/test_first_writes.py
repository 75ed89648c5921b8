"""A first recorded write to new memory: what it costs does not grow with the objects that a program has."""

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


@pytest.mark.parametrize("write", [by_item, by_items_one_after_the_other, by_column, by_method_of_a_view, by_a_view_with_a_name])
def test_no_search_for_views_where_there_are_none(monkeypatch, write):
    searched = []
    monkeypatch.setattr(storage.gc, "get_referrers", lambda *objects: searched.append(objects) or [])
    x = tenfold.ones(3, requires_grad=True)
    out = tenfold.zeros(3, 3)
    write(out, x)
    assert out.requires_grad and not searched


def test_views_from_before_the_write_are_found():
    x = tenfold.ones(3, requires_grad=True)
    out = tenfold.zeros(3, 3)
    earlier = out.view(9)[3:]
    out[1] = 2 * x
    (earlier * 5).sum().backward()
    assert x.grad.tolist() == [10.0] * 3
