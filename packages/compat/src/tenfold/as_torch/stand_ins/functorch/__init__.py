"""`functorch`: the function transforms under the name that they had before `torch.func`. They are in tenfold-autograd."""

from __future__ import annotations

import importlib

from tenfold.as_torch.stand_ins.absent import functions

_NAMES = {
    "tenfold._functorch.deprecated": "combine_state_for_ensemble functionalize grad grad_and_value hessian jacfwd jacrev jvp "
    "make_functional make_functional_with_buffers vjp vmap",
    "tenfold.autograd.make_functional": "FunctionalModule FunctionalModuleWithBuffers",
}
for _path, _names in _NAMES.items():
    _module = importlib.import_module(_path)
    globals().update({name: getattr(_module, name) for name in _names.split()})
globals().update(functions("make_fx", "Tenfold records graphs on proxies (torch.fx.symbolic_trace), not operators of aten"))
__all__ = sorted(name for names in _NAMES.values() for name in names.split())  # noqa: PLE0605 - a list of names
