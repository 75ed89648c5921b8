"""Operators on lists of tensors beside PyTorch's."""

import pytest

import tenfold

torch = pytest.importorskip("torch")

NAMES = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac log log10 log1p log2 neg reciprocal round rsqrt sigmoid sign "
    "sin sinh sqrt tan tanh trunc"
).split()
DATA = [[0.25, 0.5, 0.75], [[0.1, 0.9]]]
OTHER = [[0.5, 2.0, 0.3], [[0.7, 0.2]]]


def lists(framework, data=DATA):
    return [framework.tensor(x) for x in data]


def same(ours, theirs):
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs, strict=True):
        assert x.numpy() == pytest.approx(y.numpy(), rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_of_one_list(name):
    same(getattr(tenfold, f"_foreach_{name}")(lists(tenfold)), getattr(torch, f"_foreach_{name}")(lists(torch)))
    ours, theirs = lists(tenfold), lists(torch)
    getattr(tenfold, f"_foreach_{name}_")(ours)
    getattr(torch, f"_foreach_{name}_")(theirs)
    same(ours, theirs)


@pytest.mark.parametrize("kind", ["number", "numbers", "tensors"])
@pytest.mark.parametrize("name", "add sub mul div clamp_min clamp_max maximum minimum pow".split())
def test_of_two(name, kind):
    def run(framework, suffix):
        other = {"number": 0.4, "numbers": [0.4, 2.0], "tensors": lists(framework, OTHER)}[kind]
        first = lists(framework)
        result = getattr(framework, f"_foreach_{name}{suffix}")(first, other)
        return first if suffix else result

    for suffix in ("", "_"):
        same(run(tenfold, suffix), run(torch, suffix))


PROGRAMS = [
    lambda t, a, b: t._foreach_add(a, b, alpha=0.5),
    lambda t, a, b: t._foreach_mul(a, t.tensor(2.0)),
    lambda t, a, b: t._foreach_addcmul(a, a, b, value=0.5),
    lambda t, a, b: t._foreach_addcdiv(a, a, b, [0.5, 2.0]),
    lambda t, a, b: t._foreach_addcdiv(a, a, b, t.tensor([0.5, 2.0])),
    lambda t, a, b: t._foreach_lerp(a, b, 0.3),
    lambda t, a, b: t._foreach_lerp(a, b, b),
    lambda t, a, b: t._foreach_norm(a),
    lambda t, a, b: t._foreach_norm(a, float("inf")),
    lambda t, a, b: t._foreach_pow(2.0, a),
    lambda t, a, b: (t._foreach_copy_(a, b), a)[1],
    lambda t, a, b: (t._foreach_zero_(a), a)[1],
    lambda t, a, b: (t._foreach_addcdiv_(a, b, b, value=-0.1), a)[1],
    lambda t, a, b: (t._foreach_lerp_(a, b, weight=0.9), a)[1],
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_further_forms(program):
    same(program(tenfold, lists(tenfold), lists(tenfold, OTHER)), program(torch, lists(torch), lists(torch, OTHER)))


@pytest.mark.parametrize("framework", [tenfold, torch])
def test_refusals(framework):
    with pytest.raises(RuntimeError, match="at least one tensor"):
        framework._foreach_abs([])
    with pytest.raises(RuntimeError, match="same number of tensors"):
        framework._foreach_add(lists(framework), lists(framework)[:1])


def test_what_else_libraries_ask_of_the_root():
    x = tenfold.ones(2)
    assert tenfold.is_signed(x)
    assert not tenfold.is_signed(x.byte())
    assert tenfold.is_same_size(x, x + 1)
    assert x[tenfold.newaxis].shape == (1, 2)
    tenfold._assert(True, "fine")
    with pytest.raises(AssertionError, match="told"):
        tenfold._assert(False, "told")
