"""What scripts written for one GPU say in their first hour, each part by itself; PyTorch's names and types, and values."""

import copy
import importlib
import os
import random
import tempfile
import traceback
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
from torch.utils.data import DataLoader, TensorDataset

INTERPRETER = "Triton interpreter"
parts = []
part = parts.append


@part
def seeds_and_switches():
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    torch.cuda.manual_seed(0)
    torch.cuda.manual_seed_all(0)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.enabled = True
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.set_float32_matmul_precision("high")
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.are_deterministic_algorithms_enabled() and torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(False)
    torch.backends.cudnn.benchmark = torch.backends.cudnn.deterministic = False
    assert isinstance(torch.backends.cudnn.is_available(), bool)
    torch.backends.cudnn.version()
    with torch.backends.cudnn.flags(enabled=False, benchmark=False, deterministic=True, allow_tf32=False):
        pass
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.enable_flash_sdp(True)
    (
        torch.backends.cuda.flash_sdp_enabled(),
        torch.backends.cuda.mem_efficient_sdp_enabled(),
        torch.backends.cuda.math_sdp_enabled(),
    )
    if torch.cuda.get_device_name() != INTERPRETER:
        torch.backends.cuda.cufft_plan_cache.max_size, torch.backends.cuda.cufft_plan_cache[0].size
    torch.backends.cuda.preferred_linalg_library()
    assert torch.backends.cuda.is_built()
    with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.MATH]):
        F.scaled_dot_product_attention(*torch.randn(3, 1, 2, 4, 8, device="cuda"))


@part
def questions():
    assert torch.cuda.is_available() and torch.cuda.device_count() >= 1
    assert isinstance(torch.cuda.get_device_name(0), str) and isinstance(torch.cuda.get_device_name(torch.device("cuda:0")), str)
    major, minor = torch.cuda.get_device_capability()
    p = torch.cuda.get_device_properties("cuda")
    for name in ("name", "major", "minor", "total_memory", "multi_processor_count", "warp_size", "L2_cache_size", "uuid", "is_integrated",
                 "max_threads_per_multi_processor", "regs_per_multiprocessor", "shared_memory_per_block", "shared_memory_per_multiprocessor",
                 "gcnArchName", "is_multi_gpu_board", "pci_bus_id"):  # fmt: skip
        getattr(p, name)
    print(p)
    assert torch.cuda.current_device() == 0
    assert torch.cuda.is_initialized()
    torch.cuda.init()
    torch.cuda.get_arch_list(), torch.version.cuda.split("."), torch.cuda.is_bf16_supported(), torch.version.hip
    assert torch.cuda.mem_get_info()[1] >= 0
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
        assert getattr(torch.cuda, name)() >= 0 and getattr(torch.cuda, name)("cuda:0") >= 0 and getattr(torch.cuda, name)(0) >= 0
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.reset_max_memory_allocated()
    torch.cuda.empty_cache()
    torch.cuda.ipc_collect()
    print(torch.cuda.memory_summary(abbreviated=True)[:60])
    torch.cuda.memory_stats()["allocated_bytes.all.peak"]
    torch.cuda.synchronize(), torch.cuda.synchronize("cuda:0"), torch.cuda.synchronize(0)
    torch.accelerator.current_accelerator(), torch.accelerator.device_count(), torch.accelerator.synchronize()
    assert torch.get_device_module("cuda") is torch.cuda
    importlib.import_module("torch.utils.collect_env")


