"""Formulas as data: what one element of a result is, in terms of elements of the arguments.

`x * y + 1` on `Expr`s makes an expression; equal expressions are one object, so that what two parts of a formula share is
computed once. Types are LLVM's: "float", "double", "i1" for a condition, "i32" and "i64" for bits and whole numbers.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, ClassVar, Self

FLOATS = ("float", "double")
BITS = {"float": "i32", "double": "i64"}


class Expr:
    """An instruction and its operands. Make one by arithmetic or by the functions below."""

    __slots__ = ("__weakref__", "args", "op", "type", "value")
    _known: ClassVar[weakref.WeakValueDictionary[Any, Any]] = weakref.WeakValueDictionary()

    op: str
    type: str
    args: tuple[Expr, ...]
    value: Any

    def __new__(cls, op: str, type: str, args: tuple[Expr, ...] = (), value: Any = None) -> Self:
        # by its text, since 0.0 and -0.0 are equal, and NaN is not
        key = (op, type, tuple(map(id, args)), repr(value))
        found = cls._known.get(key)
        if found is None:
            found = object.__new__(cls)
            found.op, found.type, found.args, found.value = op, type, args, value
            cls._known[key] = found
        return found

    def __reduce__(self) -> Any:
        return Expr, (self.op, self.type, self.args, self.value)

    def __add__(self, other: Any) -> Expr:
        return binary("add", self, other)

    def __radd__(self, other: Any) -> Expr:
        return binary("add", other, self)

    def __sub__(self, other: Any) -> Expr:
        return binary("sub", self, other)

    def __rsub__(self, other: Any) -> Expr:
        return binary("sub", other, self)

    def __mul__(self, other: Any) -> Expr:
        return binary("mul", self, other)

    def __rmul__(self, other: Any) -> Expr:
        return binary("mul", other, self)

    def __truediv__(self, other: Any) -> Expr:
        return binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Expr:
        return binary("div", other, self)

    def __neg__(self) -> Expr:
        return Expr("neg", self.type, (self,))

    def __abs__(self) -> Expr:
        return Expr("abs", self.type, (self,))

    def __and__(self, other: Expr) -> Expr:
        return Expr("and", self.type, (self, other))

    def __or__(self, other: Expr) -> Expr:
        return Expr("or", self.type, (self, other))

    def __invert__(self) -> Expr:
        """The opposite condition."""
        return self ^ constant(True, "i1")

    def __xor__(self, other: Expr) -> Expr:
        return Expr("xor", self.type, (self, other))

    # Comparisons of numbers are false where one is NaN; `ne` is true there.
    def __lt__(self, other: Any) -> Expr:
        return compare("lt", self, other)

    def __le__(self, other: Any) -> Expr:
        return compare("le", self, other)

    def __gt__(self, other: Any) -> Expr:
        return compare("gt", self, other)

    def __ge__(self, other: Any) -> Expr:
        return compare("ge", self, other)

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value: choose with select(condition, yes, no)")

    def __repr__(self) -> str:
        shown = [a.op if a.args else repr(a) for a in self.args] + ([] if self.value is None else [repr(self.value)])
        return f"{self.op}({', '.join(shown)})"


def constant(value: Any, type: str) -> Expr:
    """A number."""
    return Expr("constant", type, (), value if type not in FLOATS else float(value))


def load(index: int, type: str) -> Expr:
    """The element of array number `index` that the loop is at."""
    return Expr("load", type, (), index)


def parameter(index: int, type: str) -> Expr:
    """Number `index` of those that the caller gives with each call."""
    return Expr("parameter", type, (), index)


def _lifted(value: Any, like: Expr) -> Expr:
    return value if isinstance(value, Expr) else constant(value, like.type)


def operands(*values: Any) -> tuple[Expr, ...]:
    """The values as expressions of one type: that of those that are expressions."""
    like = next(v for v in values if isinstance(v, Expr))
    lifted = tuple(_lifted(v, like) for v in values)
    if len({e.type for e in lifted}) > 1:
        raise TypeError(f"operands of several types: {', '.join(e.type for e in lifted)}")
    return lifted


def binary(op: str, a: Any, b: Any) -> Expr:
    a, b = operands(a, b)
    return Expr(op, a.type, (a, b))


def compare(op: str, a: Any, b: Any) -> Expr:
    """A condition: op is one of lt le gt ge eq ne."""
    return Expr(op, "i1", operands(a, b))


def equal(a: Any, b: Any) -> Expr:
    return compare("eq", a, b)


def different(a: Any, b: Any) -> Expr:
    return compare("ne", a, b)


def is_nan(x: Expr) -> Expr:
    return compare("ne", x, x)


def select(condition: Expr, yes: Any, no: Any) -> Expr:
    """`yes` where the condition holds, else `no`; both are computed."""
    yes, no = operands(yes, no)
    return Expr("select", yes.type, (condition, yes, no))


def fma(a: Any, b: Any, c: Any) -> Expr:
    """a b + c, rounded once."""
    a, b, c = operands(a, b, c)
    return Expr("fma", a.type, (a, b, c))


def scaled(x: Expr, n: Expr) -> Expr:
    """x 2**n of a float, rounded once; where `compiler.scales()` holds, else it is slow."""
    return Expr("ldexp", x.type, (x, n if n.type == "i32" else Expr("narrow", "i32", (n,))))


def exponent(x: Expr) -> Expr:
    """The exponent n of |x| = 2**n m with m between 1 and 2, as a float: -inf of 0, inf of inf. Where `compiler.parted()`."""
    return Expr("exponent", x.type, (x,))


def mantissa(x: Expr) -> Expr:
    """|x| over the power of two that leaves it between 0.75 and 1.5; 1 of 0 and infinity, NaN of negative numbers; as above."""
    return Expr("mantissa", x.type, (x,))


def sqrt(x: Expr) -> Expr:
    return Expr("sqrt", x.type, (x,))


def rounding(op: str, x: Expr) -> Expr:
    """op is one of floor ceil trunc rint (the nearest, of two the even one)."""
    return Expr(op, x.type, (x,))


def copysign(x: Expr, sign: Any) -> Expr:
    return Expr("copysign", x.type, operands(x, sign))


def bits(x: Expr) -> Expr:
    """The pattern of a float as a whole number."""
    return Expr("bitcast", BITS[x.type], (x,))


def from_bits(n: Expr) -> Expr:
    """The float of a bit pattern."""
    return Expr("bitcast", {"i32": "float", "i64": "double"}[n.type], (n,))


def shift(op: str, n: Expr, count: int) -> Expr:
    """op is one of shl lshr ashr."""
    return Expr(op, n.type, (n, constant(count, n.type)))


def convert(x: Expr, type: str) -> Expr:
    """The same number in another type."""
    return x if x.type == type else Expr("convert", type, (x,))


def walk(*roots: Expr, whole: Callable[[Expr], bool] = lambda e: False) -> list[Expr]:
    """Every expression that these are made of, operands first, each once; not the operands of those that are `whole`."""
    order: dict[Expr, None] = {}
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        expr, ready = stack.pop()
        if expr in order:
            continue
        if ready:
            order[expr] = None
        else:
            stack.append((expr, True))
            if not whole(expr):
                stack += [(a, False) for a in reversed(expr.args) if a not in order]
    return list(order)


def listing(*roots: Expr) -> str:
    """The expressions as numbered steps, for readers."""
    names: dict[Expr, str] = {}
    lines: list[str] = []
    for expr in walk(*roots):
        if expr.op == "constant":
            names[expr] = repr(expr.value)
        elif expr.op in ("load", "parameter"):
            names[expr] = f"{'x' if expr.op == 'load' else 'p'}{expr.value}"
        else:
            names[expr] = f"v{len(lines)}"
            lines.append(f"{names[expr]} = {expr.op}({', '.join(names[a] for a in expr.args)})")
    return "\n".join([*lines, f"return {', '.join(names[root] for root in roots)}"])
