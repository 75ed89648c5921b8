"""What an early version computed, accepted or printed otherwise than PyTorch; programs of one number had one cause.

A program leaves its result in `y`, or ends with a kind of error.
"""

from __future__ import annotations

import copy
import io
import pickle
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

TRAINING = (
    """
01 x = torch.zeros(2, requires_grad=True); F.binary_cross_entropy_with_logits(x, t([0., 1.])).backward(); y = x.grad
01 x = torch.zeros(2, requires_grad=True); F.logsigmoid(x).sum().backward(); y = x.grad
01 x = torch.zeros(1, 2, requires_grad=True); F.multilabel_soft_margin_loss(x, t([[0., 1.]])).backward(); y = x.grad
02 x = t([100.], requires_grad=True); F.binary_cross_entropy(x.sigmoid(), torch.ones(1)).backward(); y = x.grad
02 x = torch.ones(1, 3, requires_grad=True); l = F.cross_entropy(x, t([-100])); l.backward(); y = l, x.grad
03 y = torch.where(t([True]), t([1.]), np.sqrt(2)), np.float64(2.) - t([1.]), t([1.]) / np.sqrt(2), t([1.]) + np.array(2.)
04 x = t([.3, .6], requires_grad=True); z = x ** 2; z += 1; z.sum().backward(); y = x.grad
04 x = t([.3, .6], requires_grad=True); z = x.erfinv(); z += 1; z.sum().backward(); y = x.grad
04 x = t([.3, .6], requires_grad=True); z = torch.logaddexp(x, x * 2); z += 1; z.sum().backward(); y = x.grad
04 x = t([.3, .6], requires_grad=True); z = x.exp(); z += 1; z.sum().backward(); y = x.grad
04 x = t([.3, .6], requires_grad=True); z = 2 / x; z += 1; z.sum().backward(); y = x.grad
04 x = t([.3, .6], requires_grad=True); z = x.logsumexp(0); z += 1; z.sum().backward(); y = x.grad
05 a = torch.ones(3, dtype=torch.complex64, requires_grad=True); b = torch.view_as_real(a * 1).t(); b += 1; \
(b * torch.arange(6.).view(2, 3)).sum().backward(); y = torch.view_as_real(a.grad)
05 a = t([[1., 2.], [3., 4.]], requires_grad=True); b = a * 1; z = b * a; b.t_(); z.sum().backward(); y = a.grad
05 x = torch.ones(2, requires_grad=True) * 1; x.unbind()[0].mul_(2)
05 x = torch.ones(2, requires_grad=True) * 1; x.split(1)[0].mul_(2)
05 torch.ones(1, 3).expand(2, 3).add_(1)
05 x = torch.ones(2, requires_grad=True); z = x * 2; z.retain_grad(); z.mul_(3); z.sum().backward(); y = z.grad, x.grad
06 m = nn.BatchNorm2d(3); m(torch.rand(0, 3, 2, 2)).sum().backward(); y = m.running_mean, m.weight.grad
07 y = torch.full((10**5, 10), .1).t().sum(1)
07 y = torch.full((4, 3, 50, 50), .1).to(memory_format=torch.channels_last).mean()
07 y = (t([[1., 2.], [3., 1.], [2., 3.]]).repeat(1000, 1) + 2**20).std(0)
07 y = F.layer_norm(torch.full((1, 8), 1000.1), (8,)).abs().max() < 1e-3
07 y = torch.full((100,), 1000., dtype=torch.half).std(), F.softplus(t([12.], dtype=torch.half)), t([1e-5]).half() * 1e5
08 m = nn.GroupNorm(2, 4); m(torch.randn(2, 4, 3, dtype=torch.bfloat16)).sum().backward(); y = str(m.weight.grad.dtype)
08 m = nn.LayerNorm(4); m(torch.randn(2, 4, dtype=torch.bfloat16)).sum().backward(); y = str(m.weight.grad.dtype)
09 y = torch.func.vmap(lambda v: torch.normal(0., 1., (5,)), randomness="different")(torch.ones(3)).unique(dim=0).shape
09 y = torch.func.vmap(lambda v: v + torch.randn(2), randomness="same", chunk_size=1)(torch.zeros(4, 2)).unique(dim=0).shape
10 x = t([-1., 0., 1.], requires_grad=True); (0 ** x).sum().backward(); y = x.grad
10 x = t([-1., 0., 1.], requires_grad=True); torch.pow(0., x).sum().backward(); y = x.grad
10 x = t([1., nan, 2.], requires_grad=True); x.max().backward(); y = x.grad
10 x = t([1., nan, 2.], requires_grad=True); x.amin().backward(); y = x.grad
10 x = t([-inf, -inf], requires_grad=True); x.logsumexp(0).backward(); y = x.grad
10 x = t([nan, 1., -1.], requires_grad=True); F.elu(x).sum().backward(); y = x.grad
10 x = t([nan, 1., -1.], requires_grad=True); F.selu(x).sum().backward(); y = x.grad
10 x = t([0., 1., 2., .5], requires_grad=True); x.logit().sum().backward(); y = x.grad
11 x = t([1., 2.], requires_grad=True); z = x * x; z.sum().backward(); y = torch.autograd.grad(z.sum(), z)
""".replace("\\\n", "")
    .strip()
    .splitlines()
)

