"""Every call of cuSOLVER and cuBLAS that factorises, against NVIDIA's documentation of its arguments.

The wrappers that CuPy has for the libraries' functions are wrapped once more: what a function may read and write has to lie
in memory that was taken on the GPU of the call, workspaces have the size that was asked for, and it goes to the current stream.
"""

from __future__ import annotations

import itertools
import re
import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
import stub

import tenfold
from tenfold import cuda

WORKSPACE, BYTES, HOST_BYTES = 777, 4099, 257  # what the libraries are made to ask for
LETTERS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
KINDS = {0: np.float32, 1: np.float64, 4: np.complex64, 5: np.complex128}  # cudaDataType_t
# By function: what holds of the arguments, and the bytes that each pointer reaches (t: of a number, r: of a real one).
SQUARE = {"A": "M(n, n, lda)"}
WORK = {"work": "lwork * t", "devInfo": "4"}
VECTORS = {"S": "min(m, n) * r", "U": "M(m, left, ldu)"}
RULES = {
    "potrf": ("uplo in (0, 1) and lda >= n", {**SQUARE, **WORK}),
    "potrfBatched": ("uplo in (0, 1) and lda >= n", {"Aarray": "8 * batchSize", "infoArray": "4 * batchSize"}),
    "getrf": ("lda >= m", {"A": "M(m, n, lda)", "work": "size * t", "devIpiv": "4 * min(m, n)", "devInfo": "4"}),
    "getrs": ("trans == 0 and lda >= n and ldb >= n", {**SQUARE, "devIpiv": "4 * n", "B": "M(n, nrhs, ldb)", "devInfo": "4"}),
    "getrfBatched": (
        "lda >= n", {"Aarray": "8 * batchSize", "PivotArray": "4 * n * batchSize", "infoArray": "4 * batchSize"}
    ),
    "getrsBatched": (
        "trans == 0 and lda >= n and ldb >= n",
        {"Aarray": "8 * batchSize", "devIpiv": "4 * n * batchSize", "Barray": "8 * batchSize"},
    ),
    "trsm": ("side == 1 and lda >= n and ldb >= m", {"Aarray": "M(n, n, lda)", "Barray": "M(m, n, ldb)"}),
    "trsmBatched": ("side == 1 and lda >= n and ldb >= m", {"Aarray": "8 * batchCount", "Barray": "8 * batchCount"}),
    "geqrf": ("lda >= m", {"A": "M(m, n, lda)", "tau": "min(m, n) * t", **WORK}),
    "orgqr": ("m >= n >= k and lda >= m", {"A": "M(m, n, lda)", "tau": "k * t", **WORK}),
    "ormqr": (
        "trans in (0, 1, 2) and k <= (n if side else m) <= lda and ldc >= m",
        {"A": "M(n if side else m, k, lda)", "tau": "k * t", "C": "M(m, n, ldc)", **WORK},
    ),
    "sytrf": ("uplo == 0 and lda >= n", {**SQUARE, "ipiv": "4 * n", **WORK}),
    "syevd": (
        "lda >= n and computeType == dataTypeA and W(dataTypeW) == r",
        {**SQUARE, "W": "n * r", "bufferOnDevice": "workspaceInBytesOnDevice", "info": "4"},
    ),
    "syevjBatched": (
        "lda == n", {"A": "n * n * t * batchSize", "W": "n * r * batchSize", "work": "lwork * t", "info": "4 * batchSize"}
    ),
    "geev": (
        "jobvl < jobvr == 1 and min(lda, ldvl, ldvr) >= n and dataTypeVR == computeType == dataTypeA and W(dataTypeW) == 2 * r",
        {**SQUARE, "W": "n * 2 * r", "VR": "M(n, n, ldvr)", "bufferOnDevice": "workspaceInBytesOnDevice", "info": "4"},
    ),
    "gesvdj": (
        "lda >= m and ldu >= m and ldv >= n",
        {"A": "M(m, n, lda)", **VECTORS, "V": "M(n, right, ldv)", "work": "lwork * t", "info": "4"},
    ),
    "gesvdjBatched": (
        "max(m, n) <= 32 and lda == ldu == m and ldv == n",
        {"A": "m * n * t * batchSize", "S": "min(m, n) * r * batchSize", "U": "m * m * t * batchSize",
         "V": "n * n * t * batchSize", "work": "lwork * t", "info": "4 * batchSize"},
    ),
    "gesvd": (
        "m >= n and jobu == jobvt and lda >= m and ldu >= m and ldvt >= n",
        {"A": "M(m, n, lda)", **VECTORS, "VT": "M(n, n, ldvt)", "Work": "lwork * t", "devInfo": "4"},
    ),
}  # fmt: skip
SAME = {"ungqr": "orgqr", "unmqr": "ormqr", "heevjBatched": "syevjBatched"}


