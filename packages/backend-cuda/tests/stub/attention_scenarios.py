"""Scenarios of attention: its launches, dropout, groups of heads, many heads."""

from __future__ import annotations

from functools import partial

import stub
from scenarios import array, quiet

import tenfold
from tenfold import cuda, nn
from tenfold.nn import functional as F
from tenfold.nn.attention.varlen import varlen_attn


def case_attention_is_one_launch_and_its_gradient_three():
    q, k, v = (array(2, 3, 64, 16, dtype=tenfold.bfloat16) for _ in range(3))
    g = array(2, 3, 64, 16, dtype=tenfold.bfloat16)

    def run():
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        F.scaled_dot_product_attention(*leaves, is_causal=True).backward(g)

    names = ["attend", "attention_slopes", "attention_to_queries", "attention_to_keys"]
    assert quiet(stub.settled(run)).names == names


def case_gradients_to_many_keys_are_one_pass_and_its_rounding():
    passes = {
        tenfold.bfloat16: ["attention_slopes", "attention_to_keys", "attention_rounded"],
        tenfold.float32: ["attention_slopes", "attention_to_keys"],
    }
    for dtype, names in passes.items():
        leaves = [array(2, 3, 1024, 16, dtype=dtype).requires_grad_() for _ in range(3)]
        g = array(2, 3, 1024, 16, dtype=dtype)

        def run(leaves=leaves, g=g):
            F.scaled_dot_product_attention(*leaves, is_causal=True).backward(g)

        expected = ["attend", *names]
        assert quiet(stub.settled(run)).names[: len(expected)] == expected
        with cuda.graph(cuda.CUDAGraph()):
            assert stub.work(run).names[: len(expected)] == expected
        tenfold.use_deterministic_algorithms(True)
        try:
            assert stub.settled(run).names[:4] == ["attend", "attention_slopes", "attention_to_queries", "attention_to_keys"]
        finally:
            tenfold.use_deterministic_algorithms(False)


def case_one_pass_takes_float32_for_the_queries_meanwhile_and_gives_it_back():
    leaves = [array(1, 2, 1024, 64, dtype=tenfold.bfloat16).requires_grad_() for _ in range(3)]
    out = F.scaled_dot_product_attention(*leaves, is_causal=True)
    g, size = out.detach(), leaves[0].numel()
    cuda.reset_peak_memory_stats()
    before = cuda.memory_allocated()
    out.backward(g)
    rows = 4 * 2 * 1024  # a float32 for each query
    assert cuda.max_memory_allocated() - before == (3 * 2 + 4) * size + 2 * rows
    assert cuda.memory_allocated() - before <= 3 * 2 * size


def case_attention_drops_in_its_kernel_and_replays_draw_anew():
    q = array(2, 3, 64, 16, dtype=tenfold.bfloat16).requires_grad_()
    g = array(2, 3, 64, 16, dtype=tenfold.bfloat16)

    def run():
        F.scaled_dot_product_attention(q, q, q, dropout_p=0.1).backward(g)

    names = ["note_words", "attend", "attention_slopes", "attention_to_queries", "attention_to_keys"]
    assert quiet(stub.settled(run)).names[:5] == names
    with cuda.graph(cuda.CUDAGraph()):
        assert stub.work(run).names[:5] == names


def case_attention_has_more_heads_than_a_grid_has_rows():
    q = array(70_000, 1, 2, 16, dtype=tenfold.bfloat16).requires_grad_()
    work = stub.work(lambda: F.scaled_dot_product_attention(q, q, q).backward(q.detach()))
    assert all(max(launch.grid[1:]) <= 65535 for launch in work.launches)
    assert work.launches[0].grid == (70_000, 1, 1)


def case_keys_of_groups_are_not_copied():
    q, k, v = (array(2, n, 64, 16, dtype=tenfold.bfloat16) for n in (8, 2, 2))
    work = quiet(stub.settled(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)))
    assert work.names == ["attend"]
    assert work.launches[0].grid == (16, 1, 1)


def case_sequences_of_variable_length_are_two_launches_and_wait_for_nothing():
    q, k, v, g = (array(100, 3, 16, dtype=tenfold.bfloat16) for _ in range(4))
    starts = array(5, dtype=tenfold.int32)

    def run():
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        varlen_attn(*leaves, starts, starts, 64, 64, window_size=(-1, 0)).backward(g)

    names = ["sequence_table", "attend", "sequence_table", "attention_slopes", "attention_to_queries", "attention_to_keys"]
    work = quiet(stub.settled(run))
    assert work.names == names
    assert work.launches[1].grid == (4 * 3, 1, 1)
    with cuda.graph(cuda.CUDAGraph()):
        assert stub.work(run).names == names