RESULTS = (
    """
12 y = F.interpolate(torch.arange(16, dtype=torch.uint8).view(1, 1, 4, 4) * 15, scale_factor=2, mode="bilinear")
12 y = F.interpolate(torch.arange(16, dtype=torch.uint8).view(1, 1, 4, 4) * 15, scale_factor=2, mode="bicubic")
12 y = F.avg_pool2d(torch.arange(16, dtype=torch.uint8).view(1, 1, 4, 4), 2)
12 y = F.interpolate(torch.arange(16, dtype=torch.uint8).view(1, 1, 4, 4), size=2, mode="area")
12 y = t([1j]).bool()
12 x = y = t([1, 2]); x <<= 1
12 y = t([2, 3]).pow_(-1)
12 y = t([2]).float_power_(2)
13 y = torch.zeros(4, 3); torch.arange(0, 8, out=y.narrow(1, 1, 2))
13 y = torch.zeros(4, 3); torch.linspace(0, 3, 4, out=y[:, 0])
13 y = t([1., 2.]); copy.copy(y)[0] = 9
15 y = t([1, 2, 3.]).storage()[1]
15 x = torch.arange(4.); y = copy.deepcopy([x, x.untyped_storage()]); y = y[0].untyped_storage().data_ptr() == y[1].data_ptr()
15 y = pickle.loads(pickle.dumps(torch.ones(2, 3).t())).stride()
15 x = t([1.]); x.foo = 3; f = io.BytesIO(); torch.save(x, f); f.seek(0); y = torch.load(f, weights_only=False).foo
16 y = torch.linalg.cond(torch.zeros(2, 2)), torch.linalg.cond(t([[1., 1.], [1., 1.]]), 1)
16 y = torch.log1p(t([1e-20 + 1e-20j], dtype=torch.complex128))
16 y = torch.add(t([True]), t([True]), alpha=0), torch.arange(False, True), torch.clamp(t([1, 2]), t([1.5]))
16 y = torch.div(t([-inf], dtype=torch.bfloat16), 1, rounding_mode="floor")
16 y = torch.linalg.lstsq(t([[1., 1.], [1., 1.001]]), t([[1.], [2.]]), rcond=.01, driver="gelsd").solution
16 y = torch.quantile(t([1, 2]), .5)
16 y = torch.einsum("i->", t([1, 2], dtype=torch.int16)), torch.ldexp(t([1.]), t([2])), torch.block_diag(t([1]), t([1.]))
16 y = torch.unravel_index(t([3], dtype=torch.int32), (2, 2))
17 torch.manual_seed(0); nn.utils.skip_init(nn.Linear, 2, 2); y = torch.rand(1)
17 p = nn.Parameter(torch.ones(1)); o = torch.optim.Adam([p]); p.sum().backward(); o.step(); y = o.state[p]["step"]
17 l = t(.1); p = nn.Parameter(torch.ones(1)); o = torch.optim.SGD([p], lr=.1, momentum=.9); p.sum().backward(); o.step(); \
torch.optim.lr_scheduler.CyclicLR(o, l, t(.2)).step(); y = l
18 torch.manual_seed(3); y = F.dropout(torch.ones(3, 4).t())
18 torch.manual_seed(3); y = F.rrelu(-torch.ones(5), training=True)
18 torch.manual_seed(3); y = nn.init.trunc_normal_(torch.empty(4), 0, 1, -.5, 2.)
19 y = [f(last(2, 4, 4, 4)).is_contiguous(memory_format=torch.channels_last) for f in (nn.Conv2d(4, 4, 3), nn.MaxPool2d(2), \
nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(2), nn.GroupNorm(2, 4), nn.Dropout(), nn.GELU(), nn.BatchNorm2d(4), nn.Upsample(None, 2))]
19 y = F.pad(last(2, 4, 4, 4), (1, 1)).stride(), F.pixel_unshuffle(last(2, 4, 4, 4), 2).stride()
20 x = torch.ones(2, 0, requires_grad=True); F.layer_norm(x, (0,)).sum().backward(); y = x.grad
20 y = F.adaptive_avg_pool2d(torch.rand(0, 3, 4, 4), 2)
20 x = torch.arange(16.).view(1, 1, 4, 4).requires_grad_(); g = t([[[[inf, inf], [0., 0.]]]]); \
o = F.grid_sample(x, g, mode="nearest", padding_mode="border", align_corners=False); o.sum().backward(); y = o, x.grad
20 y = torch.ones(2) @ torch.ones(2, device="meta")
20 y = list(reversed(t([1, 2])))
20 y = []; x = t([1.], requires_grad=True); b = x * 2; b.register_hook(lambda g: y.append("pre")); \
b.grad_fn.register_hook(lambda *a: y.append("post")); torch.autograd.grad(b * 3, inputs=b)
""".replace("\\\n", "")
    .strip()
    .splitlines()
)

