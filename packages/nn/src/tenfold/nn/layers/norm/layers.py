"""Normalization by the statistics of a batch, a sample, or groups of channels."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F, init
from tenfold.nn.layers.sizes import as_tuple
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter


class _NormBase(Module):
    """Parameters and running statistics of batch and instance normalization; `dims` are the input dimensions they take."""

    _version = 2
    dims: ClassVar[tuple[int, ...]]
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            empty = tenfold.empty(num_features, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, None if empty is None else Parameter(empty))
        track = track_running_stats
        self.register_buffer("running_mean", tenfold.zeros(num_features, device=device, dtype=dtype) if track else None)
        self.register_buffer("running_var", tenfold.ones(num_features, device=device, dtype=dtype) if track else None)
        count = tenfold.tensor(0, dtype=tenfold.long, device=device) if track else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Sets the running mean to 0, the variance to 1 and the count to 0."""
        if self.track_running_stats:
            self.running_mean.zero_()  # type: ignore[union-attr]
            self.running_var.fill_(1)  # type: ignore[union-attr]
            self.num_batches_tracked.zero_()  # type: ignore[union-attr]

    def reset_parameters(self) -> None:
        """Sets the statistics back, weight to 1 and bias to 0."""
        self.reset_running_stats()
        _reset_affine(self)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self.dims:
            accepted = " or ".join(f"{dim}D" for dim in self.dims)
            raise ValueError(f"{type(self).__name__}: expected {accepted} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.__dict__['_parameters'].get('bias') is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        version = local_metadata.get("version")
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            known = self.num_batches_tracked  # version 1 did not have the count
            usable = known is not None and not known.is_meta
            state_dict[key] = known if usable else tenfold.tensor(0, dtype=tenfold.long)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


def _reset_affine(norm: Any) -> None:
    if norm.weight is not None:
        init.ones_(norm.weight)
    if getattr(norm, "bias", None) is not None:
        init.zeros_(norm.bias)


class _BatchNorm(_NormBase):
    """Batch normalization of any number of dimensions."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        tracking = self.training and self.track_running_stats
        if tracking and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # a plain average over all batches
                factor = 1.0 / float(self.num_batches_tracked)
        use_running = tracking or not self.training
        return F.batch_norm(
            input,
            self.running_mean if use_running else None,
            self.running_var if use_running else None,
            self.weight,
            self.bias,
            self.training or (self.running_mean is None and self.running_var is None),
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """(x - mean) / sqrt(var + eps) weight + bias, statistics per channel over the batch. Shape: (N, C) or (N, C, L), kept.

    Training uses the batch's (biased) variance and updates the running statistics by `momentum` (None: plain average);
    evaluation uses the running ones. Raises ValueError for other shapes. Source: Ioffe and Szegedy 2015.

    >>> BatchNorm1d(1)(tenfold.tensor([[1.0], [3.0]])).round().tolist()
    [[-1.0], [1.0]]
    """

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalization of images, as `BatchNorm1d`. Shape: (N, C, H, W), kept.

    >>> list(BatchNorm2d(3)(tenfold.ones(2, 3, 4, 4)).shape)
    [2, 3, 4, 4]
    """

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalization of volumes, as `BatchNorm1d`. Shape: (N, C, D, H, W), kept.

    >>> list(BatchNorm3d(3)(tenfold.ones(2, 3, 4, 4, 4)).shape)
    [2, 3, 4, 4, 4]
    """

    dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over the batches of all processes of a group. Shape: (N, C, ...), kept.

    Differs from PyTorch: with one process, it is ordinary batch normalization on every device.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"SyncBatchNorm: expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """`module` with every batch normalization in it replaced by one of this class, on the same parameters."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            converted._parameters = dict(module._parameters)
            converted._buffers = dict(module._buffers)
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


class _InstanceNorm(_NormBase):
    """Instance normalization of any number of dimensions; `dims` are those without and with a batch."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _get_no_batch_dim(self) -> int:
        return self.dims[0]

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        unbatched = input.dim() == self._get_no_batch_dim()
        channels = input.size(0 if unbatched else 1)
        if channels != self.num_features:
            dim = 0 if unbatched else 1
            if self.affine:
                raise ValueError(
                    f"{type(self).__name__}: expected input's size at dim={dim} to match num_features ({self.num_features}), "
                    f"but got: {channels}."
                )
            warnings.warn(
                f"{type(self).__name__}: input's size at dim={dim} ({channels}) does not match num_features "
                f"({self.num_features}), which is not used because affine=False",
                stacklevel=2,
            )
        normalized = F.instance_norm(
            input.unsqueeze(0) if unbatched else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )
        return normalized.squeeze(0) if unbatched else normalized


class InstanceNorm1d(_InstanceNorm):
    """(x - mean) / sqrt(var + eps), statistics per sample and channel. Shape: (N, C, L) or (C, L), kept.

    Raises ValueError for other shapes. Source: Ulyanov et al. 2016.

    >>> InstanceNorm1d(1)(tenfold.tensor([[[1.0, 3.0]]])).tolist()[0][0][0] < -0.999
    True
    """

    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of images, as `InstanceNorm1d`. Shape: (N, C, H, W) or (C, H, W), kept.

    >>> list(InstanceNorm2d(3)(tenfold.ones(2, 3, 4, 4)).shape)
    [2, 3, 4, 4]
    """

    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of volumes, as `InstanceNorm1d`. Shape: (N, C, D, H, W) or (C, D, H, W), kept.

    >>> list(InstanceNorm3d(3)(tenfold.ones(2, 3, 4, 4, 4)).shape)
    [2, 3, 4, 4, 4]
    """

    dims = (4, 5)


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) weight + bias, statistics over the last dimensions. Shape: (..., *normalized_shape), kept.

    Source: Ba et al. 2016.

    >>> LayerNorm(2)(tenfold.tensor([1.0, 3.0])).round().tolist()
    [-1.0, 1.0]
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = as_tuple(normalized_shape, 1)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            empty = tenfold.empty(self.normalized_shape, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, None if empty is None else Parameter(empty))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets weight to 1 and bias to 0."""
        _reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """x / sqrt(mean(x^2) + eps) weight over the last dimensions. Shape: (..., *normalized_shape), kept.

    `eps` None is the dtype's machine epsilon, float32's for half precision. Source: Zhang and Sennrich 2019.

    >>> RMSNorm(2, elementwise_affine=False)(tenfold.tensor([1.0, 7.0]))
    tensor([0.2000, 1.4000])
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = as_tuple(normalized_shape, 1)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        empty = tenfold.empty(self.normalized_shape, device=device, dtype=dtype) if elementwise_affine else None
        self.register_parameter("weight", None if empty is None else Parameter(empty))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets weight to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """(x - mean) / sqrt(var + eps) weight + bias, statistics per sample over groups of channels. Shape: (N, C, ...), kept.

    Raises ValueError unless num_groups divides num_channels. Source: Wu and He 2018.

    >>> GroupNorm(1, 2, affine=False)(tenfold.tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            empty = tenfold.empty(num_channels, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, None if empty is None else Parameter(empty))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets weight to 1 and bias to 0."""
        _reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        counts = f"{self.num_groups}, {self.num_channels}"
        return f"{counts}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"
