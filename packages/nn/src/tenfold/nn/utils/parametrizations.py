"""Ready parametrizations: weight and spectral normalization, orthogonal matrices."""

from __future__ import annotations

from functools import partial
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.module import Module
from tenfold.nn.utils.parametrize import is_parametrized, register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def norm_except(v: Tensor, dim: int) -> Tensor:
    """The 2-norm over all dimensions but `dim` (-1: over all), dimensions kept."""
    if dim == -1:
        return tenfold.norm(v)
    rank = len(v.shape)  # which an uninitialized weight refuses to tell
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    others = [d for d in range(rank) if d != dim % rank]
    return tenfold.norm(v, 2.0, dim=others, keepdim=True) if others else v.abs()


class _WeightNorm(Module):
    """g v / |v|, the norm taken over all dimensions but `dim`."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Splits a weight into its length `original0` and direction `original1`: g v / |v|, |v| per index of `dim` (None:
    overall).

    Source: Salimans and Kingma 2016.

    >>> from tenfold.nn import Linear
    >>> list(weight_norm(Linear(3, 2)).parametrizations.weight.original0.shape)
    [2, 1]
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(partial(_take_older_names, name), with_module=True)
    return module


def _take_older_names(name: str, module: Module, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
    """Lets a state_dict name g and v as `nn.utils.weight_norm` does."""
    older = [f"{prefix}{name}_{part}" for part in "gv"]
    if is_parametrized(module, name) and all(key in state_dict for key in older):
        for place, key in enumerate(older):
            state_dict[f"{prefix}parametrizations.{name}.original{place}"] = state_dict.pop(key)


class _SpectralNorm(Module):
    """weight / sigma, sigma its largest singular value, followed by power iteration in training."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        rank = len(weight.shape)  # which an uninitialized weight refuses to tell
        if not -rank <= dim < rank:
            raise IndexError(f"spectral_norm: dim out of range, got {dim} for a tensor of {rank} dimensions")
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm: Expected n_power_iterations to be positive, but got {n_power_iterations}")
        self.dim, self.eps, self.n_power_iterations = dim % rank, eps, n_power_iterations
        if rank > 1:
            matrix = self._as_matrix(weight.detach())
            rows, columns = matrix.shape
            for vector, size in (("_u", rows), ("_v", columns)):
                drawn = matrix.new_empty(size).normal_(0, 1)
                self.register_buffer(vector, F.normalize(drawn, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _as_matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    @tenfold.no_grad()
    def _iterate(self, matrix: Tensor, times: int) -> None:
        for _ in range(times):
            self._u = F.normalize(matrix.mv(self._v), dim=0, eps=self.eps)
            self._v = F.normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        sigma = self._u.clone().vdot(matrix.mv(self._v.clone()))
        return weight / sigma

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divides a weight by its largest singular value, seen as a matrix with `dim` (0; 1 for transposed convolutions) as rows.

    Raises ValueError where the module has no such tensor. Source: Miyato et al. 2018.
    """
    weight = _tensor_of(module, name)
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


def _tensor_of(module: Module, name: str) -> Tensor:
    """`module.<name>`; raises ValueError where it is no tensor."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


_ORTHOGONAL_MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """A map from all matrices (..., N, K) to those with orthonormal columns (rows where N < K), after `base` if there is one.

    matrix_exp: exp(A), cayley: (I - A/2)^-1 (I + A/2), for the skew-Hermitian A = L - L^H of the lower triangle L;
    householder: the product of the reflections along the columns of L, signs on its diagonal.
    Source: Lezcano-Casado and Martinez-Rubio 2019 (`base`: Lezcano-Casado 2019).
    """

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map, self.use_trivialization = weight.shape, orthogonal_map, use_trivialization
        self.register_buffer("base", None)

    def _tall(self, matrix: Tensor) -> Tensor:
        return matrix.mT if self.shape[-2] < self.shape[-1] else matrix

    def forward(self, X: Tensor) -> Tensor:
        tall = self._tall(X)
        Q = _reflected(tall) if self.orthogonal_map == "householder" else self._from_skew(tall)
        return self._tall(Q if self.base is None else self.base @ Q)

    def _from_skew(self, X: Tensor) -> Tensor:
        N, K = X.shape[-2:]
        L = F.pad(X.tril(), (0, N - K))  # (..., N, N)
        A = L - L.mH
        if self.orthogonal_map == "matrix_exp":
            square: Tensor = tenfold.matrix_exp(A)
        else:
            eye = tenfold.eye(N, dtype=A.dtype, device=A.device)
            square = tenfold.linalg.solve(eye - A / 2, eye + A / 2)
        return square[..., :K]

    @tenfold.no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        """The original for `Q`, or for the orthogonal factor of its QR decomposition with a positive diagonal."""
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
        tall = self._tall(Q)
        if not self.use_trivialization:
            return self._tall(self._inverted(tall))
        N, K = tall.shape[-2:]
        rest = tenfold.randn((*tall.shape[:-1], N - K), dtype=tall.dtype, device=tall.device)
        self.base = _orthonormal(tenfold.cat([tall, rest], -1))
        start = tenfold.zeros_like(tall)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)  # every map takes it to the identity
        return self._tall(start)

    def _inverted(self, Q: Tensor) -> Tensor:
        """Raises NotImplementedError but for the reflections, whose vectors `geqrf` gives."""
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        A: Tensor
        A, scales = tenfold.geqrf(Q)
        diagonal = A.diagonal(dim1=-2, dim2=-1)
        # A column that needed no reflection (scale 0, the last of a square matrix) is reflected all the same by `_reflected`.
        diagonal.copy_(tenfold.where((diagonal < 0) != (scales == 0), -1.0, 1.0))
        return A


def _reflected(X: Tensor) -> Tensor:
    """The product of the reflections along the columns of X below its diagonal, times the diagonal's signs."""
    vectors = X.tril(-1)
    scales = 2.0 / (1.0 + (vectors * vectors).sum(-2))
    signs = X.detach().diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)
    product: Tensor = tenfold.linalg.householder_product(vectors, scales)
    return product * signs


def _orthonormal(matrix: Tensor) -> Tensor:
    """Q of the QR decomposition with a positive diagonal of R."""
    Q, R = tenfold.linalg.qr(matrix)
    factor: Tensor = Q * R.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return factor


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keeps a weight's columns (rows, if it is wide) orthonormal; it starts at the Q of the weight's QR decomposition.

    `orthogonal_map`: "matrix_exp" (for square or complex weights), "householder" (for others) or "cayley".
    Raises ValueError for a missing tensor, one that is no matrix, an unknown map, or "householder" for complex weights.

    >>> from tenfold.nn import Linear
    >>> weight = orthogonal(Linear(3, 3)).weight
    >>> bool((weight @ weight.mT - tenfold.eye(3)).abs().max() < 1e-5)
    True
    """
    weight = _tensor_of(module, name)
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.shape[-2] == weight.shape[-1] or weight.is_complex() else "householder"
    if orthogonal_map not in _ORTHOGONAL_MAPS:
        raise ValueError(
            f"""orthogonal_map has to be one of {", ".join(f'"{known}"' for known in _ORTHOGONAL_MAPS)}. Got: {orthogonal_map}"""
        )
    register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)
    return module
