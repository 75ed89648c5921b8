"""`functorch.experimental`: what functorch had before it was sure of it."""

from __future__ import annotations

import importlib

_apis = importlib.import_module("tenfold._functorch.apis")  # of tenfold-autograd, which this package does not need otherwise
_func = importlib.import_module("tenfold.func")
chunk_vmap = _apis.chunk_vmap
functionalize, hessian, jacfwd, jvp = _func.functionalize, _func.hessian, _func.jacfwd, _func.jvp
replace_all_batch_norm_modules_ = _func.replace_all_batch_norm_modules_

__all__ = ["chunk_vmap", "functionalize", "hessian", "jacfwd", "jvp", "replace_all_batch_norm_modules_"]
