"""The functions of `comm` with their gradients, by PyTorch's private names, which synchronized norms in many programs import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold import Tensor
from tenfold.autograd import Function
from tenfold.nn.parallel import comm


class Broadcast(Function):
    """`apply(devices, *tensors)`: all tensors on the first device, then on the second; gradients are added."""

    @staticmethod
    def forward(ctx: Any, target_gpus: Sequence[Any], *inputs: Tensor) -> tuple[Tensor, ...]:
        """The copies, device by device."""
        ctx.homes, ctx.count = [one.device for one in inputs], len(inputs)
        copies = comm.broadcast_coalesced(inputs, target_gpus)
        return tuple(_own(one) for copied in copies for one in copied)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Any, ...]:
        """The sum of what came to each tensor's copies."""
        return (None, *(comm.reduce_add(grad_outputs[i :: ctx.count], home) for i, home in enumerate(ctx.homes)))


class ReduceAddCoalesced(Function):
    """`apply(device, n, *tensors)`: the sums over devices of n tensors each, given device by device."""

    @staticmethod
    def forward(ctx: Any, destination: Any, num_inputs: int, *grads: Tensor) -> tuple[Tensor, ...]:
        """The sums."""
        ctx.homes, ctx.count = [one.device for one in grads], num_inputs
        groups = [grads[i : i + num_inputs] for i in range(0, len(grads), num_inputs)]
        return tuple(_own(one) for one in comm.reduce_add_coalesced(groups, destination))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Any, ...]:
        """Each sum's gradient, for all that were added."""
        return (None, None, *(grad_outputs[i % ctx.count].to(home) for i, home in enumerate(ctx.homes)))


class Gather(Function):
    """`apply(device, dim, *tensors)`: tensors of several devices side by side on one."""

    @staticmethod
    def forward(ctx: Any, target_device: Any, dim: int, *inputs: Tensor) -> Tensor:
        """The joined tensor; numbers become rows of one."""
        ctx.scalars = all(one.dim() == 0 for one in inputs) and dim == 0
        rows = [one.reshape(1) for one in inputs] if ctx.scalars else list(inputs)
        ctx.homes, ctx.sizes, ctx.dim = [one.device for one in inputs], [one.size(dim) for one in rows], dim
        return comm.gather(rows, dim, target_device)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Any, ...]:
        """The gradient's parts."""
        parts = [part.to(home) for part, home in zip(grad_output.split(ctx.sizes, ctx.dim), ctx.homes)]
        return (None, None, *([part[0] for part in parts] if ctx.scalars else parts))


class Scatter(Function):
    """`apply(devices, sizes or None, dim, tensor)`: a tensor's parts, one on each device."""

    @staticmethod
    def forward(
        ctx: Any, target_gpus: Sequence[Any], chunk_sizes: Sequence[int] | None, dim: int, input: Tensor
    ) -> tuple[Tensor, ...]:
        """The parts."""
        ctx.home, ctx.dim = input.device, dim
        return tuple(_own(one) for one in comm.scatter(input, target_gpus, chunk_sizes, dim))

    @staticmethod
    def backward(ctx: Any, *grad_output: Tensor) -> tuple[Any, ...]:
        """The parts' gradients side by side."""
        return None, None, None, comm.gather(grad_output, ctx.dim, ctx.home)


def _own(tensor: Tensor) -> Tensor:
    """Not the input itself, which a move to its own device gives."""
    return tensor.view_as(tensor)
