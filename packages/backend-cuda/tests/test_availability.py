"""Why the device "cuda" is not available: each case with a stand-in for CuPy, and what asking for the device then says."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

import tenfold
from tenfold import cuda
from tenfold.cuda import availability, compilation


class RuntimeFailure(RuntimeError):
    """As CuPy's CUDARuntimeError: a status and a message."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def stand_in(count, driver=13020, capabilities=((9, 0),) * 2):
    """A module `cupy` whose runtime counts devices in this way."""

    def get_device_count():
        if isinstance(count, Exception):
            raise count
        return count

    cuda_runtime = SimpleNamespace(
        getDeviceCount=get_device_count, driverGetVersion=lambda: driver, runtimeGetVersion=lambda: 13020, getDevice=lambda: 0,
        deviceGetAttribute=lambda attribute, index: capabilities[index][attribute - 75],
        getDeviceProperties=lambda index: {"name": b"GPU %d" % index},
    )  # fmt: skip
    cuda = SimpleNamespace(runtime=cuda_runtime, alloc=None, memory=SimpleNamespace(PooledMemory=None))
    return SimpleNamespace(cuda=cuda, ndarray=type("ndarray", (), {}))


@pytest.fixture
def cupy_is(no_runtime, monkeypatch):
    def install(module):
        monkeypatch.setitem(sys.modules, "cupy", module)
        availability.forget()

    return install


TOO_OLD = RuntimeFailure(35, "cudaErrorInsufficientDriver")
CASES = {
    "cupy is missing": (None, 13020, None, "CuPy is not installed; install it with pip install 'tenfold-backend-cuda[gpu]'"),
    "no driver": (TOO_OLD, 0, None, "no NVIDIA driver was found"),
    "old driver": (TOO_OLD, 12040, None, "driver supports CUDA 12.4 and this CuPy needs CUDA 13.2; update the driver"),
    "no device": (RuntimeFailure(100, "cudaErrorNoDevice"), 13020, None, "this machine has no CUDA GPU"),
    "zero devices": (0, 13020, None, "this machine has no CUDA GPU"),
    "hidden": (RuntimeFailure(100, "cudaErrorNoDevice"), 13020, "", "CUDA_VISIBLE_DEVICES='' hides every GPU"),
    "another failure": (RuntimeFailure(999, "Unknown"), 13020, None, "the CUDA runtime failed (RuntimeFailure: Unknown)"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_reason_is_precise(case, cupy_is, monkeypatch):
    count, driver, visible, words = CASES[case]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    cupy_is(None if count is None else stand_in(count, driver))
    assert not cuda.is_available()
    assert cuda.device_count() == 0
    assert words in cuda.unavailable_reason()
    with pytest.raises(RuntimeError) as caught:
        tenfold.zeros(2, device="cuda")
    assert "cuda" in str(caught.value)
    assert words in str(caught.value)
    for question in (cuda.current_device, cuda.synchronize, cuda.get_device_name, cuda.memory_allocated, cuda.Stream):
        with pytest.raises(RuntimeError, match="device 'cuda' is not available"):
            question()


def test_without_a_gpu_seeding_and_emptying_do_nothing(cupy_is):
    cupy_is(None)
    before = tenfold.get_rng_state().tolist()
    cuda.manual_seed(1)
    cuda.manual_seed_all(1)
    cuda.seed_all()
    cuda.empty_cache()
    assert tenfold.get_rng_state().tolist() == before


def test_typed_tensor_classes_know_their_device():
    assert cuda.FloatTensor.dtype is tenfold.float32
    assert cuda.LongTensor.is_cuda
    assert not isinstance(tenfold.ones(1), cuda.FloatTensor)
    with pytest.raises(RuntimeError, match="expects device type: cuda but device type: cpu"):
        cuda.FloatTensor(2, device="cpu")
    with pytest.raises(AttributeError, match="StringTensor"):
        _ = cuda.StringTensor


def test_a_cupy_that_cannot_be_imported_says_why(no_runtime, tmp_path, monkeypatch):
    (tmp_path / "cupy.py").write_text("raise ImportError('libnvrtc.so.13: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(availability, "has_driver", lambda: True)
    availability.forget()
    assert "cannot be imported (ImportError: libnvrtc.so.13" in cuda.unavailable_reason()
    sys.modules.pop("cupy", None)


def test_without_a_driver_cupy_is_not_imported(no_runtime, tmp_path, monkeypatch):
    (tmp_path / "cupy.py").write_text("raise SystemError('somebody imported this')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(availability, "DRIVER", "libof-no-machine.so.1")
    availability.forget()
    assert not cuda.is_available()
    assert "no NVIDIA driver was found" in cuda.unavailable_reason()
    assert "cupy" not in sys.modules


def test_devices_are_counted(cupy_is):
    cupy_is(stand_in(2))
    assert cuda.is_available()
    assert cuda.device_count() == 2
    assert cuda.unavailable_reason() == ""


def test_a_gpu_that_kernels_are_not_made_for_is_told_at_the_first_use(cupy_is):
    cupy_is(stand_in(3, capabilities=((9, 0), (7, 5), (12, 0))))
    assert cuda.is_available()
    with pytest.warns(UserWarning, match=r"cuda:1 \(GPU 1\) has compute capability 7.5, .* supports 8.0 and above") as told:
        assert cuda.device_count() == 3
    assert len(told) == 1
    assert "Tested: sm_80 sm_86 sm_89 sm_90 sm_100 sm_120" in str(told[0].message)
    assert cuda.current_device() == 0  # once is enough


@pytest.mark.parametrize(("capability", "words"), [(75, "7.5, and Triton"), (131, "13.1; kernels"), (86, "")])
def test_a_kernel_that_does_not_compile_says_what_the_gpu_is(capability, words, monkeypatch):
    triton = pytest.importorskip("triton")
    from triton import compiler

    def fail(*given, **options):
        raise ValueError("the compiler's words")

    kernel = SimpleNamespace(name="softmax", warps=4, arguments=lambda: (), constants=dict)
    monkeypatch.setattr(compilation, "jitted", lambda kernel: SimpleNamespace(arg_names=()))
    monkeypatch.setattr(compiler, "ASTSource", lambda *given: None)
    monkeypatch.setattr(triton, "compile", fail)
    with pytest.raises(RuntimeError if words else ValueError, match=f"softmax.*{words}" if words else "the compiler's") as told:
        compilation.compile_for(capability, kernel, ())
    assert not words or isinstance(told.value.__cause__, ValueError)


def test_importing_the_package_and_its_plugin_imports_neither_triton_nor_cupy():
    code = (
        "import sys, tenfold, tenfold.cuda, tenfold.cuda_plugin, tenfold.cuda.backend\n"
        "print([m for m in ('cupy', 'triton', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