class Recorder:
    """Wraps the wrappers while it is in use; `names` are those that were called, `given` what with."""

    def __init__(self):
        self.taken, self.names, self.given, self.device = {}, [], [], 0

    @contextmanager
    def watching(self):
        import cupy
        from cupy_backends.cuda.libs import cublas, cusolver

        recorder = self

        class Hook(cupy.cuda.MemoryHook):
            def malloc_postprocess(self, device_id, size, mem_size, mem_ptr, pmem_id):
                recorder.taken[mem_ptr] = (size, cupy.cuda.runtime.getDevice())

        replaced = []
        for library, name in itertools.product((cublas, cusolver), dir(cublas) + dir(cusolver)):
            base = re.sub("_bufferSize$", "", name)
            rule = SAME.get(base[1:], base[1:])
            if rule in RULES and hasattr(library, name):
                replaced.append((library, name, getattr(library, name)))
                setattr(library, name, self._watched(library, name, rule, getattr(library, name)))
        try:
            with Hook():
                yield self
        finally:
            for library, name, function in replaced:
                setattr(library, name, function)

    def _watched(self, library, name, rule, function):
        parameters = re.search(r"\((.*)\)", function.__doc__)[1]
        parameters = re.findall(r"(\w+)(?:, |$)", re.sub(r"\) ->.*", "", parameters))

        def call(*arguments):
            import cupy

            assert len(arguments) == len(parameters), (name, parameters, arguments)
            given = dict(zip(parameters, arguments))
            assert cupy.cuda.runtime.getDevice() == self.device
            self._handle(library, given["handle"])
            if name.endswith("_bufferSize"):
                return (BYTES, HOST_BYTES) if name[0] == "x" else WORKSPACE
            self._check(name, rule, given)
            result = function(*arguments)
            assert library.getStream(given["handle"]) == cupy.cuda.get_current_stream().ptr, name
            self.names.append(name)
            self.given.append(given)
            return result

        return call

    def _handle(self, library, handle):
        from cupy.cuda import device

        known = device.get_cusolver_handle() if "cusolver" in library.__name__ else device.get_cublas_handle()
        assert handle == known

    def _check(self, name, rule, given):
        kind = KINDS[given["dataTypeA"]] if name[0] == "x" else LETTERS[name[0]]
        t = kind().nbytes
        r = t // 2 if np.dtype(kind).kind == "c" else t
        scope = {**given, "t": t, "r": r, "size": WORKSPACE, "W": lambda kind: KINDS[kind]().nbytes}
        scope["M"] = lambda rows, columns, lead: ((columns - 1) * lead + rows) * t
        if "m" in given and "n" in given:
            least = min(given["m"], given["n"])
            whole = given.get("econ") == 0 or given.get("jobu") == ord("A")
            scope["left"], scope["right"] = (given["m"], given["n"]) if whole else (least, least)
        condition, reaches = RULES[rule]
        assert eval(condition, {}, scope), (name, given)
        assert given.get("lwork", WORKSPACE) == WORKSPACE
        assert given.get("workspaceInBytesOnDevice", BYTES) == BYTES
        assert given.get("workspaceInBytesOnHost", HOST_BYTES) == HOST_BYTES
        for pointer, bytes_ in reaches.items():
            optional = pointer in ("devIpiv", "PivotArray")
            if not (optional and not given[pointer]):
                self._inside(name, pointer, given[pointer], eval(bytes_, {}, scope))
        for pointer in ("alpha", "bufferOnHost"):
            assert given.get(pointer, 1) != 0

    def _inside(self, name, pointer, address, count):
        homes = [
            start for start, (size, device) in self.taken.items()
            if start <= address and address + count <= start + size and device == self.device
        ]  # fmt: skip
        assert homes, f"{name}: {pointer} reaches out of its memory: {count} bytes from {address:#x}"


def given(*shape, dtype, device):
    return tenfold.zeros(*shape, dtype=dtype, device=device)


