"""Factorisations of column-major matrices by cuSOLVER and cuBLAS, through CuPy's wrappers of them.

What kernels/linalg.py and kernels/spectral.py are written over. A stack is a contiguous array (count, columns, rows): cuSOLVER
reads each of its matrices column by column, as LAPACK does. Functions overwrite the stack that they are given, wait for nothing,
and leave LAPACK's codes (0: it went well) on the device. `lapack.py` has the same functions for the interpreter.
Sources: NVIDIA's documentation of cuSOLVER (dense LAPACK functions) and cuBLAS (trsmBatched, getrfBatched, getrsBatched).
"""

from __future__ import annotations

from typing import Any

import numpy as np

LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
NO_VECTORS, VECTORS = 0, 1  # cusolverEigMode_t
LOWER, UPPER = 0, 1  # cublasFillMode_t
LEFT, RIGHT = 0, 1  # cublasSideMode_t
NOT_TRANSPOSED, TRANSPOSED, ADJOINT = 0, 1, 2  # cublasOperation_t
JACOBI_BATCHED = 32  # rows and columns up to which the batched functions by Jacobi rotations take a matrix
LANES = 32  # matrices whose exchanges of rows a program of the device follows (kernels/programs/exchanges.py)


def together(count: int, n: int) -> bool:
    """Whether one call for the batch beats a call for each matrix: batched functions have few threads for a matrix.

    The bound is the one that CuPy's authors measured for LU.
    """
    return count > 1 and count * 65536 >= n * n


