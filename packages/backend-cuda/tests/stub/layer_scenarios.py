"""Scenarios of layers that are few launches: losses, dropout, norms of groups, recurrence."""

# ruff: noqa: B023 - calls are made inside the loops

from __future__ import annotations

import stub
from scenarios import DEVICE, array, quiet

import tenfold
from tenfold import cuda, nn
from tenfold.nn import functional as F


def trained(call, *shapes):
    """What a call and its gradient give the device to do."""
    tensors, seeds = [array(*shape) for shape in shapes], {}

    def run():
        result = call(*[t.detach().requires_grad_() for t in tensors])
        shape = tuple(result.shape)
        if shape not in seeds:
            seeds[shape] = array(*shape)
        result.backward(seeds[shape])

    return quiet(stub.settled(run))


def case_a_loss_with_its_gradient_is_two_launches():
    t, classes, p = array(64, 32), tenfold.zeros(64, dtype=tenfold.int64, device=DEVICE), array(32)
    for reduction in ("mean", "sum", "none"):
        for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy, F.soft_margin_loss,
                     F.binary_cross_entropy_with_logits, F.poisson_nll_loss, F.hinge_embedding_loss):  # fmt: skip
            assert len(trained(lambda x: loss(x, t, reduction=reduction), (64, 32)).launches) == 2, loss
        work = trained(lambda x: F.nll_loss(x, classes, p, reduction=reduction), (64, 32))
        assert work.names == ["pick_losses", "pick_gradient"]
    work = trained(lambda x: F.binary_cross_entropy_with_logits(x, t, p, pos_weight=p), (64, 32))
    assert len(work.launches) == 2
    assert len(trained(lambda x: F.kl_div(x, t, reduction="batchmean"), (64, 32)).launches) == 2
    big = trained(lambda x: F.mse_loss(x, x.detach()), (4096, 1056)).launches[0]
    assert big.grid[0] <= 1056


def case_a_recorded_write_is_one_launch_and_two_where_the_old_value_is_kept():
    other, weight = array(64, 32), array(64, 32).requires_grad_()

    def written(write):
        """Launches and copies of a write to a result, whose place in the graph it takes."""
        y = array(64, 32).requires_grad_() * 2
        work = quiet(stub.work(lambda: write(y)))
        return len(work.launches) + work.counts["on_device"]

    one = {
        "relu": lambda y: F.relu(y, inplace=True), "identity": lambda y: y.__iadd__(other), "sum": lambda y: y.add_(weight),
        "multiple": lambda y: y.add_(weight, alpha=2), "product": lambda y: y.mul_(other), "number": lambda y: y.mul_(3.0),
        "exp": lambda y: y.exp_(), "sigmoid": lambda y: y.sigmoid_(), "part": lambda y: y[8:].add_(other[8:]),
    }  # fmt: skip
    two = {
        "product": lambda y: y.mul_(weight), "limit": lambda y: y.clamp_min_(0.5), "relu6": lambda y: F.relu6(y, inplace=True),
        "silu": lambda y: F.silu(y, inplace=True), "sin": lambda y: y.sin_(),
    }  # fmt: skip
    for count, writes in ((1, one), (2, two)):
        for name, write in writes.items():
            written(write)  # compiled
            assert written(write) == count, (name, written(write))


def case_a_unit_with_its_gradient_is_two_launches():
    for unit in (F.leaky_relu, F.hardtanh, F.relu6, F.elu, F.celu, F.selu, F.mish, F.softplus, F.softsign,
                 F.hardshrink, F.softshrink, F.hardsigmoid, F.hardswish, F.logsigmoid, F.silu, F.gelu, F.glu, tenfold.sigmoid,
                 tenfold.tanh,
                 lambda x: F.threshold(x, 0.1, 0.2), lambda x: F.softmax(x, 0), lambda x: F.log_softmax(x, 0),
                 lambda x: F.softmax(x.view(8, 8, 32), 1)):  # fmt: skip
        work = trained(unit, (64, 32))
        assert len(work.launches) == 2, (unit, work.names)
    assert len(trained(F.prelu, (64, 32), (1,)).launches) == 3
    assert len(trained(F.prelu, (4, 8, 6, 6), (8,)).launches) == 4


