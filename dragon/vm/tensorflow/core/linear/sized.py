"""Linear operators whose sizes are told: identities, and zeros."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.dtypes import as_dtype, float32
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.linear import algebra, hints
from dragon.vm.tensorflow.core.linear.diagonal import Diagonal


class Sized(Diagonal):
    """What operators share whose sizes are told, and not those of a parameter."""

    def _begin(self, num_rows, checks, num_columns=None, batch_shape=()):
        who = type(self).__name__
        self._rows = algebra.sizes_of(num_rows, who, "num_rows")
        self._columns = self._rows if num_columns is None else algebra.sizes_of(num_columns, who, "num_columns")
        for word, count in (("num_rows", self._rows), ("num_columns", self._columns)):
            if isinstance(count, tuple):
                raise ValueError(f"Argument {word} must be a 0-D Tensor.  Found: {count}")
        batch = () if batch_shape is None else algebra.sizes_of(batch_shape, who, "batch_shape")
        if isinstance(batch, int):
            raise ValueError(f"Argument batch_shape must be a 1-D Tensor.  Found: {batch}")
        # Shapes are checked at each call, with `assert_proper_shapes` or without it.
        self._batch, self._asserts_shapes = TensorShape(batch), bool(checks)

    def _shape(self):
        return (*self._batch, self._rows, self._columns)

    def _of_batch(self, number):
        return ops.full(tuple(self.batch_shape), number, dtype=self.dtype)

    def _resliced(self, slices, **changed):
        """Return the operator of a part of a batch of which there is only the shape."""
        part = ops.zeros(tuple(self._batch))[slices]
        return type(self)(**{**self._given, "batch_shape": tuple(part.shape), **changed})


class LinearOperatorIdentity(Sized):
    """Ones on the diagonal, as an operator that keeps no numbers.

    Parameters
    ----------
    num_rows : int
        How many rows and columns there are.
    batch_shape : Sequence[int], optional
        Of a batch.
    dtype : DType, optional, default="float32"
        Of the matrix.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional, default=True
        Must be True.
    assert_proper_shapes : bool, optional, default=False
        Changes nothing: shapes are always checked.

    """

    def __init__(self, num_rows, batch_shape=None, dtype=None, is_non_singular=True, is_self_adjoint=True,
                 is_positive_definite=True, is_square=True, assert_proper_shapes=False, name="LinearOperatorIdentity"):
        for hint, what in ((is_self_adjoint, "self adjoint"), (is_non_singular, "non-singular"),
                           (is_positive_definite, "positive-definite"), (is_square, "square")):
            hints.require(bool(hint), True, f"An identity operator is always {what}.")
        super().__init__(as_dtype(dtype or float32), None, True, True, True, True, name)
        self._begin(num_rows, assert_proper_shapes, batch_shape=batch_shape)

    def _factors(self):
        return ops.ones((*self._batch, 1), dtype=self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = algebra.adjoint(x) if adjoint_arg else x
        batch = algebra.joint_batch(x.shape[:-2], self._batch)
        return ops.broadcast_to(x, (*batch, *x.shape[-2:])) if len(self._batch) else x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _linop_inverse(self):
        return self

    def _linop_cholesky(self):
        return LinearOperatorIdentity(self._rows, self._batch, self.dtype)

    def _determinant(self):
        return self._of_batch(1)

    def _log_abs_determinant(self):
        return self._of_batch(0)

    def _cond(self):
        return self._of_batch(1)

    def _trace(self):
        return self._of_batch(self._rows)

    def _assert_non_singular(self):
        """It has an inverse."""

    _assert_positive_definite = _assert_self_adjoint = _assert_non_singular

    def __getitem__(self, slices):
        """Return the operator of a part of the batch."""
        return self._resliced(slices)


class LinearOperatorScaledIdentity(Sized):
    """One number all along the diagonal.

    Parameters
    ----------
    num_rows : int
        How many rows and columns there are.
    multiplier : Tensor
        The number, or a batch of them.
    is_non_singular, is_self_adjoint, is_positive_definite : bool, optional
        What is known of the matrix.
    is_square : bool, optional, default=True
        Must be True.
    assert_proper_shapes : bool, optional, default=False
        Changes nothing: shapes are always checked.

    """

    _RANKS = {"multiplier": 0}

    def __init__(self, num_rows, multiplier, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, assert_proper_shapes=False, name="LinearOperatorScaledIdentity"):
        self._multiplier = algebra.keep(multiplier)
        if not self._multiplier.dtype.is_complex:
            is_self_adjoint = hints.require(is_self_adjoint, True, "A real diagonal operator is always self adjoint.")
        hints.require(bool(is_square), True, "A ScaledIdentity operator is always square.")
        super().__init__(self._multiplier.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True,
                         name)
        self._begin(num_rows, assert_proper_shapes)

    multiplier = property(lambda self: self._multiplier, doc="Tensor: the number.")

    def _shape(self):
        return (*self._multiplier.shape, self._rows, self._columns)

    def _factors(self):
        return ops.unsqueeze(take(self._multiplier), -1)

    def _scaled(self, multiplier, known):
        return LinearOperatorScaledIdentity(self._rows, multiplier, **known)

    def _linop_adjoint(self):
        return self._scaled(algebra.conj(take(self._multiplier)), hints.of(self))

    def _linop_inverse(self):
        return self._scaled(1.0 / take(self._multiplier), hints.of(self))

    def _linop_cholesky(self):
        return self._scaled(ops.sqrt(take(self._multiplier)), hints.REGULAR)

    def _determinant(self):
        return ops.pow(take(self._multiplier), self._rows)

    def _log_abs_determinant(self):
        return self._rows * ops.log(ops.abs(take(self._multiplier)))

    def _trace(self):
        return take(self._multiplier) * self._rows

    def _cond(self):
        x = take(self._multiplier)
        return ops.where(ops.eq(x, 0), ops.full_like(x, float("nan")), ops.ones_like(x))


class LinearOperatorZeros(Sized):
    """Zeros as an operator that keeps no numbers.

    Parameters
    ----------
    num_rows : int
        How many rows there are.
    num_columns : int, optional
        How many columns; as many as rows by default.
    batch_shape : Sequence[int], optional
        Of a batch.
    dtype : DType, optional, default="float32"
        Of the matrix.
    is_non_singular, is_positive_definite : bool, optional, default=False
        Must be False.
    is_self_adjoint, is_square : bool, optional, default=True
        Must be True where there are as many rows as columns.
    assert_proper_shapes : bool, optional, default=False
        Changes nothing: shapes are always checked.

    """

    def __init__(self, num_rows, num_columns=None, batch_shape=None, dtype=None, is_non_singular=False,
                 is_self_adjoint=True, is_positive_definite=False, is_square=True, assert_proper_shapes=False,
                 name="LinearOperatorZeros"):
        if not is_self_adjoint and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        hints.require(bool(is_non_singular), False, "A zero operator is always singular.")
        hints.require(bool(is_positive_definite), False, "A zero operator is always not positive-definite.")
        super().__init__(as_dtype(dtype or float32), None, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)
        self._begin(num_rows, assert_proper_shapes, num_columns, batch_shape)
        if is_square and self._rows != self._columns:
            raise ValueError(f"LinearOperatorZeros initialized as is_square=True, but got num_rows({self._rows}) != "
                             f"num_columns({self._columns})")

    def _factors(self):
        return ops.zeros((*self._batch, 1), dtype=self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        batch = algebra.joint_batch(x.shape[:-2], self._batch)
        rows = self._columns if adjoint else self._rows
        return ops.zeros((*batch, rows, x.shape[-2 if adjoint_arg else -1]), dtype=self.dtype)

    def _to_dense(self):
        return ops.zeros(tuple(self.shape), dtype=self.dtype)

    def _add_to_tensor(self, x):
        batch = algebra.joint_batch(x.shape[:-2], self._batch)
        return ops.broadcast_to(x, (*batch, *x.shape[-2:])) if len(self._batch) else x

    def _determinant(self):
        return self._of_batch(0)

    def _trace(self):
        return self._of_batch(0)

    def _assert_non_singular(self):
        algebra.fail("Zero operators are always non-invertible.")

    def _assert_positive_definite(self):
        algebra.fail("Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        """It is its own adjoint."""

    def __getitem__(self, slices):
        """Return the operator of a part of the batch."""
        return self._resliced(slices)
