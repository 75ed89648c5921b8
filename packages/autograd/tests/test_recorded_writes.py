"""Recorded in-place operators write straight into the tensor: what the graph keeps of it, and what it says of later writes."""

import pytest

import tenfold

MODIFIED = "modified by an inplace operation"


def tensors():
    x = tenfold.tensor([0.5, -1.5, 2.0], dtype=tenfold.float64, requires_grad=True)
    w = tenfold.tensor([3.0, 0.25, -2.0], dtype=tenfold.float64, requires_grad=True)
    return x, w, x * 1.5


@pytest.fixture
def copies(monkeypatch):
    """The values that are kept aside because a rule reads what a write destroys."""
    from tenfold.autograd import written

    made = []
    keep = written._kept
    monkeypatch.setattr(written, "_kept", lambda *given: made.append(1) or keep(*given))
    return made


WITHOUT = [
    lambda y, w: y.relu_(),
    lambda y, w: tenfold.relu_(y),
    lambda y, w: y.add_(w),
    lambda y, w: y.add_(w, alpha=3),
    lambda y, w: y.sub_(w),
    lambda y, w: y.mul_(w.detach()),
    lambda y, w: y.mul_(2.5),
    lambda y, w: y.exp_(),
    lambda y, w: y.sigmoid_(),
    lambda y, w: y.masked_fill_(w.detach() > 0, 1.0),
]
WITH = [
    lambda y, w: y.mul_(w),
    lambda y, w: y.sin_(),
    lambda y, w: y.clamp_min_(0.2),
    lambda y, w: y.square_(),
    lambda y, w: y.pow_(2),
]


def out_of_place(write):
    """The gradients of x and w by the same function of a copy."""
    x, w, y = tensors()
    return tenfold.autograd.grad((write(y.clone(), w) ** 2).sum(), (x, w), allow_unused=True)


@pytest.mark.parametrize(("write", "kept"), [*((w, 0) for w in WITHOUT), *((w, 1) for w in WITH)])
def test_a_value_is_copied_only_where_a_rule_reads_it(copies, write, kept):
    x, w, y = tensors()
    place, version = y.data_ptr(), y._version
    assert write(y, w) is y
    assert (len(copies), y.data_ptr(), y._version) == (kept, place, version + 1)
    found = tenfold.autograd.grad((y**2).sum(), (x, w), allow_unused=True)
    for a, b in zip(found, out_of_place(write)):
        assert (a is None) == (b is None)
        assert a is None or tenfold.equal(a, b)


@pytest.mark.parametrize("write", [*WITHOUT, *WITH])
def test_second_derivatives_through_a_write(write):
    w = tensors()[1].detach()

    def function(x):
        y = x * 1.5
        write(y, w)
        return (y * y).sum()

    x = tenfold.tensor([0.5, 1.25, 2.0], dtype=tenfold.float64, requires_grad=True)
    assert tenfold.autograd.gradgradcheck(function, (x,))


@pytest.mark.parametrize("write", [lambda y: y.relu_(), lambda y: y.exp_(), lambda y: y.sigmoid_(), lambda y: y.sqrt_()])
def test_a_result_that_was_written_again_is_told(write):
    _, _, y = tensors()
    write(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


@pytest.mark.parametrize("write", [lambda y: y.sin_(), lambda y: y.mul_(2.0), lambda y: y.add_(y.detach().clone())])
def test_what_no_rule_reads_may_be_written_again(write):
    x, _, y = tensors()
    write(y)
    y.add_(1).mul_(2)
    y.sum().backward()
    assert x.grad is not None


def test_an_argument_in_the_same_memory_is_told():
    for other in (lambda y: y, lambda y: y.view(3), lambda y: y.flip(0).flip(0)):
        _, _, y = tensors()
        z = other(y)
        y.mul_(z)
        if z.data_ptr() == y.data_ptr():
            with pytest.raises(RuntimeError, match=MODIFIED):
                y.sum().backward()
        else:
            y.sum().backward()


def test_a_view_and_its_base_see_the_write():
    x, w, y = tensors()
    part = y[1:]
    part.mul_(w[1:]).relu_()
    expected = tenfold.cat([x[:1] * 1.5, (x[1:] * 1.5 * w[1:]).relu()])
    assert tenfold.equal(y, expected)
    found, wanted = (tenfold.autograd.grad((t**2).sum(), (x, w)) for t in (y, expected))
    assert all(map(tenfold.equal, found, wanted))


def test_hooks_on_what_is_saved_see_the_result():
    _, _, y = tensors()
    seen = []
    with tenfold.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t.clone()) or t, lambda t: t):
        y.relu_()
    assert len(seen) == 1
    assert tenfold.equal(seen[0], y)


def test_a_write_that_fails_leaves_the_tensor_in_its_place():
    _, _, y = tensors()
    before, node, version = y.detach().clone(), y.grad_fn, y._version
    with pytest.raises(RuntimeError):
        y.add_(tenfold.ones(2, 3, dtype=tenfold.float64))
    assert tenfold.equal(y, before)
    assert (y.grad_fn, y._version) == (node, version)
