"""Every operator that core declares is complete and conforms on the CPU."""

from __future__ import annotations

import pytest

from tenfold.operators import OPERATORS
from tenfold.testing import completeness_tests, conformance_tests
from tenfold.testing.samples import load, samples_of

FAMILIES = ("pointwise", "activation", "reduction", "matmul", "view", "indexing", "conversion", "creation", "random")

load()
CORE = [name for name, operator in OPERATORS.items() if operator.family in FAMILIES]

# Known failures: reason, check, operators. A test that passes after all fails here, so that its name goes from the list.
KNOWN: list[tuple[str, str, str]] = [
    (
        "an empty tensor's strides are 0, not those of its shape",
        "unchanged",
        "view_as_complex",
    ),
    (
        "an empty tensor's strides are 0, not those of its shape",
        "memory",
        "view_as_complex",
    ),
    (
        "an empty tensor's strides are 0, not those of its shape",
        "shape_rule",
        "view_as_complex",
    ),
    (
        "an empty tensor's strides are 0, not those of its shape",
        "first_gradient",
        "view_as_complex",
    ),
    (
        "an empty tensor's strides are 0, not those of its shape",
        "second_gradient",
        "view_as_complex",
    ),
    (
        "an empty tensor's strides are 0, not those of its shape",
        "gradient_memory",
        "view_as_complex",
    ),
    (
        "for bool or integers the kernel's result has another dtype than the rule gives",
        "shape_rule",
        "bitwise_left_shift bitwise_right_shift fmod hypot nextafter relu leaky_relu elu selu celu mish softplus",
    ),
    (
        "the rule accepts a dtype that the kernel refuses",
        "dtypes",
        (
            "gcd lcm sign signbit floor_divide truncated_quotient remainder fmod atan2 hypot copysign nextafter logaddexp2 "
            "search_positions searchsorted bucketize rand_like randn_like randint_like multinomial"
        ),
    ),
    (
        "NumPy's ComplexWarning for complex input, which the rule accepts",
        "dtypes",
        "erf erfc erfinv gelu",
    ),
    (
        "the kernel runs a dtype that the rule refuses",
        "dtypes",
        "floor ceil trunc round relu",
    ),
    (
        "the message does not name the operator",
        "errors",
        (
            "from_numpy empty full zeros ones new_zeros new_ones new_empty new_full as_strided expand_as broadcast_to "
            "tensor_split index_put fliplr flipud rot90 repeat_interleave multinomial"
        ),
    ),
    (
        "NumPy's ValueError comes through, PyTorch's is RuntimeError",
        "errors",
        "masked_fill add_scaled",
    ),
    (
        "bool computes in int8 and does not fit back",
        "inplace",
        "pow",
    ),
    (
        "complex is accepted, but its gradient compares",
        "first_gradient",
        "xlogy",
    ),
    (
        "complex is accepted, but its gradient compares",
        "second_gradient",
        "xlogy",
    ),
    (
        "complex is accepted, but its gradient compares",
        "gradient_memory",
        "xlogy",
    ),
    (
        "integers are accepted and computed in another precision, or wrap",
        "value",
        "mish logsigmoid",
    ),
    (
        "NumPy's own error comes through: no rule explains a kernel of a composite",
        "errors",
        "mean logsumexp var std var_mean std_mean",
    ),
    (
        "the error is another's: a body or rule that runs first refuses differently",
        "errors",
        "unique",
    ),
    (
        "the error is another's: a body or rule that runs first refuses differently",
        "errors",
        "unique_consecutive",
    ),
    (
        "the error is another's: a body or rule that runs first refuses differently",
        "errors",
        "getitem",
    ),
]

# What operators lack: in words, operators.
LACKING: list[tuple[str, str]] = [
    (
        "an example in its docstring",
        (
            "real_part imag_part truncated_quotient max_dim min_dim sort_pair topk_pair kthvalue_pair unique_parts "
            "search_positions cummax_pair cummin_pair median_value median_dim mode_pair unsqueeze_ squeeze_ transpose_ "
            "swapaxes_ swapdims_ t_ as_strided_ detach_ index index_any scatter_set concat concatenate hstack vstack "
            "row_stack dstack column_stack fliplr flipud repeat_places strided_sum to_dtype to_device"
        ),
    ),
    (
        "an example in its docstring; samples (tenfold.testing.samples); error samples (tenfold.testing.samples)",
        "cuda",
    ),
]

FAILING = {f"{name}-{check}": reason for reason, check, names in KNOWN for name in names.split()}
INCOMPLETE = {name: lacks for lacks, names in LACKING for name in names.split()}

test_conformance = conformance_tests("cpu", CORE, xfail=FAILING)
test_completeness = completeness_tests(CORE, xfail=INCOMPLETE)


@pytest.mark.parametrize("name", [n for n in CORE if not n.endswith("_")])
def test_samples_are_repeatable(name: str) -> None:
    assert repr(samples_of(name)) == repr(samples_of(name))
