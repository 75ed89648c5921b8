"""What scripts for one GPU say besides: values taken to the host, indices, mistakes and their words, wrappers, private names."""

import math
import os
import pickle
import tempfile
import traceback
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

parts = []
part = parts.append


def refused(call, kind, words):
    try:
        call()
    except kind as error:
        assert words in str(error), f"{words!r} not in {str(error)!r}"
        return
    raise AssertionError(f"no {kind.__name__}")


@part
def values():
    loss = torch.tensor(1.25, device="cuda")
    assert f"{loss:.3f}" == "1.250" and float(loss) == 1.25 and int(loss) == 1 and bool(loss) and math.sqrt(loss * 4) > 2
    assert "{:.2f}".format(loss) == "1.25" and round(loss.item(), 1) == 1.2 and loss.tolist() == 1.25
    x = torch.arange(6.0, device="cuda").view(2, 3)
    assert [r.sum().item() for r in x] == [3, 12] and len(x) == 2 and x.sum() == 15 and (x > 2).any()
    assert sum(x[0]).is_cuda and max(x[0]) == 2 and x[0].tolist() == [0, 1, 2] and 2.0 in x
    assert np.allclose(x.cpu().numpy(), np.arange(6).reshape(2, 3)) and x.detach().cpu().numpy().dtype == np.float32
    assert torch.tensor([loss, loss]).tolist() == [1.25, 1.25]
    assert torch.stack([loss, loss]).is_cuda and torch.as_tensor([1, 2], device="cuda").is_cuda
    assert torch.from_numpy(np.ones(2)).cuda().dtype == torch.float64 and torch.tensor(np.ones(2), device="cuda").is_cuda
    refused(lambda: np.asarray(x), TypeError, "can't convert cuda:0 device type tensor to numpy")
    refused(lambda: np.mean([loss, loss]), TypeError, "can't convert cuda:0 device type tensor to numpy")
    assert pickle.loads(pickle.dumps(x)).is_cuda and repr(x.requires_grad_()).endswith("device='cuda:0', requires_grad=True)")
    assert str(loss) == "tensor(1.2500, device='cuda:0')" and str(torch.ones(2, device="cuda", dtype=torch.half)).endswith(
        "dtype=torch.float16)"
    )
    y = torch.ones(2, device="cuda").share_memory_()
    assert y.is_shared() and y.untyped_storage().device.type == "cuda" and y.storage().is_cuda


@part
def indices():
    x, i = torch.arange(6.0, device="cuda"), torch.tensor([1, 3])
    assert (
        x[i].tolist() == [1, 3]
        and x[i.cuda()].tolist() == [1, 3]
        and x[[0, 5]].tolist() == [0, 5]
        and x[np.array([2])].tolist() == [2]
    )
    assert x[torch.tensor([True, False] * 3)].tolist() == [0, 2, 4]
    x[i] = 0
    x[i.cuda()] = torch.tensor(7.0)
    x[0] = torch.tensor(9.0)
    assert x.tolist() == [9, 7, 2, 7, 4, 5]
    refused(lambda: torch.arange(6.0)[i.cuda()], RuntimeError, "same device")
    refused(lambda: x.gather(0, i), RuntimeError, "Expected all tensors to be on the same device")
    assert torch.where(x > 3, x, 0.0).is_cuda and torch.where(x > 3, torch.tensor(1.0), x).is_cuda
    assert x.masked_fill(x > 5, torch.tensor(0.0)).is_cuda and torch.cat([x, x]).is_cuda
    refused(lambda: torch.cat([x, torch.ones(1)]), RuntimeError, "Expected all tensors to be on the same device")
    x.copy_(torch.ones(6), non_blocking=True)
    assert x.sum().item() == 6


