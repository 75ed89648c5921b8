"""Running extremes and logarithms of running sums: operators of tenfold-scientific."""

from __future__ import annotations

from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.kernels.scanning import Scan, scanning
from tenfold.dispatch.operators import op

kernel(op.cummax_pair, device="cuda")(scanning(Scan("greater"), through_host("cummax_pair")))
kernel(op.cummin_pair, device="cuda")(scanning(Scan("less"), through_host("cummin_pair")))
kernel(op.logcumsumexp, device="cuda")(scanning(Scan("powers", "fVc"), through_host("logcumsumexp")))
