"""Gradients of elementwise functions as Triton expressions: g is the gradient of the result, o the result.

x, y and z are the operands and a a number, as in formulas.py; c is a condition. Beside each operator's tensors stands what its
rule in tenfold-autograd computes in several steps, at zeros, infinities and nan too.
"""

from __future__ import annotations

from math import log, pi, sqrt

SQUARES = "m = x * x + y * y\nm = tl.where(m == 0, 0.0, math.rcp_rn(m))\n"
HALVED = "tl.where(x == y, g * 0.5, tl.where(x {} y, 0.0, g))"

# Of one tensor: (text, letters).
UNARY = {
    "abs": ("g * tl.where(x > 0, 1.0, tl.where(x < 0, -1.0, 0.0))", "gx"),
    "square": ("g * (x * 2.0)", "gx"),
    "reciprocal": ("g * -1.0 * (o * o)", "go"),
    "exp2": (f"g * (o * {log(2)!r})", "go"),
    "expm1": ("g * (o + 1.0)", "go"),
    "log2": (f"math.div_rn(g, x * {log(2)!r})", "gx"),
    "log10": (f"math.div_rn(g, x * {log(10)!r})", "gx"),
    "log1p": ("math.div_rn(g, x + 1.0)", "gx"),
    "sqrt": ("math.div_rn(g, o * 2.0)", "go"),
    "rsqrt": ("g * (o * o * o * -0.5)", "go"),
    "sin": ("g * math.cos(x)", "gx"),
    "cos": ("g * (math.sin(x) * -1.0)", "gx"),
    "tan": ("g * (o * o + 1.0)", "go"),
    "asin": ("g * math.rcp_rn(math.sqrt_rn(1.0 - x * x))", "gx"),
    "acos": ("g * (math.rcp_rn(math.sqrt_rn(1.0 - x * x)) * -1.0)", "gx"),
    "atan": ("math.div_rn(g, x * x + 1.0)", "gx"),
    "sinh": ("g * math.cosh(x)", "gx"),
    "cosh": ("g * math.sinh(x)", "gx"),
    "tanh": ("g * (1.0 - o * o)", "go"),
    "asinh": ("g * math.rcp_rn(math.sqrt_rn(x * x + 1.0))", "gx"),
    "acosh": ("g * math.rcp_rn(math.sqrt_rn((x - 1.0) * (x + 1.0) + 0.0))", "gx"),
    "atanh": ("math.div_rn(g, 1.0 - x * x)", "gx"),
    "sigmoid": ("g * (o * (1.0 - o))", "go"),
    "erf": (f"g * (math.exp(x * -1.0 * x) * {2 / sqrt(pi)!r})", "gx"),
    "erfc": (f"g * (math.exp(x * -1.0 * x) * {-2 / sqrt(pi)!r})", "gx"),
    "erfinv": (f"m = math.erfinv(x)\ng * (math.exp(m * m) * {sqrt(pi) / 2!r})", "gx"),
    "sinc": (
        f"m = x * {pi!r}\ntl.where(x == 0, 0.0, g * math.div_rn(math.cos(m) - math.div_rn(math.sin(m), m), x))", "gx"
    ),
}  # fmt: skip
# Of several, by the tensor. That of `input` is all of g where it has none.
SEVERAL = {
    "mul": {"input": ("g * y", "gy"), "other": ("g * x", "gx")},
    "div": {"input": ("math.div_rn(g, y)", "gy"), "other": ("g * (math.div_rn(math.div_rn(x, y), y) * -1.0)", "gxy")},
    "fmod": {"other": ("g * (math.trunc(math.div_rn(x, y)) * -1.0)", "gxy")},
    "pow": {
        "input": ("tl.where(y == 0, 0.0, g * (y * math.pow(x, y - 1.0)))", "gxy"),
        "exponent": ("g * tl.where((x == 0) & (y >= 0), 0.0, o * math.log(x))", "gxyo"),
    },
    "atan2": {"input": (f"{SQUARES}g * y * m", "gxy"), "other": (f"{SQUARES}g * -1.0 * x * m", "gxy")},
    "hypot": {"input": ("g * math.div_rn(x, o)", "gxo"), "other": ("g * math.div_rn(y, o)", "gyo")},
    "xlogy": {
        "input": (
            "m = tl.where((g == 0) & (y == y), 0.0, g * math.log(y))\ntl.where((x == 0) & (y <= 0), 0.0, m)", "gxy"
        ),
        "other": ("math.div_rn(g * x, y)", "gxy"),
    },
    "logaddexp": {
        "input": ("math.div_rn(g, math.exp(y - x) + 1.0)", "gxy"), "other": ("math.div_rn(g, math.exp(x - y) + 1.0)", "gxy")
    },
    "logaddexp2": {
        "input": ("math.div_rn(g, math.exp2(y - x) + 1.0)", "gxy"), "other": ("math.div_rn(g, math.exp2(x - y) + 1.0)", "gxy")
    },
    "maximum": {"input": (HALVED.format("<"), "gxy"), "other": (HALVED.format(">"), "gxy")},
    "minimum": {"input": (HALVED.format(">"), "gxy"), "other": (HALVED.format("<"), "gxy")},
    "fmax": {
        "input": ("tl.where((x >= y) | (y != y), g, 0.0)", "gxy"), "other": ("tl.where((x >= y) | (y != y), 0.0, g)", "gxy")
    },
    "fmin": {
        "input": ("tl.where((x <= y) | (y != y), g, 0.0)", "gxy"), "other": ("tl.where((x <= y) | (y != y), 0.0, g)", "gxy")
    },
    "clamp_min": {"input": ("tl.where(x >= y, g, 0.0)", "gxy"), "min": ("tl.where(x < y, g, 0.0)", "gxy")},
    "clamp_max": {"input": ("tl.where(x <= y, g, 0.0)", "gxy"), "max": ("tl.where(x > y, g, 0.0)", "gxy")},
    "where": {"input": ("tl.where(c != 0, g, 0.0)", "gc"), "other": ("tl.where(c != 0, 0.0, g)", "gc")},
    "lerp": {"input": ("g * (1.0 - z)", "gz"), "end": ("g * z", "gz"), "weight": ("g * (y - x)", "gxy")},
    "addcmul": {"tensor1": ("g * (z * a)", "gza"), "tensor2": ("g * (y * a)", "gya")},
    "addcdiv": {"tensor1": ("math.div_rn(g * a, z)", "gza"), "tensor2": ("g * (a * -1.0) * math.div_rn(y, z * z)", "gyza")},
}  # fmt: skip
# The tensors and numbers of an operator that letters stand for, where they have other names than these.
LETTERS = {"x": "input", "y": "other", "o": "out"}
NAMED = {
    "pow": {"y": "exponent"}, "clamp_min": {"y": "min"}, "clamp_max": {"y": "max"}, "where": {"c": "condition"},
    "lerp": {"y": "end", "z": "weight"}, "addcmul": {"y": "tensor1", "z": "tensor2", "a": "value"},
    "addcdiv": {"y": "tensor1", "z": "tensor2", "a": "value"},
}  # fmt: skip
# Of a power of 0.5, which is made as a square root: minus infinity at -0.0, and nan at minus infinity, where powers have none.
ROOT = {"root_slope": ("g * (math.rcp_rn(math.sqrt_rn(x)) * 0.5)", "gx")}
# The gradients that are one launch already, by an operator whose call costs the host less.
SWIFT = {("mul", "input"), ("mul", "other"), ("div", "input"), ("where", "input"), ("where", "other"), ("lerp", "end")}


