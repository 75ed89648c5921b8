"""Samples of parts in memory of their own."""

from __future__ import annotations

from tenfold.testing.samples import error_samples, samples
from tenfold.testing.samples.view import Calls, calls, one_error

CALLS: dict[str, Calls] = {
    "unsafe_split": [((5,), (2,)), ((2, 3), (1, 1))],
    "unsafe_split_with_sizes": [((5,), ([2, 3],)), ((2, 3), ([1, 0, 2], 1))],
    "unsafe_chunk": [((5,), (2,)), ((2, 3), (3, 1))],
    "narrow_copy": [((5,), (0, 1, 3)), ((2, 3), (1, 0, 2))],
}
for _name, _calls in CALLS.items():
    samples(_name)(calls(_calls))
error_samples("unsafe_split")(one_error((-1,), RuntimeError, "non-negative"))
error_samples("unsafe_split_with_sizes")(one_error(([1],), RuntimeError, "sum exactly"))
error_samples("unsafe_chunk")(one_error((0,), RuntimeError, "greater than 0"))
error_samples("narrow_copy")(one_error((0, 0, 9), RuntimeError, "narrow"))