def case_few_queries_to_many_keys_are_two_launches_that_busy_a_gpu():
    q, k = array(2, 8, 1, 64, dtype=tenfold.bfloat16), array(2, 2, 8192, 64, dtype=tenfold.bfloat16)
    work = quiet(stub.settled(lambda: F.scaled_dot_product_attention(q, k, k, enable_gqa=True)))
    assert work.names == ["attend_share", "merge_shares"]
    assert work.launches[0].grid == (4, 32, 1)  # of keys, shared by the four heads of a group


def case_keys_in_pages_are_read_where_they_lie():
    q, k = array(2, 4, 64, dtype=tenfold.bfloat16), array(9, 16, 2, 64, dtype=tenfold.bfloat16)
    starts, used = array(3, dtype=tenfold.int32), array(2, dtype=tenfold.int32)
    table = array(2, 64, dtype=tenfold.int32)

    def run():
        varlen_attn(q, k, k, starts, None, 1, 1024, enable_gqa=True, seqused_k=used, block_table=table)

    assert quiet(stub.settled(run)).names == ["sequence_table", "attend_share", "merge_shares"]
    with cuda.graph(cuda.CUDAGraph()):
        assert stub.work(run).names == ["sequence_table", "attend_share", "merge_shares"]


def of_layer(**options):
    """(kernels and products of multi-head attention that returns its weights, those with its gradients)."""
    layer, x, g = nn.MultiheadAttention(64, 4, batch_first=True, device="cuda", **options), array(2, 32, 64), array(2, 32, 64)
    hidden = array(2, 32) > 2

    def run(grad, mask):
        with tenfold.set_grad_enabled(grad):
            out, weights = layer(x, x, x, key_padding_mask=mask)
        assert weights.shape == (2, 32, 32)
        if grad:
            tenfold.autograd.grad(out, tuple(layer.parameters()), g)

    return [quiet(stub.settled(partial(run, grad, mask))) for grad in (False, True) for mask in (None, hidden)]


def case_attention_that_returns_its_weights_makes_no_scores():
    forward = ["attend", "attention_weights"]
    back = ["attention_slopes", "attention_to_queries", "attention_to_keys", "join_rows", "reduction"]
    hiding, none_seen = ["bitwise_not"], ["add_scaled"]
    for dropout, drawn in ((0.0, []), (0.1, ["note_words"])):
        plain, masked, trained, trained_masked = of_layer(dropout=dropout)
        names = [[name.split("_f_")[0].removesuffix("_b_ll0b") for name in work.names] for work in (plain, masked, trained)]
        assert names[0] == drawn + forward
        assert names[1] == hiding + drawn + forward + none_seen
        assert names[2] == drawn + forward + back
        assert len(trained_masked.launches) == len(names[1]) + len(back)
        assert [work.products for work in (plain, masked, trained, trained_masked)] == [2, 2, 5, 5]


def case_heads_of_one_projection_are_neither_copied_apart_nor_together():
    x, weights = array(2, 32, 64), [array(n, 64).requires_grad_() for n in (192, 64)]
    g = array(2, 32, 64)

    def run():
        q, k, v = (t.view(2, 32, 4, 16).transpose(1, 2) for t in F.linear(x, weights[0]).split(64, -1))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        tenfold.autograd.grad(F.linear(out.transpose(1, 2).reshape(2, 32, 64), weights[1]), weights, g)

    names = ["attend", "attention_slopes", "attention_to_queries", "attention_to_keys", "join_rows"]
    assert quiet(stub.settled(run)).names == names


def case_a_transformers_layer_copies_nothing():
    x, memory, g = (array(4, 16, 32) for _ in range(3))
    # What they are without attention: residuals and normalisation, dropout, an activation.
    for layer, given, forward, back in (
        (nn.TransformerEncoderLayer, (x,), (10, 4), (14, 8)), (nn.TransformerDecoderLayer, (x, memory), (15, 7), (24, 14)),
    ):  # fmt: skip
        made = layer(32, 4, 64, batch_first=True, device="cuda")
        leaves = [y.detach().requires_grad_() for y in given]

        def run(made=made, leaves=leaves):
            return made(*leaves)

        out, wanted = run(), (*leaves, *made.parameters())
        found = [quiet(stub.settled(run))]
        found.append(quiet(stub.settled(lambda: tenfold.autograd.grad(out, wanted, g, retain_graph=True))))  # noqa: B023
        assert [(len(work.launches), work.products) for work in found] == [forward, back], found
        assert not any(name.startswith("cast") for work in found for name in work.names), found


def case_a_mask_that_was_made_causal_is_not_waited_for():
    layer, x = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, device="cuda"), array(4, 16, 32)
    encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    made = lambda: nn.Transformer.generate_square_subsequent_mask(16, device="cuda")  # noqa: E731
    quiet(stub.settled(lambda: encoder(x, mask=made())))
    mask = made().clone()
    for _ in range(2):
        assert stub.work(lambda: encoder(x, mask=mask)).counts["sync"] == 1


def case_slopes_that_are_drawn_are_not_counted():
    x = array(64, 32)
    assert len(quiet(stub.settled(lambda: F.rrelu(x, training=True))).launches) == 4