def formula(operator: str, parameter: str) -> str:
    """The name of a gradient's formula."""
    return f"{operator}_{parameter}_slope"


# Of reductions: y is the result, or the mean that it is made with, z how many elements attain an extreme, a a number. Of a
# product y is that of what is not 0, and z how many are 0, and by the 2**32 how many are infinite or no numbers.
SIGN = "tl.where(x > 0, 1.0, tl.where(x < 0, -1.0, 0.0))"
ATTAINED = "(tl.abs(x) == y) | ((x != x) & (y != y))"
REACHED = "(x == y) | ((x != x) & (y != y))"
OTHER_ZERO = "z - k * 4294967296.0 > tl.where(x == 0, 1.0, 0.0)"
OTHER_ODD = "k > tl.where(x - x == 0, 0.0, 1.0)"
OF_OTHERS = f"g * tl.where({OTHER_ZERO}, tl.where({OTHER_ODD}, float('nan'), 0.0), n)"
OF_REDUCTIONS = {
    "variance_slope": ("g * a * (x - y)", "xgya"),
    "deviation_slope": ("tl.where(o == 0, 0.0, math.div_rn(g, o * 2.0)) * a * (x - y)", "xgyoa"),
    "extreme_slope": ("math.div_rn(tl.where(x == y, g, g * 0.0), z.to(x.dtype))", "xgyz"),
    "whole_extreme_slope": (f"tl.where({REACHED}, math.div_rn(g, z.to(x.dtype)), 0.0)", "xgyz"),
    "product_slope": (
        (
            "k = tl.floor(z.to(tl.float64) * (1.0 / 4294967296.0))\nm = y.to(x.dtype)\n"
            f"n = math.div_rn(m, tl.where(x == 0, 1.0, x))\n{OF_OTHERS}"
        ),
        "xgyz",
    ),
    "logsumexp_slope": ("g * math.exp(x - y)", "xgy"),
    "norm_slope_1": (f"g * {SIGN}", "xgy"),
    "norm_slope_2": ("g * tl.where(y == 0, 0.0, math.div_rn(x, y))", "xgy"),
    "norm_slope_below_1": (
        f"m = tl.abs(x)\ntl.where(m == 0, 0.0, {SIGN} * math.pow(tl.where(m == 0, 1.0, m), a - 1.0)) * g * math.pow(y, 1.0 - a)",
        "xgya",
    ),
    "norm_slope_below_2": (
        f"{SIGN} * math.pow(tl.abs(x), a - 1.0) * tl.where(y == 0, 0.0, g * math.pow(y, 1.0 - a))", "xgya"
    ),
    "norm_slope_above_2": (
        "x * math.pow(tl.abs(x), a - 2.0) * tl.where(y == 0, 0.0, math.div_rn(g, math.pow(y, a - 1.0)))", "xgya"
    ),
    "norm_extreme_slope": (f"{SIGN} * (math.div_rn(g, z.to(x.dtype)) * tl.where({ATTAINED}, 1.0, 0.0))", "xgyz"),
}  # fmt: skip
TESTS = {
    "extreme_attained": ("x == y", "xy"),
    "whole_extreme_attained": (REACHED, "xy"),
    "norm_extreme_attained": (ATTAINED, "xy"),
}


def norm_slope(order: float) -> tuple[str, tuple[float, ...]]:
    """(the formula of a norm's gradient, the numbers that it takes)."""
    if order in (1.0, 2.0):
        return f"norm_slope_{order:.0f}", ()
    return f"norm_slope_{'below_1' if order < 1 else 'below_2' if order < 2 else 'above_2'}", (order,)


OF_FUNCTIONS = {name: {"input": row} for name, row in UNARY.items()} | SEVERAL
SLOPES = {formula(name, parameter): row for name, rows in OF_FUNCTIONS.items() for parameter, row in rows.items()}
SLOPES |= ROOT | OF_REDUCTIONS
