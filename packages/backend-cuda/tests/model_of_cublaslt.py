"""cuBLASLt as its documentation says it computes, on host memory: a library for `tenfold.cuda.cublaslt`, called as C is.

Nothing of what is asked for is taken from the caller's Python: descriptors keep the bytes that were set, and a product reads
its matrices column by column from the addresses, leading dimensions, strides and counts in them.
"""

from __future__ import annotations

import ctypes
import math
import struct
from types import SimpleNamespace

import ml_dtypes
import numpy as np

from tenfold.cuda.cublaslt import SIGNATURES

DTYPES = {
    0: np.float32, 1: np.float64, 2: np.float16, 4: np.complex64, 5: np.complex128, 14: ml_dtypes.bfloat16,
    28: ml_dtypes.float8_e4m3fn, 29: ml_dtypes.float8_e5m2,
}  # fmt: skip
# Bytes and struct letters of the attributes, by number, as sizeWritten of the …GetAttribute functions of the library 13.1 says.
OPERATION = {
    0: "i", 1: "i", 2: "i", 3: "i", 4: "i", 5: "i", 6: "i", 7: "I", 8: "Q", 10: "q", 17: "Q", 18: "Q", 20: "Q", 25: "b", 26: "i",
    31: "i", 32: "i",
}  # fmt: skip
MATRIX = {0: "i", 1: "i", 2: "Q", 3: "Q", 4: "q", 5: "i", 6: "q"}
SEARCH = {0: "I", 1: "Q", 3: "I", 5: "I", 6: "I", 7: "I", 8: "I", 9: "f", 12: "Q"}
INVALID, UNSUPPORTED = 7, 15


