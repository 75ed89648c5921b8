"""Every primitive of core has a kernel on this device, or stands here with the reason why not."""

from __future__ import annotations

from tenfold import plugins
from tenfold.dispatch import kernels
from tenfold.dispatch.operators import OPERATORS

LACKING = {"reduced_segments": "segments of different lengths need a kernel of their own; compute on the CPU"}


def test_every_primitive_has_a_kernel_or_a_reason() -> None:
    plugins.load_operators()
    table = kernels.table("cuda")
    core = [o for o in OPERATORS.values() if o.declared.__module__.startswith("tenfold.ops.")]
    primitives = [o for o in core if o.body is None and o.inplace_of is None]
    assert {o.name for o in primitives if getattr(table, o.name) is None} == set(LACKING)
