"""Linear algebra under vmap: matrices are the last two dimensions, so a batch is one dimension more in front."""

from __future__ import annotations

from tenfold.autograd.batching import Batch, Result, batching_by_name, examples
from tenfold.autograd.batching_rules.kinds import padded


def in_front(batch: Batch) -> Result:
    """Operators of one matrix."""
    name = batch.names[0]
    return batch.call(**{name: batch.front(name)}), 0


def two_in_front(batch: Batch) -> Result:
    """Operators of two matrices with equal batches."""
    return batch.call(A=batch.front("A"), B=batch.front("B")), 0


batching_by_name(
    "qr_pair svd_triple eigh_pair eig_pair cholesky_pair inverse_pair determinant log_determinant "
    "lu_packed pivot_order geqrf_pair ldl_packed cholesky_inverted",
    in_front,
)


def factored_in_front(batch: Batch) -> Result:
    """A factorisation and its right side, with equal batches."""
    n = max(batch.ndim("LD"), batch.ndim("B"))
    LD, B = (padded(batch.front(name), n) for name in ("LD", "B"))
    return batch.call(LD=LD, pivots=padded(batch.front("pivots"), n - 1), B=B), 0


batching_by_name("linalg_ldl_solve", factored_in_front)
batching_by_name("pseudo_inverse", examples)
batching_by_name("solve_pair triangular_solution cholesky_solution", two_in_front)
