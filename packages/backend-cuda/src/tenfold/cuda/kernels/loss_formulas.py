"""Losses of pairs of elements as Triton expressions: what each adds, and its slope, times weights.

x is the input, y the target, w the weight and p a third operand (numbers 1.0 where there are none), a and b numbers, g the
gradient of the result and s what it is multiplied by. Powers and logarithms are `math`'s, which is libdevice.
"""

from __future__ import annotations

D = "d = x - y\n"
SIGN = "tl.where(d > 0, 1.0, tl.where(d < 0, -1.0, 0.0))"
SOFTPLUS = "math.log1p(math.exp(-tl.abs(x))) - tl.where((x < 0) | (x != x), x, 0.0)"  # log(1 + exp(-x))
SIGMOID = "math.rcp_rn(1.0 + math.exp(-x))"
CUT = "tl.where((m > -100.0) | (m != m), m, -100.0)"
VARIANCE = "v = tl.where((p > a) | (p != p), p, a)\n"
GAP = "m = a - p * (x - y)\n"
STIRLING = "m = tl.where(y > 1.0, y * math.log(y) - y + 0.5 * math.log(6.283185307179586 * y), 0.0)\n"  # log(y!), about

# Of each kind: statements and, last, an expression, for the loss and for its slope.
KINDS: dict[str, tuple[str, str]] = {
    "square": (f"{D}d * d", f"{D}d * 2.0"),
    "absolute": (f"{D}tl.abs(d)", f"{D}{SIGN}"),
    "bent": (
        f"{D}m = tl.abs(d)\ntl.where(m >= a, b * (m - 0.5 * a), 0.5 * b / a * d * d)",
        f"{D}tl.where(tl.abs(d) >= a, b * {SIGN}, b / a * d)",
    ),
    "binary": (
        f"m = math.log1p(-x)\nu = {CUT}\nm = math.log(x)\nv = {CUT}\n(y - 1.0) * u - y * v",
        "m = (1.0 - x) * x\nmath.div_rn(x - y, tl.where((m > 1e-12) | (m != m), m, 1e-12))",
    ),
    "logits": (f"(1.0 - y) * x + ({SOFTPLUS})", f"{SIGMOID} - y"),
    "labels": (  # as PyTorch writes it: only at an infinite input is it another number than that of logits
        f"y * ({SOFTPLUS}) + (1.0 - y) * (math.log1p(math.exp(-tl.abs(x))) + tl.where(x > 0, x, 0.0))",
        f"{SIGMOID} - y",
    ),
    "positive_logits": (  # with a weight for what is positive
        f"(1.0 - y) * x + ({SOFTPLUS}) * ((p - 1.0) * y + 1.0)",
        f"(p * y + 1.0 - y) * {SIGMOID} - p * y",
    ),
    "divergence": ("tl.where((y == 0) & (y == y), 0.0, y * math.log(y)) - y * x", "-y"),
    "log_divergence": ("math.exp(y) * (y - x)", "-math.exp(y)"),
    "soft_margin": ("math.log1p(math.exp(-y * x))", "m = math.exp(-y * x)\nmath.div_rn(-y * m, 1.0 + m)"),
    "log_poisson": ("math.exp(x) - y * x", "math.exp(x) - y"),
    "poisson": ("x - y * math.log(x + a)", "1.0 - math.div_rn(y, x + a)"),
    "full_log_poisson": (f"{STIRLING}math.exp(x) - y * x + m", "math.exp(x) - y"),
    "full_poisson": (f"{STIRLING}x - y * math.log(x + a) + m", "1.0 - math.div_rn(y, x + a)"),
    "hinge": (
        "m = a - x\nm = tl.where((m > 0) | (m != m), m, 0.0)\ntl.where(y == 1, x, tl.where(y == -1, m, x + m))",
        "tl.where(y == -1, 0.0, 1.0) - tl.where((y != 1) & (a - x >= 0), 1.0, 0.0)",
    ),
    "ranking": (f"{GAP}tl.where((m > 0) | (m != m), m, 0.0)", f"{GAP}tl.where(m >= 0, -p, 0.0)"),
    "gaussian": (f"{D}{VARIANCE}0.5 * (math.log(v) + math.div_rn(d * d, v)) + b", f"{D}{VARIANCE}math.div_rn(d, v)"),
    "alike": (
        "m = x - a\nm = tl.where((m > 0) | (m != m), m, 0.0)\ntl.where(y == 1, 1.0 - x, tl.where(y == -1, m, 0.0))",
        "tl.where(y == 1, -1.0, tl.where((y == -1) & (x >= a), 1.0, 0.0))",
    ),
}  # fmt: skip


def _weighted(text: str, factor: str) -> str:
    """Times a factor, which may be a scalar: a block of float32, such as a choice of numbers, would keep that beside it."""
    *statements, result = text.split("\n")
    return "\n".join([*statements, f"({result}).to(x.dtype) * {factor}"])


# By name: (text, the letters of its operands).
LOSSES = {f"{kind}_loss": (_weighted(loss, "w"), "xywpab") for kind, (loss, _) in KINDS.items()}
SLOPES = {f"{kind}_loss_slope": (_weighted(slope, "w * (g * s)"), "xywpgsab") for kind, (_, slope) in KINDS.items()}
# Of a Gaussian's variance, which is the third operand.
OF_VARIANCE = f"{D}{VARIANCE}math.div_rn(0.5 * (1.0 - math.div_rn(d * d, v)), v)"
SLOPES["variance_loss_slope"] = (_weighted(OF_VARIANCE, "w * (g * s)"), "xywpgsab")