@part
def mistakes():
    layer = nn.Linear(3, 2).cuda()
    refused(lambda: layer(torch.ones(1, 3)), RuntimeError, "Expected all tensors to be on the same device")
    conv = nn.Conv2d(1, 1, 3).cuda()
    refused(lambda: conv(torch.ones(1, 1, 5, 5)), RuntimeError, "same device")
    refused(lambda: conv(torch.ones(1, 1, 5, 5, device="cuda").half()), RuntimeError, "expected scalar type Half but found Float")
    refused(
        lambda: F.cross_entropy(torch.ones(2, 3, device="cuda"), torch.tensor([0, 1])),
        RuntimeError,
        "Expected all tensors to be on the same device",
    )
    refused(
        lambda: F.embedding(torch.tensor([0]), torch.ones(2, 2, device="cuda")),
        RuntimeError,
        "Expected all tensors to be on the same device",
    )
    refused(lambda: torch.ones(2, device="cuda:7"), RuntimeError, "cuda:7: invalid")
    refused(lambda: torch.cuda.get_device_name(7), AssertionError, "Invalid device id")
    refused(
        lambda: torch.ones(2, 3, device="cuda") @ torch.ones(2, 3, device="cuda"),
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
    )
    refused(lambda: torch.ones(2, device="cuda", generator=None).normal_(generator=torch.Generator()), Exception, "")
    refused(
        lambda: torch.randn(2, device="cuda", generator=torch.Generator()),
        RuntimeError,
        "Expected a 'cuda' device type for generator but found 'cpu'",
    )
    refused(lambda: torch.nn.init.normal_(torch.ones(2, device="cuda")).numpy(), TypeError, "can't convert cuda:0")
    assert issubclass(torch.cuda.OutOfMemoryError, RuntimeError) and torch.cuda.OutOfMemoryError is torch.OutOfMemoryError
    with torch.autograd.detect_anomaly(check_nan=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused(
            lambda: (torch.zeros(1, device="cuda", requires_grad=True).sqrt() * 0).sum().backward(),
            RuntimeError,
            "returned nan values",
        )


@part
def wrappers():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)).cuda()
    assert nn.SyncBatchNorm.convert_sync_batchnorm(net)[1].weight.is_cuda
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).cuda()
    assert torch.jit.script(net)(torch.ones(1, 2, device="cuda")).is_cuda
    assert torch.jit.trace(net, torch.ones(1, 2, device="cuda"))(torch.ones(1, 2, device="cuda")).is_cuda
    net.type(torch.cuda.HalfTensor)
    assert net[0].weight.dtype == torch.half and net.to(torch.device("cuda"), torch.float32)[0].weight.is_cuda
    from torch.nn.utils import parametrizations, prune, weight_norm

    prune.l1_unstructured(net[0], "weight", 0.5)
    parametrizations.spectral_norm(nn.Linear(3, 3).cuda())(torch.ones(1, 3, device="cuda"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weight_norm(nn.Linear(3, 3)).cuda()(torch.ones(1, 3, device="cuda"))
    packed = nn.utils.rnn.pack_padded_sequence(torch.ones(2, 3, 4, device="cuda"), [3, 2], batch_first=True)
    out, _ = nn.LSTM(4, 5, batch_first=True, bidirectional=True).cuda()(packed)
    padded, lengths = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
    assert padded.is_cuda and not lengths.is_cuda
    rnn = nn.GRU(4, 5).cuda()
    rnn.flatten_parameters()
    attention = nn.MultiheadAttention(8, 2, batch_first=True).cuda()
    x = torch.randn(2, 4, 8, device="cuda")
    mask = nn.Transformer.generate_square_subsequent_mask(4, device="cuda")
    assert attention(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0].is_cuda
    assert nn.Transformer(8, 2, 1, 1, 16, batch_first=True).cuda()(x, x, tgt_mask=mask).is_cuda

    class Buffered(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.ones(1))
            self.plain = torch.ones(1)

        def forward(self, x):
            return x * self.scale + self.plain.to(x.device)

    assert Buffered().cuda()(torch.ones(2, device="cuda")).is_cuda
    with torch.device("cuda"):
        assert nn.Embedding(3, 2).weight.is_cuda and torch.arange(3).is_cuda and torch.tensor(1).is_cuda
    with torch.device("meta"):
        empty = nn.Linear(4, 4)
    assert empty.to_empty(device="cuda").weight.is_cuda


@part
def tasks():
    torch.manual_seed(0)
    ctc = nn.CTCLoss()(
        torch.randn(5, 2, 4, device="cuda").log_softmax(2),
        torch.tensor([[1, 2], [1, 3]], device="cuda"),
        torch.tensor([5, 5]),
        torch.tensor([2, 2]),
    )
    assert ctc.is_cuda
    d = torch.distributions.Normal(torch.zeros(2, device="cuda"), 1.0)
    assert d.rsample((3,)).is_cuda and d.log_prob(d.sample()).is_cuda
    c = torch.distributions.Categorical(logits=torch.zeros(2, 3, device="cuda"))
    assert c.sample().is_cuda and c.entropy().is_cuda and c.log_prob(c.sample()).is_cuda
    assert torch.multinomial(torch.ones(2, 3, device="cuda"), 2).is_cuda and torch.randperm(4, device="cuda").is_cuda
    assert torch.linalg.norm(torch.ones(2, 2, device="cuda")).is_cuda and torch.svd(torch.eye(2, device="cuda"))[1].is_cuda
    assert (
        torch.fft.rfft(torch.ones(4, device="cuda")).is_cuda
        and torch.einsum("ij,jk->ik", *torch.ones(2, 2, 2, device="cuda")).is_cuda
    )
    s = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2), device="cuda")
    assert s.is_cuda and torch.sparse.mm(s, torch.eye(2, device="cuda")).is_cuda and s.coalesce().indices().is_cuda
    assert s.to_dense().tolist() == [[0, 1], [2, 0]] and s.cpu().cuda().is_cuda
    assert torch.topk(torch.arange(4.0, device="cuda"), 2).indices.tolist() == [3, 2]
    q = torch.quantile(torch.arange(5.0, device="cuda"), 0.5)
    assert (
        q.item() == 2
        and torch.histc(torch.ones(3, device="cuda"), 4, 0, 1).is_cuda
        and torch.bincount(torch.tensor([1, 1], device="cuda")).is_cuda
    )
    jac = torch.func.jacrev(lambda x: x**2)(torch.ones(2, device="cuda"))
    assert jac.is_cuda and torch.func.vmap(lambda x: x.sum())(torch.ones(3, 2, device="cuda")).is_cuda
    grid = F.affine_grid(torch.eye(2, 3, device="cuda")[None], (1, 1, 3, 3), align_corners=False)
    assert F.grid_sample(torch.ones(1, 1, 3, 3, device="cuda"), grid, align_corners=False).is_cuda
    assert F.interpolate(torch.ones(1, 1, 2, 2, device="cuda"), scale_factor=2, mode="bilinear").shape[-1] == 4
    assert torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], device="cuda").is_cuda


