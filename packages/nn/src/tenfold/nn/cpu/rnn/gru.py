"""The gated recurrent unit, step after step in place."""

from __future__ import annotations

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.cpu.rnn.steps import Array, conjugated, input_sums, products_of_steps
from tenfold.nn.ops.rnn import gru as ops
from tenfold.nn.ops.rnn.steps import previous, walk


@kernel(ops.fused_gru, device="cpu")
@array_kernel(rounded=2)
def fused_gru(
    input: Array,
    hx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    batch_sizes: list[int],
    reverse: bool,
) -> tuple[Array, Array, Array]:
    """All outputs, the last state, and n, r, z and v of all steps; what goes into r and z is held negated, as exp wants it."""
    sums = input_sums(input, w_ih, b_ih)
    H = hx.shape[1]
    into_rz = sums[:, : 2 * H]
    if b_hh is not None:
        into_rz += b_hh[: 2 * H]
    np.negative(into_rz, out=into_rz)
    gates, out = np.empty((len(sums), 4, H), sums.dtype), np.empty((len(sums), H), sums.dtype)
    h, from_state = np.array(hx, order="C"), np.empty((len(hx), 3 * H), sums.dtype)
    padded = batch_sizes[0] == batch_sizes[-1]
    with products_of_steps(len(hx), w_hh) as product:
        for rows, n in walk(batch_sizes, reverse):
            state, added, new, rz = h[:n], from_state[:n], out[rows], gates[rows, 1:3]
            candidate, r, z, v = gates[rows].transpose(1, 0, 2)
            product(state, w_hh.T, added)
            np.subtract(into_rz[rows].reshape(n, 2, H), added[:, : 2 * H].reshape(n, 2, H), out=rz)
            np.exp(rz, out=rz)
            rz += 1
            np.reciprocal(rz, out=rz)
            np.add(added[:, 2 * H :], 0 if b_hh is None else b_hh[2 * H :], out=v)
            np.multiply(r, v, out=candidate)
            candidate += sums[rows, 2 * H :]
            np.tanh(candidate, out=candidate)
            np.subtract(state, candidate, out=new)
            new *= z
            new += candidate
            if padded:
                h = new
            else:
                h[:n] = new
    return out, h.copy(), gates.reshape(len(sums), 4 * H)


@kernel(ops.fused_gru_grad, device="cpu")
@array_kernel(rounded=2)
@conjugated(2, results=(0, 1))
def fused_gru_grad(
    grad: Array,
    grad_h: Array,
    input: Array,
    hx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    output: Array,
    gates: Array,
    batch_sizes: list[int],
    reverse: bool,
) -> tuple[Array, Array]:
    """The gradients for x_n, the sums in r and z, and v, and for hx; their slopes are computed for all steps at once."""
    H = hx.shape[1]
    inner = _slopes(gates.reshape(len(gates), 4, H), np.concatenate(previous(output, hx, batch_sizes, reverse)))
    flat, keep = inner.reshape(gates.shape), gates[:, 2 * H : 3 * H]
    flow, spare = np.array(grad_h, order="C"), np.empty(hx.shape, inner.dtype)
    with products_of_steps(len(hx), w_hh) as product:
        for rows, n in reversed(walk(batch_sizes, reverse)):
            d, x = flow[:n], inner[rows]
            d += grad[rows]
            x *= d[:, None]
            d *= keep[rows]
            d += product(flat[rows, H:], w_hh, spare[:n])
    return flat, flow


def _slopes(gates: Array, before: Array) -> Array:
    """What the gradient of a new state is multiplied by on its way to x_n, the sums in r and z, and v."""
    n, r, z, v = gates.transpose(1, 0, 2)
    slopes = np.empty_like(gates)
    s_n, s_r, s_z, s_v = slopes.transpose(1, 0, 2)
    open_ = 1 - z
    np.multiply(n, n, out=s_n)
    np.subtract(1, s_n, out=s_n)
    s_n *= open_
    np.multiply(s_n, r, out=s_v)
    np.subtract(1, r, out=s_r)
    s_r *= s_v
    s_r *= v
    np.subtract(before, n, out=s_z)
    s_z *= z
    s_z *= open_
    return slopes
