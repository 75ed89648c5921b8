"""The Python API of cuDNN's graphs as far as this package draws them, computed on host memory from what its tensors were told.

Arguments are those that the real module's functions have; every result is read and written by the dimensions and strides that
its tensor was given, at the address that `_execute` is.
"""

from __future__ import annotations

import ctypes
from itertools import product
from types import SimpleNamespace

import ml_dtypes
import numpy as np

DTYPES = {"HALF": np.float16, "BFLOAT16": ml_dtypes.bfloat16, "FLOAT": np.float32}


class NotSupported(Exception):
    pass


class Tensor:
    def __init__(self, dim=(), stride=(), data_type="FLOAT"):
        self.dim, self.stride, self.kind, self.uid, self.output, self.compute = list(dim), list(stride), data_type, 0, False, None

    def _setting(name):
        def set_it(self, value):
            setattr(self, name, value)
            return self

        return set_it

    set_dim, set_stride, set_data_type = _setting("dim"), _setting("stride"), _setting("kind")
    set_uid, set_output = _setting("uid"), _setting("output")

    def at(self, address):
        dtype = np.dtype(DTYPES[self.kind])
        assert address % 16 == 0
        size = sum((n - 1) * s for n, s in zip(self.dim, self.stride)) + 1
        flat = np.frombuffer((ctypes.c_char * (size * dtype.itemsize)).from_address(address), dtype)
        return np.lib.stride_tricks.as_strided(flat, self.dim, [s * dtype.itemsize for s in self.stride], writeable=True)


class Module:
    """What `import cudnn` gives; `made` has the graphs, `ran` a count of runs."""

    cudnnGraphNotSupportedError = NotSupported
    data_type = SimpleNamespace(**{name: name for name in DTYPES})
    numerical_note = SimpleNamespace(**{n: n for n in ("NONDETERMINISTIC", "DOWN_CONVERT_INPUTS", "TENSOR_CORE")})
    heur_mode = SimpleNamespace(A="A", FALLBACK="FALLBACK")

    def __init__(self):
        self.made, self.ran, self.streams, self.refused = [], 0, [], lambda graph: False

    def backend_version(self):
        return 92000

    def create_handle(self):
        return 5

    def set_stream(self, handle, stream):
        assert handle == 5
        self.streams.append(stream)

    def pygraph(self, io_data_type, intermediate_data_type, compute_data_type, handle):
        assert (intermediate_data_type, compute_data_type, handle) == ("FLOAT", "FLOAT", 5)
        return Graph(self)