@part
def devices():
    a, b, c, d = torch.device("cuda"), torch.device("cuda:0"), torch.device("cuda", 0), torch.device(0)
    assert b == c == d and a != b and a.index is None and b.index == 0 and str(b) == "cuda:0" and a.type == "cuda"
    with torch.cuda.device(0):
        assert torch.ones(1, device="cuda").get_device() == 0
    with torch.cuda.device("cuda:0"), torch.cuda.device(b), b:
        assert torch.ones(1).is_cuda
    with torch.cuda.device(-1), torch.cuda.device_of(torch.ones(1)):
        pass
    torch.cuda.set_device(0), torch.cuda.set_device("cuda:0"), torch.cuda.set_device(b)
    x = torch.ones(2)
    for y in (x.cuda(), x.cuda(0), x.cuda("cuda:0"), x.cuda(b), x.cuda(non_blocking=True), x.to("cuda"), x.to(0), x.to(b),
              x.to("cuda", torch.float64), x.to(b, non_blocking=True, copy=True), x.to(device="cuda", dtype=torch.half), x.cuda().to(x.cuda())):  # fmt: skip
        assert y.device == b and y.is_cuda, y
    assert x.cuda().cpu().device.type == "cpu" and x.cuda().type() == "torch.cuda.FloatTensor"
    assert torch.tensor([1.0], device="cuda").type("torch.FloatTensor").device.type == "cpu"
    assert x.type(torch.cuda.FloatTensor).is_cuda and isinstance(x.cuda(), torch.cuda.FloatTensor)
    assert torch.cuda.FloatTensor(2, 3).shape == (2, 3) and torch.cuda.LongTensor([1, 2]).dtype == torch.long
    assert (
        x.new_zeros(2, device="cuda").is_cuda and x.cuda().new_tensor([1]).is_cuda and torch.zeros_like(x, device="cuda").is_cuda
    )
    assert repr(x.cuda()) == "tensor([1., 1.], device='cuda:0')"
    try:
        x.cuda() + x
        raise AssertionError
    except RuntimeError as error:
        assert "Expected all tensors to be on the same device" in str(error), error
    try:
        x.cuda().numpy()
        raise AssertionError
    except TypeError as error:
        assert "can't convert cuda:0 device type tensor to numpy" in str(error), error
    assert (x.cuda() + 1).sum().item() == 4 and (x.cuda() * torch.tensor(2.0)).is_cuda
    torch.set_default_device("cuda")
    assert torch.zeros(2).is_cuda and nn.Linear(2, 2).weight.is_cuda
    torch.set_default_device(None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.set_default_tensor_type(torch.cuda.FloatTensor)
        assert torch.zeros(2).is_cuda
        torch.set_default_tensor_type(torch.FloatTensor)
    assert not torch.zeros(2).is_cuda and torch.get_default_device().type == "cpu"


@part
def modules():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU())
    for move in (lambda: net.cuda(), lambda: net.cuda(0), lambda: net.to("cuda:0"), lambda: net.to(torch.device("cuda")),
                 lambda: net.to("cuda", non_blocking=True), lambda: net.to(memory_format=torch.channels_last)):  # fmt: skip
        net.cpu()
        move()
    net.cuda()
    out = net(torch.ones(1, 1, 5, 5, device="cuda"))
    assert out.is_cuda and net[1].running_mean.is_cuda and net[1].num_batches_tracked.is_cuda
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    out.sum().backward()
    optimizer.step()
    assert optimizer.state[net[0].weight]["momentum_buffer"].is_cuda
    assert copy.deepcopy(net)[0].weight.is_cuda
    net.half()(torch.ones(1, 1, 5, 5, device="cuda").half())
    parallel = nn.DataParallel(nn.Linear(3, 2)).cuda()
    assert parallel(torch.ones(4, 3, device="cuda")).shape == (4, 2) and next(iter(parallel.state_dict())) == "module.weight"
    nn.DataParallel(nn.Linear(3, 2).cuda(), device_ids=[0])(torch.ones(4, 3)).sum().backward()
    compiled = torch.compile(nn.Linear(3, 2).cuda(), mode="reduce-overhead", fullgraph=True)
    assert compiled(torch.ones(1, 3, device="cuda")).is_cuda