FIRST_HOUR = (
    """
24 f = io.BytesIO(); torch.save({"a": torch.ones(2)}, f, _use_new_zipfile_serialization=False); f.seek(0); y = torch.load(f)["a"]
24 f = io.BytesIO(); torch.save({"a": torch.strided}, f); f.seek(0); y = str(torch.load(f)["a"])
25 y = []; d = torch.device("meta"); d.__enter__(); h = threading.Thread(target=lambda: y.append(torch.ones(1).device.type)); \
h.start(); h.join(); d.__exit__(None, None, None)
26 y = f"{t(2.5)}"
26 y = f"{t([2.5]):.2f}"
26 y = torch.ones(1, dtype=float), torch.ones(1, dtype=int)
26 y = torch.ones(1, dtype="float32")
26 y = torch.ones(1, dtype=np.float32)
26 y = torch.randn(t(3)).shape
28 y = torch.add(3, t([1])), torch.mul(3, t([1])), torch.bitwise_and(2, t([3])), t([1., 2.]).copy_(3)
28 y = torch.full((2,), -1, dtype=torch.uint8), torch.addcmul(t([1.]), 2, t([1.]), t([3.])), t([1.]).add_(2., t([3.]))
28 y = torch.ones(2); y += Unknown()
28 y = torch.ones(2).new([1, 2]), torch.FloatTensor([1]), torch.ones(2).resize_(1), torch.ones(2).set_(torch.ones(3))
28 y = torch.cat(3)
28 nn.Linear(1, 1).to(copy=True)
28 y = torch.hstack(torch.ones(2))
29 y = torch.fmod(t([1]), 0)
29 y = F.ctc_loss(torch.zeros(2, 1, 2).log_softmax(-1), t([[1]]), t([5]), t([1]))
29 y = 1 - t([True])
29 torch.ones(2)[t([0])] = t([1], dtype=torch.int32)
29 y = torch.lerp(t([1.]), t([1.], dtype=torch.float64), .5)
29 x = torch.ones(2); x.grad = x
29 y = torch.neg(t([1j], dtype=torch.complex128), out=torch.empty(1, dtype=torch.complex64))
29 y = t([1, 2]).flip()
29 y = torch.Size(t([1.5]))
29 y = torch.device("cuda:")
29 y = torch.zeros(3).index_copy_(0, t([-1]), t([1.]))
29 y = torch.ones(3)[t([0], dtype=torch.int16)]
29 y = torch.isposinf(t([1.]), out=torch.empty(1))
29 x = torch.randn(3, requires_grad=True) * 1; F.elu_(x, -1.).sum().backward()
29 c = torch.inference_mode(); c.__enter__(); a = torch.ones(2); c.__exit__(None, None, None); a.add_(1)
29 c = torch.inference_mode(); c.__enter__(); a = torch.ones(2); c.__exit__(None, None, None); a * torch.ones(2).requires_grad_()
30 y = torch.empty(2**60)
30 y = t(2**70)
30 y = t("a")
30 y = torch.ones(2)["a"]
30 y = torch.argmax(torch.empty(0))
30 y = torch.argmax(torch.empty(0, 2), 0)
30 y = t([[1], [1, 2]])
31 c = torch.autocast("cuda", enabled=False); c.__enter__(); c.__exit__(None, None, None)
34 y = torch.autograd.Variable(torch.ones(1), requires_grad=True).requires_grad
34 m = nn.BatchNorm1d(2); c = torch.autocast("cpu", torch.bfloat16); c.__enter__(); o = m(nn.Linear(2, 2)(torch.randn(4, 2))); \
c.__exit__(None, None, None); o.float().sum().backward(); y = str(m.weight.grad.dtype), str(o.dtype)
35 y = torch.zeros(0, dtype=torch.uint8).view(torch.float32).shape, t([1.]).view(dtype=torch.uint8)
35 y = torch.cat([t([1])], axis=0), torch.stack([t([1])], axis=0)
35 y = torch.add(t([1.]), 2., t([3.])), t([1.]).addcmul_(2., t([1.]), t([2.])), t([1.]).addcdiv_(2., t([1.]), t([2.]))
36 y = str(pickle.loads(pickle.dumps(torch.bool))), pickle.loads(pickle.dumps(t([1.], requires_grad=True) * 2)).requires_grad
36 y = [name in dir(torch) for name in ("manual_seed", "broadcast_shapes", "finfo", "vmap", "autocast", "optim", "linalg", "Any")]
39 y = str(torch.float32), repr(torch.Size([1])), repr(torch.strided), repr(torch.channels_last)
40 torch.manual_seed(1); y = F.dropout(torch.ones(2, 3, 2).permute(1, 0, 2)), F.dropout(last(1, 2, 2, 2))
40 torch.manual_seed(1); y = F.gumbel_softmax(torch.ones(2, 3).t()), torch.randint_like(torch.ones(2, 3).t(), 9)
""".replace("\\\n", "")
    .strip()
    .splitlines()
)


