"""Custom functions under autocast, the questions about it, and a profiler's schedule."""

import pytest

import tenfold
from tenfold import amp
from tenfold.autograd.function import Function, FunctionCtx, InplaceFunction
from tenfold.profiler import ProfilerAction, profile, schedule, tensorboard_trace_handler


class Product(Function):
    @staticmethod
    @amp.custom_fwd(device_type="cpu")
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    @amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        Product.dtype = (g @ b.T.to(g.dtype)).dtype
        return (g @ b.T.to(g.dtype)).to(a.dtype), (a.T.to(g.dtype) @ g).to(b.dtype)


class Wide(Function):
    @staticmethod
    @amp.custom_fwd(device_type="cpu", cast_inputs=tenfold.float32)
    def forward(ctx, a):
        return a @ a

    @staticmethod
    @amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        return g


def test_backward_runs_under_the_same_autocast():
    a, b = tenfold.ones(2, 2, requires_grad=True), tenfold.ones(2, 2, requires_grad=True)
    with tenfold.autocast("cpu", dtype=tenfold.bfloat16):
        result = Product.apply(a, b)
    assert result.dtype is tenfold.bfloat16
    result.sum().backward()
    assert Product.dtype is tenfold.bfloat16
    assert a.grad.tolist() == [[2.0, 2.0]] * 2


def test_inputs_are_cast_where_autocast_is_on():
    half = tenfold.ones(2, 2, dtype=tenfold.bfloat16)
    with tenfold.autocast("cpu"):
        assert Wide.apply(half).dtype is tenfold.float32
    assert Wide.apply(half).dtype is tenfold.bfloat16


def test_questions_about_autocast():
    assert not tenfold.is_autocast_enabled("cpu")
    with tenfold.autocast("cpu", dtype=tenfold.float16):
        assert tenfold.is_autocast_enabled("cpu")
        assert not tenfold.is_autocast_enabled()
        assert tenfold.get_autocast_dtype("cpu") is tenfold.float16
        with tenfold.autocast("cpu", enabled=False):
            assert not tenfold.is_autocast_enabled("cpu")
    assert tenfold.get_autocast_gpu_dtype() is tenfold.float16
    assert tenfold.is_autocast_cache_enabled()


def test_a_ctx_is_a_function_ctx():
    kinds = []

    class Asking(InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            kinds.append(isinstance(ctx, FunctionCtx))
            return x * 2

    Asking.apply(tenfold.ones(1, requires_grad=True))
    assert kinds == [True]


def test_a_profiler_records_what_its_schedule_says(tmp_path):
    seen = []
    with profile(
        schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=lambda prof: seen.append(prof.key_averages())
    ) as prof:
        for step in range(8):
            if step in (0, 1, 4, 5):
                tenfold.ones(1).sin()
            else:
                tenfold.ones(1).cos()
            prof.step()
    keys = [{average.key: average.count for average in averages} for averages in seen]
    assert keys == [{"ones": 2, "cos": 2, "ProfilerStep*": 2}] * 2
    with pytest.raises(AssertionError):
        schedule(wait=0, warmup=0, active=0)
    assert schedule(wait=0, warmup=0, active=1)(0) is ProfilerAction.RECORD_AND_SAVE
    with profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path), "me")):
        tenfold.ones(1)
    assert [file.name.endswith(".pt.trace.json") for file in tmp_path.iterdir()] == [True]
