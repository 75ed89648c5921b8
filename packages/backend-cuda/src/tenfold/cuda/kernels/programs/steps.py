"""Optimizer steps: a program updates one piece of one parameter, whose addresses its row of a table has.

A row: addresses of the parameter, up to three states and the gradient, of which the states may be fewer; behind five such
places the address of the counter of steps, and the piece's length. DECAY 1: of the parameter, 2: in the gradient.

Sources: Kingma and Ba, "Adam", 2015; of the others, tenfold-optim's modules name them.
"""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl


def count_steps(table_ptr, count, BLOCK: tl.constexpr):
    """Adds 1 to the float32 numbers whose addresses the table has."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    step_ptr = tl.load(table_ptr + i, i < count, other=0).to(tl.pointer_type(tl.float32))
    tl.store(step_ptr, tl.load(step_ptr, i < count, other=0.0) + 1.0, i < count)


def adam_step(
    table_ptr, sign, decay, new_share, beta2, new_square, eps, size, DECAY: tl.constexpr, KIND: tl.constexpr,
    AMSGRAD: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Adam: p, m, v, with AMSGRAD the largest v, g."""
    row = table_ptr + tl.program_id(0).to(tl.int64) * 7
    i = tl.arange(0, BLOCK)
    mask = i < tl.load(row + 6)
    p_ptr = tl.load(row).to(tl.pointer_type(KIND)) + i
    m_ptr = tl.load(row + 1).to(tl.pointer_type(KIND)) + i
    v_ptr = tl.load(row + 2).to(tl.pointer_type(KIND)) + i
    g_ptr = tl.load(row + (4 if AMSGRAD else 3)).to(tl.pointer_type(KIND)) + i
    p = tl.load(p_ptr, mask, other=0.0).to(tl.float32)
    m = tl.load(m_ptr, mask, other=0.0).to(tl.float32)
    v = tl.load(v_ptr, mask, other=0.0).to(tl.float32)
    g = tl.load(g_ptr, mask, other=0.0).to(tl.float32) * sign
    if DECAY == 1:
        p = p * decay
    if DECAY == 2:
        g = g + p * decay
    m = m + (g - m) * new_share
    v = v * beta2 + g * g * new_square
    tl.store(m_ptr, m.to(KIND), mask)
    tl.store(v_ptr, v.to(KIND), mask)
    if AMSGRAD:
        x_ptr = tl.load(row + 3).to(tl.pointer_type(KIND)) + i
        x = tl.load(x_ptr, mask, other=0.0).to(tl.float32)
        v = tl.where((x > v) | (x != x), x, v)
        tl.store(x_ptr, v.to(KIND), mask)
    p = p + m / (tl.sqrt(v) + eps) * size
    tl.store(p_ptr, p.to(KIND), mask)