class CuSolver:
    """The functions on the current GPU and stream."""

    def __init__(self, cupy: Any) -> None:
        from cupy.cuda import device
        from cupy_backends.cuda.libs import cublas, cusolver

        self.cupy, self.device, self.cublas, self.cusolver = cupy, device, cublas, cusolver

    # Calls

    def _dense(self, name: str, dtype: Any) -> Any:
        return getattr(self.cusolver, LETTERS[dtype.char] + name)

    def _blas(self, name: str, dtype: Any) -> Any:
        return getattr(self.cublas, LETTERS[dtype.char] + name)

    def _empty(self, shape: Any, dtype: Any) -> Any:
        return self.cupy.empty(shape, dtype)

    def _codes(self, count: int) -> Any:
        return self.cupy.zeros(count, np.int32)

    def _addresses(self, stack: Any) -> Any:
        """Where each matrix of a stack is, as an array of the device: made there, not copied."""
        step = stack.strides[0]
        start = stack.data.ptr
        if len(stack) == 1 or not step:
            return self.cupy.full(len(stack), start, np.uintp)
        return self.cupy.arange(start, start + step * len(stack), step, dtype=np.uintp)

    # Cholesky

    def potrf(self, a: Any, uplo: int) -> Any:
        """A triangle of each matrix becomes its factor; the other is left as it is. The codes."""
        count, n, _ = a.shape
        info, handle = self._codes(count), self.device.get_cusolver_handle()
        if together(count, n):
            places = self._addresses(a)
            self._dense("potrfBatched", a.dtype)(handle, uplo, n, places.data.ptr, n, info.data.ptr, count)
            return info
        potrf = self._dense("potrf", a.dtype)
        size = self._dense("potrf_bufferSize", a.dtype)(handle, uplo, n, a.data.ptr, n)
        work = self._empty(size, a.dtype)
        for x, code in zip(_each(a), _each(info)):
            potrf(handle, uplo, n, x, n, work.data.ptr, size, code)
        return info

    # LU

    def getrf(self, a: Any, pivot: bool) -> tuple[Any, Any]:
        """L and U in place; (1-based exchanges of rows, the codes)."""
        count, N, M = a.shape
        info, pivots = self._codes(count), self._empty((count, min(M, N)), np.int32)
        if not pivot:
            pivots[...] = self.cupy.arange(1, min(M, N) + 1, dtype=np.int32)
        if M == N and together(count, N):
            places, exchanges = self._addresses(a), pivots.data.ptr if pivot else 0
            handle = self.device.get_cublas_handle()
            self._blas("getrfBatched", a.dtype)(handle, N, places.data.ptr, N, exchanges, info.data.ptr, count)
            return pivots, info
        getrf, handle = self._dense("getrf", a.dtype), self.device.get_cusolver_handle()
        size = self._dense("getrf_bufferSize", a.dtype)(handle, M, N, a.data.ptr, M)
        work = self._empty(size, a.dtype)
        for x, exchanges, code in zip(_each(a), _each(pivots), _each(info)):
            getrf(handle, M, N, x, M, work.data.ptr, exchanges if pivot else 0, code)
        return pivots, info

    def getrs(self, lu: Any, pivots: Any, b: Any) -> None:
        """The solutions in place of the right-hand sides, by what `getrf` gave."""
        count, n, _ = lu.shape
        columns = b.shape[1]
        if together(count, n):
            code = np.zeros(1, np.int32)  # of the arguments: in host memory
            left, right = self._addresses(lu), self._addresses(b)
            self._blas("getrsBatched", lu.dtype)(
                self.device.get_cublas_handle(), NOT_TRANSPOSED, n, columns, left.data.ptr, n, pivots.data.ptr, right.data.ptr, n,
                code.ctypes.data, count,
            )  # fmt: skip
            return
        getrs, handle, code = self._dense("getrs", lu.dtype), self.device.get_cusolver_handle(), self._codes(1)
        for x, exchanges, y in zip(_each(lu), _each(pivots), _each(b)):
            getrs(handle, NOT_TRANSPOSED, n, columns, x, n, exchanges, y, n, code.data.ptr)

    # Triangles

    def trsm_right(self, t: Any, b: Any, uplo: int, operation: int, unit: bool) -> None:
        """X with X op(T) = B in place of B."""
        count, n, _ = t.shape
        rows = b.shape[2]
        one, handle = np.ones(1, t.dtype), self.device.get_cublas_handle()
        shape = (RIGHT, uplo, operation, int(unit), rows, n, one.ctypes.data)
        if together(count, n):
            left, right = self._addresses(t), self._addresses(b)
            self._blas("trsmBatched", t.dtype)(handle, *shape, left.data.ptr, n, right.data.ptr, rows, count)
            return
        trsm = self._blas("trsm", t.dtype)
        for x, y in zip(_each(t), _each(b)):
            trsm(handle, *shape, x, n, y, rows)

    # QR

    def geqrf(self, a: Any) -> Any:
        """R, with the reflections below it, in place; their factors."""
        count, N, M = a.shape
        K = min(M, N)
        tau, code, handle = self._empty((count, K), a.dtype), self._codes(1), self.device.get_cusolver_handle()
        geqrf = self._dense("geqrf", a.dtype)
        size = self._dense("geqrf_bufferSize", a.dtype)(handle, M, N, a.data.ptr, M)
        work = self._empty(size, a.dtype)
        for x, t in zip(_each(a), _each(tau)):
            geqrf(handle, M, N, x, M, t, work.data.ptr, size, code.data.ptr)
        return tau

    def orgqr(self, a: Any, tau: Any, columns: int) -> None:
        """The first columns of the product of reflections, in place of these."""
        M, K = a.shape[2], tau.shape[1]
        name, handle, code = "ungqr" if a.dtype.kind == "c" else "orgqr", self.device.get_cusolver_handle(), self._codes(1)
        orgqr = self._dense(name, a.dtype)
        size = self._dense(f"{name}_bufferSize", a.dtype)(handle, M, columns, K, a.data.ptr, M, tau.data.ptr)
        work = self._empty(size, a.dtype)
        for x, t in zip(_each(a), _each(tau)):
            orgqr(handle, M, columns, K, x, M, t, work.data.ptr, size, code.data.ptr)

    def ormqr(self, a: Any, tau: Any, c: Any, left: bool, adjoint: bool) -> None:
        """The product of all reflections (or its adjoint) times C, or C times it, in place of C."""
        lead, K, (_, columns, rows) = a.shape[2], tau.shape[1], c.shape
        name, handle, code = "unmqr" if a.dtype.kind == "c" else "ormqr", self.device.get_cusolver_handle(), self._codes(1)
        turned = NOT_TRANSPOSED if not adjoint else ADJOINT if a.dtype.kind == "c" else TRANSPOSED
        shape = (LEFT if left else RIGHT, turned, rows, columns, K)
        ormqr = self._dense(name, a.dtype)
        size = self._dense(f"{name}_bufferSize", a.dtype)(
            handle, *shape, a.data.ptr, lead, tau.data.ptr, c.data.ptr, rows
        )  # fmt: skip
        work = self._empty(size, a.dtype)
        for x, t, y in zip(_each(a), _each(tau), _each(c)):
            ormqr(handle, *shape, x, lead, t, y, rows, work.data.ptr, size, code.data.ptr)

    # Symmetric indefinite matrices

    def sytrf(self, a: Any) -> tuple[Any, Any]:
        """L D L^T of the lower triangles, in place; (LAPACK's pivots, the codes)."""
        count, n, _ = a.shape
        pivots, info, handle = self._empty((count, n), np.int32), self._codes(count), self.device.get_cusolver_handle()
        sytrf, size = self._dense("sytrf", a.dtype), self._dense("sytrf_bufferSize", a.dtype)(handle, n, a.data.ptr, n)
        work = self._empty(size, a.dtype)
        for x, exchanges, code in zip(_each(a), _each(pivots), _each(info)):
            sytrf(handle, LOWER, n, x, n, exchanges, work.data.ptr, size, code)
        return pivots, info

    # Eigenvalues: the host's workspaces are to live until the codes are read

    def syevd(self, a: Any, uplo: int, vectors: bool) -> tuple[Any, Any, Any]:
        """The vectors in place; (eigenvalues, codes, what has to be held until the codes are read)."""
        count, n, _ = a.shape
        w, info, handle = self._empty((count, n), a.dtype.char.lower()), self._codes(count), self.device.get_cusolver_handle()
        mode = VECTORS if vectors else NO_VECTORS
        if count > 1 and n <= JACOBI_BATCHED:
            self._syevj(a, w, info, uplo, mode)
            return w, info, None
        kind, real = _number(a.dtype), _number(w.dtype)
        params = self.cusolver.createParams()
        try:
            sizes = self.cusolver.xsyevd_bufferSize(handle, params, mode, uplo, n, kind, a.data.ptr, n, real, w.data.ptr, kind)
            work, beside = self._empty(sizes[0], np.uint8), np.empty(sizes[1], np.uint8)
            for x, values, code in zip(_each(a), _each(w), _each(info)):
                self.cusolver.xsyevd(
                    handle, params, mode, uplo, n, kind, x, n, real, values, kind, work.data.ptr, sizes[0],
                    beside.ctypes.data, sizes[1], code,
                )  # fmt: skip
        finally:
            self.cusolver.destroyParams(params)
        return w, info, beside

    def _syevj(self, a: Any, w: Any, info: Any, uplo: int, mode: int) -> None:
        count, n, _ = a.shape
        name, handle = "heevjBatched" if a.dtype.kind == "c" else "syevjBatched", self.device.get_cusolver_handle()
        params = self.cusolver.createSyevjInfo()  # the tolerance is the dtype's precision, and values rise
        try:
            given = (handle, mode, uplo, n, a.data.ptr, n, w.data.ptr)
            size = self._dense(f"{name}_bufferSize", a.dtype)(*given, params, count)
            work = self._empty(size, a.dtype)
            self._dense(name, a.dtype)(*given, work.data.ptr, size, info.data.ptr, params, count)
        finally:
            self.cusolver.destroySyevjInfo(params)

    def has_geev(self) -> bool:
        """Whether this cuSOLVER computes eigenvalues of matrices that are not symmetric: it does from 11.7.1."""
        from cupyx.cusolver import check_availability  # with the first such matrix

        return hasattr(self.cusolver, "xgeev") and bool(check_availability("geev"))

    def geev(self, a: Any) -> tuple[Any, Any, Any, Any]:
        """(eigenvalues, stack of vectors as LAPACK packs those of a's dtype, codes, what has to be held)."""
        count, n, _ = a.shape
        values, vectors, info = self._empty((count, n), a.dtype.char.upper()), self._empty(a.shape, a.dtype), self._codes(count)
        handle, kind, wide = self.device.get_cusolver_handle(), _number(a.dtype), _number(values.dtype)
        params = self.cusolver.createParams()
        modes = (NO_VECTORS, VECTORS, n)  # of vectors on the left, and on the right
        try:
            first = (kind, a.data.ptr, n, wide, values.data.ptr, kind, vectors.data.ptr, n, kind, vectors.data.ptr, n, kind)
            sizes = self.cusolver.xgeev_bufferSize(handle, params, *modes, *first)
            work, beside = self._empty(sizes[0], np.uint8), self.cupy.cuda.alloc_pinned_memory(max(sizes[1], 1))
            for x, w, v, code in zip(_each(a), _each(values), _each(vectors), _each(info)):
                self.cusolver.xgeev(
                    handle, params, *modes, kind, x, n, wide, w, kind, v, n, kind, v, n, kind,
                    work.data.ptr, sizes[0], beside.ptr, sizes[1], code,
                )  # fmt: skip
        finally:
            self.cusolver.destroyParams(params)
        return values, vectors, info, beside

    # Singular values

    def gesvdj(self, a: Any, vectors: bool, full: bool) -> tuple[Any, Any, Any, Any]:
        """By Jacobi rotations: (stack of U, values, stack of V, codes); `a` is lost. A code above 0: it did not converge."""
        count, N, M = a.shape
        K, mode = min(M, N), VECTORS if vectors else NO_VECTORS
        small = count > 1 and max(M, N) <= JACOBI_BATCHED
        left, right = (M, N) if full or small else (K, K)
        U, V = self._empty((count, left, M), a.dtype), self._empty((count, right, N), a.dtype)
        S, info = self._empty((count, K), a.dtype.char.lower()), self._codes(count)
        handle, params = self.device.get_cusolver_handle(), self.cusolver.createGesvdjInfo()  # tolerance: the dtype's precision
        name, economic = ("gesvdjBatched", ()) if small else ("gesvdj", (int(not full),))
        try:
            given = [handle, mode, *economic, M, N, a.data.ptr, M, S.data.ptr, U.data.ptr, M, V.data.ptr, N]
            many = (count,) if small else ()
            size = self._dense(f"{name}_bufferSize", a.dtype)(*given, params, *many)
            work, gesvdj = self._empty(size, a.dtype), self._dense(name, a.dtype)
            if small:
                gesvdj(*given, work.data.ptr, size, info.data.ptr, params, count)
            for x, s, u, v, code in () if small else zip(*map(_each, (a, S, U, V, info))):
                gesvdj(
                    handle, mode, *economic, M, N, x, M, s, u, M, v, N, work.data.ptr, size, code, params
                )  # fmt: skip
        finally:
            self.cusolver.destroyGesvdjInfo(params)
        return U[:, : M if full else K], S, V[:, : N if full else K], info

    def gesvd(self, a: Any, vectors: bool, full: bool) -> tuple[Any, Any, Any, Any]:
        """By QR iterations, of matrices with M >= N: (stack of U, values, stack of V^H, codes); `a` is lost."""
        count, N, M = a.shape
        assert M >= N
        U, VH = self._empty((count, M if full else N, M), a.dtype), self._empty((count, N, N), a.dtype)
        S, info = self._empty((count, N), a.dtype.char.lower()), self._codes(count)
        job, handle = ord("N" if not vectors else "A" if full else "S"), self.device.get_cusolver_handle()
        gesvd, size = self._dense("gesvd", a.dtype), self._dense("gesvd_bufferSize", a.dtype)(handle, M, N)
        work = self._empty(size, a.dtype)
        for x, s, u, v, code in zip(*map(_each, (a, S, U, VH, info))):
            gesvd(handle, job, job, M, N, x, M, s, u, M, v, N, work.data.ptr, size, 0, code)
        return U, S, VH, info


def _each(stack: Any) -> range:
    """The address of each item of a stack."""
    start, step = stack.data.ptr, stack.strides[0]
    return range(start, start + len(stack) * step, step) if len(stack) > 1 else range(start, start + 1)


def _number(dtype: Any) -> int:
    """A dtype as cudaDataType_t."""
    from tenfold.cuda.cublas import NUMBERS  # which knows them by name

    return int(NUMBERS[dtype.name][0])