class Graph:
    def __init__(self, module):
        self.module, self.inputs, self.nodes, self.without, self.steps = module, [], [], [], []
        module.made.append(self)

    def tensor(self, dim, stride, data_type):
        self.inputs.append(Tensor(dim, stride, data_type))
        return self.inputs[-1]

    def _node(self, name, compute, count=1, **tensors):
        made = [Tensor() for _ in range(count)]
        self.nodes.append((name, tensors, made, compute))
        return made if count > 1 else made[0]

    def conv_fprop(self, image, weight, pre_padding, post_padding, stride, dilation):
        assert pre_padding == post_padding
        return self._node(
            "fprop", lambda image, weight: correlate(image, weight, pre_padding, stride, dilation), image=image, weight=weight
        )

    def bias(self, input, bias):
        return self._node("bias", lambda input, bias: input + bias, input=input, bias=bias)

    def conv_dgrad(self, loss, filter, pre_padding, post_padding, stride, dilation):
        def compute(loss, filter, shape):
            return adjoint(lambda x: correlate(x, filter, pre_padding, stride, dilation), loss, shape)

        return self._node("dgrad", compute, loss=loss, filter=filter)

    def conv_wgrad(self, image, loss, pre_padding, post_padding, stride, dilation):
        def compute(image, loss, shape):
            return adjoint(lambda w: correlate(image, w, pre_padding, stride, dilation), loss, shape)

        return self._node("wgrad", compute, image=image, loss=loss)

    def sdpa(self, q, k, v, generate_stats, attn_scale, use_causal_mask):
        assert generate_stats
        return self._node("sdpa", lambda q, k, v: attend(q, k, v, attn_scale, use_causal_mask), 2, q=q, k=k, v=v)

    def sdpa_backward(self, q, k, v, o, dO, stats, attn_scale, use_causal_mask, use_deterministic_algorithm):
        def compute(q, k, v, o, g, stats):
            weights = np.exp(scores(q, k, attn_scale, use_causal_mask) - stats)
            to_weights = g @ v.swapaxes(-1, -2)
            slopes = weights * (to_weights - (g * o).sum(-1, keepdims=True)) * attn_scale
            return slopes @ k, slopes.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ g

        return self._node("sdpa_backward", compute, 3, q=q, k=k, v=v, o=o, g=dO, stats=stats)

    def validate(self):
        self.steps.append("validate")
        uids = [t.uid for t in self.inputs] + [t.uid for *_, made, _ in self.nodes for t in made if t.output]
        assert len(set(uids)) == len(uids)
        assert 0 not in uids

    def build_operation_graph(self):
        self.steps.append("build")

    def create_execution_plans(self, modes):
        assert modes == ["A", "FALLBACK"]
        self.steps.append("plans")

    def deselect_numeric_notes(self, notes):
        self.without += notes

    def check_support(self):
        assert self.steps == ["validate", "build", "plans"]
        if self.module.refused(self):
            raise NotSupported("no engine")

    def build_plans(self):
        self.steps.append("built")

    def get_workspace_size(self):
        return 0

    def _execute(self, addresses, workspace, handle):
        assert self.steps[-1] == "built"
        self.module.ran += 1
        values = {id(t): t.at(addresses[t.uid]).astype(np.float64) for t in self.inputs}
        for name, tensors, made, compute in self.nodes:
            given = {n: values[id(t)] for n, t in tensors.items()}
            found = compute(**given, **({"shape": made[0].dim} if name in ("dgrad", "wgrad") else {}))
            for t, value in zip(made, found if len(made) > 1 else [found]):
                values[id(t)] = value
                if t.output:
                    assert tuple(t.dim) == value.shape
                    t.at(addresses[t.uid])[...] = value.astype(DTYPES[t.kind])


def correlate(x, w, padding, stride, dilation):
    """Cross-correlation as the documentation of convolution defines it; channels in groups."""
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    taps = w.shape[2:]
    out = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], taps, stride, dilation)]
    groups = x.shape[1] // w.shape[1]
    found = np.zeros((x.shape[0], w.shape[0], *out))
    for tap in product(*map(range, taps)):
        at = tuple(slice(t * d, t * d + s * (n - 1) + 1, s) for t, d, s, n in zip(tap, dilation, stride, out))
        part = x[(slice(None), slice(None), *at)]
        part = part.reshape(x.shape[0], groups, w.shape[1], *out)
        own = w[(slice(None), slice(None), *tap)].reshape(groups, w.shape[0] // groups, w.shape[1])
        found += np.einsum("ng i..., goi -> ngo...".replace(" ", ""), part, own).reshape(found.shape)
    return found


def adjoint(linear, y, shape):
    """The transpose of a linear map at y, from its values at all unit vectors."""
    found = np.zeros(shape)
    for place in np.ndindex(*shape):
        unit = np.zeros(shape)
        unit[place] = 1
        found[place] = (linear(unit) * y).sum()
    return found


def scores(q, k, scale, causal):
    k = np.repeat(k, q.shape[1] // k.shape[1], 1)
    found = scale * (q @ k.swapaxes(-1, -2))
    return np.where(np.tri(*found.shape[-2:], dtype=bool), found, -np.inf) if causal else found


def attend(q, k, v, scale, causal):
    found = scores(q, k, scale, causal)
    sums = np.log(np.exp(found).sum(-1, keepdims=True))
    return np.exp(found - sums) @ np.repeat(v, q.shape[1] // v.shape[1], 1), sums
