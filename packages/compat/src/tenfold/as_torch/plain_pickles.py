"""`pickle.dumps(tensor)` in PyTorch's form, so that pickles that no `save` wrote go over, too: joblib's, queues', users'.

A tensor is a call of `torch._utils._rebuild_tensor_v2` on a storage, and a storage one of `torch.storage._load_from_bytes` on a
checkpoint of its own. Tensors that share memory still do after loading: pickle writes one storage once.
"""

from __future__ import annotations

import collections
import io
import sys
import weakref
from typing import Any

from tenfold.checkpoint.names import STORAGES
from tenfold.checkpoint.rebuilding import rebuild_subclass as _rebuild_from_type_v2, rebuild_tensor as _rebuild_tensor_v2
from tenfold.checkpoint.serialization import save
from tenfold.checkpoint.typed_storage import TypedStorage
from tenfold.dispatch.services import SERVICES
from tenfold.storage import _load_from_bytes
from tenfold.tensor import copying
from tenfold.tensor.tensor import Tensor


class SentStorage(TypedStorage):
    """A storage on its way into a pickle."""

    def __reduce__(self) -> Any:
        file = io.BytesIO()
        plain = TypedStorage(wrap_storage=self._untyped_storage, dtype=self._dtype, _internal=True)
        save(plain, file, _use_new_zipfile_serialization=False)
        return _load_from_bytes, (file.getvalue(),)


# One for each memory while a pickle is written, whose memo keeps it: so it is written once.
_SENT: weakref.WeakValueDictionary[tuple[int, Any], SentStorage] = weakref.WeakValueDictionary()


def reduce(tensor: Any) -> Any:
    """For pickle: what makes a tensor again, by PyTorch's names; Tenfold's own form for dtypes that PyTorch's form cannot say."""
    if copying._unregistered(sys._getframe(2)):
        return SERVICES.reduce_sent_tensor(tensor)
    if tensor.dtype.name not in STORAGES or tensor.is_meta or tensor.device.type != "cpu":
        return copying.reduce(tensor)
    plain = Tensor._make_subclass(Tensor, tensor.detach())
    plain = plain.contiguous() if min(plain.stride(), default=0) < 0 else plain
    place: tuple[Any, ...] = (
        plain.storage_offset(),
        tuple(plain.shape),
        plain.stride(),
        tensor.requires_grad,
        collections.OrderedDict(),
    )
    given = (_sent(tensor.untyped_storage() if plain._array is tensor._array else plain.untyped_storage(), plain.dtype), *place)
    state = copying.state_of(tensor)
    if type(tensor) is Tensor and not state:
        return _rebuild_tensor_v2, given
    return _rebuild_from_type_v2, (_rebuild_tensor_v2, type(tensor), given, state)


def _sent(storage: Any, dtype: Any) -> SentStorage:
    found = _SENT.get((id(storage), dtype))
    if found is None:
        found = _SENT[id(storage), dtype] = SentStorage(wrap_storage=storage, dtype=dtype, _internal=True)
    return found


for _function, _module, _name in (
    (_rebuild_tensor_v2, "torch._utils", "_rebuild_tensor_v2"),
    (_rebuild_from_type_v2, "torch._tensor", "_rebuild_from_type_v2"),
    (_load_from_bytes, "torch.storage", "_load_from_bytes"),
):
    _function.__module__, _function.__name__, _function.__qualname__ = _module, _name, _name