class Model:
    """The library; `products` has what each call computed, as attributes."""

    def __init__(self):
        self.objects, self.products, self.searches, self.refused = {}, [], [], lambda product: False
        self.made = self.gone = 0
        self.functions = SimpleNamespace(**{
            name: ctypes.CFUNCTYPE(ctypes.c_int, *types)(getattr(self, name)) for name, types in SIGNATURES.items()
        })  # fmt: skip

    def _make(self, place, kind, values):
        self.made += 1
        self.objects[self.made] = kind, values
        ctypes.c_void_p.from_address(place).value = self.made
        return 0

    def _set(self, kind, letters, handle, attribute, place, size):
        found, values = self.objects[handle]
        if found != kind or attribute not in letters or struct.calcsize(letters[attribute]) != size:
            return INVALID
        values[attribute] = struct.unpack(letters[attribute], ctypes.string_at(place, size))[0]
        return 0

    def _destroy(self, handle):
        self.gone += 1
        del self.objects[handle]
        return 0

    def cublasLtCreate(self, place):
        return self._make(place, "handle", {})

    def cublasLtMatmulDescCreate(self, place, compute, scale):
        return self._make(place, "operation", {0: compute, 1: scale, 3: 0, 4: 0, 7: 1, 8: 0, 17: 0, 18: 0, 25: 0, 31: 0, 32: 0})

    def cublasLtMatmulDescSetAttribute(self, *arguments):
        return self._set("operation", OPERATION, *arguments)

    def cublasLtMatrixLayoutCreate(self, place, kind, rows, columns, lead):
        return self._make(place, "matrix", {0: kind, 2: rows, 3: columns, 4: lead, 5: 1, 6: 0})

    def cublasLtMatrixLayoutSetAttribute(self, *arguments):
        return self._set("matrix", MATRIX, *arguments)

    def cublasLtMatmulPreferenceCreate(self, place):
        return self._make(place, "search", {1: 0, 3: 7, 5: 256, 6: 256, 7: 256, 8: 256})

    def cublasLtMatmulPreferenceSetAttribute(self, *arguments):
        return self._set("search", SEARCH, *arguments)

    cublasLtMatmulDescDestroy = cublasLtMatrixLayoutDestroy = cublasLtMatmulPreferenceDestroy = _destroy

    def cublasLtMatmulAlgoGetHeuristic(self, handle, operation, a, b, c, d, search, wanted, results, count):
        values = self.objects[operation][1]
        status = self._check(values, *(self.objects[x][1] for x in (a, b, c, d)))
        if status:
            return status
        self.searches.append(self.objects[search][1])
        ctypes.c_int.from_address(count).value = 1
        ctypes.memmove(results, struct.pack("8QQif4i", *[7] * 8, 0, 0, 1.0, 0, 0, 0, 0), 96)
        return 0

    def _check(self, operation, a, b, c, d):
        """The conditions of cublasLtMatmul's documentation that this package's calls could miss."""
        real, epilogue = a[0] not in (4, 5), operation[7]
        for matrix in (a, b, c, d):
            if matrix[4] < matrix[2] or matrix[5] != d[5]:
                return INVALID
        if [c[i] for i in (0, 2, 3)] != [d[i] for i in (0, 2, 3)]:
            return INVALID
        m, k = (a[2], a[3])[:: -1 if operation[3] else 1]
        k2, n = (b[2], b[3])[:: -1 if operation[4] else 1]
        if (m, n, k) != (d[2], d[3], k2):
            return INVALID
        if a[0] in (28, 29) and ((operation[3], operation[4]) != (1, 0) or 29 == a[0] == b[0] or k % 16 or m % 16):
            return UNSUPPORTED
        if (epilogue != 1 and (not real or a[0] == 1)) or self.refused(operation):
            return UNSUPPORTED
        return 0

    @staticmethod
    def _read(address, matrix, batch):
        dtype = np.dtype(DTYPES[matrix[0]])
        rows, columns, lead = matrix[2], matrix[3], matrix[4]
        start = address + batch * matrix[6] * dtype.itemsize
        size = (lead * (columns - 1) + rows) * dtype.itemsize
        memory = (ctypes.c_char * size).from_address(start)
        return np.ndarray((rows, columns), dtype, memory, strides=(dtype.itemsize, lead * dtype.itemsize))

    def cublasLtMatmul(self, handle, operation, alpha, A, a, B, b, beta, C, c, D, d, algorithm, room, size, stream):
        values, (a, b, c, d) = self.objects[operation][1], (self.objects[x][1] for x in (a, b, c, d))
        status = self._check(values, a, b, c, d)
        if status or ctypes.c_uint64.from_address(algorithm).value != 7:
            return status or INVALID
        wide = np.dtype(DTYPES[values[1]])
        number = lambda address: np.frombuffer(ctypes.string_at(address, wide.itemsize), wide)[0]  # noqa: E731
        self.products.append(SimpleNamespace(compute=values[0], epilogue=values[7], operations=(values[3], values[4]), sizes=d))
        for i in range(d[5]):
            left, right = (self._read(*x, i).astype(wide) for x in ((A, a), (B, b)))
            left, right = (x.T if values[op] else x for x, op in ((left, 3), (right, 4)))
            product = number(alpha) * (self._scale(left.shape[0], values, 17, 31)[:, None] * left)
            product = product @ (right * self._scale(right.shape[1], values, 18, 32))
            if number(beta):
                product = product + number(beta) * self._read(C, c, i).astype(wide)
            product = self._finished(product, right, values, d)
            if d[0] == 28:  # stored as the nearest finite number
                product = np.clip(product, -448, 448)
            self._read(D, d, i)[...] = product.astype(DTYPES[d[0]])
        return 0

    @staticmethod
    def _scale(count, values, pointer, mode):
        if not values[pointer]:
            return np.ones(count, np.float32)
        held = np.frombuffer(ctypes.string_at(values[pointer], 4 * (count if values[mode] == 3 else 1)), np.float32)
        return np.broadcast_to(held, (count,))

    def _finished(self, x, right, values, d):
        epilogue = values[7]
        if epilogue == 1:
            return x
        dtype = np.dtype(DTYPES[values.get(26, d[0])])
        count = len(x) if epilogue != 512 else right.shape[1]
        held = np.frombuffer((ctypes.c_char * (count * dtype.itemsize)).from_address(values[8]), dtype)
        if epilogue == 512:
            held[...] = right.sum(0).astype(dtype)
            return x
        assert epilogue in (4, 6, 36)
        x = x + held.astype(x.dtype)[:, None]
        if epilogue == 6:
            return np.maximum(x, 0)
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) if epilogue == 36 else x
