"""The tape: accumulation, freeing, hooks, deep graphs, and the errors of its wrong use."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import tenfold
from tenfold.autograd import grad


def leaf(*values: float) -> tenfold.Tensor:
    return tenfold.tensor(list(values), requires_grad=True)


def test_gradients_accumulate_over_paths_and_passes():
    x = leaf(2.0)
    y = x * x + x * 3
    y.backward()
    assert x.grad.tolist() == [7.0]
    (x * 5).backward()
    assert x.grad.tolist() == [12.0]


def test_broadcast_gradient_has_the_sources_shape():
    x, b = tenfold.ones(2, 3, requires_grad=True), tenfold.ones(3, requires_grad=True)
    (x * b).sum().backward()
    assert b.grad.tolist() == [2.0, 2.0, 2.0]
    assert x.grad.shape == (2, 3)


def test_a_graph_of_100000_nodes_runs_and_is_freed_without_recursion():
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y + 1.0
    y.backward()
    assert x.grad.tolist() == [1.0]
    del y
    gc.collect()


def test_double_backward():
    x = leaf(3.0)
    (g,) = grad(x * x * x, x, create_graph=True)
    assert g.tolist() == [27.0]
    (gg,) = grad(g, x, create_graph=True)
    assert gg.tolist() == [18.0]
    assert grad(gg, x)[0].tolist() == [6.0]


def test_backward_twice_needs_retain_graph():
    x = leaf(1.0)
    y = x.exp()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == pytest.approx([2 * np.e], rel=1e-6)
    with pytest.raises(RuntimeError, match=r"ExpBackward0.*second time.*retain_graph=True"):
        y.backward()


def test_saved_tensors_are_freed_after_backward():
    x = leaf(1.0, 2.0)
    inner = x * 2
    y = (inner * inner).sum()
    seen = weakref.ref(inner)
    del inner
    assert seen() is not None
    y.backward()
    gc.disable()  # freed by reference counts alone, as PyTorch frees it
    try:
        assert seen() is None
    finally:
        gc.enable()


def test_an_unused_graph_is_freed_by_reference_counts():
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0)
        y = (x * x).exp()
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()


def test_two_leaves_never_share_one_gradient():
    x, y = leaf(1.0), leaf(2.0)
    (x + y).backward()
    x.grad.mul_(10)
    assert y.grad.tolist() == [1.0]
    g = tenfold.ones(1)
    z = leaf(1.0)
    z.clone().backward(g)
    z.grad.add_(1)
    assert g.tolist() == [1.0]


def test_modification_in_place_of_a_needed_tensor_is_an_error():
    x = leaf(1.0)
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*MulBackward0.*version 1; expected version 0"):
        z.backward()
    out = x.exp()
    out.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_implicit_gradient_needs_a_scalar():
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        (leaf(1.0, 2.0) * 2).backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        tenfold.ones(1).backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (leaf(1.0, 2.0) * 2).backward(tenfold.ones(3))


def test_grad_leaves_grad_attributes_alone_and_reports_unused_inputs():
    x, y = leaf(1.0), leaf(1.0)
    assert grad(x * 2, x)[0].tolist() == [2.0]
    assert x.grad is None
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        grad(x * 2, (x, y))
    assert grad(x * 2, (x, y), allow_unused=True)[1] is None
    assert grad(x * 2, (x, y), materialize_grads=True)[1].tolist() == [0.0]


def test_grad_of_an_intermediate_result():
    x = leaf(2.0)
    h = x * 3
    assert grad(h * h, h)[0].tolist() == [12.0]


def test_backward_with_inputs_touches_only_those():
    x, y = leaf(1.0), leaf(2.0)
    (x * y).backward(inputs=[x])
    assert x.grad.tolist() == [2.0]
    assert y.grad is None


def test_tensor_hooks_replace_gradients_and_can_be_removed():
    x = leaf(1.0)
    h = x * 2
    seen = []
    handle = h.register_hook(lambda g: seen.append(g.tolist()))
    h.register_hook(lambda g: g * 10)
    (h * 3).backward(retain_graph=True)
    assert seen == [[3.0]]
    assert x.grad.tolist() == [60.0]
    handle.remove()
    x.register_hook(lambda g: g * 0)
    (h * 3).backward()
    assert len(seen) == 1
    assert x.grad.tolist() == [60.0]


def test_post_accumulate_hooks_see_the_updated_leaf():
    x = leaf(1.0)
    seen = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.tolist()))
    (x * 4).backward()
    assert seen == [[4.0]]
    with pytest.raises(RuntimeError, match="non-leaf"):
        (x * 2).register_post_accumulate_grad_hook(print)


def test_node_hooks_see_inputs_and_outputs():
    x = leaf(1.0)
    y = x * 5
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs[0].item(), outputs[0].item())))
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 2,))
    y.backward()
    assert seen == [(10.0, 2.0)]
    assert x.grad.tolist() == [10.0]


def test_a_retained_gradient_has_memory_of_its_own():
    x, seed = tenfold.ones(3, requires_grad=True), tenfold.ones(3)
    y = x * 2
    y.retain_grad()
    (given,) = tenfold.autograd.grad(y.clone(), [y], seed)
    y.grad.mul_(2)
    assert (given.tolist(), seed.tolist()) == ([1.0] * 3, [1.0] * 3)


def test_retain_grad():
    x = leaf(2.0)
    h = x * 3
    h.retain_grad()
    assert h.retains_grad
    (h * h).backward()
    assert h.grad.tolist() == [12.0]


def test_modes_stop_recording_per_thread():
    x = leaf(1.0)
    results = {}
    with tenfold.no_grad():
        assert not (x * 2).requires_grad
        thread = threading.Thread(target=lambda: results.update(other=(x * 2).requires_grad))
        thread.start()
        thread.join()
        with tenfold.enable_grad():
            assert (x * 2).requires_grad
    assert results["other"]
    assert (x * 2).requires_grad

    @tenfold.no_grad()
    def f():
        return x * 2

    assert not f().requires_grad
    with tenfold.inference_mode():
        assert tenfold.is_inference_mode_enabled()
        assert not (x * 2).requires_grad


def test_the_visible_graph():
    x = leaf(1.0)
    y = (x + 1) * x
    assert x.is_leaf
    assert x.grad_fn is None
    assert y.grad_fn.name() == "MulBackward0"
    (add, _), (accumulate, _) = y.grad_fn.next_functions
    assert add.name() == "AddBackward0"
    assert accumulate.name() == "torch::autograd::AccumulateGrad"
    assert accumulate.variable is x


def test_freezing():
    x = leaf(1.0)
    x.requires_grad_(False)
    assert not (x * 2).requires_grad
    y = leaf(1.0) * 2
    with pytest.raises(RuntimeError, match="only change requires_grad flags of leaf"):
        y.requires_grad_(False)


def test_a_failing_hook_leaves_the_thread_able_to_record():
    x = leaf(1.0)
    y = x * 2

    def fail(g):
        raise ValueError("hook")

    y.register_hook(fail)
    with pytest.raises(ValueError, match="hook"):
        y.backward()
    assert tenfold.is_grad_enabled()
    assert (x * 2).requires_grad


def test_backward_in_two_threads_over_one_graph():
    x = leaf(1.0)
    shared = x.exp()
    outs = [shared * k for k in (1.0, 2.0)]
    threads = [threading.Thread(target=lambda o=o: o.backward(retain_graph=True)) for o in outs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad.tolist() == pytest.approx([3 * np.e], rel=1e-6)


def test_names_that_depend_on_the_call():
    x = tenfold.ones(2, 3, requires_grad=True)
    names = [y.grad_fn.name() for y in (x[0], x[0:1], x[:, None], x.sum(), x.sum(0), x.mean(1))]
    assert names == ["SelectBackward0", "SliceBackward0", "UnsqueezeBackward0", "SumBackward0", "SumBackward1", "MeanBackward1"]
    assert repr(x[0].grad_fn).startswith("<SelectBackward0 object at")


def test_a_node_lists_what_it_saves() -> None:
    x = tenfold.tensor([2.0, 3.0], requires_grad=True)
    node = (x * x).grad_fn
    assert {"_saved_self", "_saved_other", "_raw_saved_self"} <= set(dir(node))
    assert node._saved_self.tolist() == [2.0, 3.0]
    assert x.sum().grad_fn._saved_self_sym_sizes == (2,)
    assert not hasattr(node, "_saved_result")


def test_a_hook_returns_as_many_gradients_as_the_node_has_inputs() -> None:
    x = tenfold.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.grad_fn.next_functions[0][0].register_hook(lambda inputs, outputs: inputs[:1])
    with pytest.raises(RuntimeError, match=r"incorrect number of values \(got 1, but expected 2\)"):
        y.backward()


def test_the_hooks_of_a_tensor_can_be_looked_at_and_taken_away():
    x = tenfold.ones(2, requires_grad=True)
    assert x._backward_hooks is None
    assert tenfold.ones(2)._backward_hooks is None
    handle = x.register_hook(lambda g: g * 10)
    assert list(x._backward_hooks) == [handle.id]
    after = x.register_post_accumulate_grad_hook(lambda t: None)
    assert list(x._post_accumulate_grad_hooks) == [after.id]
    x._backward_hooks.clear()
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    x._backward_hooks = {0: lambda g: g * 3}
    x.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]
    x._backward_hooks = None
    x.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_detaching_in_place_is_no_write():
    y = tenfold.tensor(1.0, requires_grad=True) * 1
    for before in (0, 1):
        assert y._version == before
        y.detach_()
        assert y._version == before
        y += tenfold.tensor(1.0, requires_grad=True)
        assert y._version == before + 1


def test_an_argument_that_was_detached_in_place_has_no_gradient_to_give():
    x = tenfold.tensor(1.0, requires_grad=True)
    y = x * 1
    taken = y.sin()
    y.detach_()
    with pytest.raises(RuntimeError, match=r"saved tensor that has been detached in-place"):
        taken.backward()
    y = x * 1
    kept = y.exp()  # saves its result only
    y.detach_()
    kept.backward()
    assert x.grad.item() == pytest.approx(np.e)
    result = x.exp()
    after = result * 1
    result.detach_()
    after.backward()
    assert x.grad.item() == pytest.approx(2 * np.e)
    (y * x).backward()  # from here on it is a constant
    y.add_(1)
    assert y._version == 1


def test_versions_go_on_when_the_data_are_replaced():
    x = tenfold.zeros(3)
    view = x[:2]
    view.add_(1)
    x.data = tenfold.ones(3)
    assert (x._version, view._version) == (1, 1)
    x.add_(1)
    assert x._version == 2
    assert view.tolist() == [1.0, 1.0]
    fresh = tenfold.zeros(3)
    fresh.data = x
    assert (fresh._version, x._version) == (0, 2)
    fresh.add_(1)
    assert (fresh._version, x._version) == (1, 2)
    assert x.tolist() == fresh.tolist() == [3.0] * 3
    with tenfold.inference_mode():
        made = tenfold.ones(3)
    for before in (tenfold.zeros(3), fresh):
        before.data = made
        assert before.tolist() == [1.0] * 3


def test_anomaly_detection_is_asked_for_by_name():
    assert not tenfold.is_anomaly_enabled()
    with tenfold.autograd.set_detect_anomaly(True, check_nan=False):
        assert tenfold.is_anomaly_enabled()
        assert not tenfold.is_anomaly_check_nan_enabled()
    assert not tenfold.is_anomaly_enabled()


def test_grad_of_no_inputs_is_refused():
    x = tenfold.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="`inputs` argument to `grad\\(\\)` cannot be empty"):
        tenfold.autograd.grad(x * 2, [])
