"""Linear operators that turn round: circulant matrices, of blocks too, which a Fourier transform makes diagonal."""
import math

import numpy as np

from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, complex64, int32
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.linear import algebra, hints
from dragon.vm.tensorflow.core.linear.operator import LinearOperator


def as_complex(x):
    """Return numbers as complex ones."""
    return x if x.dtype.is_complex else ops.cast(x, "complex128" if x.dtype.name == "float64" else "complex64")


class Circulant(LinearOperator):
    """What circulant operators share: the spectrum's last `block_depth` axes are those of the transform."""

    block_depth = 1

    def _begin(self, spectrum, dtype, given, name):
        self._spectrum = algebra.keep(spectrum)
        if len(self._spectrum.shape) < self.block_depth:
            raise ValueError(f"Argument `spectrum` must have at least {self.block_depth} dimensions. Received: "
                             f"{spectrum}.")
        if not self._spectrum.dtype.is_complex:
            given["is_self_adjoint"] = hints.require(
                given["is_self_adjoint"], True, "A real spectrum always corresponds to a self-adjoint operator: got "
                                                "is_self_adjoint=False")
        given["is_square"] = hints.require(given["is_square"], True, "A [[nested] block] circulant operator is always "
                                                                     "square: got is_square=False")
        LinearOperator.__init__(self, as_dtype(dtype), name=name, **given)

    spectrum = property(lambda self: self._spectrum, doc="Tensor: what the transform makes the diagonal.")
    block_shape = property(lambda self: self._spectrum.shape[-self.block_depth:],
                           doc="TensorShape: how many blocks there are on each level.")

    def block_shape_tensor(self):
        """Return how many blocks there are on each level, as a tensor."""
        return convert_to_tensor(tuple(self.block_shape), int32)

    def _shape(self):
        shape = tuple(self._spectrum.shape)
        size = math.prod(shape[-self.block_depth:])
        return (*shape[:-self.block_depth], size, size)

    def _numbers(self):
        """Return the spectrum with one axis in the place of those of the transform."""
        return ops.reshape(take(self._spectrum), tuple(self.shape[:-1]))

    def _axes(self):
        return list(range(-self.block_depth, 0))

    def _filtered(self, x, spectrum):
        """Return columns whose transforms are multiplied with a spectrum."""
        blocks, x = tuple(self.block_shape), as_complex(x)
        columns = ops.matrix_transpose(x)
        columns = ops.reshape(columns, (*columns.shape[:-1], *blocks))
        spectrum = ops.unsqueeze(spectrum, -1 - self.block_depth)
        made = ops.fft_ifftn(ops.cast(spectrum, columns.dtype) * ops.fft_fftn(columns, axis=self._axes()),
                             axis=self._axes())
        made = ops.reshape(made, (*made.shape[:-self.block_depth], self.domain_dimension))
        return self._as_told(ops.matrix_transpose(made))

    def _as_told(self, x):
        """Return numbers in the operator's dtype; a real one takes their real parts."""
        if not self.dtype.is_complex and x.dtype.is_complex:
            x = ops.real(x)
        return ops.cast(x, self.dtype)

    def _turned(self, adjoint):
        spectrum = as_complex(take(self._spectrum))
        return ops.conj_physical(spectrum) if adjoint else spectrum

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._filtered(algebra.adjoint(x) if adjoint_arg else x, self._turned(adjoint))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._filtered(algebra.adjoint(rhs) if adjoint_arg else rhs, 1.0 / self._turned(adjoint))

    def convolution_kernel(self, name="convolution_kernel"):
        """Return the numbers whose convolution with a vector is the product: the first column."""
        return self._as_told(ops.fft_ifftn(self._turned(False), axis=self._axes()))

    def assert_hermitian_spectrum(self, name="assert_hermitian_spectrum"):
        """Raise an InvalidArgumentError if the matrix is not real."""
        greatest = float(np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps) * self.domain_dimension
        kernel = ops.fft_ifftn(self._turned(False), axis=self._axes())
        algebra.require(ops.lt(ops.abs(ops.imag(kernel)), greatest), "Spectrum was not Hermitian")

    def with_spectrum(self, spectrum, **known):
        """Return such an operator of another spectrum."""
        return type(self)(spectrum, self.dtype, **known)

    def _linop_adjoint(self):
        return self.with_spectrum(algebra.conj(take(self._spectrum)), **hints.of(self))

    def _linop_inverse(self):
        return self.with_spectrum(1.0 / take(self._spectrum), **hints.of(self))

    def _determinant(self):
        return self._as_told(ops.prod(self._numbers(), -1))

    def _log_abs_determinant(self):
        return self._as_told(ops.sum(ops.log(ops.abs(self._numbers())), -1))

    def _trace(self):
        return self._as_told(ops.sum(self._numbers(), -1))

    def _diag_part(self):
        mean = ops.unsqueeze(self._trace() / self.domain_dimension, -1)
        return ops.clone(ops.broadcast_to(mean, tuple(self.shape[:-1])))

    def _eigvals(self):
        return self._numbers()

    def _cond(self):
        return algebra.ends(ops.abs(self._numbers()))

    def _assert_non_singular(self):
        algebra.require_nonzero(self._numbers(), "Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self):
        algebra.require_positive(self._numbers(), "Not positive definite:  Real part of spectrum was not all positive.")

    def _assert_self_adjoint(self):
        algebra.require_real(self._numbers(), "Not self-adjoint:  The spectrum contained non-zero imaginary part.")


def _make(depth, words):
    """Return the class of a number of levels."""
    name = "LinearOperatorCirculant" + ("" if depth == 1 else f"{depth}D")

    def __init__(self, spectrum, input_output_dtype=complex64, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=True, name=name):
        given = dict(zip(hints.NAMES, (is_non_singular, is_self_adjoint, is_positive_definite, is_square)))
        self._begin(spectrum, input_output_dtype, given, name)
    doc = f"""{words}

    Parameters
    ----------
    spectrum : Tensor
        The transform of the first column, along the last {depth} axes.
    input_output_dtype : DType, optional, default="complex64"
        Of the matrix, and of what it is multiplied with.
    is_non_singular, is_self_adjoint, is_positive_definite : bool, optional
        What is known of the matrix.
    is_square : bool, optional, default=True
        Must be True.

    """
    return type(name, (Circulant,), {"__init__": __init__, "__doc__": doc, "__module__": __name__,
                                     "block_depth": depth, "_RANKS": {"spectrum": depth}})


LinearOperatorCirculant = _make(1, "A matrix whose columns are the first one, turned round by one place each.")
LinearOperatorCirculant2D = _make(2, "A circulant matrix of blocks that are circulant.")
LinearOperatorCirculant3D = _make(3, "A circulant matrix of blocks that are circulant matrices of circulant blocks.")
