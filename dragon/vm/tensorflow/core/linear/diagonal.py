"""Linear operators that are zero outside of their diagonals."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.linear import algebra, hints
from dragon.vm.tensorflow.core.linear.operator import LinearOperator


class Diagonal(LinearOperator):
    """What holds for all: `_factors` are the numbers of the diagonal, or one for the whole of it at the last axis."""

    def _factors(self):
        raise NotImplementedError(f"{type(self).__name__}._factors is not implemented.")

    def _column(self, adjoint):
        factors = algebra.conj(self._factors()) if adjoint else self._factors()
        return ops.unsqueeze(factors, -1)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._column(adjoint) * (algebra.adjoint(x) if adjoint_arg else x)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return (algebra.adjoint(rhs) if adjoint_arg else rhs) / self._column(adjoint)

    def _diag_part(self):
        size = min(self.shape[-2:])
        return ops.clone(ops.broadcast_to(self._factors(), (*self.batch_shape, size)))

    def _to_dense(self):
        return algebra.diag(self._diag_part())

    def _add_to_tensor(self, x):
        return algebra.add_diag(x, self._factors())

    def _eigvals(self):
        return self._diag_part()

    def _assert_non_singular(self):
        algebra.require_nonzero(self._factors(), "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self):
        algebra.require_positive(self._factors(), "Diagonal operator had diagonal entries with non-positive real "
                                                  "part, thus was not positive definite.")

    def _assert_self_adjoint(self):
        algebra.require_real(self._factors(), "This diagonal operator contained non-zero imaginary values.  Thus it "
                                              "was not self-adjoint.")


class LinearOperatorDiag(Diagonal):
    """A diagonal as an operator.

    Parameters
    ----------
    diag : Tensor
        The diagonal, or a batch of them.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of the matrix.

    Examples
    --------
    >>> operator = tf.linalg.LinearOperatorDiag([2.0, 4.0])
    >>> operator.solvevec([1.0, 1.0]).numpy().tolist(), (operator @ operator).diag.numpy().tolist()
    ([0.5, 0.25], [4.0, 16.0])

    """

    _RANKS = {"diag": 1}

    def __init__(self, diag, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorDiag"):
        self._diag = algebra.keep(diag)
        if not len(self._diag.shape):
            raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {diag}")
        if not self._diag.dtype.is_complex:
            is_self_adjoint = hints.require(is_self_adjoint, True, "A real diagonal operator is always self adjoint.")
        hints.require(is_square, True, "Only square diagonal operators currently supported.")
        super().__init__(self._diag.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    diag = property(lambda self: self._diag, doc="Tensor: the diagonal.")

    def _shape(self):
        return (*self._diag.shape, self._diag.shape[-1])

    def _factors(self):
        return take(self._diag)

    def _linop_adjoint(self):
        return LinearOperatorDiag(algebra.conj(take(self._diag)), **hints.of(self))

    def _linop_inverse(self):
        return LinearOperatorDiag(1.0 / take(self._diag), **hints.of(self))

    def _linop_cholesky(self):
        return LinearOperatorDiag(ops.sqrt(take(self._diag)), **hints.REGULAR)

    def _determinant(self):
        return ops.prod(take(self._diag), -1)

    def _log_abs_determinant(self):
        return ops.cast(ops.sum(ops.log(ops.abs(take(self._diag))), -1), self.dtype)

    def _cond(self):
        return algebra.ends(ops.abs(take(self._diag)))