class Unknown:
    def __radd__(self, other: Any) -> str:
        return "added by itself"


def outcome(lib: Any, program: str) -> Any:
    """What a program leaves in `y`, or the kind of its error."""
    scope = {
        "torch": lib, "t": lib.tensor, "nn": lib.nn, "F": lib.nn.functional, "np": np, "inf": np.inf, "nan": np.nan, "copy": copy,
        "io": io, "pickle": pickle, "threading": threading, "Unknown": Unknown, "y": None,
        "last": lambda *size: lib.ones(size).to(memory_format=lib.channels_last),
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(program, scope)
        except Exception as error:  # noqa: BLE001 - its kind is what is compared
            return type(error).__name__
    return shown(scope["y"])


def shown(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [shown(v) for v in value]
    if not hasattr(value, "requires_grad"):
        return str(value).replace("tenfold", "torch")
    strides = [step for step, n in zip(value.stride(), value.shape) if n > 1]
    return str(value.dtype).partition(".")[2], tuple(value.shape), strides, rounded(value.detach().tolist())


def rounded(value: Any) -> Any:
    return [rounded(v) for v in value] if isinstance(value, list) else f"{value:.5g}"


@pytest.mark.parametrize("program", [*TRAINING, *RESULTS, *FIRST_HOUR])
def test_as_pytorch(program: str) -> None:
    assert outcome(tenfold, program[3:]) == outcome(torch, program[3:])


def test_products_in_half_precision_are_rounded_at_each_factor() -> None:
    """Sums are added up in float32; products are not."""
    factors = [300.0, 300.0, 0.001]
    assert tenfold.tensor(factors, dtype=tenfold.half).prod().item() == float("inf")
    assert torch.tensor(factors, dtype=torch.half).prod().item() == float("inf")


def test_a_buffer_that_the_call_assigns_anew_is_a_result() -> None:
    found = []
    for lib in (torch, tenfold):

        class Counting(lib.nn.Module):  # type: ignore[name-defined, misc]
            def forward(self, x: Any) -> Any:
                self.count = self.count + 1
                return x + self.count

        module = Counting()
        module.register_buffer("count", lib.zeros(1))
        given = {"count": lib.ones(1)}
        result = lib.func.functional_call(module, given, (lib.ones(1),))
        found.append([result.tolist(), module.count.tolist(), given["count"].tolist()])
    assert found[0] == found[1] == [[3.0], [0.0], [2.0]]


def test_a_part_of_a_mapped_file_is_a_tensor(tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "numbers", np.int32, "w+", shape=(8,))
    mapped[:] = range(8)
    for lib in (torch, tenfold):
        assert lib.from_numpy(mapped[2:5]).tolist() == [2, 3, 4]
        assert (lib.from_numpy(mapped[2:5].astype(np.int64)) + 1).tolist() == [3, 4, 5]