def case_a_function_with_its_gradients_is_two_launches():
    one = ("abs square sqrt rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh "
           "acosh atanh sigmoid erf erfc erfinv sinc").split()  # fmt: skip
    several = ("mul div pow atan2 hypot xlogy maximum minimum fmax fmin fmod logaddexp logaddexp2 lerp addcmul addcdiv").split()
    for name in (*one, *several):
        count = 1 if name in one else 3 if name in ("lerp", "addcmul", "addcdiv") else 2
        work = trained(getattr(tenfold, name), *[(64, 32)] * count)
        assert len(work.launches) == 2, (name, work.names)
    for call in (lambda x: x**2, lambda x: x**3, lambda x: 2**x, lambda x: x.clamp_min(0)):
        work = trained(call, (64, 32))
        assert len(work.launches) == 2, work.names
    work = trained(lambda x, y: tenfold.where(x > 0, x, y), (64, 32), (64, 32))
    assert len(work.launches) == 3, work.names
    work = trained(lambda x, y: tenfold.atan2(x, y), (64, 32), (32,))
    assert len(work.launches) == 3, work.names  # and the sum over the broadcast dimension


def case_a_reduction_with_its_gradient_is_few_launches():
    counts = {
        "var": 3, "std": 3, "amax": 4, "amin": 4, "logsumexp": 2, 1: 2, 2: 2, 3: 2, 0.5: 2, float("inf"): 4,
    }  # fmt: skip
    for name, count in counts.items():
        for options in ({"dim": 1}, {"dim": 0, "keepdim": True}, {"dim": (0, 1)}):
            call = (
                (lambda x: getattr(x, name)(**options))
                if type(name) is str
                else (lambda x: tenfold.linalg.vector_norm(x, name, **options))
            )
            work = trained(call, (64, 32))
            assert len(work.launches) == count, (name, options, work.names)
    for options in ({}, {"dim": 1}):
        assert len(trained(lambda x: x.prod(**options), (64, 32)).launches) == 4
    x = array(64, 32)
    for call in (tenfold.var_mean, tenfold.std_mean, lambda x: tenfold.var_mean(x, 1)):
        assert quiet(stub.settled(lambda call=call: call(x))).names == ["reduction"]


def case_losses_of_rows_and_of_variances():
    t, sign, p = array(64, 32), array(64), array(32)
    for reduction in ("mean", "sum", "none"):
        for smoothing, weight in ((0.0, None), (0.1, p)):
            options = {"weight": weight, "reduction": reduction, "label_smoothing": smoothing}
            work = trained(lambda x: F.cross_entropy(x, t, **options), (64, 32))
            assert work.names == ["soft_cross_entropy", "soft_cross_entropy_gradient"]
        work = trained(lambda x, y: F.cosine_embedding_loss(x, y, sign, reduction=reduction), (64, 32), (64, 32))
        assert len(work.launches) == 4, work.names
        work = trained(lambda x, y, z: F.triplet_margin_loss(x, y, z, reduction=reduction), *[(64, 32)] * 3)
        assert len(work.launches) <= 9, work.names
        # Besides, PyTorch's refusal of a negative variance waits for the device, there and here.
        tensors = [array(64, 32).requires_grad_() for _ in range(2)]
        seed = array() if reduction != "none" else array(64, 32)
        work = stub.settled(lambda: F.gaussian_nll_loss(tensors[0], t, tensors[1], reduction=reduction).backward(seed))
        assert len([name for name in work.names if "gaussian" in name or "variance" in name]) == 3, work.names


