"""Differences of gradients from PyTorch's that random programs may show: rows as those of accepted_programs.py."""

from __future__ import annotations

ACCEPTED = [
    (
        r"any operator|backward.*|autograd\.grad.*",
        r"a gradient of PyTorch's own has the wrong shape( \[.*\])?",
        "of a leaf or result whose shape was changed without recording: PyTorch's engine refuses its own gradient",
    ),
    (
        r"autograd\.grad.*",
        r"kind of result Tensor / NoneType \[of a derivative\]",
        "whether a derivative is computed from an operator's result, which was asked for, or from what it was given",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value(-complex)? \[a complex product made real\]",
        "the gradient of the product of real parts, which it is; PyTorch's formula multiplies the complex numbers",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value \[rounding\]",
        "as near to the gradient of float64 as PyTorch's, within a few roundings of its terms",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value-nonfinite \[(nan behind a zero|an ignored row)\]",
        "nan times zero behind a zero in a product, which PyTorch leaves out; 0 for an ignored row, where it has nan times zero",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value(-nonfinite)? \[half\]",
        "each step of a backward pass rounds to half precision: as near to float64's as PyTorch's, within a few roundings",
    ),
    (
        r"autograd\.grad.*|backward.*",
        r"(grad )?value \[ldexp of integers\]",
        "PyTorch multiplies by 2**n of integers, 0 for n < 0",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value(-nonfinite)? \[an exponent beyond 2 \*\* 53\]",
        "PyTorch's n - 1 wraps around, or is rounded to an even number",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value-(complex-)?nonfinite \[a power of False\]",
        "a constant, as of 0; PyTorch multiplies 0 by 1 / x",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value-nonfinite \[0 times infinity\]",
        "what is put in nan's place is a constant, whatever gradient comes in; PyTorch multiplies that by 0",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value-nonfinite \[all was overwritten\]",
        "no gradient goes to what was overwritten; PyTorch sends zeros, which infinite derivatives make nan",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value-nonfinite \[(an infinite factor|the product of the others)\]",
        "the product of the others; PyTorch divides the product by the factor, inf by inf, and leaves out what follows a zero",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value(-nonfinite)? \[a unit at nan\]",
        "slope 1, as PyTorch's loops over single elements (and its other devices) have it; its vectors give 0 or nan",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value(-nonfinite)? \[a mode beside nan\]",
        "the gradient of the most frequent element; PyTorch sorts by <, which nan leaves in disorder",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value-nonfinite \[the zeros of sgn\]",
        "0 times an infinite derivative is nan, as PyTorch has it after `sign`; after `sgn` its zeros are not multiplied",
    ),
    (
        r"autograd\.grad.*|backward.*",
        r"(grad )?value(-nonfinite)? \[blocks after an empty vector\]",
        "an empty vector is a row of `block_diag`: PyTorch's gradients of the blocks after it are those of the row before",
    ),
    (
        r"autograd\.grad.*|backward.*",
        r"(grad )?shape \[a tensor of another shape than before\]",
        "that of the tensor, which was reshaped in place under no_grad; PyTorch's is of the shape at its first use",
    ),
    (
        r"autograd\.grad create|backward create",
        r"(grad )?is_leaf True / False \[of nothing\]",
        "of running extremes of nothing: PyTorch gives the empty input itself as its gradient",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value(-nonfinite)? \[integers squared\]",
        "the derivative of atan2 in floats; PyTorch squares small integers in their dtype, where they overflow",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"error: (AttributeError|TypeError) / None \[a hook without a gradient\]",
        "PyTorch calls a leaf's hook after a pass that brought it no gradient (of a norm that counts): there is none to work on",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value-complex-nonfinite \[the same poles\]",
        "how inf and nan share out to the parts of a complex number is not defined; the numbers beside are the same",
    ),
    (r"autograd\.grad.*", r"stride", "a gradient that is the same everywhere is one number, expanded"),
    (
        r"autograd\.grad.*|backward create",
        r"(grad )?(requires_grad (True / False|False / True)|stride)",
        "whether a constant derivative has a graph behind it",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value-nonfinite \[infinite rows\]",
        "what infinity minus infinity is not: PyTorch takes the sums of a norm's infinite terms from each other first",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value \[a tie with what is left out\]",
        "the whole gradient; with include_self=False PyTorch gives a share to an equal number that had no part in the extreme",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value-nonfinite \[no curvature at infinity\]",
        "a second derivative of zero times an infinite gradient: nan or nothing, by PyTorch's vectors and its other loops, too",
    ),
    (
        r"backward.*|autograd\.grad.*",
        r"(grad )?value-nonfinite \[a norm of zeros\]",
        "renorm leaves zeros as they are: a factor of 1, where PyTorch's second derivative of their norm is 0 / 0",
    ),
]
