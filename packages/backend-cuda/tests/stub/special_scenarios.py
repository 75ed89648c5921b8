"""Scenarios of special functions and of composites with a formula of their own: one launch each, nothing copied, no wait."""

from __future__ import annotations

import warnings

import numpy as np
import stub

import tenfold
from tenfold.cuda.kernels.formulas_special import BINARY, UNARY
from tenfold.dispatch.operators import OPERATORS
from tenfold.nn import functional as F

TWO = ("frexp", "polar")  # results


def array(*shape):
    return tenfold.tensor(np.ones(shape, np.float32)).to("cuda:0")


def one_launch_each(calls):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that something is computed on the host
        for name, call in calls.items():
            work = stub.settled(call)
            assert len(work.launches) == 1 + (name in TWO), (name, work.names)
            assert not {"sync", "to_host", "to_device"} & set(work.counts), (name, work)


def case_special_functions_are_one_launch_each():
    x, y = array(64, 64), array(64, 64)
    # A few of each kind of program; the others differ in the formula's text only.
    unary = ("lgamma", "digamma", "i0", "special_bessel_j0", "special_entr", "special_ndtri", "special_ndtr")
    binary = ("special_zeta", "special_xlog1py", "special_legendre_polynomial_p", "special_chebyshev_polynomial_t", "ldexp")
    assert {*unary} <= {*UNARY}
    assert {*binary} <= {*BINARY}
    calls = {name: (lambda name=name: OPERATORS[name].fn(x)) for name in unary}
    calls |= {name: (lambda name=name: OPERATORS[name].fn(x, y)) for name in binary}
    calls |= {
        "polygamma": lambda: x.polygamma(1),
        "mvlgamma": lambda: x.mvlgamma(3),
        "frexp": x.frexp,
        "polar": lambda: tenfold.polar(x, y),
    }
    one_launch_each(calls)


def case_composites_with_a_formula_are_one_launch_each():
    x, y, w = array(64, 64), array(64, 64), array(64)
    one_launch_each(
        {
            "hardshrink": lambda: F.hardshrink(x), "softshrink": lambda: F.softshrink(x), "hardsigmoid": lambda: F.hardsigmoid(x),
            "hardtanh": lambda: F.hardtanh(x), "relu6": lambda: F.relu6(x), "threshold": lambda: F.threshold(x, 0.1, 2.0),
            "hardswish": lambda: F.hardswish(x), "prelu": lambda: F.prelu(x, w), "selu": lambda: F.selu(x),
            "glu": lambda: F.glu(x), "nan_to_num": x.nan_to_num, "logit": x.logit, "logit within": lambda: x.logit(1e-6),
            "frac": x.frac,
            "isclose": lambda: x.isclose(y), "rsub": lambda: 1 - x, "deg2rad": x.deg2rad, "isposinf": x.isposinf,
        }
    )  # fmt: skip
