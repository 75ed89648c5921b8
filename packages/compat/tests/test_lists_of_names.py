"""Modules say by `__all__` what is theirs, which tools go through that wrap or document all of PyTorch."""

from __future__ import annotations

import importlib

import pytest

LISTS = {
    "tenfold.functional": "atleast_1d block_diag broadcast_tensors cdist einsum norm stft tensordot unique unravel_index",
    "tenfold.special": "bessel_j0 digamma entr erf expit gammaln log_ndtr logit multigammaln psi softmax xlog1py zeta",
    "tenfold.nn.modules.activation": "CELU ELU GELU GLU MultiheadAttention PReLU RReLU ReLU SELU Softmax Softmin Threshold",
    "tenfold.nn.modules.batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d SyncBatchNorm",
    "tenfold.nn.modules.container": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "tenfold.nn.modules.conv": "Conv1d Conv2d Conv3d ConvTranspose2d LazyConv2d",
    "tenfold.nn.modules.linear": "Bilinear Identity LazyLinear Linear",
    "tenfold.nn.modules.loss": "BCELoss CTCLoss CrossEntropyLoss L1Loss MSELoss NLLLoss SmoothL1Loss TripletMarginLoss",
    "tenfold.nn.modules.module": "Module register_module_forward_hook register_module_full_backward_hook",
    "tenfold.nn.modules.rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
}


@pytest.mark.parametrize("module", LISTS)
def test_a_module_lists_what_is_its_own(module: str) -> None:
    shown = importlib.import_module(module)
    assert set(LISTS[module].split()) <= set(shown.__all__)
    assert all(hasattr(shown, name) and name[0] != "_" for name in shown.__all__)
    assert not {"Tensor", "Parameter", "F", "init", "align_tensors", "RNNChecks", "GLOBAL"} & set(shown.__all__)