@part
def mixed_precision():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old_scaler, old = torch.cuda.amp.GradScaler(), torch.cuda.amp.autocast
    for scaler, cast in ((old_scaler, lambda: old()), (torch.amp.GradScaler("cuda"), lambda: torch.autocast("cuda", torch.float16)),
                         (torch.GradScaler(enabled=False), lambda: torch.amp.autocast("cuda", dtype=torch.bfloat16))):  # fmt: skip
        net = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 3)).cuda()
        optimizer = torch.optim.AdamW(net.parameters(), 1e-2, fused=True)
        for _ in range(3):
            with cast():
                out = net(torch.randn(6, 4, device="cuda"))
                assert out.dtype in (torch.float16, torch.bfloat16)
                loss = F.cross_entropy(out, torch.randint(3, (6,), device="cuda"))
                assert loss.dtype == torch.float32
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
        assert scaler.get_scale() > 0 and norm.is_cuda
        scaler.load_state_dict(scaler.state_dict())

    class Double(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @torch.amp.custom_bwd(device_type="cuda")
        def backward(ctx, g):
            return g * 2

    with torch.autocast("cuda"):
        assert Double.apply(torch.ones(2, device="cuda", requires_grad=True).half()).dtype == torch.float32
        assert torch.is_autocast_enabled() and torch.get_autocast_gpu_dtype() == torch.float16
        with torch.autocast("cuda", enabled=False):
            assert (torch.ones(2, 2, device="cuda") @ torch.ones(2, 2, device="cuda")).dtype == torch.float32


@part
def events_and_streams():
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    x = torch.ones(8, device="cuda").exp().sum()
    end.record()
    end.synchronize()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0 and end.query()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        y = x + 1
    torch.cuda.current_stream().wait_stream(stream)
    y.record_stream(torch.cuda.current_stream())
    stream.synchronize(), stream.query(), torch.cuda.default_stream(), torch.cuda.current_stream("cuda:0").cuda_stream
    torch.cuda.nvtx.range_push("step")
    torch.cuda.nvtx.mark("here")
    torch.cuda.nvtx.range_pop()
    with torch.cuda.nvtx.range("forward"), torch.autograd.profiler.emit_nvtx():
        x + 1
    torch.cuda.profiler.start()
    torch.cuda.profiler.stop()
    torch.cuda.set_sync_debug_mode("default")
    torch.cuda._sleep(10) if hasattr(torch.cuda, "_sleep") else None


@part
def loaders():
    data = TensorDataset(torch.arange(12.0).view(6, 2), torch.arange(6))
    for x, y in DataLoader(data, 2, pin_memory=True, num_workers=1, persistent_workers=True, prefetch_factor=2, drop_last=True):
        x, y = x.to("cuda", non_blocking=True), y.cuda(non_blocking=True)
    assert x.is_cuda and y.tolist() == [4, 5]
    for x, y in DataLoader(data, 2, shuffle=True, generator=torch.Generator(), pin_memory=True, pin_memory_device="cuda"):
        pass
    x = torch.ones(3).pin_memory()
    torch.ones(3, pin_memory=True), x.is_pinned()
    assert x.cuda(non_blocking=True).sum().item() == 3
    host = torch.empty(3, pin_memory=True)
    host.copy_(x.cuda(), non_blocking=True)
    torch.cuda.synchronize()
    assert host.tolist() == [1, 1, 1]


@part
def saving():
    net = nn.Linear(2, 2).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.pt"
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "rng": torch.cuda.get_rng_state(),
                    "all": torch.cuda.get_rng_state_all()}, path)  # fmt: skip
        assert torch.load(path)["net"]["weight"].is_cuda
        for where in ("cpu", torch.device("cpu"), lambda storage, location: storage, {"cuda:0": "cpu"}):
            found = torch.load(path, map_location=where, weights_only=not callable(where))
            assert found["net"]["weight"].device.type == "cpu", where
        for where in ("cuda", "cuda:0", torch.device("cuda"), lambda storage, location: storage.cuda(0), {"cuda:0": "cuda:0"}):
            found = torch.load(path, map_location=where, weights_only=not callable(where))
            assert found["net"]["weight"].is_cuda, where
        optimizer.load_state_dict(torch.load(path, map_location="cpu")["optimizer"])
        assert optimizer.state[net.weight]["exp_avg"].is_cuda
        torch.cuda.set_rng_state(torch.load(path, map_location="cpu")["rng"])
        torch.cuda.set_rng_state_all(torch.load(path, map_location="cpu")["all"])
        torch.save(nn.Linear(2, 2), path)
        assert torch.load(path, map_location="cuda", weights_only=False).weight.is_cuda
        net.load_state_dict(nn.Linear(2, 2).state_dict())
        assert net.weight.is_cuda
    with torch.random.fork_rng(devices=[0]):
        torch.randn(2, device="cuda")
    generator = torch.Generator("cuda").manual_seed(0)
    a = torch.randn(3, device="cuda", generator=generator)
    assert torch.equal(a, torch.randn(3, device="cuda", generator=torch.Generator(device="cuda").manual_seed(0)))


