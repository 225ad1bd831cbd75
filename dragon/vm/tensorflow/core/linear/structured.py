"""Linear operators of a pattern: Toeplitz matrices, three diagonals, permutations, reflections."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.arrays.reducing import l2_normalize
from dragon.vm.shared.tensors.dtypes import as_dtype, float32
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.linear import algebra, hints
from dragon.vm.tensorflow.core.linear.circulant import as_complex
from dragon.vm.tensorflow.core.linear.operator import LinearOperator
from dragon.vm.tensorflow.core.numbers import matrices


class LinearOperatorToeplitz(LinearOperator):
    """A matrix whose diagonals are each of one number.

    Parameters
    ----------
    col, row : Tensor
        The first column, and the first row, whose first number is not looked at.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of the matrix.

    """

    _RANKS = {"col": 1, "row": 1}

    def __init__(self, col, row, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorToeplitz"):
        self._col, self._row = algebra.keep(col), algebra.keep(row)
        for word, kept in (("col", self._col), ("row", self._row)):
            if not len(kept.shape):
                raise ValueError(f"LinearOperatorToeplitz: got {word} of no dimensions, expected at least one")
        hints.require(is_square, True, "Only square Toeplitz operators currently supported.")
        super().__init__(self._row.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    col = property(lambda self: self._col, doc="Tensor: the first column.")
    row = property(lambda self: self._row, doc="Tensor: the first row.")

    def _shape(self):
        size = self._row.shape[-1]
        return (*algebra.joint_batch(self._col.shape[:-1], self._row.shape[:-1]), size, size)

    def _around(self):
        """Return the column of the circulant matrix, twice as large, whose upper left is this one."""
        batch, size = tuple(self.batch_shape), self.domain_dimension
        col, row = (ops.broadcast_to(take(x), (*batch, size)) for x in (self._col, self._row))
        return ops.cat([col, col[..., :1], ops.flip(row[..., 1:], [-1])], -1)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = algebra.adjoint(x) if adjoint_arg else x
        around, size = ops.fft_fft(as_complex(self._around())), self.domain_dimension
        around = ops.conj_physical(around) if adjoint else around
        columns = ops.pad(as_complex(ops.matrix_transpose(x)), [0, size], "constant", 0)
        made = ops.fft_ifft(ops.unsqueeze(around, -2) * ops.fft_fft(columns))[..., :size]
        made = made if self.dtype.is_complex else ops.real(made)
        return ops.cast(ops.matrix_transpose(made), self.dtype)

    def _diag_part(self):
        return ops.clone(ops.broadcast_to(take(self._col)[..., :1], tuple(self.shape[:-1])))

    def _trace(self):
        return self.domain_dimension * ops.broadcast_to(take(self._col)[..., 0], tuple(self.batch_shape))

    def _to_dense(self):
        size = self.domain_dimension
        below = ops.unsqueeze(ops.arange(0, size, dtype="int64"), -1) - ops.arange(0, size, dtype="int64")
        places = ops.where(ops.lt(below, 0), below + 2 * size, below)
        return ops.reshape(ops.index_select(self._around(), -1, ops.reshape(places, (-1,))), tuple(self.shape))


class LinearOperatorTridiag(LinearOperator):
    """Three diagonals as an operator.

    Parameters
    ----------
    diagonals : Union[Tensor, Sequence[Tensor]]
        The upper diagonal, the main one and the lower one.
    diagonals_format : str, optional, default="compact"
        "compact" where they are rows of one tensor, the upper one with a number too many at its end and the lower one
        at its beginning, "sequence" where they are three tensors, "matrix" where they stand in a whole matrix.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of the matrix.

    """

    _RANKS = {"diagonals": 2}

    def __init__(self, diagonals, diagonals_format="compact", is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name="LinearOperatorTridiag"):
        if diagonals_format not in ("compact", "matrix", "sequence"):
            raise ValueError(f"Argument `diagonals_format` must be one of compact, matrix, or sequence. Received : "
                             f"{diagonals_format}")
        self._format = diagonals_format
        if diagonals_format == "sequence":
            self._diagonals = [algebra.keep(one) for one in diagonals]
            found = [one.dtype for one in self._diagonals]
        else:
            self._diagonals = algebra.keep(diagonals)
            found = [self._diagonals.dtype]
        super().__init__(found[0], None, is_non_singular, is_self_adjoint, is_positive_definite,
                         True if is_square is None else is_square, name)

    diagonals = property(lambda self: self._diagonals, doc="Union[Tensor, List[Tensor]]: the diagonals.")
    diagonals_format = property(lambda self: self._format, doc="str: how they are kept.")

    def _shape(self):
        if self._format == "matrix":
            return self._diagonals.shape
        if self._format == "sequence":
            size = self._diagonals[1].shape[-1]
            return (*algebra.joint_batch(*(one.shape[:-1] for one in self._diagonals)), size, size)
        shape = tuple(self._diagonals.shape)
        return (*shape[:-2], shape[-1], shape[-1])

    def _bands(self):
        """Return the upper diagonal, the main one and the lower one, each as long as the matrix's own."""
        if self._format == "matrix":
            x = take(self._diagonals)
            return ops.diagonal(x, 1, -2, -1), ops.diagonal(x, 0, -2, -1), ops.diagonal(x, -1, -2, -1)
        if self._format == "compact":
            x = take(self._diagonals)
            return x[..., 0, :-1], x[..., 1, :], x[..., 2, 1:]
        upper, main, lower = map(take, self._diagonals)
        size = main.shape[-1]
        return upper[..., :size - 1], main, lower[..., lower.shape[-1] - size + 1:]

    def _to_dense(self):
        upper, main, lower = self._bands()
        if main.shape[-1] < 2:
            return matrices.diag(main)
        return matrices.diag(upper, k=1) + matrices.diag(main) + matrices.diag(lower, k=-1)

    def _diag_part(self):
        return ops.clone(self._bands()[1])

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x, (upper, main, lower) = algebra.adjoint(x) if adjoint_arg else x, self._bands()
        if adjoint:
            upper, main, lower = algebra.conj(lower), algebra.conj(main), algebra.conj(upper)
        above = ops.pad(ops.unsqueeze(upper, -1) * x[..., 1:, :], [0, 0, 0, 1], "constant", 0)
        below = ops.pad(ops.unsqueeze(lower, -1) * x[..., :-1, :], [0, 0, 1, 0], "constant", 0)
        return above + ops.unsqueeze(main, -1) * x + below

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = algebra.adjoint(rhs) if adjoint_arg else rhs
        return algebra.solve(self._to_dense(), rhs, adjoint)

    def _assert_self_adjoint(self):
        upper, main, lower = self._bands()
        algebra.require(ops.eq(upper, algebra.conj(lower)), "Matrix was not equal to its adjoint.")
        algebra.require_real(main, "Matrix was not equal to its adjoint.")


