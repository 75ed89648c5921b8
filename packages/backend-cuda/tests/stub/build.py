"""Builds the stub: a driver library, an extension with CuPy's runtime functions over host memory, and libraries that only count.

What to write is asked of the CuPy that is installed: its runtime module's table of C functions, and the symbols that its
other modules expect of NVIDIA's libraries. A C compiler and binutils are needed.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DEVICES = 2
ALLOCATE = (
    "count.malloc++; size_t n = (a0 + 511) / 512 * 512; void *p = a0 > CAPACITY ? NULL : aligned_alloc(512, n); "
    "if (p) memset(p, 0, n); else used_up(); return (intptr_t)p;"
)
RELEASE = "free((void *)a0); Py_RETURN_NONE;"
COPY = "count.copy[a3]++; %smemcpy((void *)a0, (void *)a1, a2); Py_RETURN_NONE;"
PEER = "count.copy[4]++; memcpy((void *)a0, (void *)a2, a4); Py_RETURN_NONE;"
SET = "count.memset++; memset((void *)a0, a1, a2); Py_RETURN_NONE;"
WAIT = "count.sync++; Py_RETURN_NONE;"
# What CUDA says of a wait for a stream whose work is recorded, or for the device meanwhile.
UNSUPPORTED = 'PyErr_SetString(PyExc_RuntimeError, "cudaErrorStreamCaptureUnsupported"); return NULL;'
PROPERTIES = (
    'return Py_BuildValue("{s:y,s:i,s:i,s:n,s:i,s:i,s:i,s:i,s:i,s:i}", "name", "Stub GPU", "major", 9, "minor", 0, '
    '"totalGlobalMem", (Py_ssize_t)CAPACITY, "multiProcessorCount", 132, "maxThreadsPerMultiProcessor", 2048, "warpSize", 32, '
    '"l2CacheSize", 52428800, "integrated", 0, "isMultiGpuBoard", 0);'
)
BODIES = {
    "getDevice": "return current;",
    "setDevice": f"if (a0 < 0 || a0 >= {DEVICES}) {{ PyErr_Format(PyExc_RuntimeError, \"setDevice: no device %d\", a0); "
    "return NULL; } current = a0; stub_bind(); Py_RETURN_NONE;",
    "_ensure_context": "stub_bind(); Py_RETURN_NONE;",
    "getDeviceCount": f"return {DEVICES};",
    "deviceGetAttribute": "switch (a0) { case 75: return 9; case 76: return 0; case 16: return 132; case 8: return 49152; "
    "case 97: return 232448; case 10: return 32; case 39: return 2048; case 1: return 1024; } return 1;",
    "driverGetVersion": "return 13000;", "runtimeGetVersion": "return 13000;", "_getCUDAMajorVersion": "return 13;",
    "malloc": ALLOCATE, "mallocAsync": ALLOCATE, "mallocManaged": ALLOCATE, "hostAlloc": ALLOCATE,
    "free": RELEASE, "freeHost": RELEASE, "freeAsync": RELEASE,
    "memcpy": "count.sync++; " + COPY % "", "memcpyAsync": COPY % "turn(2, a4, 0); ",
    "memcpyPeer": "count.sync++; " + PEER, "memcpyPeerAsync": PEER,
    "memset": SET, "memsetAsync": SET,
    "deviceSynchronize": f"if (capturing) {{ {UNSUPPORTED} }} {WAIT}", "eventSynchronize": WAIT,
    "streamSynchronize": f"turn(3, a0, 0); if (capturing && capturing == a0) {{ {UNSUPPORTED} }} {WAIT}",
    "eventRecord": "turn(0, a1, a0); Py_RETURN_NONE;", "streamWaitEvent": "turn(1, a0, a1); Py_RETURN_NONE;",
    "streamDestroy": "turn(5, a0, 0); Py_RETURN_NONE;",
    "streamBeginCapture": "capturing = a0; Py_RETURN_NONE;", "streamIsCapturing": "return capturing && capturing == a0;",
    "streamEndCapture": "capturing = 0; return handle += 16;", "graphLaunch": "count.graph++; Py_RETURN_NONE;",
    "memGetInfo": 'return Py_BuildValue("nn", (Py_ssize_t)79000000000, (Py_ssize_t)CAPACITY);',
    "eventElapsedTime": "return 1.0f;", "getDeviceProperties": PROPERTIES, "pointerGetMemoryType": "return 2;",
    "streamGetPriority": "return -1;", "deviceGetPCIBusId": 'return PyUnicode_FromFormat("0000:%02x:00.0", 7 - a0);',
    "deviceCanAccessPeer": "return 1;", "eventQuery": "return PyLong_FromLong(0);",
    "streamQuery": "turn(4, a0, 0); return PyLong_FromLong(0);",
}  # fmt: skip
HANDLES = ("streamCreate", "streamCreateWithFlags", "streamCreateWithPriority", "eventCreate", "eventCreateWithFlags",
           "graphInstantiate", "streamEndCapture", "memPoolCreate", "deviceGetDefaultMemPool", "deviceGetMemPool")  # fmt: skip
# How a C type is read from Python's arguments: the format's letter, and the type that it fills.
ARGUMENTS = {
    "intptr_t": ("n", "Py_ssize_t"), "size_t": ("n", "Py_ssize_t"), "int": ("i", "int"), "unsigned int": ("I", "unsigned int"),
    "uintmax_t": ("K", "unsigned long long"), "PyObject *": ("O", "PyObject *"), "CUdevice": ("i", "int"),
    "cudaMemcpyKind": ("i", "int"),
}  # fmt: skip
RESULTS = {
    "int": "PyLong_FromLong", "intptr_t": "PyLong_FromSsize_t", "size_t": "PyLong_FromSize_t",
    "unsigned int": "PyLong_FromUnsignedLong", "uintmax_t": "PyLong_FromUnsignedLongLong", "float": "PyFloat_FromDouble",
}  # fmt: skip
# At which place, counted from 1, cuSOLVER's functions put the size of a workspace (cuSOLVER API reference): an int, and two longs
# for the device's and the host's where a name begins with X.
SIZES = {
    "getrf": (6,), "potrf": (6,), "geqrf": (6,), "orgqr": (8,), "ungqr": (8,), "ormqr": (12,), "unmqr": (12,), "sytrf": (5,),
    "syevd": (8,), "heevd": (8,), "syevj": (8,), "heevj": (8,), "syevjBatched": (8,), "heevjBatched": (8,), "gesvd": (4,),
    "gesvdj": (13,), "gesvdjBatched": (12,), "Xsyevd": (12, 13), "Xgeev": (18, 19),
}  # fmt: skip
HEAD = """#include <Python.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
typedef int CUdevice;
typedef int cudaMemcpyKind;
void stub_bind(void);
void stub_device_function(int (*)(void));
static __thread int current;
static intptr_t handle = 0x1000;
static intptr_t capturing;
static struct { long malloc, memset, sync, graph, copy[8]; } count;
static int device_now(void) { return current; }
/* Marks, waits and copies in the order in which they were given, each with the device that was current then. */
static struct { int what, device; intptr_t stream, event; } turns[1 << 14];
static long turned;
static void turn(int what, intptr_t stream, intptr_t event) {
  long i = turned++ % (1 << 14);
  turns[i].what = what, turns[i].device = current, turns[i].stream = stream, turns[i].event = event;
}
static const size_t CAPACITY = 80000000000;
/* The error that CuPy's pool knows as used up memory. */
static void used_up(void) {
  PyObject *module = PyImport_ImportModule("cupy_backends.cuda.api.runtime");
  PyObject *kind = module ? PyObject_GetAttrString(module, "CUDARuntimeError") : NULL;
  /* without its __init__, which asks CUDA's library for the error's name */
  PyObject *error = kind ? PyObject_CallMethod(kind, "__new__", "O", kind) : NULL, *status = PyLong_FromLong(2);
  if (error && !PyObject_SetAttrString(error, "status", status)) PyErr_SetObject(kind, error);
  Py_XDECREF(error);
  Py_XDECREF(status);
  Py_XDECREF(kind);
  Py_XDECREF(module);
}
"""
TAIL = """
static PyObject *counts(PyObject *self, PyObject *none) {
  PyObject *d = Py_BuildValue("{s:l,s:l,s:l,s:l,s:l,s:l,s:l}", "graph", count.graph, "malloc", count.malloc,
                              "memset", count.memset, "sync", count.sync, "to_device", count.copy[1], "to_host", count.copy[2],
                              "on_device", count.copy[3] + count.copy[4]);
  memset(&count, 0, sizeof count);
  return d;
}
static PyObject *order(PyObject *self, PyObject *none) {
  PyObject *found = PyList_New(0);
  for (long i = 0; i < turned && i < 1 << 14; i++) {
    PyObject *one = Py_BuildValue("(i,i,n,n)", turns[i].what, turns[i].device, (Py_ssize_t)turns[i].stream,
                                  (Py_ssize_t)turns[i].event);
    PyList_Append(found, one);
    Py_DECREF(one);
  }
  turned = 0;
  return found;
}
static PyMethodDef methods[] = {%s {"order", order, METH_NOARGS, ""},
                                {"counts", counts, METH_NOARGS, ""}, {"capi", capi, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "stub_runtime", "", -1, methods};
PyMODINIT_FUNC PyInit_stub_runtime(void) {
  stub_device_function(device_now);
  return PyModule_Create(&module);
}
"""


def build(folder: Path) -> Path:
    """The folder of the built libraries, inside `folder`; a second build of the same CuPy finds them there."""
    import cupy_backends.cuda.api.runtime as runtime  # asks nothing of a driver

    text = _extension(runtime)
    sources = (text, *(path.read_text() for path in (*sorted(HERE.glob("*.c")), Path(__file__))))
    identity = hashlib.sha256("".join(sources).encode()).hexdigest()[:16]
    place = folder / identity
    if (place / "done").exists():
        return place
    place.mkdir(parents=True, exist_ok=True)
    (place / "stub_runtime.c").write_text(text)
    _compile(place / "libcuda.so.1", HERE / "driver.c", "-Wl,-soname,libcuda.so.1")
    includes = ("-I" + sysconfig.get_paths()["include"], str(place / "libcuda.so.1"), f"-Wl,-rpath,{place}")
    _compile(place / "stub_runtime.so", place / "stub_runtime.c", *includes)
    for library, symbols in _expected().items():
        _library(place, library, symbols)
    major = _major(place)
    _library(place, f"libnvJitLink.so.{major}", set())  # which is looked for before those that need it
    for library, source in (("libnvrtc", "nvrtc.c"), ("libcublasLt", "cublaslt.c")):
        soname = f"{library}.so.{major}"
        _compile(place / soname, HERE / source, f"-Wl,-soname,{soname}", f"-DMAJOR={major}")
    (place / "done").touch()
    return place


def _major(place: Path) -> int:
    """The toolkit's major version that this CuPy is for: cuBLAS bears it."""
    return int(next(place.glob("libcublas.so.*")).name.rpartition(".")[2])


def _compile(target: Path, source: Path, *options: str) -> None:
    subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", "-o", target, source, *options], check=True)


def _extension(runtime: Any) -> str:
    """The text of the module that takes the place of CuPy's runtime, for C callers (capsules) and Python ones."""
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    functions, methods, table = (
        [HEAD],
        "",
        "static PyObject *capi(PyObject *self, PyObject *none) {\n  PyObject *d = PyDict_New();\n",
    )
    for name, capsule in sorted(runtime.__pyx_capi__.items()):
        signature = name_of(capsule).decode()
        found = re.match(r"(.*?)\((.*)\)$", signature)
        if found is None or "cuda" in found[1] or "__pyx_obj" in signature or found[1].startswith("struct"):
            continue
        functions.append(_function(name, found[1].strip(), [a.strip() for a in found[2].split(",")]))
        methods += f'{{"{name}", p_{name}, METH_VARARGS, ""}},\n'
        table += f'  PyDict_SetItemString(d, "{name}", PyCapsule_New((void *)f_{name}, "{signature}", NULL));\n'
    return "\n".join(functions) + table + "  return d;\n}\n" + TAIL % methods


def _function(name: str, result: str, arguments: list[str]) -> str:
    """A C function of CuPy's signature, and its Python wrapper."""
    parameters, plain = [], []
    for a in arguments:
        if a == "void":
            parameters.append("void")
        elif "__pyx" in a:
            parameters.append("int skip" if "__pyx_skip" in a else "void *optional")
        else:
            parameters.append(f"{a} a{len(plain)}")
            plain.append(a)
    default = "return handle += 16;" if name in HANDLES else "Py_RETURN_NONE;" if result == "PyObject *" else "return 0;"
    default = "Py_RETURN_NONE;" if result.startswith("PyObject") and name not in HANDLES else default
    text = f"static {result} f_{name}({', '.join(parameters)}) {{ {BODIES.get(name, default)} }}\n"
    optional = any("__pyx_opt" in a for a in arguments)
    letters = "".join(ARGUMENTS[a][0] for a in plain) + ("|O" if optional else "")
    declared = " ".join(f"{ARGUMENTS[a][1]} v{i};" for i, a in enumerate(plain)) + (" PyObject *more = NULL;" if optional else "")
    places = "".join(f", &v{i}" for i in range(len(plain))) + (", &more" if optional else "")
    given = [f"v{i}" for i in range(len(plain))]
    given += ["0"] if any("__pyx_skip" in a for a in arguments) else []
    given += ["NULL"] if optional else []
    call = f"f_{name}({', '.join(given)})"
    value = call if result.startswith("PyObject") else f"{RESULTS[result]}({call})"
    return text + (
        f"static PyObject *p_{name}(PyObject *self, PyObject *args) {{ {declared} "
        f'if (!PyArg_ParseTuple(args, "{letters}"{places})) return NULL; return {value}; }}'
    )


def _expected() -> dict[str, set[str]]:
    """The symbols that CuPy's modules expect of each of NVIDIA's libraries."""
    places = [Path(importlib.util.find_spec(p).origin).parent for p in ("cupy_backends", "cupy")]  # type: ignore[union-attr, arg-type]
    found: dict[str, set[str]] = {}
    for module in [*places[0].glob("cuda/libs/cu*.so"), *places[1].glob("cuda/cufft*.so")]:
        listed = subprocess.run(["nm", "-D", "--undefined-only", module], check=True, capture_output=True, text=True).stdout
        for symbol, library in re.findall(r" U (cu\w+)@(lib(?:cublas|cusolver|cusparse|curand|cufft)\.so\.\d+)", listed):
            found.setdefault(library, set()).add(symbol)
    next(v for k, v in found.items() if k.startswith("libcublas.")).add("cublasSetWorkspace_v2")  # which captures call
    # These CuPy looks for in the library that is there, as older ones have none.
    next(v for k, v in found.items() if k.startswith("libcusolver.")).update(("cusolverDnXgeev", "cusolverDnXgeev_bufferSize"))
    return found


def _size(symbol: str) -> str:
    """A function that says how large a workspace has to be; CuPy gives it the address of a number that nobody has set."""
    name = re.sub(r"^cusolverDn[SDCZ]?|_bufferSize$", "", symbol)
    places, kind = SIZES.get(name, ()), "long" if name[0] == "X" else "int"
    parameters = ", ".join(f"void *a{i}" for i in range(1, max(places, default=0) + 1)) or "void"
    return f"int {symbol}({parameters}) {{ {''.join(f'*({kind} *)a{i} = 64; ' for i in places)}return 0; }}"


def _library(place: Path, library: str, symbols: set[str]) -> None:
    """A library whose functions count their calls; those that make a handle give one."""
    short = library.split(".")[0][3:]
    lines = [f"static long calls; static const char *last = \"\"; long {short}_calls(void) {{ return calls; }}",
             f"const char *{short}_last(void) {{ return last; }}", "static void *stream;"]  # fmt: skip
    for symbol in sorted(symbols):
        if symbol in ("cusolverDnSetStream", "cublasSetStream_v2"):
            lines.append(f"int {symbol}(void *h, void *s) {{ stream = s; return 0; }}")
        elif symbol in ("cusolverDnGetStream", "cublasGetStream_v2"):
            lines.append(f"int {symbol}(void *h, void **s) {{ *s = stream; return 0; }}")
        elif symbol == "cusolverGetProperty":  # a version, which has every function
            lines.append(f"int {symbol}(int type, int *value) {{ *value = type ? 0 : 12; return 0; }}")
        elif re.search(r"Create(_v2|Params|SyevjInfo|GesvdjInfo)?$", symbol):
            lines.append(f"int {symbol}(void **h) {{ *h = (void *)0x99; return 0; }}")
        elif symbol.endswith("_bufferSize"):
            lines.append(_size(symbol))
        elif re.search(r"(Get|Set)[A-Z]|Destroy", symbol):
            lines.append(f"int {symbol}(void) {{ return 0; }}")
        else:
            lines.append(f'int {symbol}(void) {{ calls++; last = "{symbol}"; return 0; }}')
    source, versions = place / f"{short}.c", place / f"{short}.map"
    source.write_text("\n".join(lines) + "\n")
    versions.write_text(f"{library} {{ global: *; }};\n")
    _compile(place / library, source, f"-Wl,-soname,{library}", f"-Wl,--version-script={versions}")
