"""`torch.nested`: tensors of differently long rows, which Tenfold has not; using it says so."""

from __future__ import annotations

from tenfold.as_torch.stand_ins.absent import functions

_NAMES = "nested_tensor as_nested_tensor nested_tensor_from_jagged narrow masked_select to_padded_tensor"
_WHY = "Tenfold has no nested tensors; pad the rows to one length (torch.nn.utils.rnn.pad_sequence) and keep a mask"
globals().update(functions(_NAMES, _WHY))
__all__ = _NAMES.split()  # noqa: PLE0605 - a list of names