@part
def checkpoints():
    net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Linear(3, 3)).cuda()
    x = torch.randn(4, 3, device="cuda", requires_grad=True)
    checkpoint(net, x, use_reentrant=False).sum().backward()
    checkpoint(net, x, use_reentrant=True).sum().backward()
    checkpoint_sequential(net, 2, x, use_reentrant=False).sum().backward()
    with torch.autocast("cuda", torch.bfloat16):
        checkpoint(net, x, use_reentrant=False, preserve_rng_state=True).sum().backward()
    assert x.grad.is_cuda
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        (x.exp() * x).sum().backward()


@part
def profiling():
    from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler

    with tempfile.TemporaryDirectory() as folder:
        with profile(
            activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, profile_memory=True, with_stack=True,
            schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=tensorboard_trace_handler(folder),
        ) as p:  # fmt: skip
            for _ in range(3):
                with record_function("step"):
                    (torch.ones(4, 4, device="cuda") @ torch.ones(4, 4, device="cuda")).sum()
                p.step()
        p.key_averages().table(sort_by="cuda_time_total", row_limit=5)
        p.key_averages().table(sort_by="self_cuda_memory_usage", row_limit=5)
    with torch.autograd.profiler.profile(use_cuda=True) as p:
        torch.ones(2, device="cuda") + 1
    with torch.autograd.profiler.profile(use_device="cuda") as p:
        torch.ones(2, device="cuda") + 1
    p.key_averages().table(sort_by="cuda_time_total")
    torch.cuda.memory._record_memory_history(max_entries=1000)
    torch.cuda.memory._record_memory_history(enabled=None)


@part
def graphs():
    net = nn.Linear(3, 3).cuda()
    x = torch.ones(2, 3, device="cuda")
    if torch.cuda.get_device_name() != INTERPRETER:  # whose launches nobody records
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = net(x)
        graph.replay()
    torch.cuda.graph_pool_handle(), torch.cuda.is_current_stream_capturing()


@part
def lists():
    xs = [torch.ones(3, device="cuda"), torch.ones(2, 2, device="cuda")]
    torch._foreach_add_(xs, 1.0)
    for name in ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "NAdam", "RAdam", "Adadelta", "Adamax", "Rprop", "ASGD", "LBFGS"):
        weight = nn.Parameter(torch.ones(3, device="cuda"))
        for more in ({}, {"foreach": True}) if name != "LBFGS" else ({},):
            optimizer = getattr(torch.optim, name)([weight], lr=0.1, **more)
            optimizer.zero_grad()

            def closure():
                optimizer.zero_grad()
                loss = (weight**2).sum()
                loss.backward()
                return loss

            optimizer.step(closure)
        assert weight.is_cuda and weight.isfinite().all()
    nn.utils.clip_grad_value_([weight], 1.0)
    nn.utils.parameters_to_vector([weight]).is_cuda
    from torch.optim.swa_utils import AveragedModel

    AveragedModel(nn.Linear(2, 2).cuda(), device="cuda").update_parameters(nn.Linear(2, 2).cuda())


failed = 0
for one in parts:
    try:
        one()
        print("good", one.__name__)
    except BaseException:  # noqa: BLE001 - every part is tried
        failed += 1
        traceback.print_exc()
        print("BAD", one.__name__)
raise SystemExit(bool(failed))
