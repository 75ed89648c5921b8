"""What the elementwise operators compute, as Triton expressions: one row an operator, one column a kind of dtype.

x, y and z are the operands in order, `a` and `b` numbers. Half precision arrives widened to float32 and is rounded once
when it is stored; bool arrives as int8. `math` is libdevice. An operator without a formula for a kind of dtype, or
for complex numbers, is left to CuPy. NaN propagates unless an operator says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import e, log, log2, pi, sqrt
from typing import Any

from tenfold.cuda.kernels.formulas_special import SPECIAL
from tenfold.cuda.kernels.function_slopes import SLOPES as OF_FUNCTIONS, TESTS as ATTAINED
from tenfold.cuda.kernels.loss_formulas import LOSSES, SLOPES
from tenfold.cuda.kernels.unit_slopes import SELU_ALPHA, SELU_SCALE, SLOPES as OF_UNITS


@dataclass(frozen=True, slots=True)
class Formula:
    """An operator's expressions for floating-point, integer and bool operands; lines before the last one are statements."""

    floating: str | None = None
    integer: str | None = None
    boolean: str | None = None
    operands: str = "x"  # a letter for each: x y z are arrays or numbers, c a condition, a b always numbers
    result: str = "same"  # "same", "bool", or "out": that of the given output
    exact_types: tuple[str, ...] = ()  # the only floating types, where rounding once is not enough

    def text(self, kind: str) -> str | None:
        """The expression for a NumPy dtype kind; None: none."""
        return {"f": self.floating, "V": self.floating, "i": self.integer, "u": self.integer, "b": self.boolean}.get(kind)


def _all(text: str, operands: str = "x", result: str = "same") -> Formula:
    return Formula(text, text, text, operands, result)


def _floating(text: str, operands: str = "x", **options: Any) -> Formula:
    return Formula(text, operands=operands, **options)


LARGER = "tl.where((x > y) | (x != x), x, y)"
AT_LEAST = "tl.where((x >= y) | (x != x), x, y)"  # of two zeros the first
AT_MOST = "tl.where((x <= y) | (x != x), x, y)"
WITHIN = "tl.where(x < a, a, tl.where(x > b, b, x))"  # nan stays
CLOSE = '(x == y) | ((tl.abs(x - y) < float("inf")) & (tl.abs(x - y) <= b + tl.abs(y * a)))'
SMALLER = "tl.where((x < y) | (x != x), x, y)"
SIGN = "(x > 0).to(tl.int8) - (x < 0).to(tl.int8)"
SIGMOID = "math.rcp_rn(1.0 + math.exp(-x))"
SHIFTABLE = "(y >= 0) & (y < x.dtype.primitive_bitwidth)"
SHIFT = "(y & (x.dtype.primitive_bitwidth - 1))"
GELU_TANH = f"math.tanh((x + 0.044715 * x * x * x) * {sqrt(2 / pi)!r})"
SIX = "tl.where(x > 3, 6.0, tl.where(x < -3, 0.0, x + 3.0))"
SOFTPLUS = "math.log1p(math.exp(-tl.abs(x))) + tl.where((x > 0) | (x != x), x, 0.0)"