class LinearOperatorPermutation(LinearOperator):
    """A change of order as an operator.

    Parameters
    ----------
    perm : Tensor
        int32 or int64: where each number of the result is taken from.
    dtype : DType, optional, default="float32"
        Of the matrix.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of the matrix.

    """

    _RANKS = {"perm": 1}

    def __init__(self, perm, dtype=float32, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name="LinearOperatorPermutation"):
        hints.require(is_non_singular, True, "A Permutation operator is always non-singular.")
        hints.require(is_square, True, "A Permutation operator is always square.")
        self._perm = algebra.keep(perm)
        shape = tuple(self._perm.shape)
        if not shape:
            raise ValueError(f"Argument `perm` must have at least 1 dimension. Received: {perm}.")
        if self._perm.dtype.name not in ("int32", "int64"):
            raise TypeError(f"Argument `perm` must be an integer dtype. Received: {self._perm.dtype.name}.")
        order = ops.sort(take(self._perm), -1)[0]
        if not bool(ops.all(ops.eq(order, ops.arange(0, shape[-1], dtype=self._perm.dtype))).numpy()):
            raise ValueError(f"Argument `perm` must be a vector of unique integers from 0 to {shape[-1] - 1}.")
        super().__init__(as_dtype(dtype), None, is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    perm = property(lambda self: self._perm, doc="Tensor: the order.")

    def _shape(self):
        return (*self._perm.shape, self._perm.shape[-1])

    def _moved(self, x, back):
        order = ops.cast(take(self._perm), "int64")
        order = ops.unsqueeze(ops.argsort(order, -1) if back else order, -1)
        batch = tuple(algebra.joint_batch(x.shape[:-2], order.shape[:-2]))
        shape = (*batch, *x.shape[-2:])
        return ops.take_along_axis(ops.broadcast_to(x, shape), ops.broadcast_to(order, shape), -2)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._moved(algebra.adjoint(x) if adjoint_arg else x, adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, not adjoint, adjoint_arg)

    def _to_dense(self):
        size = self.domain_dimension
        places = ops.arange(0, size, dtype=self._perm.dtype)
        return ops.cast(ops.eq(ops.unsqueeze(take(self._perm), -1), places), self.dtype)

    def _log_abs_determinant(self):
        return ops.zeros(tuple(self.batch_shape), dtype=self.dtype)

    def _determinant(self):
        # The sign is that of the number of pairs that stand in the wrong order.
        order = take(self._perm)
        wrong = ops.triu(ops.cast(ops.gt(ops.unsqueeze(order, -1), ops.unsqueeze(order, -2)), "int64"), 1)
        return ops.cast(1 - 2 * ops.remainder(ops.sum(wrong, [-2, -1]), 2), self.dtype)

    def _cond(self):
        return ops.ones(tuple(self.batch_shape), dtype=self.dtype)


class LinearOperatorHouseholder(LinearOperator):
    """A reflection at the plane that an axis stands upon.

    Parameters
    ----------
    reflection_axis : Tensor
        The axis, of any length but zero.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of the matrix.

    """

    _RANKS = {"reflection_axis": 1}

    def __init__(self, reflection_axis, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name="LinearOperatorHouseholder"):
        self._axis = algebra.keep(reflection_axis)
        if not len(self._axis.shape):
            raise ValueError(f"Argument reflection_axis must have at least 1 dimension.  Found: {reflection_axis}")
        hints.require(is_self_adjoint, True, "A Householder operator is always self adjoint.")
        hints.require(is_positive_definite, False, "A Householder operator is always non-positive definite.")
        hints.require(is_square, True, "A Householder operator is always square.")
        super().__init__(self._axis.dtype, None, is_non_singular, True, False, True, name)

    reflection_axis = property(lambda self: self._axis, doc="Tensor: the axis.")

    def _shape(self):
        return (*self._axis.shape, self._axis.shape[-1])

    def _unit(self):
        return ops.unsqueeze(l2_normalize(self._axis, -1), -1)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x, unit = algebra.adjoint(x) if adjoint_arg else x, self._unit()
        return x - 2 * unit * ops.matmul(algebra.adjoint(unit), x)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _linop_inverse(self):
        return self

    def _to_dense(self):
        unit = self._unit()
        return algebra.add_diag(-2 * ops.matmul(unit, algebra.adjoint(unit)), ops.ones((1,), dtype=self.dtype))

    def _diag_part(self):
        unit = ops.squeeze(self._unit(), -1)
        return 1 - 2 * unit * algebra.conj(unit)

    def _trace(self):
        return ops.full(tuple(self.batch_shape), self.domain_dimension - 2, dtype=self.dtype)

    def _determinant(self):
        return ops.full(tuple(self.batch_shape), -1, dtype=self.dtype)

    def _log_abs_determinant(self):
        return ops.zeros(tuple(self.batch_shape), dtype=self.dtype)

    def _eigvals(self):
        ones = ops.ones((*self.batch_shape, self.domain_dimension - 1), dtype=self.dtype)
        return ops.cat([-ops.ones((*self.batch_shape, 1), dtype=self.dtype), ones], -1)

    def _cond(self):
        return ops.ones(tuple(self.batch_shape), dtype=self.dtype)

    def _assert_positive_definite(self):
        algebra.fail("Householder operators are always non-positive definite.")

    def _assert_non_singular(self):
        """It is its own inverse."""

    _assert_self_adjoint = _assert_non_singular
