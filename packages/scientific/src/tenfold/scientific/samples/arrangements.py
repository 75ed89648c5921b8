"""Samples of tensors stacked, cut, grown, mirrored and turned."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.testing.samples import ErrorSample, Sample, error_samples, samples
from tenfold.testing.samples.view import Calls, calls, one_error

CALLS: dict[str, tuple[Calls, Any]] = {
    "fliplr": ([((2, 3), ()), ((0, 3), ())], np.fliplr),
    "flipud": ([((2, 3), ()), ((3,), ())], np.flipud),
    "rot90": ([((2, 3), ()), ((2, 3), (2, (0, 1))), ((2, 3), (-1, (1, 0)))], None),
    "hsplit": ([((2, 4), (2,)), ((4,), (2,))], None),
    "vsplit": ([((4, 2), (2,))], None),
    "dsplit": ([((1, 2, 4), (2,))], None),
    "atleast_1d": ([((), ()), ((3,), ())], None),
    "atleast_2d": ([((), ()), ((3,), ())], None),
    "atleast_3d": ([((), ()), ((3,), ())], None),
}
for _name, (_calls, _reference) in CALLS.items():
    samples(_name, reference=_reference)(calls(_calls))
for _name in ("hstack", "vstack", "row_stack", "dstack", "column_stack"):
    samples(_name)(lambda make: (Sample([make(*s), make(*s)]) for s in ((3,), (2, 3))))
    error_samples(_name)(lambda make: [ErrorSample([], error=RuntimeError, match="non-empty")])
for _name, _shape in (("fliplr", (3,)), ("flipud", ())):
    error_samples(_name)(one_error((), RuntimeError, "Input must be", _shape))
error_samples("rot90")(one_error((1, (0, 0)), RuntimeError, ""))
error_samples("hsplit")(one_error((2,), RuntimeError, "", ()))
error_samples("vsplit")(one_error((2,), RuntimeError, "", (2,)))
error_samples("dsplit")(one_error((2,), RuntimeError, "", (2,)))