ARITHMETIC = {
    "add": Formula("x + y", "x + y", "x | y", "xy"),
    "sub": Formula("x - y", "x - y", None, "xy"),
    "rsub": Formula("y - x", "y - x", None, "xy"),
    "mul": Formula("x * y", "x * y", "x & y", "xy"),
    "div": _floating("math.div_rn(x, y)", "xy"),
    "add_scaled": _floating("x + y * a", "xya"),
    "addcmul": Formula("x + (y * a) * z", "x + (y * a) * z", None, "xyza"),
    "addcdiv": _floating("x + math.div_rn(y * a, z)", "xyza"),
    "lerp": _floating("tl.where(tl.abs(z) < 0.5, x + (y - x) * z, y - (y - x) * (1.0 - z))", "xyz"),
    "fmod": Formula("math.fmod(x, y)", "x % y", None, "xy"),
    "remainder": Formula(
        "m = math.fmod(x, y)\ntl.where((m != 0) & ((m < 0) != (y < 0)), m + y, m)",
        "m = x % y\ntl.where((m != 0) & ((m < 0) != (y < 0)), m + y, m)", None, "xy",
    ),
    # The remainder is exact, so (x - m) / y is all but whole; x / 0 and infinities divide as they are.
    "floor_divide": Formula(
        "m = math.fmod(x, y)\n"
        "q = math.rint(math.div_rn(x - m, y)) - tl.where((m != 0) & ((m < 0) != (y < 0)), 1.0, 0.0)\n"
        "true = math.div_rn(x, y)\n"
        "tl.where(y == 0, true, tl.where(q == 0, math.copysign(q, true), q))",
        "m = x % y\nx // y - ((m != 0) & ((m < 0) != (y < 0))).to(x.dtype)", None, "xy",
    ),
    "truncated_quotient": Formula("math.trunc(math.div_rn(x, y))", "x // y", None, "xy"),
    "pow": _floating("math.pow(x, y)", "xy"),
    "atan2": _floating("math.atan2(x, y)", "xy"),
    "hypot": _floating("math.hypot(x, y)", "xy"),
    "copysign": _floating("math.copysign(x, y)", "xy"),
    "nextafter": _floating("math.nextafter(x, y)", "xy", exact_types=("float32", "float64")),
    "heaviside": Formula("tl.where(x == 0, y, (x > 0).to(y.dtype))", "tl.where(x == 0, y, (x > 0).to(y.dtype))", None, "xy"),
    "xlogy": _floating("tl.where((x == 0) & (y == y), 0.0, x * math.log(y))", "xy"),
    "logaddexp": _floating(f"tl.where(x == y, x + {log(2)!r}, {LARGER} + math.log1p(math.exp(-tl.abs(x - y))))", "xy"),
    "logaddexp2": _floating(
        f"tl.where(x == y, x + 1.0, {LARGER} + math.log1p(math.exp2(-tl.abs(x - y))) * {log2(e)!r})", "xy"
    ),
}  # fmt: skip
ARITHMETIC["floored_quotient"] = ARITHMETIC["floor_divide"]

_MATH = ("exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
         "erf erfc erfinv")  # fmt: skip
FUNCTIONS = {
    **{name: _floating(f"math.{name}(x)") for name in _MATH.split()},
    "neg": Formula("x * -1.0", "-x"),  # 0 - x would lose the sign of zero
    "abs": Formula("tl.abs(x)", "tl.abs(x)"),
    "square": Formula("x * x", "x * x"),
    "sqrt": _floating("math.sqrt_rn(x)"),
    "rsqrt": _floating("math.rcp_rn(math.sqrt_rn(x))"),
    "reciprocal": _floating("math.rcp_rn(x)"),
    "sigmoid": _floating(SIGMOID),
    "sinc": _floating(f"tl.where(x == 0, 1.0, math.div_rn(math.sin(x * {pi!r}), x * {pi!r}))"),
    "sign": Formula(SIGN, SIGN, "x"),
    "sgn": Formula(SIGN, SIGN, "x"),
    "angle": _floating("tl.where(x < 0, 3.141592653589793, tl.where(x != x, x, 0.0))"),
    "floor": Formula("tl.floor(x)", "x"),
    "ceil": Formula("tl.ceil(x)", "x"),
    "trunc": Formula("math.trunc(x)", "x"),
    "round": Formula("math.rint(x)", "x"),
    "bitwise_not": Formula(None, "-x - 1", "x == 0"),
    "conj_physical": _all("x"),
    "frac": _floating("x - math.trunc(x)"),
    "logit": _floating("math.log(math.div_rn(x, 1.0 - x))"),
    "logit_within": _floating(f"x = {WITHIN}\nmath.log(math.div_rn(x, 1.0 - x))", "xab"),
    "nan_to_num": _floating('tl.where(x != x, y, tl.where(x == float("inf"), a, tl.where(x == float("-inf"), b, x)))', "xyab"),
}