DTYPES = (tenfold.float32, tenfold.float64, tenfold.complex64, tenfold.complex128)
CALLS = {
    "cholesky": (lambda a, b, w: tenfold.op.cholesky_pair(a, False), "potrf", "a"),
    "solve": (lambda a, b, w: tenfold.op.solve_pair(a, b), "getrf getrs", "a"),
    "inverse": (lambda a, b, w: tenfold.op.inverse_pair(a), "getrf getrs", "a"),
    "no pivots": (lambda a, b, w: tenfold.op.lu_packed(a, False), "getrf", "a"),
    "lu": (lambda a, b, w: tenfold.op.lu_packed(w, True), "getrf", "w"),
    "slogdet": (lambda a, b, w: tenfold.op.log_determinant(a), "getrf", "a"),
    "triangular": (lambda a, b, w: tenfold.op.triangular_solution(a, b, True, False), "trsm", "b.mT"),
    "by columns": (lambda a, b, w: tenfold.op.triangular_solution(a.mT, b, True, True), "trsm", "b.mT"),
    "cholesky_solve": (lambda a, b, w: tenfold.op.cholesky_solution(a, b, False), "trsm trsm", "b.mT"),
    "ldl": (lambda a, b, w: tenfold.op.ldl_packed(a, False), "sytrf", "a"),
    "qr": (lambda a, b, w: tenfold.op.qr_pair(w, "reduced"), "geqrf orgqr", "w"),
    "whole qr": (lambda a, b, w: tenfold.op.qr_pair(w, "complete"), "geqrf orgqr", "w"),
    "tall qr": (lambda a, b, w: tenfold.op.qr_pair(w.mT, "complete"), "geqrf orgqr", "w.mT"),
    "reflections": (lambda a, b, w: tenfold.linalg.householder_product(a, a[..., 0]), "orgqr", "a"),
    "reflected": (lambda a, b, w: tenfold.ormqr(a, a[..., 0], b, True, True), "ormqr", "b"),
    "reflected on the right": (lambda a, b, w: tenfold.ormqr(a, a[..., 0], b.mT, False), "ormqr", "b.mT"),
    "geqrf": (lambda a, b, w: tenfold.op.geqrf_pair(w), "geqrf", "w"),
}
WAITING = {
    "svd": (lambda a, b, w: tenfold.op.svd_triple(w, True), "gesvdj", "w"),
    "thin svd": (lambda a, b, w: tenfold.op.svd_triple(w.mT, False), "gesvdj", "w.mT"),
    "svdvals": (lambda a, b, w: tenfold.linalg.svdvals(w), "gesvdj", "w"),
    "eigh": (lambda a, b, w: tenfold.op.eigh_pair(a, "U"), "syevd", "a"),
    "eigvalsh": (lambda a, b, w: tenfold.linalg.eigvalsh(a), "syevd", "a"),
    "eig": (lambda a, b, w: tenfold.op.eig_pair(a), "geev", "a"),
    "pinv": (lambda a, b, w: tenfold.op.pseudo_inverse(a, a.real[..., 0, 0], a.real[..., 0, 0], False), "gesvdj", "a"),
}


def plain(name):
    """A function without its dtype, the form for complex numbers and that for batches."""
    name = SAME.get(name[1:], name[1:])
    return {"syevjBatched": "syevd"}.get(name, name.removesuffix("Batched"))


def shapes():
    """(N, columns, wide) of single matrices, batches that go as one, and few large ones that do not."""
    yield (), 5, 3, 9
    yield (2, 3), 5, 3, 9
    yield (2,), 600, 2, 601


def case_arguments_of_the_solvers_are_as_documented():
    from cupy_backends.cuda.libs import cublas, cusolver

    from tenfold.cuda import solver

    assert (solver.LOWER, solver.UPPER) == (cublas.CUBLAS_FILL_MODE_LOWER, cublas.CUBLAS_FILL_MODE_UPPER)
    assert solver.RIGHT == cublas.CUBLAS_SIDE_RIGHT
    assert (solver.NOT_TRANSPOSED, solver.TRANSPOSED) == (cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_T)
    assert (solver.NO_VECTORS, solver.VECTORS) == (cusolver.CUSOLVER_EIG_MODE_NOVECTOR, cusolver.CUSOLVER_EIG_MODE_VECTOR)
    recorder = Recorder()
    with warnings.catch_warnings(), recorder.watching():
        warnings.simplefilter("error")
        for index, dtype in itertools.product((0, 1), DTYPES):
            recorder.device = index
            with cuda.stream(cuda.Stream(0)) if index == 0 else nullcontext():
                for batch, n, k, wide in shapes() if index == 0 else [((2, 3), 5, 3, 9)]:
                    a, b, w = (given(*batch, n, c, dtype=dtype, device=f"cuda:{index}") for c in (n, k, wide))
                    for name, (call, expected, factorised) in (CALLS | WAITING).items():
                        recorder.names.clear()
                        recorder.given.clear()
                        with everything_finite():
                            call(a, b, w)
                        first, operands = recorder.given[0], {"a": a, "b": b, "b.mT": b.mT, "w": w, "w.mT": w.mT}
                        M, N = operands[factorised].shape[-2:]
                        assert (first.get("m", M), first["n"]) == (M, N), (name, first)
                        found = [key for key, _ in itertools.groupby(map(plain, recorder.names))]
                        assert found == [key for key, _ in itertools.groupby(expected.split())], (name, batch, recorder.names)
                        together = batch and (n < 600)
                        if together and expected.split()[0] in ("potrf", "trsm", "gesvdj", "syevd"):
                            assert all(key.endswith("Batched") for key in recorder.names), recorder.names


