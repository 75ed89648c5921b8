"""Optimizer steps: a program updates one piece of one parameter, whose addresses its row of a table has.

A row: addresses of the parameter, up to three states and the gradient, of which the states may be fewer; behind five such
places the address of the counter of steps, and the piece's length. DECAY 1: of the parameter, 2: in the gradient. SCALED 1:
nothing is done where the number at found_ptr is not 0; 2: gradients are divided by that at scale_ptr besides, and written back.

Sources: Kingma and Ba, "Adam", 2015; of the others, tenfold-optim's modules name them.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl


@triton.jit
def places(row, k: tl.constexpr, i, KIND: tl.constexpr):
    """Addresses of a piece of the array of column k."""
    return tl.load(row + k).to(tl.pointer_type(KIND)) + i


@triton.jit
def here(table_ptr, found_ptr, i, SCALED: tl.constexpr):
    """(this program's row of the table, which elements it has to do with)."""
    row = table_ptr + tl.program_id(0).to(tl.int64) * 7
    mask = i < tl.load(row + 6)
    if SCALED:
        mask = mask & (tl.load(found_ptr) == 0.0)
    return row, mask


@triton.jit
def gradient(row, k: tl.constexpr, i, mask, sign, scale_ptr, SCALED: tl.constexpr, KIND: tl.constexpr, wide: tl.constexpr):
    """The gradient of column k, divided by what it was multiplied by."""
    g_ptr = places(row, k, i, KIND)
    g = tl.load(g_ptr, mask, other=0.0).to(wide)
    if SCALED == 2:
        g = g * (1.0 / tl.load(scale_ptr).to(wide))
        tl.store(g_ptr, g.to(KIND), mask)
    return g * sign


@triton.jit
def number_of_step(row, LONG: tl.constexpr):
    """The counter of steps whose address the row has."""
    if LONG:
        t = tl.load(tl.load(row + 5).to(tl.pointer_type(tl.float64)))
    else:
        t = tl.load(tl.load(row + 5).to(tl.pointer_type(tl.float32)))
    return t


def count_steps(table_ptr, found_ptr, count, SCALED: tl.constexpr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    """Adds 1 to the numbers of type STEP whose addresses the table has."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    if SCALED:
        mask = mask & (tl.load(found_ptr) == 0.0)
    step_ptr = tl.load(table_ptr + i, i < count, other=0).to(tl.pointer_type(STEP))
    tl.store(step_ptr, tl.load(step_ptr, mask, other=0.0) + 1.0, mask)


def next_scale(scale_ptr, growth_ptr, found_ptr, growth_factor, backoff_factor, interval):
    """A scale shrinks where something was found, and grows after `interval` steps in which nothing was, unless past float32."""
    scale = tl.load(scale_ptr)
    steps = tl.load(growth_ptr) + 1
    found = tl.load(found_ptr) != 0.0
    due = steps == interval
    grown = scale * growth_factor
    grown = tl.where(due & (grown < float("inf")), grown, scale)
    tl.store(scale_ptr, tl.where(found, scale * backoff_factor, grown))
    tl.store(growth_ptr, tl.where(found | due, 0, steps))


def adam_step(
    table_ptr, found_ptr, scale_ptr, rate_ptr, sign, decay, new_share, beta2, new_square, eps, size, log_beta1, log_beta2,
    DECAY: tl.constexpr, AMSGRAD: tl.constexpr, COUNTED: tl.constexpr, PLACED: tl.constexpr, SCALED: tl.constexpr,
    KIND: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Adam: p, m, v, with AMSGRAD the largest v, g. COUNTED: the step's number is read on the device, where PLACED the rate too.

    COUNTED 2: a number in float64. `size` is then the rate, `eps` is not corrected yet, and `decay` is without the rate.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.arange(0, BLOCK)
    row, mask = here(table_ptr, found_ptr, i, SCALED)
    if COUNTED:
        t = number_of_step(row, COUNTED == 2).to(tl.float64)
        rate = size
        if PLACED:
            rate = tl.load(rate_ptr)
        # In float64, for 1 - beta**t is a small difference at first: once a program.
        unbias = tl.sqrt(1.0 - tl.exp(t * log_beta2.to(tl.float64)))
        size = (-rate.to(tl.float64) * unbias / (1.0 - tl.exp(t * log_beta1.to(tl.float64)))).to(wide)
        eps = (unbias * eps.to(tl.float64)).to(wide)
        if DECAY == 1:
            decay = 1.0 - rate * decay
    p_ptr = places(row, 0, i, KIND)
    m_ptr = places(row, 1, i, KIND)
    v_ptr = places(row, 2, i, KIND)
    p = tl.load(p_ptr, mask, other=0.0).to(wide)
    m = tl.load(m_ptr, mask, other=0.0).to(wide)
    v = tl.load(v_ptr, mask, other=0.0).to(wide)
    g = gradient(row, 4 if AMSGRAD else 3, i, mask, sign, scale_ptr, SCALED, KIND, wide)
    if DECAY == 1:
        p = p * decay
    if DECAY == 2:
        g = g + p * decay
    m = m + (g - m) * new_share
    v = v * beta2 + g * g * new_square
    tl.store(m_ptr, m.to(KIND), mask)
    tl.store(v_ptr, v.to(KIND), mask)
    if AMSGRAD:
        x_ptr = places(row, 3, i, KIND)
        x = tl.load(x_ptr, mask, other=0.0).to(wide)
        v = tl.where((x > v) | (x != x), x, v)
        tl.store(x_ptr, v.to(KIND), mask)
    p = p + m / (tl.sqrt(v) + eps) * size
    tl.store(p_ptr, p.to(KIND), mask)


def sgd_step(
    table_ptr, found_ptr, scale_ptr, sign, decay, keep, new_share, size, MOMENTUM: tl.constexpr, NESTEROV: tl.constexpr,
    SCALED: tl.constexpr, KIND: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """SGD: p, with MOMENTUM its buffer, g. MOMENTUM 2: the buffer's first contents are the gradient."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.arange(0, BLOCK)
    row, mask = here(table_ptr, found_ptr, i, SCALED)
    p_ptr = places(row, 0, i, KIND)
    p = tl.load(p_ptr, mask, other=0.0).to(wide)
    g = gradient(row, 2 if MOMENTUM else 1, i, mask, sign, scale_ptr, SCALED, KIND, wide) + p * decay
    if MOMENTUM:
        b_ptr = places(row, 1, i, KIND)
        if MOMENTUM == 1:
            b = tl.load(b_ptr, mask, other=0.0).to(wide) * keep + g * new_share
        else:
            b = g
        tl.store(b_ptr, b.to(KIND), mask)
        g = g + b * keep if NESTEROV else b
    tl.store(p_ptr, (p + g * size).to(KIND), mask)


def rule_step(  # noqa: C901 - a branch for each optimizer, chosen when it is compiled
    table_ptr, found_ptr, scale_ptr, sign, decay, n0, n1, n2, n3, n4, n5, RULE: tl.constexpr, FLAGS: tl.constexpr,
    DECAY: tl.constexpr, COUNTED: tl.constexpr, SCALED: tl.constexpr, KIND: tl.constexpr, DOUBLE: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """The other optimizers, by name; FLAGS and the numbers mean what the rule's row in kernels/optim.py says.

    COUNTED: the row's last address is that of float64 numbers of its own: n0 to n5, the decay, and whether RAdam is rectified.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    one: tl.constexpr = RULE == "adagrad" or (RULE == "asgd" or (RULE == "rmsprop" and FLAGS == 0))
    two: tl.constexpr = not one
    three: tl.constexpr = RULE == "rmsprop" and FLAGS == 3
    i = tl.arange(0, BLOCK)
    row, mask = here(table_ptr, found_ptr, i, SCALED)
    if COUNTED:
        numbers = tl.load(row + 5).to(tl.pointer_type(tl.float64))
        n0, n1, n2 = tl.load(numbers).to(wide), tl.load(numbers + 1).to(wide), tl.load(numbers + 2).to(wide)
        n3, n4, n5 = tl.load(numbers + 3).to(wide), tl.load(numbers + 4).to(wide), tl.load(numbers + 5).to(wide)
        decay = tl.load(numbers + 6).to(wide)
    p_ptr = places(row, 0, i, KIND)
    s_ptr = places(row, 1, i, KIND)
    u_ptr = places(row, 2, i, KIND)
    p = tl.load(p_ptr, mask, other=0.0).to(wide)
    s = tl.load(s_ptr, mask, other=0.0).to(wide)
    g = gradient(row, 4 if three else 3 if two else 2, i, mask, sign, scale_ptr, SCALED, KIND, wide)
    if two:
        u = tl.load(u_ptr, mask, other=0.0).to(wide)
    if DECAY == 1:
        p = p * decay
    if DECAY == 2:
        g = g + p * decay
    if RULE == "adadelta":
        s = s * n0 + g * g * n1
        change = tl.sqrt(u + n2) / tl.sqrt(s + n2) * g
        u = u * n0 + change * change * n1
        p = p + change * n3
    if RULE == "adagrad":
        if FLAGS:  # the step's number is on the device, for 2 in float64; n2 is the decay of the rate
            n1 = n1 / (1.0 + (number_of_step(row, FLAGS == 2) - 1.0).to(wide) * n2)
        s = s + g * g
        p = p + g / (tl.sqrt(s) + n0) * n1
    if RULE == "adamax":
        s = s + (g - s) * n0
        size = tl.abs(g) + n2
        u = tl.where((u * n1 > size) | (u != u), u * n1, size)
        p = p + s / u * n3
    if RULE == "nadam":
        s = s + (g - s) * n0
        u = u * n1 + g * g * n2
        p = p + (g * n4 + s * n5) / (tl.sqrt(u) + n3)
    if RULE == "radam":
        s = s + (g - s) * n0
        u = u * n1 + g * g * n2
        if COUNTED:
            p = p + tl.where(tl.load(numbers + 7) != 0.0, s / (tl.sqrt(u) + n3), s) * n4
        else:
            p = p + (s / (tl.sqrt(u) + n3) * n4 if FLAGS else s * n4)
    if RULE == "rmsprop":
        s = s * n0 + g * g * n1
        variance = s
        if FLAGS == 1 or FLAGS == 3:
            u = u + (g - u) * n1
            variance = s - u * u
        change = g / (tl.sqrt(variance) + n2)
        if FLAGS == 2:
            u = u * n4 + change
            change = u
        if FLAGS == 3:
            b_ptr = places(row, 3, i, KIND)
            change = tl.load(b_ptr, mask, other=0.0).to(wide) * n4 + change
            tl.store(b_ptr, change.to(KIND), mask)
        p = p + change * n3
    if RULE == "rprop":
        agreement = g * s
        u = u * tl.where(agreement > 0, n1, tl.where(agreement < 0, n0, 1.0))
        u = tl.where(u < n2, n2, tl.where(u > n3, n3, u))
        s = tl.where(agreement < 0, 0.0, g)
        p = p - tl.where(s > 0, u, tl.where(s < 0, -u, s * u))
    if RULE == "asgd":
        p = p * n0 + g * n1
        s = tl.where(n2 == 1.0, p, s + (p - s) * n2)
    tl.store(p_ptr, p.to(KIND), mask)
    tl.store(s_ptr, s.to(KIND), mask)
    if two:
        tl.store(u_ptr, u.to(KIND), mask)