TESTS = {
    **{
        name: _all(f"x {sign} y", "xy", "bool")
        for name, sign in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items()
    },
    "logical_and": _all("(x != 0) & (y != 0)", "xy", "bool"),
    "logical_or": _all("(x != 0) | (y != 0)", "xy", "bool"),
    "logical_xor": _all("(x != 0) ^ (y != 0)", "xy", "bool"),
    "logical_not": _all("x == 0", "x", "bool"),
    "isnan": Formula("x != x", "x != x", "x != x", result="bool"),
    "isinf": Formula('tl.abs(x) == float("inf")', "x != x", "x != x", result="bool"),
    "isfinite": Formula('tl.abs(x) < float("inf")', "x == x", "x == x", result="bool"),
    # Half precision is compared by the operator's body: its tolerance is rounded at each step.
    "isclose": _floating(CLOSE, "xyab", result="bool", exact_types=("float32", "float64")),
    "isclose_nan": _floating(f"{CLOSE} | ((x != x) & (y != y))", "xyab", result="bool", exact_types=("float32", "float64")),
    "signbit": Formula("math.copysign((x == x).to(x.dtype) + 1.0, x) < 0", "x < 0", "x < 0", result="bool"),
    "bitwise_and": Formula(None, "x & y", "x & y", "xy"),
    "bitwise_or": Formula(None, "x | y", "x | y", "xy"),
    "bitwise_xor": Formula(None, "x ^ y", "x ^ y", "xy"),
    # A shift by the width or more has no meaning to the hardware: all bits are gone, or copies of the sign. The compiler leaves
    # out a choice of y or 0, as the hardware's shifts have it built in, but for 32 bits of y only.
    "bitwise_left_shift": Formula(None, f"tl.where({SHIFTABLE}, x << {SHIFT}, 0)", None, "xy"),
    "bitwise_right_shift": Formula(
        None,
        f"tl.where({SHIFTABLE}, x >> {SHIFT}, tl.where(x < 0, x >> (x.dtype.primitive_bitwidth - 1), 0))",
        None,
        "xy",
    ),
}

SELECTION = {
    "maximum": _all(LARGER, "xy"),
    "minimum": _all(SMALLER, "xy"),
    "clamp_min": _all(AT_LEAST, "xy"),
    "clamp_max": _all(AT_MOST, "xy"),
    "fmax": _all("tl.where((x > y) | (y != y), x, y)", "xy"),
    "fmin": _all("tl.where((x < y) | (y != y), x, y)", "xy"),
    "clamp": _floating("m = tl.where((x >= a) | (x != x), x, a)\ntl.where((m <= b) | (m != m), m, b)", "xab"),
    "where": _all("tl.where(c != 0, x, y)", "cxy"),
    "masked_fill": _floating("tl.where(c != 0, a, x)", "xca"),
}