def case_bags_are_a_launch_and_wait_for_no_offsets():
    square, flat = (tenfold.zeros(*shape, dtype=tenfold.int64, device=DEVICE) for shape in ((8, 4), (32,)))
    starts = tenfold.arange(0, 32, 8, device=DEVICE)
    for given in ((square,), (flat, starts)):
        for options in ({"mode": "sum"}, {"mode": "mean"}, {"mode": "max"}, {"padding_idx": 1}, {"include_last_offset": True}):
            if given[1:] or "include_last_offset" not in options:
                work = trained(lambda w: F.embedding_bag(given[0], w, *given[1:], **options), (10, 32))
                assert len(work.launches) == 2, (options, work.names)
                assert work.names[0] == "bags"
    work = trained(lambda w, p: F.embedding_bag(flat, w, starts, mode="sum", per_sample_weights=p), (10, 32), (32,))
    assert work.names == ["bags", "bags_gradient", "bag_factors_gradient"]
    work = trained(lambda w: F.embedding_bag(flat, w, starts, scale_grad_by_freq=True), (10, 32))
    assert len(work.launches) <= 4, work.names
    table = array(10, 32)
    for mode in ("sum", "mean"):
        for options in ({}, {"include_last_offset": True}, {"padding_idx": 1}):  # PyTorch waits for padding behind, too
            work = quiet(stub.settled(lambda: F.embedding_bag(flat, table, starts, mode=mode, sparse=True, **options)))
            assert work.names == ["bags"], work.names
            if "padding_idx" not in options:
                trained(lambda w: F.embedding_bag(flat, w, starts, mode=mode, sparse=True, **options), (10, 32))
    work = quiet(stub.settled(lambda: F.embedding(flat, table, max_norm=1.0)))
    assert len(work.launches) <= 4, work.names


def case_margins_of_rows_are_two_launches_with_their_gradient():
    classes, labels = (tenfold.zeros(*shape, dtype=tenfold.int64, device=DEVICE) for shape in ((64,), (64, 32)))
    y, w = array(64, 32), array(32)
    for reduction in ("mean", "sum", "none"):
        for p, weight in ((1, None), (2, w)):
            work = trained(lambda x: F.multi_margin_loss(x, classes, p, weight=weight, reduction=reduction), (64, 32))
            assert work.names == ["class_margins", "class_margins_gradient"]
        work = trained(lambda x: F.multilabel_margin_loss(x, labels, reduction=reduction), (64, 32))
        assert work.names == ["label_margins", "label_margins_gradient"]
        assert len(trained(lambda x: F.poisson_nll_loss(x, y, full=True, reduction=reduction), (64, 32)).launches) == 2
    assert len(trained(lambda x: F.multilabel_soft_margin_loss(x, y, reduction="none"), (64, 32)).launches) == 4


def case_distances_of_all_pairs_and_rows_over_their_norms():
    for p in (1.0, 1.5, 2.0, float("inf")):
        work = trained(lambda x, y: tenfold.cdist(x, y, p), (16, 32), (8, 32))
        assert work.names == ["distances", "distances_gradient", "distances_gradient"]
        assert trained(lambda x: F.pdist(x, p), (16, 32)).names == ["distances", "distances_gradient"]
    work = trained(tenfold.cdist, (64, 32), (64, 32))
    assert (len(work.launches), work.products) == (7, 3), work.names
    for p in (1, 2, 3, 0.5, float("inf")):
        for dim in (0, 1, 2):
            assert trained(lambda x: F.normalize(x, p, dim), (8, 6, 5)).names == ["scaled_rows", "scaled_rows_gradient"]
        assert len(trained(lambda x: tenfold.renorm(x, p, 0, 1.0), (8, 6, 5)).launches) == 2
    assert trained(lambda x: F.local_response_norm(x, 5), (4, 8, 6, 6)).names == ["response_norm", "response_norm_gradient"]


def case_a_cell_is_two_products_and_a_launch():
    x = array(8, 16)
    for make in (nn.LSTMCell, nn.GRUCell, nn.RNNCell):
        cell = make(16, 32).to(DEVICE)
        with tenfold.no_grad():
            work = quiet(stub.settled(lambda: cell(x)))
        assert work.products == 2, work
        assert len(work.launches) <= 2, work.names


