"""Ready parametrizations: length and direction, largest singular value, orthogonal matrices."""
from enum import Enum, auto

from dragon.core.modes import no_grad
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.utils import parametrize
from dragon.vm.torch.nn.utils.spectral_norm import as_matrix, axis_of_outputs
from dragon.vm.torch.nn.utils.weight_norm import norm_except, normalized

POWER_ITERATIONS_AT_FIRST = 15


def _is_orthogonal(Q, eps=None):
    """Return whether columns are orthonormal, up to rounding."""
    from dragon.vm.torch import finfo
    identity = ops.eye(Q.shape[-1], dtype=Q.dtype, device=Q.device)
    return bool(ops.allclose(ops.matmul(Q.mH, Q), identity, 1e-5, 10.0 * Q.shape[-2] * finfo(Q.dtype).eps))


def _make_orthogonal(A):
    """Return the orthogonal matrix of the QR decomposition whose R has a positive diagonal."""
    reflectors, scales = ops.geqrf(A)
    q = ops.linalg_householder_product(reflectors, scales)
    return q * ops.unsqueeze(ops.sgn(ops.diagonal(reflectors, 0, -2, -1)), -2)


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """An orthogonal matrix from any."""

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        """Return the orthogonal matrix."""
        wide = X.shape[-2] < X.shape[-1]
        X = X.mT if wide else X
        if self.orthogonal_map is _OrthMaps.householder:
            below = ops.tril(X, -1)
            scales = 2.0 / (1.0 + ops.sum(below * below, -2))
            signs = ops.cast(ops.diagonal(X, 0, -2, -1).int(), X.dtype)
            q = ops.linalg_householder_product(below, scales) * ops.unsqueeze(signs, -2)
        else:
            q = self._of_skew(X)
        if hasattr(self, "base"):
            q = ops.matmul(self.base, q)
        return q.mT if wide else q

    def _of_skew(self, X):
        """Return the map of the skew-symmetric matrix that the lower triangle makes."""
        n, k = X.shape[-2:]
        X = ops.tril(X)
        if n != k:
            X = ops.cat([X, ops.zeros((*X.shape[:-2], n, n - k), dtype=X.dtype, device=X.device)], -1)
        skew = X - X.mH
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            q = ops.matrix_exp(skew)
        else:
            identity = ops.eye(n, dtype=skew.dtype, device=skew.device)
            q = ops.linalg_solve(identity - skew * 0.5, identity + skew * 0.5)
        return q[..., :k] if n != k else q

    @no_grad()
    def right_inverse(self, Q):
        """Return what this matrix is made from."""
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                             f"{Q.shape}.")
        given, wide = Q, Q.shape[-2] < Q.shape[-1]
        Q = Q.mT if wide else Q
        n, k = Q.shape[-2:]
        if not hasattr(self, "base"):
            return self._reflectors(Q, wide)
        if n == k:
            self.base = ops.clone(Q) if _is_orthogonal(Q) else _make_orthogonal(Q)
        else:
            more = ops.randn((*Q.shape[:-2], n, n - k), dtype=Q.dtype, device=Q.device)
            self.base = _make_orthogonal(ops.cat([Q, more], -1))
        # Minus one is what the maps take to the identity times that sign, so the base alone remains.
        start = ops.zeros_like(given)
        ops.fill_(ops.diagonal(start, 0, -2, -1), -1.0)
        return start

    def _reflectors(self, Q, wide):
        if self.orthogonal_map is not _OrthMaps.householder:
            raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley "
                                      "parametrizations when use_trivialization=False.")
        reflectors, scales = ops.geqrf(Q)
        diagonal = ops.diagonal(reflectors, 0, -2, -1)
        signs = ops.sign(diagonal)
        diagonal.copy_(ops.where(ops.eq(scales, 0), ops.neg(signs), signs))
        return reflectors.mT if wide else reflectors


def _weight_of(module, name):
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keep a matrix orthogonal; returns the module.

    Parameters
    ----------
    name : str, optional, default="weight"
        Its name.
    orthogonal_map : {"matrix_exp", "cayley", "householder"}, optional
        How it is made; "matrix_exp" for square ones and "householder" for others by default.
    use_trivialization : bool, optional, default=True
        Keep a fixed orthogonal factor, around which it is made.

    """
    weight = _weight_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    kind = getattr(_OrthMaps, orthogonal_map, None)
    if kind is None:
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
                         f"{orthogonal_map}")
    made = _Orthogonal(weight, kind, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)


class _WeightNorm(Module):
    """A weight from length and direction."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        """Return the weight."""
        return normalized(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        """Return length and direction."""
        return norm_except(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Split a parameter into length, `original0`, and direction, `original1`; returns the module."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def take_older(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for number, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{number}"] = state_dict.pop(key)
    module._register_load_state_dict_pre_hook(take_older)
    return module


class _SpectralNorm(Module):
    """A weight divided by the estimate of its largest singular value."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        axes = weight.ndim
        if not -axes <= dim < axes:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{axes}, {axes - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got n_power_iterations="
                             f"{n_power_iterations}")
        self.dim = dim % axes
        self.eps = eps
        if axes > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight, self.dim)
            u, v = (matrix.new_empty(size).normal_(0, 1) for size in matrix.shape)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, POWER_ITERATIONS_AT_FIRST)

    @no_grad()
    def _power_method(self, weight_mat, n_power_iterations):
        for _ in range(n_power_iterations):
            self._u.copy_(F.normalize(ops.mv(weight_mat, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(ops.mv(weight_mat.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        """Return the weight divided."""
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Copies: the next forward writes to the buffers again.
        u, v = ops.clone(self._u), ops.clone(self._v)
        return weight / ops.vdot(u, ops.mv(matrix, v))

    def right_inverse(self, value):
        """Return the value: what is assigned counts as having the right size."""
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a parameter by the estimate of its largest singular value; returns the module.

    Parameters
    ----------
    module, name, n_power_iterations, eps, dim
        See `torch.nn.utils.spectral_norm`; the estimate is improved in training alone.

    """
    made = _SpectralNorm(_weight_of(module, name), n_power_iterations, axis_of_outputs(module, dim), eps)
    return parametrize.register_parametrization(module, name, made)
