"""Wrong use of operators: PyTorch's exception type, and a message with the operator, what it got and what it accepts."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op, primitive


def ones(*shape: int, **options: object) -> tenfold.Tensor:
    return tenfold.ones(*shape, **options)


WRONG = [
    ("no broadcasting", lambda: ones(2, 3) + ones(4), RuntimeError, r"add.*\(3\) must match.*\(4\).*\[2, 3\], \[4\]"),
    ("matrix shapes", lambda: ones(2, 3) @ ones(2, 3), RuntimeError, r"m.*shapes cannot be multiplied \(2x3 and 2x3\)"),
    ("dtypes", lambda: ones(2, 2).mm(ones(2, 2, dtype=tenfold.float64)), RuntimeError, "mm.*same dtype.*float != double"),
    ("view of another size", lambda: ones(2, 3).view(4), RuntimeError, r"view.*\[4\].*size 6"),
    ("view of scattered memory", lambda: ones(2, 3).transpose(0, 1).view(6), RuntimeError, "view.*not compatible.*reshape"),
    ("two inferred sizes", lambda: ones(4).view(-1, -1), RuntimeError, "only one dimension can be inferred"),
    ("a dimension out of range", lambda: ones(2, 3).sum(5), IndexError, r"sum.*range of \[-2, 1\], but got 5"),
    ("a repeated dimension", lambda: ones(2, 3).sum((0, 0)), RuntimeError, "sum.*dim 0 appears multiple times"),
    ("a string operand", lambda: ones(2) + "x", TypeError, "unsupported operand"),
    ("a string given", lambda: tenfold.add(ones(2), "x"), TypeError, r"add\(\).*'other'.*position 2.*Tensor or number, not str"),
    ("no tensor at all", lambda: tenfold.exp(2.0), TypeError, r"exp\(\).*'input'.*must be Tensor, not float"),
    ("mixed devices", lambda: ones(2) + ones(2, device="meta"), RuntimeError, "add.*same device.*cpu and meta"),
    ("an unknown device", lambda: ones(2, device="tpu"), RuntimeError, "tpu"),
    ("bool subtraction", lambda: ones(2, dtype=tenfold.bool) - ones(2, dtype=tenfold.bool), RuntimeError, "two bool tensors"),
    ("in-place narrowing", lambda: ones(2, dtype=tenfold.int64).add_(0.5), RuntimeError, "add_.*Float can't be cast.*Long"),
    ("in-place widening", lambda: ones(2).add_(ones(3, 2)), RuntimeError, r"add_.*\[2\].*broadcast shape.*\[3, 2\]|add_"),
    ("expanding a real dimension", lambda: ones(3).expand(4), RuntimeError, r"expand.*\(4\) must match.*\(3\)"),
    ("truth of many", lambda: bool(ones(2)), RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
    ("item of many", lambda: ones(2).item(), RuntimeError, "2 elements cannot be converted to Scalar"),
    ("length of a scalar", lambda: len(tenfold.tensor(1)), TypeError, "len\\(\\) of a 0-d tensor"),
    ("integer gradients", lambda: tenfold.tensor([1], requires_grad=True), RuntimeError, "floating point.*int64"),
    ("numpy of a meta tensor", lambda: ones(1, device="meta").numpy(), TypeError, "can't convert meta"),
    ("negative sizes", lambda: tenfold.zeros(-1), RuntimeError, "negative dimension -1"),
    ("ragged data", lambda: tenfold.tensor([[1, 2], [3]]), ValueError, "expected sequence of length 2 at dim 1"),
    ("a wrong gradient shape", lambda: setattr(ones(2), "grad", ones(3)), RuntimeError, r"different size: \[3\], expected \[2\]"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "match"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_wrong_use_is_explained(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_out_refuses_narrower_kinds_and_is_resized():
    with pytest.raises(RuntimeError, match=r"Float can't be cast.*Long"):
        tenfold.add(ones(2), 1, out=tenfold.empty(2, dtype=tenfold.int64))
    out = tenfold.empty(0)
    assert tenfold.add(ones(2), 1, out=out) is out
    assert out.tolist() == [2.0, 2.0]
    with pytest.warns(UserWarning, match=r"resized since it had shape \[2\]"):
        tenfold.add(ones(3), 1, out=out)


def test_registration_checks_parameter_names():
    with pytest.raises(TypeError, match=r"kernel for operator mm: its parameters are \(a, b\), expected \(input, mat2\)"):

        @kernel(op.mm, device="nowhere")
        def mm(a, b):
            return a

    with pytest.raises(AttributeError, match="there is no operator 'mmm'"):
        _ = op.mmm


def test_two_kernels_for_one_operator_and_device_name_both_owners():
    @primitive("pointwise", method=None, name="two_kernels_probe")
    def probe(input: tenfold.Tensor) -> tenfold.Tensor:
        """An operator of this test."""

    def first(input):
        return input

    def second(input):
        return input

    kernel(probe, device="nowhere")(first)
    with pytest.raises(RuntimeError, match=r"two_kernels_probe has two kernels for device 'nowhere'.*test_wrong_use"):
        kernel(probe, device="nowhere")(second)


def test_a_missing_kernel_names_the_operator_the_device_and_what_to_do():
    @primitive("pointwise", method=None, name="no_kernel_probe")
    def probe(input: tenfold.Tensor) -> tenfold.Tensor:
        """An operator of this test."""

    with pytest.raises(NotImplementedError, match=r"no_kernel_probe has no kernel for device 'cpu'.*none.*@kernel"):
        probe(ones(2))


@pytest.mark.parametrize("wrong", [1, 1.5, None, "x"])
def test_what_is_no_tensor_among_tensors(wrong):
    with pytest.raises(TypeError, match="expected Tensor as element 1 in argument 0"):
        tenfold.broadcast_tensors(tenfold.ones(2), wrong)
    with pytest.raises(TypeError, match="expected Tensor as element 0 in argument 0"):
        tenfold.broadcast_tensors(wrong)