def adam_step_by_device(
    table_ptr, rate_ptr, sign, decay, new_share, beta2, new_square, eps, rate, log_beta1, log_beta2, DECAY: tl.constexpr,
    KIND: tl.constexpr, AMSGRAD: tl.constexpr, PLACED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Adam with the step's number, and where PLACED the learning rate, read on the device; `decay` is without it."""
    row = table_ptr + tl.program_id(0).to(tl.int64) * 7
    t = tl.load(tl.load(row + 5).to(tl.pointer_type(tl.float32))).to(tl.float64)
    if PLACED:
        rate = tl.load(rate_ptr)
    # In float64, for 1 - beta**t is a small difference at first: once a program.
    unbias = tl.sqrt(1.0 - tl.exp(t * log_beta2.to(tl.float64)))
    size = (-rate.to(tl.float64) * unbias / (1.0 - tl.exp(t * log_beta1.to(tl.float64)))).to(tl.float32)
    near = (unbias * eps.to(tl.float64)).to(tl.float32)
    i = tl.arange(0, BLOCK)
    mask = i < tl.load(row + 6)
    p_ptr = tl.load(row).to(tl.pointer_type(KIND)) + i
    m_ptr = tl.load(row + 1).to(tl.pointer_type(KIND)) + i
    v_ptr = tl.load(row + 2).to(tl.pointer_type(KIND)) + i
    g_ptr = tl.load(row + (4 if AMSGRAD else 3)).to(tl.pointer_type(KIND)) + i
    p = tl.load(p_ptr, mask, other=0.0).to(tl.float32)
    m = tl.load(m_ptr, mask, other=0.0).to(tl.float32)
    v = tl.load(v_ptr, mask, other=0.0).to(tl.float32)
    g = tl.load(g_ptr, mask, other=0.0).to(tl.float32) * sign
    if DECAY == 1:
        p = p * (1.0 - rate * decay)
    if DECAY == 2:
        g = g + p * decay
    m = m + (g - m) * new_share
    v = v * beta2 + g * g * new_square
    tl.store(m_ptr, m.to(KIND), mask)
    tl.store(v_ptr, v.to(KIND), mask)
    if AMSGRAD:
        x_ptr = tl.load(row + 3).to(tl.pointer_type(KIND)) + i
        x = tl.load(x_ptr, mask, other=0.0).to(tl.float32)
        v = tl.where((x > v) | (x != x), x, v)
        tl.store(x_ptr, v.to(KIND), mask)
    p = p + m / (tl.sqrt(v) + near) * size
    tl.store(p_ptr, p.to(KIND), mask)


def sgd_step(
    table_ptr, sign, decay, keep, new_share, size, MOMENTUM: tl.constexpr, NESTEROV: tl.constexpr, KIND: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """SGD: p, with MOMENTUM its buffer, g."""
    row = table_ptr + tl.program_id(0).to(tl.int64) * 7
    i = tl.arange(0, BLOCK)
    mask = i < tl.load(row + 6)
    p_ptr = tl.load(row).to(tl.pointer_type(KIND)) + i
    g_ptr = tl.load(row + (2 if MOMENTUM else 1)).to(tl.pointer_type(KIND)) + i
    p = tl.load(p_ptr, mask, other=0.0).to(tl.float32)
    g = tl.load(g_ptr, mask, other=0.0).to(tl.float32) * sign + p * decay
    if MOMENTUM:
        b_ptr = tl.load(row + 1).to(tl.pointer_type(KIND)) + i
        b = tl.load(b_ptr, mask, other=0.0).to(tl.float32) * keep + g * new_share
        tl.store(b_ptr, b.to(KIND), mask)
        g = g + b * keep if NESTEROV else b
    tl.store(p_ptr, (p + g * size).to(KIND), mask)


def rule_step(  # noqa: C901 - a branch for each optimizer, chosen when it is compiled
    table_ptr, sign, decay, n0, n1, n2, n3, n4, n5, RULE: tl.constexpr, FLAGS: tl.constexpr, DECAY: tl.constexpr,
    KIND: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The other optimizers, by name; FLAGS and the numbers mean what the rule's row in kernels/optim.py says."""
    one: tl.constexpr = RULE == "adagrad" or (RULE == "asgd" or (RULE == "rmsprop" and FLAGS == 0))
    two: tl.constexpr = not one
    three: tl.constexpr = RULE == "rmsprop" and FLAGS == 3
    row = table_ptr + tl.program_id(0).to(tl.int64) * 7
    i = tl.arange(0, BLOCK)
    mask = i < tl.load(row + 6)
    p_ptr = tl.load(row).to(tl.pointer_type(KIND)) + i
    s_ptr = tl.load(row + 1).to(tl.pointer_type(KIND)) + i
    u_ptr = tl.load(row + 2).to(tl.pointer_type(KIND)) + i
    g_ptr = tl.load(row + (4 if three else 3 if two else 2)).to(tl.pointer_type(KIND)) + i
    p = tl.load(p_ptr, mask, other=0.0).to(tl.float32)
    s = tl.load(s_ptr, mask, other=0.0).to(tl.float32)
    g = tl.load(g_ptr, mask, other=0.0).to(tl.float32) * sign
    if two:
        u = tl.load(u_ptr, mask, other=0.0).to(tl.float32)
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
            b_ptr = tl.load(row + 3).to(tl.pointer_type(KIND)) + i
            change = tl.load(b_ptr, mask, other=0.0).to(tl.float32) * n4 + change
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
