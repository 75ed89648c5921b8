"""`torch._subclasses`: PyTorch's tensors without numbers for its compiler; Tenfold's are those of the device "meta"."""

from __future__ import annotations

from typing import Any

from tenfold.as_torch.stand_ins.absent import errors, show, show_missing

_WHY = "tensors without numbers are those of the device 'meta'; programs are compiled by tenfold-compile, which is not installed"
show_missing(
    __name__,
    {
        "fake_tensor": "FakeTensor FakeTensorMode unset_fake_temporarily",
        "functional_tensor": "FunctionalTensor FunctionalTensorMode mb_unwrap_functional_tensor",
        "meta_utils": "MetaConverter",
    },
    _WHY,
)


_ERRORS = (
    "DataDependentOutputException DynamicOutputShapeException MetadataMismatchError UnsupportedFakeTensorException "
    "UnsupportedOperatorException"
)


def is_fake(x: Any) -> bool:
    """False: there are no such tensors."""
    return False


show(f"{__name__}.fake_tensor", {**vars(globals()["fake_tensor"]), **errors(_ERRORS, RuntimeError), "is_fake": is_fake})
globals().update({name: getattr(globals()["fake_tensor"], name) for name in ("FakeTensor", "FakeTensorMode")})
