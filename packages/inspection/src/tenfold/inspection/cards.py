"""An operator's card: everything attached to it, and where it stands (`python -m tenfold op NAME`)."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import tenfold
from tenfold import plugins
from tenfold.dispatch import kernels
from tenfold.dispatch.late_methods import SIBLINGS_FUNCTIONS, where
from tenfold.dispatch.operators import OPERATORS, Operator


def listing(primitives: bool = False, device: str = "") -> str:
    """All operators by family, or the primitives alone; of a device those that it has no kernel for."""
    plugins.load_operators()
    families: dict[str, list[str]] = {}
    for name, operator in OPERATORS.items():
        lacking = not device or (operator.body is None and getattr(kernels.table(device), name) is None)
        if operator.inplace_of is None and lacking and (operator.body is None or not primitives):
            families.setdefault(operator.family, []).append(name)
    lines = [f"{family} ({len(names)}): {', '.join(sorted(names))}" for family, names in families.items()]
    return "\n\n".join([f"{sum(map(len, families.values()))} {'primitives' if primitives else 'operators'}", *lines])


def card(name: str, device: str = "") -> str:
    """Signature, meaning, rule, body, kernels per device, gradient, samples of one operator."""
    plugins.load_operators()
    operator = OPERATORS.get(name)
    if operator is None:
        late = {known: plugins.PACKAGES.get(module.split(".")[1], "") for known, module in tenfold._LAZY.items()}
        home = where(name, {known: package for known, package in late.items() if package} | SIBLINGS_FUNCTIONS)
        close = [] if home else [*dict.fromkeys([*get_close_matches(name, OPERATORS), *(n for n in OPERATORS if name in n)])]
        raise KeyError(f"there is no operator {name!r}" + (f"; close: {', '.join(close[:8])}" if close else home))
    base = operator.inplace_of or operator
    rows: list[tuple[str, Any]] = [
        ("family", f"{operator.family}, {base.kind}" + (f", in-place form of {base.name}" if operator.inplace_of else "")),
        ("declared", _location(base.declared)),
        ("promotes", {None: "no", "same": "no: dtypes must agree", "common": "to the common dtype",
                      "float": "to the common dtype, integers to float"}[base.promote]),
        ("view", "shares its input's memory" if base.view else "new memory"),
        ("rule", _rule(base)),
    ]  # fmt: skip
    if base.body is not None:
        rows.append(("body", _location(base.body)))
    rows += [("kernel", row) for row in _kernels(base, device)]
    rows += [("gradient", _gradient(base)), ("vmap", _batching(base))]
    rows += [("samples", row) for row in _samples(base)]
    text = "\n".join(f"  {label:9s} {value}" for label, value in rows)
    return f"{name}{operator.signature}\n\n{inspect.cleandoc(operator.doc)}\n\n{text}"


def _rule(operator: Operator) -> str:
    if operator.shape_rule is not None:
        return _location(operator.shape_rule)
    return "MISSING" if operator.body is None else "its body, on meta tensors"


def _location(function: Any) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)


def _kernels(operator: Operator, device: str) -> list[str]:
    """A row for each kernel in the order in which they are tried, then what serves the other devices."""
    rows = []
    for device_type in sorted(plugins.backends()):
        if device_type == "meta" or device not in ("", device_type):
            continue
        plugins.load_kernels(device_type, operator.family)
        entries = kernels.KERNELS.get((operator.name, device_type), [])
        last_first = entries[::-1]
        for k in sorted(last_first, key=lambda k: (not k.wrap, k.when is None)):
            condition = f" when {k.note or _location(k.when)}" if k.when is not None else ""
            condition += f" wraps the next{k.note and ': ' + k.note}" if k.wrap else ""
            rows.append(f"{device_type}: {k.location}{condition} (from {k.owner})")
        if all(k.accelerates for k in entries):
            plugins.load_kernels(kernels.ANY_DEVICE, operator.family)
            generic = kernels.KERNELS.get((operator.name, kernels.ANY_DEVICE), [])
            otherwise = "otherwise " if entries else ""
            if generic:
                rows.append(f"{device_type}: {otherwise}{generic[0].location} (for any device)")
            elif operator.body is not None:
                rows.append(f"{device_type}: {otherwise}the body")
            else:
                rows.append(f"{device_type}: none")
    return rows


def _gradient(operator: Operator) -> str:
    if operator.nondifferentiable or operator.no_derivative:
        return f"none: {operator.nondifferentiable or operator.no_derivative}"
    if plugins.layer("autograd") is None:
        return "known when tenfold-autograd is installed"
    rule = import_module("tenfold.autograd.gradients").find(operator)
    if rule is not None:
        return f"{rule.location} for {', '.join(rule.rules)} as {rule.node_name} (from {rule.owner})"
    return "through its body" if operator.body is not None else "MISSING"


def _batching(operator: Operator) -> str:
    if plugins.layer("autograd") is None:
        return "known when tenfold-autograd is installed"
    rule = import_module("tenfold.autograd.batching").find(operator)
    if rule is not None:
        return _location(rule)
    return "through its body" if operator.body is not None else "a loop over the examples, for want of a batching rule"


def _samples(operator: Operator) -> list[str]:
    try:
        testing = import_module("tenfold.testing.samples")
    except ModuleNotFoundError:
        return ["known when tenfold-testing is installed"]
    if testing.find(operator) is None:
        return ["none"]
    return [f"{len(testing.samples_of(operator))}, and {len(testing.error_samples_of(operator))} that it refuses"]