ACTIVATIONS = {
    "relu": Formula("tl.where(x < 0, 0.0, x)", "tl.where(x > 0, x, 0)"),
    "threshold_backward": _floating("tl.where(y <= a, 0.0, x)", "xya"),
    "gelu": _floating(f"x * 0.5 * math.erfc(x * {-sqrt(0.5)!r})"),
    "gelu_tanh": _floating(f"x * 0.5 * (1.0 + {GELU_TANH})"),
    "gelu_backward": _floating(
        f"y * (0.5 * math.erfc(x * {-sqrt(0.5)!r}) + x * math.exp(x * x * -0.5) * {1 / sqrt(2 * pi)!r})", "yx"
    ),
    "gelu_tanh_backward": _floating(
        f"t = {GELU_TANH}\n"
        f"y * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * (1.0 + {3 * 0.044715!r} * x * x) * {sqrt(2 / pi)!r})", "yx"
    ),
    "silu": _floating(f"x * {SIGMOID}"),
    "silu_backward": _floating(f"s = {SIGMOID}\ny * (s * (1.0 + x * (1.0 - s)))", "yx"),
    "leaky_relu": _floating("tl.where(x > 0, x, x * a)", "xa"),
    "elu": _floating("tl.where(x > 0, x, math.expm1(x) * a)", "xa"),
    "celu": _floating("tl.where(x > 0, x, math.expm1(x / a) * a)", "xa"),
    "mish": _floating(f"x * math.tanh({SOFTPLUS})"),
    "softplus": _floating("s = x * a\ntl.where(s > b, x, math.div_rn(math.log1p(math.exp(s)), a))", "xab"),
    "softsign": _floating("math.div_rn(x, 1.0 + tl.abs(x))"),
    "tanhshrink": _floating("x - math.tanh(x)"),
    "hardshrink": _floating("tl.where((x >= -a) & (x <= a), 0.0, x)", "xa"),
    "softshrink": _floating("tl.where((x >= -a) & (x <= a), 0.0, tl.where(x > a, x - a, x + a))", "xa"),
    "hardsigmoid": _floating(f"m = {SIX}\nmath.div_rn(m, tl.full(m.shape, 6.0, m.dtype))"),
    "hardswish": _floating(f"m = x * {SIX}\nmath.div_rn(m, tl.full(m.shape, 6.0, m.dtype))"),
    "threshold": _floating("tl.where(x <= a, b, x)", "xab"),
    "prelu": _floating("tl.where(x > 0, x, x * y)", "xy"),
    "selu": _floating(f"tl.where(x > 0, x, math.expm1(x) * {SELU_ALPHA!r}) * {SELU_SCALE!r}"),
    "glu": _floating("x * math.rcp_rn(1.0 + math.exp(-y))", "xy"),
    "logsigmoid": _floating("tl.where((x < 0) | (x != x), x, 0.0) - math.log1p(math.exp(-tl.abs(x)))"),
}  # fmt: skip

SCIENTIFIC = {name: _floating(text, operands) for name, (text, operands) in SPECIAL.items()}

# Both limits of `clamp` as arrays, and a correlation, of a covariance and both variances.
PARTS = {
    "clamp_between": _all("m = tl.where((x >= y) | (x != x), x, y)\ntl.where((m <= z) | (m != m), m, z)", "xyz"),
    "correlation": _floating(
        "m = math.div_rn(math.div_rn(x, math.sqrt_rn(y)), math.sqrt_rn(z))\ntl.where(m > 1, 1.0, tl.where(m < -1, -1.0, m))",
        "xyz",
    ),
}
# A copy into another dtype or layout.
CAST = _all("x", "x", "out")

SLOPED = {**LOSSES, **SLOPES, **OF_UNITS, **OF_FUNCTIONS}
OF_LAYERS = {name: _floating(text, letters) for name, (text, letters) in SLOPED.items()}
OF_LAYERS |= {name: _floating(text, letters, result="bool") for name, (text, letters) in ATTAINED.items()}
# c says what dropout keeps; the rest of an infinity is NaN, as in PyTorch.
DROPPING = {
    "drop": _floating("x * tl.where(c != 0, a, 0.0)", "xca"),
    "drop_to": _floating("x * tl.where(c != 0, s, 0.0) + tl.where(c != 0, a, b)", "xcsab"),
}

FORMULAS = {
    **ARITHMETIC,
    **FUNCTIONS,
    **TESTS,
    **SELECTION,
    **ACTIVATIONS,
    **SCIENTIFIC,
    **OF_LAYERS,
    **DROPPING,
    **PARTS,
    "cast": CAST,
}

# A number meets half precision in the array's dtype, as in PyTorch: 0.7 equals the element that 0.7 is rounded to. Sums, products
# and quotients take it as it is.
OF_ROUNDED_NUMBERS = frozenset(("eq", "ne", "lt", "le", "gt", "ge", "fmod", "remainder", "pow", "xlogy", "special_xlog1py"))
