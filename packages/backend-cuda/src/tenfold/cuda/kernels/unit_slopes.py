"""Slopes of layers' units as Triton expressions: g is the gradient of the result, x the input, a and b the unit's numbers.

Each gives the gradient of the input, so that a unit's backward pass reads two arrays once and writes one. Statements come
before the expression. `math` is libdevice. A comparison with nan is false, which decides what nan gives.
"""

from __future__ import annotations

SIGMOID = "math.rcp_rn(1.0 + math.exp(-x))"
SOFTPLUS = "math.log1p(math.exp(-tl.abs(x))) + tl.where((x > 0) | (x != x), x, 0.0)"
SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805

# Of each kind, by the name that tenfold-nn gives it.
KINDS = {
    "threshold": "tl.where(x <= a, 0.0, g)",
    "hardtanh": "tl.where((x <= a) | (x >= b), 0.0, g)",
    "leaky_relu": "tl.where(x > 0, g, g * a)",
    "shrink": "tl.where((x >= -a) & (x <= a), 0.0, g)",
    "hardsigmoid": "tl.where((x > -3) & (x < 3), math.div_rn(g, tl.full(g.shape, 6.0, g.dtype)), 0.0)",
    "hardswish": "m = math.div_rn(x, tl.full(x.shape, 3.0, x.dtype)) + 0.5\ntl.where(x <= -3, 0.0, tl.where(x < 3, g * m, g))",
    "logsigmoid": "g * math.rcp_rn(1.0 + math.exp(x))",
    "mish": f"t = math.tanh({SOFTPLUS})\ng * (t + x * {SIGMOID} * (1.0 - t * t))",
    "elu": "m = math.exp(tl.where(x < 0, x * b, 0.0)) * (a * b)\ntl.where(x <= 0, g * m, g)",
    "selu": f"g = g * {SELU_SCALE!r}\ntl.where(x <= 0, g * (math.exp(tl.where(x < 0, x, 0.0)) * {SELU_ALPHA!r}), g)",
    "softplus": "s = x * a\ntl.where(s > b, g, g * math.rcp_rn(1.0 + math.exp(-s)))",
    "softsign": (
        "d = 1.0 + tl.abs(x)\nm = math.div_rn(math.div_rn(x, d), d)\n"
        "s = tl.where(x > 0, 1.0, tl.where(x < 0, -1.0, 0.0))\nmath.div_rn(g, d) - g * m * s"
    ),
}
# By name: (text, the letters of its operands). y is prelu's weight, and glu's second half, of whose slopes c says which it is.
SLOPES = {
    **{f"{kind}_slope": (text, "gxab") for kind, text in KINDS.items()},
    "prelu_slope": ("tl.where(x > 0, g, g * y)", "gxy"),
    "prelu_weight_slope": ("tl.where(x > 0, 0.0, g * x)", "gx"),
    "glu_slope": ("s = math.rcp_rn(1.0 + math.exp(-y))\nm = g * s\ntl.where(c != 0, m * (x * (1.0 - s)), m)", "gxyc"),
}
