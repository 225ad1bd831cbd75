"""Linear operators that are small changes of others."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.linear import algebra, hints
from dragon.vm.tensorflow.core.linear.diagonal import LinearOperatorDiag
from dragon.vm.tensorflow.core.linear.operator import LinearOperator
from dragon.vm.tensorflow.core.linear.sized import LinearOperatorIdentity
from dragon.vm.tensorflow.core.numbers import matrices


class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator L and a change of few ranks: L + U @ D @ V.H, with a diagonal D.

    Equations are solved, and determinants found, by way of matrices as small as the ranks.

    Parameters
    ----------
    base_operator : LinearOperator
        L.
    u : Tensor
        U, with as many columns as there are ranks.
    diag_update : Tensor, optional
        The diagonal of D; ones by default.
    v : Tensor, optional
        V; that is U by default.
    is_diag_update_positive : bool, optional
        Whether the diagonal is known to be positive.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of the matrix.

    """

    _RANKS = {"base_operator": 0, "u": 2, "diag_update": 1, "v": 2}

    def __init__(self, base_operator, u, diag_update=None, v=None, is_diag_update_positive=None, is_non_singular=None,
                 is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorLowRankUpdate"):
        dtype = base_operator.dtype
        if diag_update is None:
            is_diag_update_positive = hints.require(is_diag_update_positive, True, "Default diagonal is the identity, "
                                                    "which is positive: got is_diag_update_positive=False")
        if base_operator.is_self_adjoint and v is None and not dtype.is_complex:
            is_self_adjoint = hints.require(is_self_adjoint, True, "A self-adjoint operator and U @ D @ U.H, with a "
                                            "real diagonal D, are self-adjoint: got is_self_adjoint=False")
        self._by_triangle = bool(base_operator.is_positive_definite and base_operator.is_self_adjoint
                                 and is_diag_update_positive and v is None)
        if self._by_triangle:
            if False in (is_positive_definite, is_self_adjoint, is_non_singular):
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        self._base_operator, self._u = base_operator, algebra.keep(u)
        self._v = self._u if v is None else algebra.keep(v)
        self._diag_update = None if diag_update is None else algebra.keep(diag_update)
        super().__init__(dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)
        ranks = self._u.shape[-1]
        self._diag_operator = LinearOperatorIdentity(ranks, dtype=dtype) if diag_update is None else \
            LinearOperatorDiag(self._diag_update, is_positive_definite=is_diag_update_positive)
        self._is_diag_update_positive = is_diag_update_positive
        for word, shape in (("u", self._u.shape), ("v", self._v.shape)):
            if shape[-2] != base_operator.domain_dimension or shape[-1] != ranks:
                raise ValueError(f"LinearOperatorLowRankUpdate: got {word} of shape {tuple(shape)}, expected "
                                 f"{base_operator.domain_dimension} rows and {ranks} columns")
        if self._diag_operator.domain_dimension != ranks:
            raise ValueError(f"LinearOperatorLowRankUpdate: got {self._diag_operator.domain_dimension} numbers of "
                             f"diag_update, expected {ranks}")

    base_operator = property(lambda self: self._base_operator, doc="LinearOperator: what is changed.")
    u = property(lambda self: self._u, doc="Tensor: the left factor.")
    v = property(lambda self: self._v, doc="Tensor: the right factor, before it is adjoined.")
    diag_update = property(lambda self: self._diag_update, doc="Optional[Tensor]: the diagonal between them.")
    diag_operator = property(lambda self: self._diag_operator, doc="LinearOperator: the diagonal as an operator.")
    is_diag_update_positive = property(lambda self: self._is_diag_update_positive,
                                       doc="Optional[bool]: whether the diagonal is positive.")

    def _shape(self):
        batch = algebra.joint_batch(self._base_operator.batch_shape, self._diag_operator.batch_shape,
                                    self._u.shape[:-2], self._v.shape[:-2])
        return (*batch, *self._base_operator.shape[-2:])

    def _sides_of(self, adjoint=False):
        u, v = take(self._u), take(self._v)
        return (v, u) if adjoint else (u, v)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        u, v = self._sides_of(adjoint)
        within = self._diag_operator.matmul(algebra.multiply(v, x, True, adjoint_arg), adjoint=adjoint)
        whole = self._base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return whole + ops.matmul(u, within)

    def _to_dense(self):
        u, v = self._sides_of()
        within = self._diag_operator.matmul(algebra.adjoint(v))
        return ops.broadcast_to(take(self._base_operator.to_dense()) + ops.matmul(u, within), tuple(self.shape))

    def _small(self, u, v, adjoint=False):
        """Return the matrix, as small as the ranks, that has to be inverted."""
        inner = algebra.multiply(v, self._base_operator.solve(u, adjoint=adjoint), True)
        inverse = self._diag_operator.inverse()
        return take((inverse.adjoint() if adjoint else inverse).add_to_tensor(inner))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        base = self._base_operator
        if base.is_non_singular is False:
            raise ValueError("Solve not implemented unless this is a perturbation of a non-singular LinearOperator.")
        u, v = self._sides_of(adjoint)
        solved = base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        small, seen = self._small(u, v, adjoint), algebra.multiply(v, solved, True)
        within = algebra.solve_definite(small, seen) if self._by_triangle else algebra.solve(small, seen)
        return solved - base.solve(ops.matmul(u, within), adjoint=adjoint)

    def _determinant(self):
        if self.is_positive_definite:
            return ops.exp(self._log_abs_determinant())
        small = matrices.det(self._small(*self._sides_of()))
        return small * self._diag_operator.determinant() * self._base_operator.determinant()

    def _log_abs_determinant(self):
        small = self._small(*self._sides_of())
        if self._by_triangle:
            found = 2 * ops.sum(ops.log(algebra.diag_part(matrices.cholesky(small))), -1)
        else:
            found = matrices.slogdet(small).log_abs_determinant
        return found + self._diag_operator.log_abs_determinant() + self._base_operator.log_abs_determinant()

    def _diag_part(self):
        u, v = self._sides_of()
        product = u * algebra.conj(v)
        if self._diag_update is not None:
            product = product * ops.unsqueeze(take(self._diag_update), -2)
        return ops.sum(product, -1) + take(self._base_operator.diag_part())
