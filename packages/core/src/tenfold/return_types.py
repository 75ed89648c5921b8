"""What operators with several named results return, under PyTorch's names and field names."""

from __future__ import annotations

from typing import Any, NamedTuple


def _pair(name: str, first: str = "values", second: str = "indices") -> Any:
    made = NamedTuple(name, [(first, Any), (second, Any)])  # type: ignore[misc]
    made.__module__, made.__doc__ = __name__, f"The result of `tenfold.{name}`: ({first}, {second})."
    return made


max = _pair("max")
min = _pair("min")
aminmax = _pair("aminmax", "min", "max")
sort = _pair("sort")
topk = _pair("topk")
kthvalue = _pair("kthvalue")
median = _pair("median")
nanmedian = _pair("nanmedian")
mode = _pair("mode")
cummax = _pair("cummax")
cummin = _pair("cummin")
histogram = _pair("histogram", "hist", "bin_edges")