@part
def private():
    from torch._utils import _get_all_device_indices, _get_available_device_type, _get_device_index
    from torch.cuda._utils import _get_device_index as of_cuda

    assert _get_available_device_type() == "cuda" and _get_all_device_indices() == [0]
    assert _get_device_index("cuda:0") == 0 and of_cuda(torch.device("cuda", 0)) == 0 and of_cuda(None, optional=True) == 0
    torch.cuda._lazy_init()
    assert torch._C._cuda_getDeviceCount() == 1 and isinstance(torch._C._cuda_getCurrentRawStream(0), int)
    assert torch._C._cuda_getDevice() == 0
    assert torch.cuda._is_compiled() and torch._C._get_accelerator().type == "cuda"
    assert hasattr(torch._C, "_cuda_getDeviceCount")
    torch.cuda.memory._snapshot()
    assert torch.cuda.amp.common.amp_definitely_not_available() is False
    refused(lambda: torch.cuda.surely_missing, AttributeError, "surely_missing")
    assert torch.cuda.FloatTensor(2).is_cuda  # after a name that is missing
    from torch.utils.data._utils.pin_memory import pin_memory

    pin_memory({"a": torch.ones(1)})
    os.environ.get("CUDA_VISIBLE_DEVICES")
    with tempfile.TemporaryDirectory() as folder:
        torch.save(torch.ones(2, device="cuda"), f"{folder}/x", _use_new_zipfile_serialization=False)
        assert torch.load(f"{folder}/x").is_cuda and not torch.load(f"{folder}/x", map_location="cpu").is_cuda


failed = 0
for one in parts:
    try:
        one()
        print("good", one.__name__, flush=True)
    except BaseException:  # noqa: BLE001 - every part is tried
        failed += 1
        traceback.print_exc()
        print("BAD", one.__name__, flush=True)
raise SystemExit(bool(failed))