@contextmanager
def everything_finite():
    """On the stub nothing is computed: codes are read, and taken for zeros."""
    from tenfold.cuda.kernels import spectral

    before = spectral.codes_on_host
    spectral.codes_on_host = lambda *given: np.zeros_like(before(*given))
    try:
        yield
    finally:
        spectral.codes_on_host = before


def case_iterations_follow_where_rotations_do_not_converge():
    from tenfold.cuda.kernels import spectral

    before, answers = spectral.codes_on_host, []
    spectral.codes_on_host = lambda info, codes, batch: answers.pop()
    recorder = Recorder()
    try:
        with recorder.watching():
            for dtype, shape, full in itertools.product(DTYPES, ((4, 2), (2, 4), (3, 40, 6)), (False, True)):
                answers[:] = [np.zeros(3, np.int32), np.array([0, 1, 0], np.int32)]
                U, _, Vh = tenfold.op.svd_triple(given(*shape, dtype=dtype, device="cuda:0"), full)
                assert plain(recorder.names[-1]) == "gesvd"
                M, N = shape[-2:]
                assert (U.shape[-2:], Vh.shape[-2:]) == (((M, M), (N, N)) if full else ((M, min(M, N)), (min(M, N), N)))
    finally:
        spectral.codes_on_host = before


def case_factorisations_wait_only_where_they_must_raise():
    a, b, w = (given(3, 4, c, dtype=tenfold.float32, device="cuda:0") for c in (4, 2, 6))
    pivots = tenfold.ones(3, 4, dtype=tenfold.int32, device="cuda:0")
    recorder = Recorder()
    with warnings.catch_warnings(), recorder.watching():
        warnings.simplefilter("error")
        for name, (call, *_) in {**CALLS, "order": (lambda a, b, w: tenfold.op.pivot_order(pivots, 4),)}.items():
            counts = stub.settled(lambda call=call: call(a, b, w)).counts
            assert not {"sync", "to_host", "to_device"} & set(counts), (name, counts)
        with everything_finite():
            for name, (call, *_) in WAITING.items():
                counts = stub.settled(lambda call=call: call(a, b, w)).counts
                assert (counts["sync"], counts["to_host"], counts["to_device"]) == (1, 1, 0), (name, counts)


def case_half_precision_is_refused():
    for dtype in (tenfold.float16, tenfold.bfloat16):
        with pytest.raises(RuntimeError, match="Low precision dtypes not supported"):
            tenfold.linalg.cholesky_ex(given(2, 2, dtype=dtype, device="cuda:0"))


def case_a_determinant_is_one_launch_behind_its_factors():
    """Of one matrix by cuSOLVER, and of many by cuBLAS, whose table of addresses is a launch too; the copy is by columns."""
    for shape, others in (((5, 5), ["cast_f_ls2_"]), ((8, 5, 5), ["cast_f_ls3_", "cupy_arange__uint_uint_uint64"])):
        x = tenfold.empty(*shape, device="cuda")
        for call in (tenfold.linalg.det, tenfold.linalg.slogdet):
            work = stub.settled(lambda call=call, x=x: call(x))
            assert work.names == [*others, "determinants"], (call, shape, work.names)
            assert not work.counts["sync"]


def case_little_is_launched_around_a_factorisation():
    x = tenfold.empty(5, 5, device="cuda")
    with everything_finite():
        for call in (tenfold.linalg.svd, tenfold.linalg.svdvals, tenfold.linalg.eigh, tenfold.linalg.eigvalsh):
            work = stub.settled(lambda call=call: call(x))
            assert work.names == ["finite_matrices", "add_i_lll0__"], (call, work.names)
    assert len(stub.settled(lambda: tenfold.linalg.matrix_exp(x)).launches) <= 32
