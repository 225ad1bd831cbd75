"""Linear operators of which all numbers are known: whole matrices and triangles."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.linear import algebra, hints
from dragon.vm.tensorflow.core.linear.operator import LinearOperator, makes

MATRICES = ("float16", "float32", "float64", "complex64", "complex128")


def _kept(value, who):
    """Return a matrix as it is kept, if it is one."""
    kept = algebra.keep(value)
    if kept.dtype.name not in MATRICES:
        raise TypeError(f"{who}: got dtype {kept.dtype.name}, expected one of {', '.join(MATRICES)}")
    if len(kept.shape) < 2:
        raise ValueError(f"{who}: got shape {tuple(kept.shape)}, expected at least 2 dimensions")
    return kept


class LinearOperatorFullMatrix(LinearOperator):
    """A matrix as an operator.

    Parameters
    ----------
    matrix : Tensor
        The matrix, or a batch of them.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of the matrix.

    Examples
    --------
    >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [1.0, 4.0]])
    >>> operator.matvec([1.0, 1.0]).numpy().tolist(), operator.determinant().numpy()
    ([2.0, 5.0], np.float32(8.0))

    """

    _RANKS = {"matrix": 2}

    def __init__(self, matrix, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorFullMatrix"):
        self._matrix = _kept(matrix, "LinearOperatorFullMatrix")
        super().__init__(self._matrix.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         name)

    matrix = property(lambda self: self._matrix, doc="Tensor: the matrix.")

    def _shape(self):
        return self._matrix.shape

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return algebra.multiply(take(self._matrix), x, adjoint, adjoint_arg)

    def _to_dense(self):
        return take(self._matrix)


class LinearOperatorLowerTriangular(LinearOperator):
    """A lower triangle as an operator; what stands above the diagonal is not looked at.

    Parameters
    ----------
    tril : Tensor
        The matrix, or a batch of them.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of the matrix.

    """

    _RANKS = {"tril": 2}

    def __init__(self, tril, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorLowerTriangular"):
        hints.require(is_square, True, "Only square lower triangular operators supported at this time.")
        self._tril = _kept(tril, "LinearOperatorLowerTriangular")
        super().__init__(self._tril.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    tril = property(lambda self: self._tril, doc="Tensor: the matrix.")

    def _shape(self):
        return self._tril.shape

    def _to_dense(self):
        return ops.tril(take(self._tril))

    def _diag_part(self):
        return algebra.diag_part(take(self._tril))

    def _assert_non_singular(self):
        algebra.require_nonzero(self._diag_part(), "Singular operator:  Diagonal contained zero values.")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return algebra.multiply(self._to_dense(), x, adjoint, adjoint_arg)

    def _determinant(self):
        return ops.prod(self._diag_part(), -1)

    def _log_abs_determinant(self):
        return ops.sum(ops.log(ops.abs(self._diag_part())), -1)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = algebra.adjoint(rhs) if adjoint_arg else rhs
        return algebra.solve_triangle(self._to_dense(), rhs, adjoint)

    def _eigvals(self):
        return self._diag_part()


makes("triangle")(LinearOperatorLowerTriangular)
