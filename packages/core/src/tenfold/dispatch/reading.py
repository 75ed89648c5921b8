"""The part of a generated call path that reads the arguments: key, kernel, arrays, nodes, and whether the path serves them.

A line that sets `slow_` sends the call to `dispatch`: another device or dtype, what hands on a tensor's attributes.
"""

from __future__ import annotations

from tenfold.dispatch.operators import TENSOR_ROLES, Operator, Param
from tenfold.types.dtypes import bfloat16, float16, float32, float64

_FLOATS = {float16, bfloat16, float32, float64}
_FASTEST = {2: "F32", 1: "I64"}  # by category of dtype: what most calls have, tested by identity before the set is asked


def tensor_params(operator: Operator) -> list[Param]:
    """The parameters that hold tensors, of those that kernels get."""
    return [p for p in operator.kernel_params if p.role in TENSOR_ROLES]


def _promoted(operator: Operator) -> list[Param]:
    """The parameters whose dtypes must agree before the kernel runs."""
    if operator.promote is None:
        return []
    return [p for p in tensor_params(operator) if operator.promoted is None or p.name in operator.promoted]


class Reading:
    """The lines for one operator, parameter by parameter."""

    def __init__(self, operator: Operator, table: str, nodes: bool) -> None:
        self.operator, self.nodes = operator, nodes
        self.group = _promoted(operator)
        self.dtype_of = ""  # the variable with the promoted parameters' dtype, once one was read
        params = tensor_params(operator)
        self.first = next((p for p in params if p.role in ("tensor", "list")), params[0])
        lead = f"{self.first.name}[0]" if self.first.role == "list" else self.first.name
        self.lines = [f"        key_ = {lead}._key", f"        kernel_ = KERNELS_{table}[key_]", "        slow_ = False"]
        for p in sorted(params, key=lambda p: p is not self.first):
            if p.role == "list":
                self.read_list(p)
            elif p.role == "number" and p is not self.first:
                self.read_number(p)
            else:
                self.read_tensor(p)

    def slow_if(self, *tests: str, indent: str = "        ") -> None:
        """Lines that leave the short path when one of the tests (some may be empty) holds."""
        text = " or ".join(test for test in tests if test)
        if text:
            self.lines += [f"{indent}if {text}:", f"{indent}    slow_ = True"]

    def refused(self, p: Param, dtype: str) -> str:
        """The test for a dtype that a parameter does not accept; empty when it takes all, or no other comes this way."""
        accepted = self.operator.accepts.get(p.name)
        if accepted is None:
            return ""
        if p in self.group and self.operator.promote == "float" and _FLOATS.issubset(accepted.accepted):
            return ""  # these alone stay on the path
        fastest = next((f"{dtype} is not {_FASTEST[c]} and " for c in _FASTEST if c in accepted.categories), "")
        return f"{fastest}{dtype} not in ACCEPTS_{self.operator.name}_{p.name}"

    def node(self, p: Param, indent: str, value: str = "") -> list[str]:
        return [f"{indent}n_{p.name} = {value or p.name + '._node'}"] if self.nodes else []

    def read_tensor(self, p: Param) -> None:
        n, indent = p.name, "        "
        if p.role == "optional":
            self.lines += [
                f"        if {n} is None:",
                f"            a_{n} = None",
                *self.node(p, " " * 12, "None"),
                "        else:",
            ]
            indent = " " * 12
        self.lines += [f"{indent}a_{n} = {n}._array", *self.node(p, indent)]
        self.slow_if(
            f"not isinstance({n}, Tensor)",
            "" if p is self.first else f"{n}._key is not key_",
            *self.dtype_tests(p, indent),
            indent=indent,
        )

    def dtype_tests(self, p: Param, indent: str) -> list[str]:
        """The tests of a tensor's dtype, which the first of the promoted parameters sets for the others."""
        if p not in self.group:
            return [self.refused(p, f"a_{p.name}.dtype")]
        if self.dtype_of:
            return [f"a_{p.name}.dtype is not {self.dtype_of}"]
        floats = self.operator.promote == "float"
        if len(self.group) == 1 and not floats:
            return [self.refused(p, f"a_{p.name}.dtype")]
        self.lines.append(f"{indent}d_ = a_{p.name}.dtype")
        self.dtype_of = "d_"
        return ["d_ is not F32 and d_ is not F64 and d_ not in HALVES" if floats else "", self.refused(p, "d_")]

    def read_list(self, p: Param) -> None:
        n = p.name
        if not p.holes:  # a tensor has items, too, but it is no sequence of tensors
            self.slow_if(f"type({n}) is Tensor")
        self.lines.append(f"        a_{n} = [{'None if x_ is None else ' if p.holes else ''}x_._array for x_ in {n}]")
        self.lines += [*self.node(p, " " * 8, "None"), f"        for x_ in {n}:"]
        if p.holes:
            self.lines += ["            if x_ is None:", "                continue"]
        self.slow_if(
            "not isinstance(x_, Tensor)",
            "x_._key is not key_",
            self.refused(p, "x_._array.dtype") * (p not in self.group),
            indent=" " * 12,
        )
        if self.nodes:
            self.lines += ["            if x_._node is not None:", f"                n_{n} = x_._node"]
        if p not in self.group:
            return
        if not self.dtype_of:
            self.dtype_of = "d_"
            self.lines.append(f"        d_ = a_{n}[0].dtype")
            self.slow_if(self.refused(p, "d_"))
        self.lines.append(f"        for x_ in a_{n}:")
        self.slow_if(f"x_.dtype is not {self.dtype_of}", indent=" " * 12)

    def read_number(self, p: Param) -> None:
        """A Python number is weak: with an array that holds it, or outside promotion, it goes to the kernel as it is."""
        n, indent = p.name, " " * 12
        self.lines += [f"        T_ = type({n})", "        if T_ is float or T_ is int:", f"            a_{n} = {n}"]
        self.lines += self.node(p, indent, "None")
        other_dtype = self.refused(p, f"a_{n}.dtype")
        if p in self.group:
            whole = f"{self.dtype_of} is I64 or {n} in WHOLE.get({self.dtype_of}, ())"
            wide = "" if self.operator.promote == "float" else f" and not (T_ is int and ({whole}))"
            other = f"{self.dtype_of} is not F32 and {self.dtype_of} is not F64{wide}" if self.dtype_of else "True"
            if self.dtype_of and self.operator.exact_numbers is not True and not self.operator.numbers_fit:
                seen = " if T_ is int else None" * (self.operator.exact_numbers is None)
                self.lines += [f"{indent}if {other}:", f"{indent}    x_ = beside_half({n}, {self.dtype_of}, key_){seen}"]
                self.slow_if("x_ is None", indent=indent + "    ")
                self.lines += [f"{indent}    else:", f"{indent}        {n}, a_{n} = x_"]
            else:
                self.slow_if(other, indent=indent)
            other_dtype = f"a_{n}.dtype is not {self.dtype_of}" if self.dtype_of else ""
            if self.operator.pointwise and len(self.operator.kernel_params) == 2 and self.dtype_of:
                self.lines.append(f"{indent}kernel_ = getattr(kernel_, 'with_number', kernel_)")
        self.lines += ["        else:", f"            a_{n} = {n}._array", *self.node(p, indent)]
        self.slow_if(f"not isinstance({n}, Tensor)", f"{n}._key is not key_", other_dtype, indent=indent)
        if p in self.group and not self.dtype_of and len(self.group) > 1:  # as `where`'s input, the first whose dtype counts
            self.lines.append(f"        d_ = getattr(a_{n}, 'dtype', None)")
            self.dtype_of = "d_"
            self.slow_if(self.refused(p, "d_"))