def case_dropout_is_one_launch_also_where_it_is_recorded():
    for drop in (F.dropout, lambda x: F.alpha_dropout(x, 0.5, True), lambda x: tenfold.native_dropout(x, 0.5, True)[0]):
        assert [name.split("_f_")[0] for name in trained(drop, (64, 32)).names] == ["drop_samples", "drop"]
    x, graph = array(64, 32), cuda.CUDAGraph()
    F.dropout(x)
    with cuda.graph(graph):
        work = stub.work(lambda: F.dropout(x))
    assert work.names == ["drop_samples"]
    assert len(trained(lambda x: F.dropout2d(x), (4, 8, 6, 6)).launches) == 3


def case_norms_of_groups_and_of_long_rows():
    work = trained(lambda x, w, b: F.group_norm(x, 2, w, b), (4, 8, 6, 6), (8,), (8,))
    assert work.names == ["channel_moments", "group_norm", "plane_slopes", "group_norm_gradient", "plane_parameters"]
    assert len(trained(lambda x: F.instance_norm(x), (4, 8, 6, 6)).launches) == 5
    work = trained(lambda x, w, b: F.layer_norm(x, (70000,), w, b), (2, 70000), (70000,), (70000,))
    assert work.names == ["norm_long", "norm_gradient_long", "norm_parameters"]


def case_a_step_of_a_recurrence_is_a_product_and_a_launch():
    T, x = 10, array(10, 4, 16)
    for model, extra in ((nn.LSTM(16, 32), 2), (nn.GRU(16, 32), 1), (nn.RNN(16, 32), 1)):
        model = model.to(DEVICE)
        with tenfold.no_grad():
            work = quiet(stub.settled(lambda: model(x)))
        assert len(work.launches) <= T + extra, work
        assert work.products == T + 1, work

        def step():
            model(x)[0].backward(seed)

        seed = array(T, 4, 32)
        step()
        for p in model.parameters():
            p.grad = None
        work = stub.work(step)
        assert len(work.launches) <= 2 * T + 20, work
        assert not {"sync", "to_host", "to_device"} & set(work.counts)


def case_cosines_and_distances_of_rows_with_gradients_are_two_launches():
    distances = [lambda x, y, p=p: F.pairwise_distance(x, y, p) for p in (0.5, 1, 2, 3, float("inf"))]
    for call in (lambda x, y: F.cosine_similarity(x, y), *distances):
        assert trained(call, (64, 32), (64, 32)).names == ["row_pairs", "row_pairs_gradient"]
    assert len(trained(lambda x, y: F.cosine_similarity(x, y, 0), (64, 32), (64, 32)).launches) <= 8


def case_a_vector_product_is_one_launch():
    a, b, g = (array(64, 3).requires_grad_(k < 2) for k in range(3))
    for dim, turned in ((1, lambda t: t), (0, lambda t: t.t())):
        work = quiet(stub.settled(lambda: tenfold.linalg.cross(turned(a), turned(b), dim=dim)))
        assert work.names == ["cross_products"], work.names
        work = quiet(stub.settled(lambda: tenfold.linalg.cross(turned(a), turned(b), dim=dim).backward(turned(g))))
        assert len(work.launches) <= 3 + 2, work.names  # and what adds to the gradients that are there


def case_packing_is_one_launch_however_many_steps_there_are():
    rows = array(4, 16, 8).requires_grad_()
    for first, lengths in ((True, [16, 12, 8, 4]), (False, [4] * 16)):
        call = lambda first=first, lengths=lengths: nn.utils.rnn.pack_padded_sequence(rows, lengths, first)  # noqa: E731
        assert stub.settled(call).names == ["rows_at"]
        packed = call()
        g = tenfold.ones_like(packed.data)
        work = quiet(stub.settled(lambda: tenfold.autograd.grad(packed.data, rows, g, retain_graph=True)))
        assert work.names == ["rows_at"]
        data = array(*packed.data.shape).requires_grad_()
        assert len(stub.settled(lambda: nn.utils.rnn.pad_packed_sequence(packed._replace(data=data), first)).names) <= 3
        padded, _ = nn.utils.rnn.pad_packed_sequence(packed._replace(data=data), first)
        g = tenfold.ones_like(padded)
        assert len(quiet(stub.settled(lambda: tenfold.autograd.grad(padded, data, g, retain_graph=True))).names) <= 2
